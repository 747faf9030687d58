"""Memory that visitors leave behind goes back to the system.

Sessions are full of circles, which only the garbage collector finds, and in a quiet room it hardly ever looks at what
is old: a hundred visitors who had left still held thirty trainings. Where the C library is glibc there is more to do.
Each run of a page has a thread of its own, and glibc spreads threads over eight heaps for each processor. What they
free stays in these heaps, full of holes: a class of sixty left 160 MB behind, with two heaps 50 MB.
"""

import asyncio
import ctypes
import gc

M_ARENA_MAX = -8  # from glibc's malloc.h
HEAPS = 2
GIVE_BACK_SECONDS = 30.0


def glibc() -> ctypes.CDLL | None:
    """The C library of this process, if it is one that can be told."""
    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):  # Windows has no library without a name
        return None
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None


def few_heaps() -> bool:
    """Let all threads share a few heaps; to be called before there are many threads. False where it cannot be."""
    library = glibc()
    return library is not None and library.mallopt(M_ARENA_MAX, HEAPS) == 1


async def give_back(every: float = GIVE_BACK_SECONDS) -> None:
    """Find what nobody can reach any more and hand free memory back, again and again, until cancelled."""
    library = glibc()
    while True:
        await asyncio.sleep(every)
        await asyncio.to_thread(gc.collect)
        if library is not None:
            await asyncio.to_thread(library.malloc_trim, 0)
