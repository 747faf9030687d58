"""A school at work: ten classes whose teachers and students have come in, and readers on a lesson beside them."""

import asyncio
import os
import re
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

import websockets
from client import Session
from load import EXAMPLE, SETTLE_SECONDS, Load, _read, a_few_at_a_time, until
from report import say
from servers import OURS, Fleet
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

from classes.keeper import Keeper

CLASSES, STUDENTS, READERS, IDLE_SECONDS = 10, 300, 10, 40.0
ANSWERED = re.compile(r"(\d+) (?:of \d+ )?(?:has|have) answered")
ONCE = {"students": CLASSES, "idle": 5.0}  # one of each class, and readers who move each about two sliders


def tells(teacher: Session, voters: int) -> bool:
    """True where a teacher's page says that so many have answered, whoever else is there."""
    return str(voters) in ANSWERED.findall(" ".join(teacher.texts("text")))


@dataclass
class School:
    """Its classes (code and key), who is there, and what readers felt before anybody came in."""

    fleet: Fleet
    keeper: Keeper
    classes: list[tuple[str, str]]
    teachers: list[Session]
    pupils: list[Session]
    readers: list[Session]
    alone: Load = field(default_factory=Load)

    @property
    def everybody(self) -> list[Session]:
        """All visits."""
        return [*self.teachers, *self.pupils, *self.readers]

    def pupils_of(self, place: int) -> list[Session]:
        """The students of one class."""
        return self.pupils[place :: len(self.classes)]

    def teachers_link(self, place: int) -> str:
        """What the link of a class's teacher says."""
        code, key = self.classes[place]
        return f"class={code}&teacher={key}"

    def reading(self, load: Load, over: asyncio.Event, seed: int = 1) -> asyncio.Future:
        """The readers move sliders until it is over; whoever has lost the server has gone."""
        readers = [reader for reader in self.readers if not reader.is_lost]
        return asyncio.gather(*(read_there(reader, seed * 100 + n, over, load) for n, reader in enumerate(readers)))

    def errors(self) -> list[str]:
        """What any page or any server complained of."""
        return [error for visitor in self.everybody for error in visitor.exceptions] + self.fleet.complaints()


async def read_there(reader: Session, seed: int, over: asyncio.Event, load: Load) -> None:
    """One reader, who leaves with the server."""
    with suppress(ConnectionError, websockets.ConnectionClosed):
        await _read([reader], seed, lambda _: over.is_set(), load)


async def look_round(port: int) -> None:
    """Somebody has been to every page of this server, as on any day but its first."""
    visitor = Session(port)
    await visitor.open()
    for page in visitor.pages:
        await visitor.goto(page)
    await visitor.close()


def new_cookie() -> str:
    """That of a browser that comes for the first time: by it a class knows one vote from another."""
    return f"{XSRF_COOKIE_NAME}={generate_xsrf_token_string()}"


@contextmanager
def built(replicas: int) -> Iterator[tuple[Fleet, Keeper]]:
    """So many servers that share one keeper of classes."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ATTENTION_LAB_CLASSES"] = folder
        with Fleet(replicas, OURS) as fleet:
            yield fleet, Keeper(folder)


@asynccontextmanager
async def opened(
    fleet: Fleet, keeper: Keeper, students: int, prepare: Callable[[str, str], object], idle: float
) -> AsyncIterator[School]:
    """A school whose classes are prepared by `prepare(code, key)`; first its readers are alone for `idle` seconds."""
    visits, rest = iter(range(CLASSES + students + READERS)), min(idle, 3 * SETTLE_SECONDS)
    teachers, pupils, readers = (
        [Session(fleet.port(next(visits)), live=True, cookie=new_cookie()) for _ in range(n)]
        for n in (CLASSES, students, READERS)
    )
    school = School(fleet, keeper, [keeper.open_class() for _ in range(CLASSES)], teachers, pupils, readers)
    for code, key in school.classes:
        prepare(code, key)
    for number in range(len(fleet.servers)):
        await look_round(fleet.port(number))
    try:
        await a_few_at_a_time([partial(reader.open, "", EXAMPLE) for reader in readers])
        await asyncio.sleep(rest)
        await _read(readers, 0, until(time.perf_counter() + idle), school.alone)
        say("the students come in")
        come_in = [
            partial(teacher.open, "class_vote", school.teachers_link(place)) for place, teacher in enumerate(teachers)
        ]
        come_in += [
            partial(pupil.open, "class_vote", f"class={school.classes[n % CLASSES][0]}")
            for n, pupil in enumerate(pupils)
        ]
        await a_few_at_a_time(come_in)
        await asyncio.sleep(rest)
        yield school
    finally:
        await asyncio.gather(*(visitor.close() for visitor in school.everybody))
