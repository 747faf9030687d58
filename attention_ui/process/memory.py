"""What the process asks of Python's garbage collector and of the C library, once each."""

import asyncio
import ctypes
import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

M_ARENA_MAX, M_MMAP_THRESHOLD, M_TRIM_THRESHOLD = -8, -3, -1  # from glibc's malloc.h
MEBIBYTE = 1024 * 1024
HEAPS, LARGE_BYTES, KEPT_BYTES = 2, 4 * MEBIBYTE, 64 * MEBIBYTE
ON_A_SMALL_HOST = 1, MEBIBYTE // 8, 16 * MEBIBYTE
USUAL, RARE = 10, 100  # collections of the middle generation before the oldest is walked over
QUIET_SECONDS, ALL_SECONDS = 1.0, 60.0


@contextmanager
def without_collecting() -> Iterator[None]:
    """Meanwhile nothing is collected: imports leave hardly any garbage, and walking over them again and again takes a
    fifth of the time that they take, for which the first visitor would wait."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def collect_new() -> None:
    """Collect what was made since the last time, and hide the rest from the collections that Python begins by itself.

    They would walk over every import and over all that three hundred visits have: 0.3 s, for which whoever has just
    moved a slider waits.
    """
    gc.collect()
    gc.freeze()


def collect_all() -> None:
    """Collect what has become garbage since it was hidden, too."""
    gc.unfreeze()
    collect_new()


def collect_rarely() -> None:
    """From now on the oldest generation is walked over a tenth as often as usual.

    With 150 visits in a process that takes 0.1 s, every few seconds while their pages follow a class, and whoever has
    moved a slider meanwhile waits for it. What it puts off is collected when nobody waits.
    """
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, RARE)


async def collect_in_quiet_moments(
    turns: Callable[[], int | None],
    let_go: Callable[[], bool],
    small_host: bool = False,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Collect what was put off, once no page has been computed for a second: `turns` says how many there have been, or
    None while one is computed. What is kept for nobody is `let_go` of before; it says whether there was something: then
    somebody has left, and all is looked at. So it is where the last time was ALL_SECONDS ago.

    What is free then goes back to the system: a class that has left would stay in the memory as holes of its size. On
    a `small_host` that happens each second, in some 20 milliseconds: ten visitors leave no quiet moment. There nothing
    more is hidden than was at the start.
    """
    before, looked = turns(), clock()
    while True:
        await asyncio.sleep(QUIET_SECONDS)
        now = turns()
        quiet, before = now is not None and now == before, now
        if not quiet and not small_host:
            continue
        left = await asyncio.to_thread(let_go)
        if quiet and (left or gc.get_count()[2] > USUAL):
            whole = left or clock() - looked >= ALL_SECONDS
            await asyncio.to_thread(gc.collect if small_host else collect_all if whole else collect_new)
            looked = clock() if whole else looked
        elif quiet:
            continue
        await asyncio.to_thread(give_back)


def give_back() -> None:
    """Hand every page of memory that nothing lies in back to the system, where the C library can."""
    if trim := of_c_library("malloc_trim"):
        trim(0)


def of_c_library(name: str) -> Callable[..., int] | None:
    """A function of the C library; None where it has no such: Windows has no library without a name."""
    try:
        return getattr(ctypes.CDLL(None), name)
    except (OSError, TypeError, AttributeError):
        return None


def keep_heaps_small(small_host: bool = False) -> bool:
    """Let all threads share a few heaps, and keep what is large out of them, so that it goes back when it is freed.

    Each run of a page has a thread of its own, and glibc spreads threads over eight heaps for each processor, which
    stay, full of holes: a class of sixty left 160 MB behind, with two heaps 50 MB. What is free at the end of a heap
    stays there up to KEPT_BYTES: a step of training frees some megabytes and takes them again. Fetched anew from the
    system each time, a step of thirty runs together took nearly three times as long. A `small_host` keeps less: ten
    visitors of all pages needed 60 MB less at most. To be called before there are many threads. False where the C
    library is another.
    """
    mallopt = of_c_library("mallopt")
    if mallopt is None:
        return False
    wishes = ON_A_SMALL_HOST if small_host else (HEAPS, LARGE_BYTES, KEPT_BYTES)
    options = (M_ARENA_MAX, M_MMAP_THRESHOLD, M_TRIM_THRESHOLD)
    return all(mallopt(*wish) == 1 for wish in zip(options, wishes, strict=True))
