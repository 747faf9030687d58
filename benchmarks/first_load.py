"""What a new visitor's browser fetches, and how long it takes: `python benchmarks/first_load.py`.

The same app two ways in one run: as Streamlit serves it, and with its scripts packed. On this machine's
own wire, and on one such as a classroom shares.
Warm: a server that has painted the page before. Cold: from the moment it answers.
"""

import argparse
import os
import statistics
import sys
import time
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from browser import FIRST_FIGURE, NEXT_FRAME, PAINTED, PATIENCE_MS, SIZE, chromium  # noqa: E402
from playwright.sync_api import Browser  # noqa: E402
from report import options_of  # noqa: E402
from servers import OURS, Server  # noqa: E402

WAYS = {"plain": "as Streamlit serves it", "packed": "packed"}
WIRES = {"this machine": None, "20 Mbit/s, 40 ms": (20e6 / 8, 40)}


@dataclass(frozen=True)
class Load:
    """One visit with an empty cache."""

    seconds: float
    megabytes: float
    requests: int


def main() -> None:
    """Measure every way on every wire, the ways in turn, and print the middle values."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7, help="warm visits for each way and wire")
    parser.add_argument("--starts", type=int, default=3, help="cold visits for each way")
    options = options_of(parser, rounds=1, starts=1)
    loads: dict[tuple[str, str, str], list[Load]] = defaultdict(list)
    with chromium() as browser, ExitStack() as open_servers:
        for _ in range(options.starts):
            open_servers.close()
            servers = {}
            for way in WAYS:
                os.environ["FIRST_LOAD"] = way
                servers[way] = open_servers.enter_context(Server(OURS, script="benchmarks/first_load_server.py"))
                loads["cold", "this machine", way].append(load(browser, servers[way], None))
        for _ in range(options.rounds):
            for wire, limits in WIRES.items():
                for way in WAYS:
                    loads["warm", wire, way].append(load(browser, servers[way], limits))
    print_table(loads)


def load(browser: Browser, server: Server, limits: tuple[float, float] | None) -> Load:
    """From navigation to the painted first screen, and all that came over the wire until then."""
    context = browser.new_context(viewport=SIZE)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    chrome = context.new_cdp_session(page)
    chrome.send("Network.enable")
    if limits is not None:
        down, delay = limits
        line = {"offline": False, "latency": delay, "downloadThroughput": down, "uploadThroughput": down}
        chrome.send("Network.emulateNetworkConditions", line)
    sizes: list[float] = []
    chrome.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    started = time.perf_counter()
    page.goto(server.url, wait_until="commit")
    page.wait_for_function(PAINTED, arg=FIRST_FIGURE)
    page.evaluate(NEXT_FRAME)
    seconds = time.perf_counter() - started
    context.close()
    return Load(seconds, sum(sizes) / 1e6, len(sizes))


def print_table(loads: dict[tuple[str, str, str], list[Load]]) -> None:
    """A row for each way; its ratio is to the plain way on the same wire."""
    print("| server | wire | way | MB | requests | painted, s | ÷ plain |\n|---|---|---|--:|--:|--:|--:|")
    ways = list(WAYS)
    for state, wire, way in sorted(loads, key=lambda key: (key[0], key[1], ways.index(key[2]))):
        measured = loads[state, wire, way]
        middle = {
            name: statistics.median(getattr(one, name) for one in measured)
            for name in ("seconds", "megabytes", "requests")
        }
        plain = statistics.median(one.seconds for one in loads[state, wire, "plain"])
        print(
            f"| {state} | {wire} | {WAYS[way]} | {middle['megabytes']:.2f} | {middle['requests']:.0f} "
            f"| {middle['seconds']:.2f} | {middle['seconds'] / plain:.2f} |"
        )


if __name__ == "__main__":
    main()
