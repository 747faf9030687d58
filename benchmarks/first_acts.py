"""The first answer and the first slider on every page, beside the page's own rerun: `python benchmarks/first_acts.py`.

A fresh server, and some visitors for each page, who have been nowhere else. The first of them meets what the server
has not computed for anybody yet, and is told apart. Only the ratios within one run mean something.
"""

import argparse
import asyncio
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from client import Session, Shown  # noqa: E402
from load import SETTLE_SECONDS  # noqa: E402
from report import judged, options_of  # noqa: E402
from servers import OURS, Server  # noqa: E402

VISITORS, RERUNS, MOST = 5, 5, 1.5


async def acts(server: Server, page: str, reruns: int) -> tuple[float, float | None, float | None]:
    """Seconds of a rerun of this page, of the first answer, and of the first slider, where it has them."""
    async with Session(server.port) as visitor:
        await visitor.open(page)
        await visitor.settle()
        cards = [shown.id for shown in visitor.elements("button") if "_card_" in shown.id]
        answer = await visitor.click(cards[0]) if cards else None
        sliders = [shown for shown in visitor.elements() if shown.kind in ("slider", "select_slider")]
        slider = await move(visitor, sliders[0]) if sliders else None
        rerun = statistics.median([await visitor.ask(visitor.message()) for _ in range(reruns)])
    return rerun, answer, slider


async def move(visitor: Session, slider: Shown) -> float:
    """Move it to its other end."""
    proto = slider.proto
    if slider.kind == "select_slider":
        return await visitor.set(slider.id, proto.options[0 if proto.default[0] else -1])
    return await visitor.set(slider.id, proto.min if proto.default[0] != proto.min else proto.max)


async def measure(server: Server, visitors: int, reruns: int) -> None:
    """Print a line for each page."""
    async with Session(server.port) as visitor:
        await visitor.open()
        pages = visitor.pages
    await asyncio.sleep(2 * SETTLE_SECONDS)
    print(
        "| page | its rerun, ms | first answer ÷ rerun (first visitor) | first slider ÷ rerun (first visitor) | goal |"
    )
    print("|---|--:|--:|--:|---|")
    for page in pages:
        visits = [await acts(server, page, reruns) for _ in range(visitors)]
        rerun, *found = (None if None in each else statistics.median(each[1:]) for each in zip(*visits, strict=True))
        ratios = [act and act / rerun for act in found]
        firsts = [act and act / rerun for act in visits[0][1:]]
        said = " | ".join(
            "–" if ratio is None else f"{ratio:.2f} ({first:.1f})" for ratio, first in zip(ratios, firsts, strict=True)
        )
        goal = judged(max(filter(None, ratios), default=0) <= MOST, f"≤ {MOST}")
        print(f"| {page or 'home'} | {1000 * rerun:.0f} | {said} | {goal} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visitors", type=int, default=VISITORS, help="of each page, two at least")
    parser.add_argument("--reruns", type=int, default=RERUNS, help="by each of them")
    options = options_of(parser, visitors=2, reruns=1)
    with Server(OURS) as server:
        asyncio.run(measure(server, options.visitors, options.reruns))
