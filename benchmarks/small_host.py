"""What ten visitors need of a small host: `python benchmarks/small_host.py` prints how memory grows, and its peak.

The entry of Community Cloud, the real model in few bits. Each visitor goes through all pages with the real head,
answers what is asked, and trains; memory is looked at all the time, and the page that was opened last is named at each
new peak.
"""

import argparse
import asyncio
import contextlib
import sys
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
    options = parser.parse_args()
    with Server(OURS, script=ENTRY) as server:
        asyncio.run(measure(server, options.visitors))
