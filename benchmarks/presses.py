"""What one press costs on every page: `python benchmarks/presses.py` prints a table, the dearest page first.

One visitor, alone with the server. On each page a control is set to another value, again and again, each time a control
and a value drawn by the seed: so two versions of the app are asked for the same. Processor time is that of the server,
and of its worker, which trains a model where a control sets its size; messages and bytes are what the browser gets for
one press.
"""

import argparse
import asyncio
import random
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from client import Session  # noqa: E402
from report import options_of, say  # noqa: E402
from servers import OURS, Server  # noqa: E402
from simulated_class import movable, some_value  # noqa: E402

WARM_SECONDS = 8.0  # after the first page a server gets ready what the next ones need


class Cost(NamedTuple):
    """Of one press on a page: milliseconds that the server and its worker compute, and until the answer comes; what is
    sent.
    """

    server: float
    worker: float
    wait: float
    messages: float
    kilobytes: float


def main() -> None:
    """Measure all pages, and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presses", type=int, default=24, help="on each page")
    parser.add_argument("--seed", type=int, default=0)
    options = options_of(parser, presses=1)
    with Server(OURS) as server:
        costs = asyncio.run(costs_of_pages(server, options.presses, options.seed))
    print("| page | server ms | worker ms | wait ms | messages | kB |\n|---|--:|--:|--:|--:|--:|")
    for page, cost in sorted(costs.items(), key=lambda named: -named[1].server):
        print(f"| {page or 'overview'} |", *(f"{number:.0f} |" for number in cost))
    means = (statistics.mean(numbers) for numbers in zip(*costs.values(), strict=True))
    print(f"| mean of {len(costs)} pages |", *(f"{mean:.0f} |" for mean in means))


async def costs_of_pages(server: Server, presses: int, seed: int) -> dict[str, Cost]:
    """What a press costs on each page on which something can be set."""
    costs = {}
    async with Session(server.port, live=True) as visitor:
        await visitor.open()
        await visitor.settle(WARM_SECONDS)
        for page in visitor.pages:
            await visitor.goto(page)
            await visitor.settle()
            if movable(visitor):
                costs[page] = await cost_of_press(server, visitor, presses, random.Random(f"{seed} {page}"))
                say(f"{page or 'overview'}: {costs[page].server:.0f} ms")
    return costs


async def cost_of_press(server: Server, visitor: Session, presses: int, chance: random.Random) -> Cost:
    """The mean of so many presses on the page that is open."""
    waits, began, both_began = [], server.own_cpu_seconds(), server.cpu_seconds()
    messages, n_bytes = visitor.n_messages, visitor.n_bytes
    for _ in range(presses):
        widget = chance.choice(movable(visitor))
        waits.append(await visitor.set(widget.id, some_value(widget, chance)))
        await visitor.settle(0.05)
    here, both = server.own_cpu_seconds() - began, server.cpu_seconds() - both_began
    sent = visitor.n_messages - messages, (visitor.n_bytes - n_bytes) / 1000
    times = 1000 * here / presses, 1000 * (both - here) / presses, 1000 * statistics.median(waits)
    return Cost(*times, *(number / presses for number in sent))


if __name__ == "__main__":
    main()
