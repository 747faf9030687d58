"""Whether a model fits the memory of the machine at hand."""

from pathlib import Path

from attention_core.base.errors import TechnicalError

MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")
GIGABYTE = 1e9


def check_room(n_bytes: int, room: int | None = None) -> None:
    """Raise InputError where `n_bytes` are more than `room`, by default more than the memory that is free now."""
    room = free_memory() if room is None else room
    if room is not None and n_bytes > room:
        raise TechnicalError(
            "the weights of a model fit the free memory, {room} GB, but these take {needed} GB; take a smaller model",
            room=round(room / GIGABYTE, 1),
            needed=round(n_bytes / GIGABYTE, 1),
        )


def free_memory() -> int | None:
    """Return how many bytes are free, as Linux says of the machine and of the container; None on other systems."""
    if not MEMINFO.exists():
        return None
    lines = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines())
    return min([int(lines["MemAvailable"].split()[0]) * 1024, *left_in_container()])


def left_in_container() -> list[int]:
    """Return the bytes that the memory limit of a container leaves, in a list; an empty list without a limit."""
    limit, taken = CGROUP / "memory.max", CGROUP / "memory.current"
    if not (limit.exists() and taken.exists()) or limit.read_text().strip() == "max":
        return []
    return [max(0, int(limit.read_text()) - int(taken.read_text()))]
