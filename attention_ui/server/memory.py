"""Memory that visitors leave behind goes back to the system.

Sessions are full of circles, which only the garbage collector finds, and in a quiet room it hardly ever looks at what
is old: a hundred visitors who had left still held thirty trainings. Where the C library is glibc there is more to do.
Each run of a page has a thread of its own, and glibc spreads threads over eight heaps for each processor. What they
free stays in these heaps, full of holes: a class of sixty left 160 MB behind, with two heaps 50 MB.
"""

import asyncio
import ctypes
import gc
import itertools

M_ARENA_MAX, M_MMAP_THRESHOLD = -8, -3  # from glibc's malloc.h
HEAPS = 2
LARGE_BYTES = 128 * 1024
GIVE_BACK_SECONDS = 1.0  # takes less than a hundredth of a second
COLLECT_EVERY = 10  # so many times; a collection takes ten times as long
FULL_AFTER = 1000  # collections of younger objects: more than a class makes between two of the full ones here


def glibc() -> ctypes.CDLL | None:
    """The C library of this process, if it is one that can be told."""
    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):  # Windows has no library without a name
        return None
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None


def keep_heaps_small() -> bool:
    """Let all threads share a few heaps, and keep what is large out of them, so that it goes back when it is freed.

    glibc would raise its idea of large with whatever is freed. To be called before there are many threads. False
    where the C library cannot be told.
    """
    library = glibc()
    wishes = ((M_ARENA_MAX, HEAPS), (M_MMAP_THRESHOLD, LARGE_BYTES))
    return library is not None and all(library.mallopt(option, value) == 1 for option, value in wishes)


async def give_back(every: float = GIVE_BACK_SECONDS) -> None:
    """Hand free memory back, and now and then find what nobody can reach any more, until cancelled.

    A full collection holds up everybody, for some hundredths of a second when there are a hundred visitors. Left to
    itself, Python collects by how much was made since: every few seconds in a class, in a quiet room not at all.
    """
    library = glibc()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, FULL_AFTER)
    for count in itertools.count(1):
        await asyncio.sleep(every)
        if count % COLLECT_EVERY == 0:
            await asyncio.to_thread(gc.collect)
        if library is not None:
            await asyncio.to_thread(library.malloc_trim, 0)
