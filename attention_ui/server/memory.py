"""What the process asks of Python's garbage collector and of the C library, once each."""

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager

M_ARENA_MAX, M_MMAP_THRESHOLD, M_TRIM_THRESHOLD = -8, -3, -1  # from glibc's malloc.h
MEBIBYTE = 1024 * 1024
HEAPS, LARGE_BYTES, KEPT_BYTES = 2, 4 * MEBIBYTE, 64 * MEBIBYTE
ON_A_SMALL_HOST = 1, 1 * MEBIBYTE, 16 * MEBIBYTE


@contextmanager
def without_collecting() -> Iterator[None]:
    """Meanwhile nothing is collected: imports leave hardly any garbage, and walking over them again and again takes a
    fifth of the time that they take, for which the first visitor would wait."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def freeze() -> None:
    """Hide all there is from the garbage collector: a collection would walk over every import, 0.1 s each time."""
    gc.collect()
    gc.freeze()


def keep_heaps_small(small_host: bool = False) -> bool:
    """Let all threads share a few heaps, and keep what is large out of them, so that it goes back when it is freed.

    Each run of a page has a thread of its own, and glibc spreads threads over eight heaps for each processor, which
    stay, full of holes: a class of sixty left 160 MB behind, with two heaps 50 MB. What is free at the end of a heap
    stays there up to KEPT_BYTES: a step of training frees some megabytes and takes them again. Fetched anew from the
    system each time, a step of thirty runs together took nearly three times as long. A `small_host` keeps less: ten
    visitors of all pages needed 60 MB less at most. To be called before there are many threads. False where the C
    library is another.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, TypeError, AttributeError):  # Windows has no library without a name; others know no mallopt
        return False
    wishes = ON_A_SMALL_HOST if small_host else (HEAPS, LARGE_BYTES, KEPT_BYTES)
    options = (M_ARENA_MAX, M_MMAP_THRESHOLD, M_TRIM_THRESHOLD)
    return all(mallopt(*wish) == 1 for wish in zip(options, wishes, strict=True))
