"""What ten visitors need of a small host: `python benchmarks/small_host.py` prints how memory grows, and its peak.

The entry of Community Cloud, the real model in few bits. Each visitor goes through all pages with the real head,
answers what is asked, and trains; memory is looked at all the time, and the page that was opened last is named at each
new peak. With `--limit` the kernel holds the server to the memory of that host, and ends it where it needs more (Linux,
as root).
"""

import argparse
import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from client import Session  # noqa: E402
from load import SETTLE_SECONDS  # noqa: E402
from report import judged  # noqa: E402
from servers import OURS, Server  # noqa: E402

ENTRY, LEAST_MEMORY = "deploy/community_cloud/streamlit_app.py", 690
REAL_HEAD = "example=language&says_language=The cat sat on mat {} because it was"  # each visitor has another sentence
LOOK_SECONDS, NEW_PEAK = 0.05, 5  # megabytes from the last peak that was told
CGROUPS = Path("/sys/fs/cgroup")


@contextlib.contextmanager
def limited(megabytes: int) -> Iterator[Callable[[], object]]:
    """A group of processes that have so much memory together; what is called in one of them puts it there."""
    old = (CGROUPS / "memory").is_dir()  # the first version of groups, with a tree for each resource
    group = (CGROUPS / "memory" if old else CGROUPS) / "attention-lab-small-host"
    group.mkdir()
    try:
        (group / ("memory.limit_in_bytes" if old else "memory.max")).write_text(str(megabytes * 2**20))
        Path("/proc/sys/vm/drop_caches").write_text("1")  # files that others have read would count as theirs
        yield lambda: (group / "cgroup.procs").write_text(str(os.getpid()))
        peak = int((group / ("memory.max_usage_in_bytes" if old else "memory.peak")).read_text())
        print(f"Under the limit of {megabytes} MB, files that were read included: {peak / 2**20:.0f} MB at most.")
    finally:
        group.rmdir()


async def look_through(visitor: Session, number: int, here: list[str]) -> None:
    """All pages, one after the other; on each the first card, on the page of the training Start."""
    await visitor.open("", REAL_HEAD.format(number))
    for page in visitor.pages:
        here[0] = page
        await visitor.goto(page)
        with contextlib.suppress(LookupError):
            await visitor.click(f"{page}_card_A")
        if page == "train":
            await visitor.set("train_seed", number)
            await visitor.click("start")
        await visitor.settle()


async def watch(server: Server, here: list[str]) -> float:
    """Look at the memory until it is called off, and tell each new peak."""
    peak = told = 0.0
    try:
        while True:
            peak = max(peak, server.memory())
            if peak > told + NEW_PEAK:
                told = peak
                print(f"{peak:.0f} MB, at {here[0] or 'home'}", flush=True)
            await asyncio.sleep(LOOK_SECONDS)
    except asyncio.CancelledError:
        return peak


async def measure(server: Server, visitors: int) -> None:
    """The visits at once; the peak and the end."""
    here = [""]
    watching = asyncio.create_task(watch(server, here))
    sessions = [Session(server.port, live=True) for _ in range(visitors)]
    try:
        await asyncio.gather(*(look_through(*visit, here) for visit in zip(sessions, range(visitors), strict=True)))
        await asyncio.sleep(SETTLE_SECONDS)
        end = server.memory()
    finally:
        await asyncio.gather(*(session.close() for session in sessions))
        watching.cancel()
    peak, own = await watching, server.resident().own
    for when, megabytes in (("at the end", end), ("at most", peak)):
        print(
            f"{visitors} visitors, {when}: {megabytes:.0f} MB, {judged(megabytes <= LEAST_MEMORY, f'≤ {LEAST_MEMORY}')}"
        )
    print(f"Of its own at the end: {own:.0f} MB.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visitors", type=int, default=10)
    parser.add_argument("--limit", action="store_true", help="held to the memory of the host by the kernel")
    options = parser.parse_args()
    with contextlib.ExitStack() as held:
        begin = held.enter_context(limited(LEAST_MEMORY)) if options.limit else None
        server = held.enter_context(Server(OURS, script=ENTRY, begin=begin))
        asyncio.run(measure(server, options.visitors))
