"""Every command that the README and the guides to deployment name is run by a test, or is marked there as not run."""

import re

import pytest
from replicas import ROOT

GUIDES = ("README.md", "deploy/README.md", "deploy/huggingface/README.md")
PROGRAMS = "python3? |pip |pipx |uvx |docker |podman |kubectl |streamlit |pytest |git |cp |COOKIE_SECRET="
LAB = "tests/server/test_lab.py::test_both_commands_get_the_models_once_everything_is_installed"
FILES = (
    "tests/lessons/test_exercise_files.py"
    "::test_every_solution_passes_and_what_is_not_written_yet_or_is_wrong_is_told_in_a_sentence"
)
# By which test a command is run; or the words in its guide that say why it is not.
RUN = {
    "python3 lab.py test": LAB,
    "python3 lab.py test --all": LAB,
    "python3 lab.py run": LAB,
    "streamlit run app.py": "tests/browser/conftest.py::start_server",
    "pytest exercises": FILES,
    "pytest exercises -k softmax": FILES,
    "pipx run attention-lab": "tests/installed/test_from_an_index.py::test_it_runs_without_being_installed",
    "pip install attention-lab && attention-lab": (
        "tests/installed/test_from_an_index.py::test_the_first_page_is_painted"
    ),
    "pip install -r requirements.txt": "tests/deploy/test_image.py::test_the_steps_of_the_image_end_in_a_painted_page",
    "python -m models": "tests/server/test_lab.py::test_without_the_index_setting_up_says_one_line_and_goes_on",
    "python -m training.default_model": (
        "tests/lessons/test_default_model.py::test_one_machine_writes_the_same_file_twice"
    ),
    "python -m training.ship_layer": "tests/lessons/test_real_layer.py::test_the_file_is_what_the_model_gives",
    "python deploy/licences.py": "tests/deploy/test_licences.py::test_every_package_is_listed_with_a_licence",
    "python deploy/lock.py": "tests/deploy/test_image.py::test_the_lock_is_what_would_be_written_now",
    "python benchmarks/small_host.py --limit 690": (  # with limits that it cannot keep
        "tests/server/test_benchmarks.py::test_a_host_that_is_too_small_ends_with_one_sentence"
    ),
    "git archive HEAD | tar -x -C space": "tests/deploy/test_image.py::test_a_space_is_made_by_the_lines_of_its_readme",
    "cp deploy/huggingface/README.md deploy/huggingface/Dockerfile space/": (
        "tests/deploy/test_image.py::test_a_space_is_made_by_the_lines_of_its_readme"
    ),
}
NOT_RUN = {
    "uvx --torch-backend cpu attention-lab": "Not run, since PyTorch's own index was out of reach: `--torch-backend`",
    "uvx --torch-backend cpu --from . attention-lab": "Not run, since PyTorch's own index was out of reach",
    "pip install torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu": "the pip line that names that index",
    "podman build": "Not run, since no registry of images could be reached: `podman build` itself",
    "podman build -f deploy/Containerfile -t attention-lab .": "Not run, since no registry of images could be reached",
    "podman pull python:3.12-slim && podman image inspect --format '{{index .RepoDigests 0}}' python:3.12-slim": (
        "Not run, since no registry of images could be reached: `podman build` itself, and the line that fixes the base"
    ),
    "uvx pip-audit -r deploy/requirements.lock --disable-pip": "its answers were not seen",
    "podman image inspect --format '{{index .RepoDigests 0}}' NAME": "a registry of images could be reached",
    "kubectl apply -f deploy/kubernetes.yaml": "not applied to a cluster",
    "COOKIE_SECRET=$(openssl rand -hex 32) VOTES_PASSWORD=$(openssl rand -hex 32) "
    "docker compose -f deploy/compose.yaml up --build --detach": "nor compose run",
}


def commands_in(text):
    """Those in blocks, in lines that are set in, and in a line of prose."""
    fenced = re.compile(r"^```[a-z]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
    lines = [line for block in fenced.findall(text) for line in block.splitlines()]
    lines += re.findall(r"^    (\S.*)$", text, re.MULTILINE)
    lines += [" ".join(words.split()) for words in re.findall(r"`([^`]+)`", fenced.sub("", text))]
    lines = (line.partition("  #")[0].strip() for line in lines)
    return {line for line in lines if re.match(PROGRAMS, line)}


@pytest.mark.parametrize("guide", GUIDES)
def test_each_command_is_run_or_is_marked_as_not_run(guide):
    text = (ROOT / guide).read_text("utf-8")
    found = commands_in(text)
    assert found and found <= {*RUN, *NOT_RUN}
    said = " ".join(text.split())
    for command in found & {*NOT_RUN}:
        assert NOT_RUN[command] in said, command
    for command in found & {*RUN}:
        file, _, test = RUN[command].partition("::")
        assert f"def {test}(" in (ROOT / file).read_text("utf-8"), command


def test_no_command_is_listed_that_stands_nowhere():
    assert set().union(*(commands_in((ROOT / guide).read_text("utf-8")) for guide in GUIDES)) == {*RUN, *NOT_RUN}
