"""Real servers, several of them, that can be killed and started again at the same port."""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path.append(str(ROOT / "benchmarks"))

from servers import free_port  # noqa: E402

HAPROXY = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin")


class Answer:
    """What came back over HTTP, errors too, as the bytes on the wire."""

    def __init__(self, url, **headers):
        request = urllib.request.Request(
            url, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )
        try:
            response = urllib.request.urlopen(request, timeout=10)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            self.status, self.headers, self.body = response.status, response.headers, response.read()


class Replica:
    """One process of the app."""

    def __init__(self, log, script="app.py", **environment):
        self.port = free_port()
        self.log = log
        self.script = script
        self.environment = environment
        self.process = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self, *, healthy=True):
        command = [sys.executable, "-m", "streamlit", "run", self.script, "--server.port", str(self.port)]
        self.process = subprocess.Popen(
            [*command, "--server.address", "127.0.0.1"],
            cwd=ROOT,
            env={**os.environ, **self.environment},
            stdout=self.log.open("a"),
            stderr=subprocess.STDOUT,
        )
        wait_for(lambda: self.answers("/healthz" if healthy else "/_stcore/health"), self.words, seconds=120)
        return self

    def get(self, path, **headers):
        return Answer(self.url + path, **headers)

    def answers(self, path):
        assert self.process.poll() is None, self.words()
        try:
            return self.get(path).status == 200
        except OSError:
            return False

    def words(self):
        return self.log.read_text()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()


class Proxy:
    """HAProxy as in deploy/, in front of these ports of this machine, with what it says of them."""

    def __init__(self, folder, *ports):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log, file = folder / "log.txt", folder / "haproxy.cfg"
        file.write_text(local_configuration(self.port, *ports))
        checked = subprocess.run([HAPROXY, "-c", "-f", file], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stderr
        with self.log.open("w") as log:
            self._process = subprocess.Popen([HAPROXY, "-db", "-f", file], stderr=log)
        wait_for(lambda: open_port(self.port), self.words)

    def words(self):
        return self.log.read_text()

    def stop(self):
        self._process.terminate()
        self._process.wait(10)


def awaited(coroutine):
    """Its result. On a thread of its own: on this one the browser's loop may be running."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def wait_for(what, words=lambda: "", seconds=40):
    """Until it is true; the words say what went on meanwhile."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, words()
        time.sleep(0.1)


def local_configuration(port, *replicas):
    """deploy/haproxy.cfg with two servers on this machine in the place of those found by name."""
    text = (ROOT / "deploy" / "haproxy.cfg").read_text()
    text, binds = re.subn(r"bind :8080\b", f"bind 127.0.0.1:{port}", text)
    servers = "\n".join(f"    server lab{i} 127.0.0.1:{replica}" for i, replica in enumerate(replicas, 1))
    text, templates = re.subn(r"^    server-template .*$", servers, text, flags=re.MULTILINE)
    text = re.sub(r"(?ms)^resolvers .*?(?=^\S)", "", text)
    assert binds == templates == 1
    return text


def open_port(port):
    try:
        return bool(Answer(f"http://127.0.0.1:{port}/healthz").status)
    except OSError:
        return False
