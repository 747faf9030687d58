"""This code beside another checkout of it, in one run: `python benchmarks/beside.py ../other-checkout`.

Launch, key press to repainted figure, and a rerun as the server sees it, always in turns. Without another checkout it
stands beside itself: what the ratios then differ from 1 is chance.
"""

import argparse
import asyncio
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from browser import (  # noqa: E402
    FIGURE,
    WARM_UP,
    Launch,
    Pressed,
    chromium,
    launch_once,
    measure_pages,
    open_page,
    typical,
)
from client import Session  # noqa: E402
from report import options_of, say  # noqa: E402
from servers import OURS, Server  # noqa: E402

# Pages with a slider that changes every number, and the control to move.
RERUNS = {
    "overview": ("?example=journey&picture=steps", "d_k"),
    "overview, 12 tokens": ("?example=sentence&text=a+b+c+d+e+f+g+h+i+j+k+l&picture=steps", "d_k"),
    "softmax": ("softmax?example=journey", "d_k"),
    "heads, 16 heads": ("heads?example=journey&mh_d_model=16&mh_heads=16", "seed"),
    "positions": ("positions?example=journey", "d_v"),
}
VALUES = {"d_k": (2, 3), "d_v": (2, 3), "seed": (7, 8)}


def main() -> None:
    """Print a table of both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, nargs="?", default=OURS, help="the folder of the other checkout")
    parser.add_argument("--presses", type=int, default=30)
    parser.add_argument("--launches", type=int, default=3)
    options = options_of(parser, presses=1, launches=1)
    folders = {"this": OURS, "other": options.other.resolve()}
    print("| what | this | other | ratio |\n|---|--:|--:|--:|", flush=True)
    say("launching")
    for what, pair in launches(folders, options.launches).items():
        print_row(what, *pair)
    with Server(folders["this"]) as this, Server(folders["other"]) as other:
        say("pressing keys")
        with chromium() as browser:
            pages = {
                name: Pressed(open_page(browser, f"{server.url}/?picture=steps&example=journey", FIGURE), FIGURE)
                for name, server in (("this", this), ("other", other))
            }
            keys = ["ArrowRight" if n % 10 < 5 else "ArrowLeft" for n in range(WARM_UP + options.presses)]
            pressed = measure_pages(pages, keys)
        for percent in (50, 95):
            pair = (pressed.percentile(name, percent) for name in ("this", "other"))
            print_row(f"key press → repainted, p{percent}, ms", *pair)
        say("rerunning")
        for what, (page, control) in RERUNS.items():
            print_row(f"rerun, {what}: p50, ms", *asyncio.run(reruns(this, other, page, control, 3 * options.presses)))


def launches(folders: dict[str, Path], times: int) -> dict[str, tuple[float, float]]:
    """Server answers, overview painted, memory: this and the other, launched in turns; the first time is left out."""
    found: dict[str, list[Launch]] = {name: [] for name in folders}
    with chromium() as browser:
        for _ in range(times + 1):
            for name, folder in folders.items():
                found[name].append(launch_once(browser, folder))
    this, other = (typical(found[name][1:]) for name in ("this", "other"))
    return {
        "launch → server answers, s": (this.ready, other.ready),
        "launch → overview painted, s": (this.painted, other.painted),
        "memory after the first session, MB": (this.memory, other.memory),
    }


async def reruns(this: Server, other: Server, page: str, control: str, times: int) -> list[float]:
    """The middle time, in milliseconds, from a control that moved to the end of the run, in turns."""
    found: list[list[float]] = [[], []]
    path, _, query = page.partition("?")
    async with Session(this.port) as mine, Session(other.port) as its:
        for session in (mine, its):
            await session.open(path, query)
        for number in range(WARM_UP + times):
            both = list(zip((mine, its), found, strict=True))
            for session, seconds in both if number % 4 < 2 else reversed(both):
                seconds.append(await session.set(control, VALUES[control][number % 2]))
    return [1000 * statistics.median(seconds[WARM_UP:]) for seconds in found]


def print_row(what: str, this: float, other: float) -> None:
    """A line of the table, as soon as it is known."""
    digits = 1 if this < 100 else 0
    print(f"| {what} | {this:.{digits}f} | {other:.{digits}f} | {this / other:.2f} |", flush=True)


if __name__ == "__main__":
    main()
