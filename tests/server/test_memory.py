"""What is asked of the collector and the C library once, and what is not imported before it is needed."""

import gc
import itertools
import platform
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
from replicas import awaited

from attention_ui.process import memory

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library: there is nothing to tell")
def test_glibc_is_told_to_keep_its_heaps_small():
    assert memory.keep_heaps_small()


def test_another_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda name: object())
    assert not memory.keep_heaps_small()


class Chained:
    """What only the collector can free."""

    def __init__(self):
        self.chain = self


def test_what_is_there_is_hidden_from_the_collector_until_all_is_collected_again():
    before, mine, also_mine = gc.get_freeze_count(), [[] for _ in range(97)], Chained()
    gone = weakref.ref(also_mine)
    try:
        memory.collect_new()
        assert gc.get_freeze_count() >= before + len(mine)
        del also_mine
        gc.collect()
        assert gone() is not None
        memory.collect_all()
        assert gone() is None
    finally:
        gc.unfreeze()


def test_while_everything_is_imported_nothing_is_collected_and_afterwards_it_is():
    with pytest.raises(KeyError), memory.without_collecting():
        assert not gc.isenabled()
        raise KeyError("the start fails")
    assert gc.isenabled()


@pytest.mark.parametrize(
    ("turns", "put_off", "lets_go", "collected"),
    [
        ([5, 5, 5], 11, False, ["new", "new"]),
        ([5, 6, 7], 11, True, []),
        ([None, None, None], 11, True, []),
        ([5, 5, 6], 11, False, ["new"]),
        ([5, 5, 5], 10, False, []),
        ([5, 5, 5], 10, True, ["all", "all"]),
        ([5] * 8, 11, False, ["new", "new", "all", "new", "new", "all", "new"]),
        ([5] * 8, 10, False, []),
    ],
)
def test_what_was_put_off_is_collected_once_no_page_has_been_computed_for_a_while(
    monkeypatch, turns, put_off, lets_go, collected
):
    done, told = [], iter(turns)
    monkeypatch.setattr(memory, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(memory.gc, "get_count", lambda: (0, 0, put_off))
    monkeypatch.setattr(memory, "ALL_SECONDS", 3)
    monkeypatch.setattr(memory, "collect_new", lambda: done.append("new"))
    monkeypatch.setattr(memory, "collect_all", lambda: done.append("all"))
    monkeypatch.setattr(memory, "give_back", lambda: done.append("given back"))
    with pytest.raises(RuntimeError, match="StopIteration"):
        clock = itertools.count().__next__
        awaited(memory.collect_in_quiet_moments(lambda: next(told), lambda: lets_go, clock=clock))
    assert done == [each for what in collected for each in (what, "given back")]


def test_on_a_small_host_what_is_free_goes_back_also_while_pages_are_computed(monkeypatch):
    done, told = [], iter([5, 6, None, 7, 7, 7])
    monkeypatch.setattr(memory, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(memory.gc, "get_count", lambda: (0, 0, memory.USUAL))  # whatever was made before
    monkeypatch.setattr(memory.gc, "collect", lambda: done.append("collected"))
    monkeypatch.setattr(memory, "give_back", lambda: done.append("given back"))
    with pytest.raises(RuntimeError, match="StopIteration"):
        awaited(memory.collect_in_quiet_moments(lambda: next(told), lambda: done.append("let go"), small_host=True))
    assert done == ["let go", "given back"] * 3 + ["let go"] * 2, "nothing is done where nobody is"


def test_the_oldest_garbage_is_looked_at_rarely_and_what_is_free_goes_back():
    before = gc.get_threshold()
    try:
        memory.collect_rarely()
        assert gc.get_threshold() == (*before[:2], memory.RARE)
    finally:
        gc.set_threshold(*before)
    memory.give_back()


def in_a_process_of_its_own(program):
    """Run it where nothing is imported yet, with `open_page` at hand."""
    begin = 'import sys\nsys.path[:0] = ["tests/pages", "."]\nfrom visiting import open_page\n'
    command = [sys.executable, "-c", begin + program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.slow
def test_no_page_brings_a_system_of_symbolic_algebra():
    """It would take a second and 40 MB, and make every garbage collection four times as long."""
    in_a_process_of_its_own("""
from attention_ui.contents import CONTENTS
for entry in CONTENTS:
    open_page(entry.file.removesuffix(".py"))
    assert "sympy" not in sys.modules, entry.file
""")


def test_the_first_page_is_drawn_without_torch_and_altair_and_without_the_other_lessons():
    """Importing them and building a first chart takes most of a second, for which the first visitor would wait."""
    in_a_process_of_its_own("""
import attention_ui.process.turns
assert not open_page("start/overview", example=None, picture=None, cover=None).exception  # as the bare address
assert not {"torch", "altair"} & sys.modules.keys()
assert "lessons.order" not in sys.modules and "attention_ui.link_rules" not in sys.modules
""")
