"""What the image is made of: locked files, one list of parts; slowly, its steps are done in a Debian tree."""

import importlib.metadata
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from replicas import ROOT, free_port, wait_for
from requirement_files import requirements_in

from benchmarks.browser import FIRST_FIGURE, PAINTED

DEPLOY = ROOT / "deploy"
LOCK = DEPLOY / "requirements.lock"
FILES = ("requirements.txt", "requirements-classes.txt", "deploy/torch_needs.txt")
PATH_OF_IMAGE = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LOCKED = r"(?m)^([a-z0-9-]+)(?:\[\w+\])?==(\S+)( ; [^\\\n]+)?"


def test_all_that_the_app_needs_is_locked_with_hashes_and_nothing_for_graphics_cards():
    text = LOCK.read_text()
    locked = re.findall(LOCKED, text)
    for needed in requirements_in(*(ROOT / name for name in FILES)):
        versions = [version for name, version, _ in locked if name == needed.name.lower()]
        assert versions or needed.name == "torch", f"{needed.name}: python deploy/lock.py"
        assert all(needed.specifier.contains(version) for version in versions), f"{needed}: python deploy/lock.py"
    for block in re.split(r"\n(?=\S)", text)[1:]:
        assert "--hash=sha256:" in block, block
    assert not [name for name, *_ in locked if re.match("nvidia|triton|torch|cuda", name)]


def test_the_small_torch_needs_what_is_locked_for_it():
    wanted = [Requirement(line) for line in importlib.metadata.requires("torch")]
    if any(r.name.startswith("nvidia") for r in wanted):
        pytest.skip("another build of torch is here")
    assert {str(r) for r in requirements_in(DEPLOY / "torch_needs.txt")} == {str(r) for r in wanted if r.marker is None}


@pytest.mark.slow
def test_the_lock_is_what_would_be_written_now(tmp_path):
    shutil.copy(LOCK, tmp_path)
    sys.path.insert(0, str(DEPLOY))
    from lock import lock

    lock(tmp_path / LOCK.name)
    assert (tmp_path / LOCK.name).read_text() == LOCK.read_text()


def copied(file):
    return re.findall(r"(?m)^COPY (.+)$", file.read_text())


def test_the_space_is_the_same_image_for_another_user_and_port_with_the_model_in_it():
    space, image = DEPLOY / "huggingface" / "Dockerfile", DEPLOY / "Containerfile"
    assert copied(space) == copied(image)
    _, front, _ = (DEPLOY / "huggingface" / "README.md").read_text().split("---\n", 2)
    about, text = yaml.safe_load(front), space.read_text()
    assert about["sdk"] == "docker" and f"STREAMLIT_SERVER_PORT={about['app_port']} " in text
    assert "USER 1000\nRUN python -m models" in text and len(about["short_description"]) <= 60


def test_a_space_is_made_by_the_lines_of_its_readme(tmp_path):
    (tmp_path / "space").mkdir()
    commands = re.findall(r"(?m)^    (.+)$", (DEPLOY / "huggingface" / "README.md").read_text())
    script = "\n".join(commands).replace("space", shlex.quote(str(tmp_path / "space")))
    subprocess.run(["bash", "-ec", script], cwd=ROOT, check=True)
    for names in copied(tmp_path / "space" / "Dockerfile"):
        assert all((tmp_path / "space" / name).exists() for name in names.split()[:-1])
    assert "app_port" in (tmp_path / "space" / "README.md").read_text()


def steps(file):
    """The instructions of a Containerfile: its word and the rest, lines joined."""
    text = re.sub(r"(?m)^#.*\n", "", file.read_text())
    return [tuple(line.split(" ", 1)) for line in re.sub(r"\\\n\s*", "", text).splitlines() if line]


class Tree:
    """A Debian tree in which the steps are done, as far as a tree is an image."""

    def __init__(self, place):
        self.place, self.environment, self.workdir, self.user = place, {}, "/", "0"
        self.command = self.health = None

    def enter(self, script, *before):
        """A program for the shell that mounts what a container has and runs a script in the tree."""
        at, given = shlex.quote(str(self.place)), " ".join(f"{k}={shlex.quote(v)}" for k, v in self.environment.items())
        mounts = [f"mount --rbind /{name} {at}/{name}" for name in ("proc", "dev", "opt")]
        user = f"--userspec={self.user}:{self.user}"
        run = f"exec chroot {user} {at} env -i {PATH_OF_IMAGE} {given} sh -c {shlex.quote(script)}"
        return ["unshare", "--mount", "sh", "-ec", "\n".join([*mounts, *before, run])]

    def run(self, script):
        subprocess.run(self.enter(f"cd {self.workdir} && {script}"), check=True)

    def do(self, word, rest):
        if word == "ENV":
            self.environment |= dict(part.split("=", 1) for part in shlex.split(rest))
        elif word == "WORKDIR":
            self.workdir = rest
            (self.place / rest[1:]).mkdir(exist_ok=True)
        elif word == "COPY":
            *names, to = rest.split()
            for name in names:
                target = self.place / self.workdir[1:] / (to if len(names) == 1 and to != "." else name.split("/")[-1])
                copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
                copy(ROOT / name, target)
        elif word == "RUN":
            self.run(rest.replace("--index-url https://download.pytorch.org/whl/cpu", "--no-index"))
        elif word == "USER":
            self.user = rest
        elif word == "HEALTHCHECK":
            self.health = yaml.safe_load(rest.partition("CMD ")[2])
        elif word == "CMD":
            self.command = yaml.safe_load(rest)
        else:
            assert word in ("FROM", "EXPOSE"), word


@pytest.fixture
def tree(tmp_path):
    if not shutil.which("debootstrap"):
        pytest.skip("no debootstrap here: install it (Debian: apt install debootstrap), and be root")
    place = tmp_path / "tree"
    included = "python3,python3-venv,ca-certificates"
    subprocess.run(["debootstrap", "--variant=minbase", f"--include={included}", "bookworm", place], check=True)
    for file in map(Path, ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")):
        if file.exists():
            shutil.copy(file, place / file.relative_to("/"))
    subprocess.run(["chroot", place, "python3", "-m", "venv", "--copies", "/usr/local"], check=True)
    return Tree(place)


@pytest.mark.slow
def test_the_steps_of_the_image_end_in_a_painted_page(tree, chromium):
    tree.environment = {"PIP_FIND_LINKS": "/opt/wheels", "SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt"}
    for word, rest in steps(DEPLOY / "Containerfile"):
        tree.do(word, rest)
    port = free_port()
    tree.environment |= {"STREAMLIT_SERVER_PORT": str(port)}
    at = shlex.quote(str(tree.place))
    unwritable = [f"mount --bind {at} {at}", f"mount -o remount,ro,bind {at}", f"mount -t tmpfs tmpfs {at}/tmp"]
    script = f"cd {tree.workdir} && exec {shlex.join(tree.command)}"
    log = (tree.place.parent / "log.txt").open("w+")
    server = subprocess.Popen(tree.enter(script, *unwritable), stdout=log, stderr=log)
    try:
        health = shlex.join(tree.health).replace("8501", str(port))
        wait_for(lambda: subprocess.run(tree.enter(health), capture_output=True).returncode == 0, seconds=120)
        page = chromium.new_page()
        page.goto(f"http://127.0.0.1:{port}")
        page.wait_for_function(PAINTED, arg=FIRST_FIGURE, timeout=90_000)
        status = Path(f"/proc/{server.pid}/status").read_text()
        assert re.search(r"(?m)^Uid:\s+10001\s", status), status
        page.close()
    finally:
        server.terminate()
        server.wait(20)
        time.sleep(0.2)
    log.seek(0)
    assert "Traceback" not in log.read()
