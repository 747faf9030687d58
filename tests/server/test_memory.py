"""Memory goes back to the system where the C library can be told, and nothing breaks where it cannot."""

import asyncio
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from replicas import awaited

from attention_ui.server import memory

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library: there is nothing to tell")
def test_glibc_is_told_to_keep_its_heaps_small():
    assert memory.keep_heaps_small()


def test_another_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(memory, "glibc", lambda: None)
    assert not memory.keep_heaps_small()


class Library:
    """Counts how often it is asked to give memory back."""

    def __init__(self):
        self.asked = []

    def malloc_trim(self, pad):
        self.asked.append(pad)


@pytest.mark.parametrize("library", [Library(), None], ids=["glibc", "another library"])
def test_memory_is_given_back_again_and_again_until_the_server_stops(monkeypatch, library):
    collected = []
    monkeypatch.setattr(memory, "glibc", lambda: library)
    thresholds = []
    monkeypatch.setattr(memory.gc, "collect", lambda: collected.append(len(library.asked) if library else 0))
    monkeypatch.setattr(memory.gc, "set_threshold", lambda *numbers: thresholds.append(numbers))

    async def serve():
        giving_back = asyncio.create_task(memory.give_back(every=0.001))
        while len(collected) < 3:
            await asyncio.sleep(0.001)
        giving_back.cancel()
        await asyncio.gather(giving_back, return_exceptions=True)
        assert giving_back.cancelled()

    awaited(serve())
    if library is not None:
        assert set(library.asked) == {0}
        before = [memory.COLLECT_EVERY * (number + 1) - 1 for number in range(len(collected))]
        assert collected == before, "memory goes back oftener than garbage is collected, and after each collection"
    young, middle, _ = memory.gc.get_threshold()
    assert thresholds == [(young, middle, memory.FULL_AFTER)], "full collections are made here, and hardly elsewhere"


def in_a_process_of_its_own(program):
    """Run it where nothing is imported yet, with `open_page` at hand."""
    begin = 'import sys\nsys.path[:0] = ["tests/pages", "."]\nfrom visiting import open_page\n'
    command = [sys.executable, "-c", begin + program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def test_no_page_brings_a_system_of_symbolic_algebra():
    """It would take a second and 40 MB, and make every garbage collection four times as long."""
    in_a_process_of_its_own("""
from attention_ui.contents import CONTENTS
for entry in CONTENTS:
    open_page(entry.file.removesuffix(".py"))
    assert "sympy" not in sys.modules, entry.file
""")


def test_the_first_page_is_drawn_without_altair():
    """Importing it and building a first chart takes half a second, for which the first visitor would wait."""
    in_a_process_of_its_own("""
import attention_ui.services
assert not open_page("start/overview").exception
assert "torch" in sys.modules and "altair" not in sys.modules
""")
