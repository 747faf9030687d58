"""What writes large files: one process at a time, and in a sentence where there is no room."""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock, Timeout

from attention_core.base.errors import Phrase
from models.folders import CACHE

MEGABYTE = 1_000_000
SPARE_BYTES = 20 * MEGABYTE
FULL = (errno.ENOSPC, errno.EDQUOT)


class DiskError(Phrase, Exception):
    """A file cannot be written: why, and what helps."""


class one_process:
    """A lock of all processes of a machine, which the system opens when one dies; `wait` is called while it is shut."""

    def __init__(self, file: Path, check: Callable[[], None] = lambda: None, wait: Callable[[], None] = lambda: None):
        self.lock, self.check, self.wait = FileLock(file), check, wait

    def __enter__(self) -> None:
        while True:
            self.check()
            try:
                self.lock.acquire(timeout=0.2)
                return
            except Timeout:
                self.wait()

    def __exit__(self, *_: object) -> None:
        self.lock.release()


def check_disk(n_bytes: int, folder: Path) -> None:
    """Raise DiskError before anything is written that will not fit."""
    if shutil.disk_usage(folder).free < n_bytes + SPARE_BYTES:
        raise too_little_room(n_bytes, folder)


def not_written(error: OSError, n_bytes: int, folder: Path) -> DiskError:
    """What is said of a disk that became full while so many bytes were written, and of a folder that cannot be used."""
    if error.errno in FULL:
        return too_little_room(n_bytes, folder)
    return DiskError(
        "{folder} cannot be used ({reason}); the variable {setting} names another folder",
        folder=str(folder),
        reason=error.strerror or str(error),
        setting=CACHE,
    )


def too_little_room(n_bytes: int, folder: Path) -> DiskError:
    """How much room there must be, and how another disk is named."""
    return DiskError(
        "there is too little space on the disk: {n_megabytes} MB is needed in {folder}; to use another "
        "folder, set the environment variable {setting}",
        n_megabytes=-(-(n_bytes + SPARE_BYTES) // MEGABYTE),
        folder=str(folder),
        setting=CACHE,
    )


def move_into_place(new: Path, file: Path) -> None:
    """Give a whole file its name, once it is on the disk: no reader ever sees half of it."""
    with new.open("rb+") as written:
        os.fsync(written.fileno())
    os.replace(new, file)
