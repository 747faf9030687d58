"""What ten visitors need of a small host: `python benchmarks/small_host.py` prints how memory grows, and its peak.

The entry of Community Cloud, the real model in few bits, whose heads are measured meanwhile, as on any new host. Each
visitor goes through all pages with the real head, answers what is asked, and trains; three of them have their largest
file made meanwhile, in another tab, and three open links with texts that are as many tokens as a link can hold. Memory
is looked at all the time, and the page that was opened last is named at each new peak.

With `--limit 690` it judges: it ends with 1 where the peak is above so many megabytes, or where a visitor saw an error
or lost the server. Meanwhile the kernel holds the server to them (Linux, as root; where it cannot, that is said). The
kernel counts files that were read as well, and gives them up before it ends the server. So what counts is the peak of
the resident memory that is looked at here; and a server that the kernel ended was above the limit.
"""

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from client import ScriptFailed, Session  # noqa: E402
from load import SETTLE_SECONDS  # noqa: E402
from report import judged, options_of  # noqa: E402
from servers import OURS, Server  # noqa: E402
from websockets import ConnectionClosed  # noqa: E402

from models.folders import CACHE, cache_folder  # noqa: E402
from models.wheels import WHEELS  # noqa: E402

ENTRY, LEAST_MEMORY = "deploy/community_cloud/streamlit_app.py", 690
REAL_HEAD = "example=language&says_language=The cat sat on mat {} because it was"  # each visitor has another sentence
LOOK_SECONDS, NEW_PEAK = 0.05, 5  # megabytes from the last peak that was told
CGROUPS, GROUP = Path("/sys/fs/cgroup"), f"attention-lab-{os.getpid()}"  # others may measure at the same time
EXPORTING, VERSIONS = 3, 20  # visitors who have a file made, and in how many versions
LONGEST = ("\U0001f3f3\ufe0f\u200d\U0001f308" * 50, "字" * 200, "e\u0301\u0302\u0303" * 50)  # each of 200 characters
LONG_TEXTS = {
    "": "look_text={}",
    "generate": "writer=language&begin={}",
    "read": "read_text={}",
    "softmax": "example=language&says_language={}",
}
TRIES, APART_SECONDS = 100, 0.1  # for processes that are ended to be gone


@dataclass
class Visits:
    """What came of them: megabytes at most, what went wrong for visitors, and whether the kernel ended the server."""

    peak: float = 0.0
    errors: list[str] = field(default_factory=list)
    killed: bool = False

    def faults(self, megabytes: int) -> list[str]:
        """Why a host with so many megabytes would not do; nothing where it would."""
        if self.killed:
            return [f"The kernel ended the server, which needs more than {megabytes} MB."]
        too_much = [f"The server needs {self.peak:.0f} MB, more than {megabytes}."] if self.peak > megabytes else []
        return too_much + [f"A visitor saw an error: {error}" for error in sorted(set(self.errors))]


def main() -> None:
    """Measure; with a limit, judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visitors", type=int, default=10)
    parser.add_argument("--limit", type=int, metavar="MEGABYTES", help="end with 1 where these are not enough")
    options = options_of(parser, visitors=1)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the server ends, and its group goes
    with held_to(options.limit) if options.limit else contextlib.nullcontext() as begin, fresh_cache():
        visits = visit(Server(OURS, script=ENTRY, begin=begin), options.visitors, options.limit or LEAST_MEMORY)
    if options.limit and (faults := visits.faults(options.limit)):
        sys.exit("\n".join(faults))


@contextlib.contextmanager
def fresh_cache() -> Iterator[None]:
    """Meanwhile the models that are here are all that is in the cache: the server measures them, as a new host does."""
    here = cache_folder()
    with tempfile.TemporaryDirectory() as folder:
        for wheel in WHEELS:
            if wheel.is_in(here):
                Path(folder, wheel.name).symlink_to(here / wheel.name)
        os.environ[CACHE] = folder
        yield


@contextlib.contextmanager
def held_to(megabytes: int) -> Iterator[Callable[[], object] | None]:
    """A group of processes that have so much memory together; what is called in one of them puts it there. None where
    the kernel does not make such a group.
    """
    old = (CGROUPS / "memory").is_dir()  # the first version of groups, with a tree for each resource
    group = (CGROUPS / "memory" if old else CGROUPS) / GROUP
    try:
        take_away(group)  # a process with this number may have broken off
        group.mkdir()
        (group / ("memory.limit_in_bytes" if old else "memory.max")).write_text(str(megabytes * 2**20))
        Path("/proc/sys/vm/drop_caches").write_text("1")  # files that others have read would count as theirs
    except OSError as error:
        print(f"The kernel cannot hold the server to {megabytes} MB here: {error}")
        with contextlib.suppress(OSError):
            take_away(group)
        yield None
        return
    try:
        yield lambda: (group / "cgroup.procs").write_text(str(os.getpid()))
    finally:
        take_away(group)


def take_away(group: Path) -> None:
    """End what is in a group, and remove it. Raises TimeoutError where something in it does not end."""
    for _ in range(TRIES):
        if not group.is_dir():
            return
        for process in (group / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)
        with contextlib.suppress(OSError):  # they take a moment
            group.rmdir()
            return
        time.sleep(APART_SECONDS)
    raise TimeoutError(f"{group} cannot be removed")


def visit(server: Server, visitors: int, megabytes: int) -> Visits:
    """All visits, from the start of the server to its end."""
    visits = Visits()
    try:
        with server:
            asyncio.run(measure(server, visitors, megabytes, visits))
            visits.killed = server.was_killed
    except RuntimeError:  # it ended before it was ready
        if not server.was_killed:
            raise
        visits.killed = True
    return visits


async def look_through(visitor: Session, number: int, here: list[str]) -> None:
    """All pages, one after the other; on each the first card, on the page of the training Start."""
    await visitor.open("", REAL_HEAD.format(number))
    for page in visitor.pages:
        here[0] = page
        await visitor.goto(page)
        for card in [shown.id for shown in visitor.elements("button") if "_card_" in shown.id][:1]:
            await visitor.click(card)
        if page == "train":
            await visitor.set("train_seed", number)
            await visitor.click("start")
        await visitor.settle()


async def served(visitor: Session, number: int, here: list[str]) -> list[str]:
    """What this visitor saw go wrong while looking through all pages; nothing where that is empty."""
    try:
        await look_through(visitor, number, here)
        await asyncio.sleep(SETTLE_SECONDS)
    except (ConnectionError, ConnectionClosed, TimeoutError, ScriptFailed) as error:
        return [*visitor.exceptions, str(error) or type(error).__name__]
    return visitor.exceptions + ["the server closed the connection"] * visitor.is_lost


async def save_questions(port: int, number: int, versions: int) -> list[str]:
    """Have all questions for a learning platform made, and fetch them; what went wrong."""
    async with Session(port, live=True) as visitor:
        link = f"paper=platform&platform_questions=6&platform_versions={versions}&platform_seed={number}"
        try:
            await visitor.open("take_home", link)
            await visitor.save_file("export_make")
        except (ConnectionError, ConnectionClosed, TimeoutError, ScriptFailed) as error:
            return [*visitor.exceptions, str(error) or type(error).__name__]
        return visitor.exceptions


async def open_long_texts(port: int, text: str) -> list[str]:
    """Open the pages that read a text with one that is many tokens; what went wrong."""
    seen = []
    for page, link in LONG_TEXTS.items():
        async with Session(port, live=True) as visitor:
            try:
                await visitor.open(page, link.format(quote(text)))
                await visitor.settle()
            except (ConnectionError, ConnectionClosed, TimeoutError, ScriptFailed) as error:
                seen.append(str(error) or type(error).__name__)
            seen += visitor.exceptions
    return seen


async def watch(server: Server, here: list[str], visits: Visits) -> None:
    """Look at the memory until it is called off or the server has ended, and tell each new peak."""
    told = 0.0
    with contextlib.suppress(RuntimeError, FileNotFoundError):  # what has ended has no memory
        while True:
            visits.peak = max(visits.peak, server.memory())
            if visits.peak > told + NEW_PEAK:
                told = visits.peak
                print(f"{told:.0f} MB, at {here[0] or 'home'}", flush=True)
            await asyncio.sleep(LOOK_SECONDS)


async def measure(server: Server, visitors: int, megabytes: int, visits: Visits) -> None:
    """The visits at once; the peak and the end."""
    here = [""]
    watching = asyncio.create_task(watch(server, here, visits))
    sessions = [Session(server.port, live=True) for _ in range(visitors)]
    try:
        versions = min(VERSIONS, 2 * visitors)
        files = (save_questions(server.port, number, versions) for number in range(min(EXPORTING, visitors)))
        visits_of_all = (served(visitor, number, here) for number, visitor in enumerate(sessions))
        texts = (open_long_texts(server.port, text) for text in LONGEST[:visitors])
        seen = await asyncio.gather(*visits_of_all, *files, *texts)
        visits.errors += [error for of_one in seen for error in of_one]
        if server.was_killed:
            return
        end = server.resident()
    finally:
        await asyncio.gather(*(session.close() for session in sessions))
        watching.cancel()
    for when, found in (("at the end", end.whole), ("at most", visits.peak)):
        print(f"{visitors} visitors, {when}: {found:.0f} MB, {judged(found <= megabytes, f'≤ {megabytes}')}")
    print(f"Of its own at the end: {end.own:.0f} MB.")


if __name__ == "__main__":
    main()
