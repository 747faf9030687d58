"""Three teachers have their largest files made at once, and a lesson goes on beside them: `python benchmarks/exports.py`.

On the entry of Community Cloud, the smallest host. Each file has all questions for a learning platform in 20 versions.
Somebody moves a slider of a lesson, before and meanwhile: the ratio is that of one run. Ends with 1 where a file does not
come, or where a goal is missed.
"""

import argparse
import asyncio
import statistics
import sys
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from client import Session  # noqa: E402
from report import judged, options_of, say  # noqa: E402
from servers import OURS, Server  # noqa: E402

ENTRY = "deploy/community_cloud/streamlit_app.py"
MOST_MEMORY, MOST_SLOWER = 600, 1.5  # megabytes; times the lesson alone
PATIENCE_SECONDS, LOOK_SECONDS, PAUSE_SECONDS = 900.0, 0.05, 0.15
BEFORE = ("softmax", "read", "generate")  # what three visitors have seen
LESSON, CONTROL, VALUES = "softmax", "temperature", (0.5, 1.5)


def main() -> None:
    """Print the table, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--teachers", type=int, default=3)
    parser.add_argument("--versions", type=int, default=20)
    parser.add_argument("--presses", type=int, default=150, help="of the slider, before anything is made")
    options = options_of(parser, teachers=1, versions=1, presses=2)
    with Server(OURS, script=ENTRY) as server:
        met = asyncio.run(measure(server, options.teachers, options.versions, options.presses))
    if not met and not options.once:
        sys.exit(1)


async def measure(server: Server, teachers: int, versions: int, presses: int) -> bool:
    """The lesson alone, and beside the files. True where both goals are met."""
    say("three visitors look around")
    await asyncio.gather(*(look_around(server.port, number) for number in range(3)))
    peak, before = [0.0], server.memory()
    watching = asyncio.create_task(watch(server, peak))
    async with Session(server.port) as student:
        await student.open(LESSON)
        say("a lesson alone")
        alone = [await move(student, number) for number in range(presses)]
        say("a lesson beside the files")
        begun = time.perf_counter()
        making = asyncio.gather(*(file_made(server.port, seed, versions) for seed in range(1, teachers + 1)))
        beside: list[float] = []
        while not making.done():
            beside.append(await move(student, len(beside)))
        sizes = await making
    watching.cancel()
    seconds = time.perf_counter() - begun
    p95 = [1000 * percentile(found, 95) for found in (alone, beside)]
    slower = p95[1] / p95[0]
    print("| what | |\n|---|--:|")
    print(f"| files of {versions} versions, and their megabytes | {', '.join(f'{size / 1e6:.1f}' for size in sizes)} |")
    print(f"| seconds until the last has come | {seconds:.0f} |")
    print(f"| megabytes of the server before | {before:.0f} |")
    print(f"| at most meanwhile | {peak[0]:.0f}, {judged(peak[0] <= MOST_MEMORY, f'≤ {MOST_MEMORY}')} |")
    print(
        f"| a lesson: p50 alone, and beside, ms | {' and '.join(f'{1000 * percentile(x, 50):.0f}' for x in (alone, beside))} |"
    )
    print(f"| a lesson: p95 alone, and beside, ms | {p95[0]:.0f} and {p95[1]:.0f} |")
    print(f"| ratio | {slower:.2f}, {judged(slower <= MOST_SLOWER, f'≤ {MOST_SLOWER}')} |")
    return peak[0] <= MOST_MEMORY and slower <= MOST_SLOWER


def percentile(found: list[float], percent: int) -> float:
    """A percentile of some numbers."""
    return statistics.quantiles(found, n=100, method="inclusive")[percent - 1] if len(found) > 1 else found[0]


async def look_around(port: int, number: int) -> None:
    """Open some pages with a sentence of one's own."""
    for page in BEFORE:
        async with Session(port) as visitor:
            await visitor.open(page, f"seed={number}&says_language=the+cat+{number}")


async def watch(server: Server, peak: list[float]) -> None:
    """Look at the memory until it is called off."""
    while True:
        peak[0] = max(peak[0], server.memory())
        await asyncio.sleep(LOOK_SECONDS)


async def move(student: Session, number: int) -> float:
    """Move the slider: seconds until the page is drawn."""
    seconds = await student.set(CONTROL, VALUES[number % 2])
    await asyncio.sleep(PAUSE_SECONDS)
    return seconds


async def file_made(port: int, seed: int, versions: int, questions: int = 6) -> int:
    """Have a file made in a visit of one's own, and fetch it: its bytes."""
    async with Session(port, live=True) as teacher:
        link = f"paper=platform&platform_questions={questions}&platform_versions={versions}&platform_seed={seed}"
        await teacher.open("take_home", link)
        return await save_file(teacher)


async def save_file(teacher: Session) -> int:
    """Press the button of the page, wait for the link, and fetch the file: its bytes."""
    await teacher.click("export_make")
    begun = time.perf_counter()
    while not teacher.elements("link_button"):
        if time.perf_counter() - begun > PATIENCE_SECONDS or teacher.exceptions:
            raise TimeoutError(f"no file was made in {PATIENCE_SECONDS:.0f} s {teacher.exceptions}")
        await asyncio.sleep(LOOK_SECONDS)
    (link,) = teacher.elements("link_button")
    return await asyncio.to_thread(fetched, f"http://127.0.0.1:{teacher.port}/{link.proto.url.removeprefix('./')}")


def fetched(url: str) -> int:
    """How many bytes an address answers with."""
    with urllib.request.urlopen(url, timeout=60) as answer:
        return sum(len(part) for part in iter(lambda: answer.read(2**16), b""))


if __name__ == "__main__":
    main()
