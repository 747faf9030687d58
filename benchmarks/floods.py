"""A visitor's slider while others ask for more than anybody can: `python benchmarks/floods.py`.

One socket with 300 and with 1,500 reruns a second; and twenty with 15 a second each beside twenty visitors who press
again as soon as the app has answered. The visitor is a process of its own.
"""

import argparse
import asyncio
import contextlib
import math
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from client import Session  # noqa: E402
from report import judged, options_of, say  # noqa: E402
from servers import OURS, Server  # noqa: E402
from websockets.exceptions import ConnectionClosed  # noqa: E402

PAGE, CONTROL = "softmax", "temperature"
MOST_TIMES, MOST_OF_MANY, SETTLE_SECONDS, PAUSE_SECONDS = 2.0, 1.2, 2.0, 0.15
MANY, EACH_SECOND = 20, 15


def main() -> None:
    """Print a table: what a visitor waits without a flood and in it."""
    if "--visitor" in sys.argv:
        asyncio.run(press_slider(int(sys.argv[-1])))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=15.0, help="for which each flood lasts")
    parser.add_argument("--rates", type=int, nargs="+", default=[300, 1500])
    options = options_of(parser, seconds=2.0, rates=[100])
    print("| what | p95, ms | ratio | well again after, s |\n|---|--:|--:|--:|", flush=True)
    with Server(OURS) as server, visitor(server.port) as pressed:
        quiet = during(pressed, lambda: asyncio.run(asyncio.sleep(options.seconds)))
        row("nothing else", quiet, 1.0)
        for rate in options.rates:
            found = during(pressed, lambda rate=rate: asyncio.run(flood(server.port, rate, options.seconds)))
            row(f"one socket, {rate} reruns a second", found, found / quiet, well_again(pressed, quiet))
            print(judged(found <= MOST_TIMES * quiet, f"at most {MOST_TIMES:g} times as long"), flush=True)
        ordinary = during(pressed, lambda: asyncio.run(many(server.port, press_at_once, options.seconds)))
        row(f"{MANY} visitors who press as fast as it answers", ordinary, ordinary / quiet)
        found = during(pressed, lambda: asyncio.run(many(server.port, press_blindly, options.seconds)))
        row(f"{MANY} sockets, {EACH_SECOND} reruns a second each", found, found / quiet, well_again(pressed, quiet))
        print(judged(found <= MOST_OF_MANY * ordinary, f"at most {MOST_OF_MANY:g} times what those visitors cost"))


def row(what: str, milliseconds: float, ratio: float, after: float | None = None) -> None:
    """A line of the table."""
    print(f"| {what} | {milliseconds:.0f} | {ratio:.2f} | {'' if after is None else f'{after:.1f}'} |", flush=True)


# The visitor.


async def press_slider(port: int) -> None:
    """Move a slider again and again, and print when, and after how many seconds the page was new."""
    async with Session(port) as session:
        await session.open(PAGE)
        for number in range(10**9):
            began = time.time()
            seconds = await session.set(CONTROL, round(0.1 + number % 49 * 0.1, 1))
            print(began, seconds, flush=True)
            await asyncio.sleep(PAUSE_SECONDS)


@contextlib.contextmanager
def visitor(port: int) -> Iterator[list[tuple[float, float]]]:
    """The moments and seconds of a visitor's presses, as they come."""
    pressed: list[tuple[float, float]] = []
    process = subprocess.Popen(
        [sys.executable, __file__, "--visitor", str(port)], stdout=subprocess.PIPE, text=True, bufsize=1
    )

    def read() -> None:
        for line in process.stdout or ():
            began, seconds = map(float, line.split())
            pressed.append((began, seconds))

    threading.Thread(target=read, daemon=True).start()
    while len(pressed) < 5:
        time.sleep(0.1)
    try:
        yield pressed
    finally:
        process.kill()
        process.wait()


def during(pressed: list[tuple[float, float]], act: Callable[[], object]) -> float:
    """The 95th percentile of what the visitor waits meanwhile, in milliseconds."""
    began = time.time()
    say("measuring")
    act()
    ended = time.time()
    while pressed[-1][0] < ended:  # what was pressed in a flood may be answered after it
        time.sleep(0.1)
    seconds = sorted(s for moment, s in pressed if began <= moment <= ended)
    return 1000 * seconds[math.ceil(0.95 * len(seconds)) - 1]


def well_again(pressed: list[tuple[float, float]], quiet: float) -> float:
    """After how many seconds three presses in a row take at most twice as long as without a flood."""
    ended, n = time.time(), len(pressed)
    while time.time() - ended < 60:
        last = pressed[n:][-3:]
        if len(last) == 3 and all(1000 * seconds <= MOST_TIMES * quiet for _, seconds in last):
            return max(0.0, last[0][0] - ended)
        time.sleep(0.05)
    return math.inf


# The floods.


async def flood(port: int, rate: float, seconds: float) -> None:
    """One socket that asks so often, whatever the answer."""
    async with Session(port) as session:
        await session.open(PAGE)
        await press_blindly(session, time.time() + seconds, rate)
        await session.cut()


async def press_blindly(session: Session, until: float, rate: float = EACH_SECOND) -> None:
    """Ask for the page again and again, without waiting for it."""
    began, sent, message = time.time(), 0, session.message().SerializeToString()
    with contextlib.suppress(ConnectionClosed, TimeoutError):  # the server no longer reads
        while (now := time.time()) < until:
            while sent < (now - began) * rate and time.time() < until:
                await asyncio.wait_for(session.send(message), max(0.05, until - time.time()))
                sent += 1
            await asyncio.sleep(0.01)


async def press_at_once(session: Session, until: float) -> None:
    """Move the slider as soon as the page is new."""
    number = 0
    while time.time() < until:
        number += 1
        await session.set(CONTROL, round(0.1 + number % 49 * 0.1, 1))


async def many(port: int, press: Callable[[Session, float], Awaitable[None]], seconds: float) -> None:
    """So many sockets at the same time."""
    async with contextlib.AsyncExitStack() as stack:
        sessions = [await stack.enter_async_context(Session(port)) for _ in range(MANY)]
        for session in sessions:
            await session.open(PAGE)
        until = time.time() + seconds
        await asyncio.gather(*(press(session, until) for session in sessions), return_exceptions=True)


if __name__ == "__main__":
    main()
