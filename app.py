"""The server: what starts and stops with the process. Run it with `streamlit run app.py`."""

import asyncio
import importlib
import logging
import sys
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from starlette.middleware import Middleware
from starlette.routing import Route
from streamlit.starlette import App

from attention_ui.process.memory import collect_in_quiet_moments, collect_rarely, keep_heaps_small, without_collecting
from attention_ui.process.waiting import keep_drawing
from attention_ui.server.arrivals import Arrivals
from attention_ui.server.connection import answer_script
from attention_ui.server.exported import answer_file
from attention_ui.server.files import PackedFiles, ScriptsAhead
from attention_ui.server.headers import PrivateMetrics, SecurityHeaders
from attention_ui.server.health import Health, classes_are_reached, computes, training_thread_lives
from attention_ui.server.languages import SpokenPage, change_language
from attention_ui.server.logs import bare_lines, log_without_words
from attention_ui.server.meant_pages import MeantPages
from attention_ui.server.pace import Pace
from attention_ui.server.pictures import answer_picture
from attention_ui.server.runner import answer_runner
from attention_ui.server.uploads import FewUploads
from attention_ui.streamlit_insides import IN_BROWSER, front_end_folder, name_of_part, running_session, uploads_kept
from models.small import is_small
from worker.process import WORKER

log = logging.getLogger("app")
SCRIPT = Path(__file__).resolve().parent / "attention_ui" / "frame.py"
health = Health(computes, faults=(classes_are_reached,))
LOOK_SECONDS, FORGET_SECONDS = 0.1, 3600.0
FRONT_END = front_end_folder()
FIGURES = IN_BROWSER / "figures"
PARTS = (FIGURES, IN_BROWSER / "keeper", IN_BROWSER / "frame")
START_PAGE = (FRONT_END / "index.html").read_text(encoding="utf-8")


@asynccontextmanager
async def lifespan(app: App):
    """Get everything ready while the first visitor's browser loads, and end the threads that compute after the last."""
    bare_lines()
    beside = [asyncio.create_task(task()) for task in (get_ready, keep_drawing, watch_classes, forget_classes)]
    yield
    for task in beside:
        task.cancel()
    await asyncio.gather(*beside, return_exceptions=True)
    from attention_ui.export.line import exports  # imported by now: see `get_ready`
    from attention_ui.process.turns import scheduler

    await asyncio.to_thread(exports().stop)
    WORKER.stop()  # first: the scheduler waits for the turn that it has asked for
    scheduler().stop()


async def get_ready() -> None:
    """First what a picture needs; when the first visitor has seen one, the rest. Then look after the garbage."""
    with without_collecting():
        await asyncio.to_thread(start_up)
        from attention_ui.process.turns import FIRST_PAGE  # which `start_up` has imported beside the loop

        while not FIRST_PAGE.is_seen():
            await asyncio.sleep(LOOK_SECONDS)
        await asyncio.to_thread(finish)
    from attention_ui.process.turns import turns_so_far  # so has `finish` these
    from models.shared import forget_unused

    await collect_in_quiet_moments(turns_so_far, forget_unused, is_small())


async def watch_classes() -> None:
    """From the beginning: a class may be in the middle of its lesson, and wait for a server that was started again."""
    await asyncio.to_thread(importlib.import_module, "attention_ui.classroom.vote.watching")
    from attention_ui.classroom.vote.presence import keep_present  # imported just now, beside the loop
    from attention_ui.classroom.vote.watching import keep_watching

    await asyncio.gather(keep_watching(), keep_present())


async def forget_classes() -> None:
    """Delete the votes whose time is over, also when nobody opens the page of the class again."""
    while True:
        await asyncio.sleep(FORGET_SECONDS)
        await asyncio.to_thread(forget_once)


def forget_once() -> None:
    """Where the database is away, it is tried again an hour later."""
    from attention_ui.classroom.vote.database import forget_old_classes  # an hour after the start

    try:
        forget_old_classes()
    except Exception:
        log.exception("the old classes could not be forgotten")


def start_up() -> None:
    """Import what the first page takes a second to import, while the browser loads, and warm it up."""
    with failure_known():
        import attention_ui.page.first_screen  # noqa: F401
        from attention_ui.warm_up import warm_up

        warm_up()
        health.ready()


def finish() -> None:
    """Import PyTorch and every lesson, and what keeps later pages quick."""
    with failure_known():
        from attention_ui.process.real_models import smollm2

        smollm2()  # whoever looks at the first page waits for it
        import attention_ui.link_rules  # noqa: F401
        from attention_ui.process.for_pages import start_worker
        from attention_ui.process.head_jobs import how_far_measured
        from attention_ui.process.turns import scheduler
        from attention_ui.warm_up import settle_down
        from models.fetch import fetch_at_start

        start_worker()
        scheduler()
        health.watch(training_thread_lives)
        settle_down()
        fetch_at_start()
        how_far_measured()  # which begins it, where the model is here


@contextmanager
def failure_known() -> Iterator[None]:
    """What fails in it is known at once, to /healthz and the log, and ends nothing else; the frames say what it was."""
    try:
        yield
    except Exception:
        health.failed_to_start()
        log.exception("the start failed")


MIDDLEWARE = [
    Middleware(Arrivals),
    Middleware(Pace),
    Middleware(SecurityHeaders, index=START_PAGE),
    Middleware(MeantPages),
    Middleware(SpokenPage),
    Middleware(PrivateMetrics),
    Middleware(FewUploads, kept=uploads_kept),
    Middleware(ScriptsAhead, FRONT_END / "static", name_of_part(FIGURES), [file.name for file in FIGURES.glob("*.js")]),
    Middleware(PackedFiles, FRONT_END / "static", {name_of_part(folder): folder for folder in PARTS}),
]
ROUTES = [
    Route("/healthz", health.answer),
    Route("/runner", answer_runner),
    Route("/{base:path}/runner", answer_runner),  # Streamlit's setting of a base path moves no route
    Route("/connection.js", answer_script),
    Route("/{base:path}/connection.js", answer_script),
    Route("/file/{token}", answer_file),
    Route("/{base:path}/file/{token}", answer_file),
    Route("/picture/{name}", answer_picture),
    Route("/{base:path}/picture/{name}", answer_picture),
    Route("/language/{code}", change_language),
    Route("/{base:path}/language/{code}", change_language),
]
# Streamlit puts its script's folder on Python's path for each run, and takes it away again, unless it stands there. An
# import that another thread is looking for just then would skip a folder and find nothing.
sys.path.append(str(SCRIPT.parent))
keep_heaps_small(is_small())
if not is_small():  # there garbage would take more room than there is
    collect_rarely()
log_without_words(running_session)
app = App(SCRIPT, lifespan=lifespan, routes=ROUTES, middleware=MIDDLEWARE)
