"""Three teachers have their largest files made at once, and a lesson goes on: `python benchmarks/exports.py`.

On the entry of Community Cloud, the smallest host. Each file has all questions for a learning platform in 20 versions.
Somebody moves a slider of a lesson, before and meanwhile: the ratio is that of one run. Ends with 1 where a file does
not come, or where a goal is missed.
"""

import argparse
import asyncio
import sys
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from client import Session  # noqa: E402
from report import judged, options_of, say  # noqa: E402
from servers import OURS, Server  # noqa: E402
from small_host import ENTRY  # noqa: E402

MOST_MEMORY, MOST_SLOWER = 600, 1.5  # megabytes; times the lesson alone
WATCH_SECONDS, PAUSE_SECONDS = 0.05, 0.15
BEFORE = ("softmax", "read", "generate")  # what three visitors have seen
LESSON, CONTROL, VALUES = "softmax", "temperature", (0.5, 1.5)
FILE = "paper=platform&platform_questions=6&platform_versions={}&platform_seed={}"


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
    before, peak = server.memory(), [0.0]
    watching = asyncio.create_task(watch(server, peak))
    async with Session(server.port) as student:
        await student.open(LESSON)
        say("a lesson alone")
        alone = [await move(student, number) for number in range(presses)]
        say("a lesson beside the files")
        begun, beside = time.perf_counter(), []
        making = asyncio.gather(*(file_made(server.port, seed, versions) for seed in range(1, teachers + 1)))
        while not making.done():
            beside.append(await move(student, len(beside)))
        sizes, seconds = await making, time.perf_counter() - begun
    watching.cancel()
    (p50, p95), (p50_beside, p95_beside) = (np.percentile(found, (50, 95)) * 1000 for found in (alone, beside))
    small, quick = peak[0] <= MOST_MEMORY, p95_beside / p95 <= MOST_SLOWER
    print("| what | found | goal |\n|---|--:|---|")
    print(f"| files of {versions} versions, megabytes | {', '.join(f'{size / 1e6:.1f}' for size in sizes)} | |")
    print(f"| the last has come after, s | {seconds:.0f} | |")
    print(f"| memory before, MB | {before:.0f} | |")
    print(f"| memory at most, MB | {peak[0]:.0f} | {judged(small, f'≤ {MOST_MEMORY}')} |")
    print(f"| a lesson alone: p50 and p95, ms | {p50:.0f} and {p95:.0f} | |")
    print(f"| beside the files | {p50_beside:.0f} and {p95_beside:.0f} | |")
    print(f"| p95: ratio | {p95_beside / p95:.2f} | {judged(quick, f'≤ {MOST_SLOWER}')} |")
    return small and quick


async def look_around(port: int, number: int) -> None:
    """Open some pages with a sentence of one's own."""
    for page in BEFORE:
        async with Session(port) as visitor:
            await visitor.open(page, f"seed={number}&says_language=the+cat+{number}")


async def watch(server: Server, peak: list[float]) -> None:
    """Look at the memory until it is called off."""
    while True:
        peak[0] = max(peak[0], server.memory())
        await asyncio.sleep(WATCH_SECONDS)


async def move(student: Session, number: int) -> float:
    """Move the slider: seconds until the page is drawn."""
    seconds = await student.set(CONTROL, VALUES[number % 2])
    await asyncio.sleep(PAUSE_SECONDS)
    return seconds


async def file_made(port: int, seed: int, versions: int) -> int:
    """Have a file made in a visit of its own: its bytes."""
    async with Session(port, live=True) as teacher:
        await teacher.open("take_home", FILE.format(versions, seed))
        return await teacher.save_file("export_make")


if __name__ == "__main__":
    main()
