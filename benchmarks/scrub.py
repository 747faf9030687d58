"""A class drags numbers: `python benchmarks/scrub.py` prints how often each sees what follows, and what a reader feels.

Thirty hands hold a number of X on the lesson on queries, keys and values. As the page does, each asks for its next
value once the last one is answered, at most twelve times a second. Somebody else presses on another lesson meanwhile.
"""

import argparse
import asyncio
import itertools
import json
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import numpy as np  # noqa: E402
from client import Session  # noqa: E402
from report import judged, options_of  # noqa: E402
from servers import OURS, Server  # noqa: E402
from streamlit.proto.WidgetStates_pb2 import WidgetState  # noqa: E402

from tests.figures import TABLES_KIND  # noqa: E402

HANDS, SECONDS, EACH_SECONDS, PAUSE = 30, 20.0, 1 / 12, 0.4
EXAMPLES = {"a small head": "example=journey", "a real head": "example=language"}


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hands", type=int, default=HANDS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    options = options_of(parser, hands=2, seconds=1.0)
    print("| what | measured | beside | goal |\n|---|--:|--:|---|")
    for name, example in EXAMPLES.items():
        with Server(OURS) as server:
            asyncio.run(measure(server.port, name, f"{example}&cover=false", options.hands, options.seconds))


async def measure(port: int, name: str, example: str, hands: int, seconds: float) -> None:
    """One hand alone; a reader alone; then both, with all hands."""
    async with Session(port) as reader:
        await reader.open("softmax", example)
        alone = await hold_together(port, example, 1, seconds)
        quiet = await read(reader, seconds)
        reading = asyncio.create_task(read(reader, seconds))
        each = await hold_together(port, example, hands, seconds)
        beside = await reading
    late, before = (1000 * float(np.percentile(waits, 95)) for waits in (beside, quiet))
    often, least = alone[0] / seconds, min(each) / seconds
    slowed = judged(late <= 1.5 * before, "≤ 1.5 times")
    print(f"| {name}, one hand: updates a second | {often:.1f} | | {judged(often >= 10, '≥ 10')} |")
    print(f"| {name}, {hands} hands: updates a second of the slowest | {least:.1f} | | {judged(least >= 1, '≥ 1')} |")
    print(f"| {name}, a lesson meanwhile, p95, ms (beside: alone) | {late:.0f} | {before:.0f} | {slowed} |", flush=True)


async def hold_together(port: int, example: str, hands: int, seconds: float) -> list[int]:
    """How many values of each hand were answered."""
    sessions = [Session(port) for _ in range(hands)]
    for one in sessions:
        await one.open("projections", example)
    counts = await asyncio.gather(*(hold(one, seconds) for one in sessions))
    for one in sessions:
        assert not one.exceptions, one.exceptions
        await one.close()
    return list(counts)


async def hold(session: Session, seconds: float) -> int:
    """Drag one number up and down, one value after the other."""
    (figure,) = (shown for shown in session.elements(TABLES_KIND) if "projections_figure" in shown.id)
    began = time.perf_counter()
    for number in itertools.count():
        since = time.perf_counter()
        if since - began > seconds:
            return number
        value = {"cell": ["x", 1, 1], "value": number % 97 / 100, "done": False, "asked": number}
        press = WidgetState(id=f"$$STREAMLIT_INTERNAL_KEY_{figure.id}__events")
        press.json_trigger_value = json.dumps([{"event": "by_hand", "value": value}])
        message = session.message()
        message.rerun_script.widget_states.widgets.append(press)
        await session.ask(message)
        await asyncio.sleep(max(0.0, EACH_SECONDS - (time.perf_counter() - since)))
    return 0


async def read(reader: Session, seconds: float) -> list[float]:
    """Move a slider again and again; how long each answer takes."""
    waits, began = [], time.perf_counter()
    for number in itertools.count():
        if time.perf_counter() - began > seconds:
            return waits
        waits.append(await reader.set("temperature", (0.5, 1.0, 2.0)[number % 3]))
        await asyncio.sleep(PAUSE)
    return waits


if __name__ == "__main__":
    main()
