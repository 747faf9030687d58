"""What people have kept: plans, homework, progress, certificates, trained models, classes, codes of printed sheets.

`python -m tests.truths.files` made the files that lie in `files`. Later versions read them and make none anew.
"""

import re
import shutil
import sqlite3
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from attention_core.learning.tasks import CharacterTask
from attention_core.learning.training import recommended
from attention_ui.contents import CONTENTS
from attention_ui.export.paper import key_section, sheet_section
from attention_ui.page.progress import Progress, load_progress, save_progress
from attention_ui.process.real_models import encoder_model, smollm2
from classes.keeper import DATABASE, Keeper
from classes.stages import Lead
from lessons.teachers.class_plan.own_question import OwnQuestion
from lessons.teachers.class_plan.plan import Plan, Stop
from lessons.teachers.class_plan.plan_file import plan_in_link, plan_of_link, read_plan, written_plan
from lessons.teachers.class_plan.ready_made import READY_MADE, ready_plan
from lessons.teachers.class_vote.question_link import first_asked, screen_asked, written_asked
from lessons.teachers.homework.certificate import certificate_of, read_certificate, written_certificate
from lessons.teachers.homework.notes import noted
from lessons.teachers.homework.stops import for_students, kind_of_stop, mark_of
from lessons.teachers.take_home.sheet import read_code
from lessons.teachers.take_home.thread import thread_tasks
from runs.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from runs.recording import Recording
from tests.truths.opened import question_in_words, written

FOLDER = Path(__file__).parent / "files"
PAGES = tuple(entry.address for entry in CONTENTS)
LANGUAGES = ("en", "de", "fr", "es", "pt-BR", "zh", "ja")
# Codes of printed sheets, with the sentence where a sheet has one of its own: five connected, four of single tasks.
CODES = {
    "007M4-K006J": "",
    "007M4-HR0CC": "",
    "00F88-ZR04S": "",
    "00000-1802E": "",
    "007M4-GZSC7": "a dog ran home",
    "PSSJE-GR0B2": "",
    "PQWHA-J805J": "",
    "PSSJE-GZSAF": "a dog ran home",
    "ZV800-0B4SF": "",  # of before a sentence was typed once more
}
FOR_GOOD = 4_000_000_000  # a moment in 2096, in seconds since 1970: until then the classes are kept
AT = 1_790_000_000  # when certificates were made
Entry = dict[str, Any]


def asked() -> list[str]:
    """Every file, and the sheet and the key of every code."""
    files = [f"{path.stem.partition('_')[0]} {path.name}" for path in sorted(FOLDER.iterdir())]
    return [*files, *(f"{kind} {code}" for kind in ("sheet", "key") for code in CODES)]


def entry(key: str) -> Entry:
    """What one of these says now."""
    kind, _, name = key.partition(" ")
    return READERS[kind](name)


def lines_of_plan(plan: Plan) -> Entry:
    """Its stops, line by line, with the question of each and its right answer."""
    about = [f"{plan.title} | {plan.language} | {plan.large} | {plan.minutes} minutes"]
    return {
        "lines": about + [line for number, stop in enumerate(plan.stops, 1) for line in lines_of_stop(number, stop)]
    }


def lines_of_stop(number: int, stop: Stop) -> list[str]:
    """Where it is, what is done there, and what is asked."""
    link = " ".join(f"{name}={value}" for name, value in sorted(stop.link.items()))
    first = (
        f"{number}: {stop.page} {link} | {' '.join(stop.actions)} | {stop.minutes} {stop.pause} {stop.out} {stop.ends}"
    )
    asks = [f"{number} says: {stop.says}"] if stop.says else []
    if stop.own is not None:
        asks.append(f"{number} asks: {asdict(stop.own)}")
    elif stop.screen:
        _, question = screen_asked(stop.screen, smollm2(), encoder_model())
        asks += [f"{number} asks: {question_in_words(question)}"] if question else []
    return [first, *asks]


def plan(name: str) -> Entry:
    """A plan that was saved."""
    return lines_of_plan(read_plan(read(name), PAGES, LANGUAGES))


def homework(name: str) -> Entry:
    """A plan that was sent as a link, and by what its homework is known."""
    found = plan_of_link(read(name).decode(), PAGES, LANGUAGES)
    return lines_of_plan(found) | {
        "mark": mark_of(found),
        "kinds": [f"{n} {kind_of_stop(s)}" for n, s in enumerate(found.stops)],
    }


def progress(name: str) -> Entry:
    """What a file of progress says is solved."""
    found, unknown = load_progress(read(name))
    return {"unknown": unknown, "lines": [f"{kind} {one}" for kind, names in found.lists().items() for one in names]}


def certificate(name: str) -> Entry:
    """What a student has handed in."""
    found = read_certificate(read(name))
    about = [
        f"{found.title} | {found.homework} | {found.name} | {found.made}",
        " ".join(found.exercises),
        " ".join(found.levels),
    ]
    return {
        "lines": about
        + [f"{n}: {s.page} {s.link} {s.seed} {s.kind} {s.result} {s.when}" for n, s in enumerate(found.stops)]
    }


def model(name: str) -> Entry:
    """A trained model: its settings, and what it expects after a beginning."""
    kept = load_checkpoint(read(name))
    ids = torch.arange(min(5, kept.settings.model.context))[None] % len(kept.settings.task.vocabulary.tokens)
    logits = kept.model()(ids.numpy()).logits
    settings = [f"{key} {value}" for key, value in asdict(kept.settings.model).items()]
    return {"updates": kept.updates, "lines": settings, "numbers": {"logits": written(logits)}}


def voted(name: str) -> Entry:
    """A class that was interrupted in the middle: its stage, its questions and votes, its plan."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        shutil.copy(FOLDER / name, Path(folder) / DATABASE)
        keeper = Keeper(folder)
        code = sqlite3.connect(Path(folder) / DATABASE).execute("SELECT code FROM classes").fetchone()[0]
        room = keeper.look(code)
        lines = [f"{room.stage} {room.number} {room.cards} {room.place} {room.link}"]
        for number, cards, asked in keeper.asked(code):
            votes = keeper.votes(code, number, cards)
            lines += [f"{number}: {votes.first} {votes.second} {votes.moved} {keeper.written(code, number)}", asked]
        lines.append(keeper.plan(code))
    return {"lines": lines}


def sheet(code: str) -> Entry:
    """What a worksheet prints."""
    return printed(code, key=False)


def key_of_sheet(code: str) -> Entry:
    """What its key prints."""
    return printed(code, key=True)


def printed(code: str, *, key: bool) -> Entry:
    """All texts of a sheet or its key in their order, as one; a sentence where there is none."""
    try:
        found = read_code(code)
        choices = found.with_sentence(CODES[code]) if found.wants_sentence else found.choices
    except ValueError as error:
        return {"lines": [str(error)]}
    section = (key_section if key else sheet_section)(choices, thread_tasks(choices))
    return {"lines": ["\n".join(text.strip() for text in re.split("<[^>]*>", section) if text.strip())]}


def read(name: str) -> bytes:
    """One of the files."""
    return (FOLDER / name).read_bytes()


READERS = {
    "plan": plan,
    "homework": homework,
    "progress": progress,
    "certificate": certificate,
    "model": model,
    "class": voted,
    "sheet": sheet,
    "key": key_of_sheet,
}


# How the files were made.


def make() -> None:
    """Write every file."""
    FOLDER.mkdir(exist_ok=True)
    plans = made_plans()
    for name, one in plans.items():
        save(f"plan_{name}.json", written_plan(one))
    for name in ("45", "two_questions", "of_every_kind", "german", "mask_by_hand"):
        student = for_students(plans[name])
        save(f"homework_{name}.txt", plan_in_link(student).encode())
        notes = [noted(mark_of(student), place, "right" if place % 2 else "wrong", AT + place) for place in range(2)]
        done = certificate_of(student, f"Zoë {name}", AT, notes, ["softmax", "scores"], ["first"])
        save(f"certificate_{name}.json", written_certificate(done))
    for place, solved in enumerate(made_progress()):
        save(f"progress_{place}.json", save_progress(solved))
    for name, settings in made_runs().items():
        recording = Recording(settings)
        recording.record(settings.steps)
        snapshot = recording.snapshot(settings.steps)
        save(f"model_{name}.safetensors", save_checkpoint(Checkpoint(settings, snapshot.step, snapshot.weights)))
    for stage in ("open", "again", "explained"):
        make_class(stage)


def save(name: str, data: bytes) -> None:
    """Write one file."""
    (FOLDER / name).write_bytes(data)


def made_plans() -> dict[str, Plan]:
    """Twenty plans: those that come with the app, changed ones, and one of each kind of stop."""
    ready = {str(minutes): ready_plan(minutes) for minutes in READY_MADE}
    of_45, of_60 = ready["45"], ready["60"]
    own = {
        "choices": OwnQuestion(kind="choices", prompt="Which is larger?", cards=("q", "k", "the same"), right=1),
        "poll": OwnQuestion(kind="choices", prompt="Who has trained a model?", cards=("I", "not I")),
        "number": OwnQuestion(kind="number", prompt="What is 3 · 0.25?", number=0.75, tolerance=0.01),
        "word": OwnQuestion(kind="word", prompt="One word for attention"),
    }
    questions = [stop for stop in of_45.stops if stop.screen and "ask" in stop.actions]
    lessons = ("tokens", "dot_product", "projections", "scores", "mask", "softmax", "output", "heads", "positions")
    lessons = (*lessons, "pytorch", "variants", "cost", "backward")
    every = [Stop(page=name, actions=("ask", "answer"), screen=written_asked(first_asked(name))) for name in lessons]
    hand = Stop(
        page="mask",
        link={"example": "sentence", "text": "a b c d", "mask": "hand", "drawn": "8-c-2-f"},
        actions=("show",),
    )
    return ready | {
        "german": replace(of_45, language="de", title="Zu Hause"),
        "small": replace(of_45, large=False, language="ja"),
        "moved": of_45.moved(0, 3).without(5).with_stop(1, minutes=9, pause=30, says="Slowly"),
        "left_out": of_60.with_stop(2, out=True).with_stop(3, ends=True),
        "two_questions": Plan(stops=tuple(questions[:2]), title="Two questions"),
        "own_questions": Plan(
            stops=tuple(Stop(page="softmax", actions=("ask", "answer"), own=one) for one in own.values())
        ),
        "own_on_stops": of_45.with_stop(0, own=own["word"]).with_stop(1, own=own["number"]),
        "all_lessons": Plan(stops=tuple(every)),
        "first_lessons": Plan(stops=tuple(every[:6]), title="First half"),
        "exercises": Plan(
            stops=tuple(Stop(page="exercises", link={"exercise": key}) for key in ("scores", "softmax", "multi_head"))
        ),
        "levels": Plan(stops=tuple(Stop(page="build", link={"level": key}) for key in ("first", "same", "layers"))),
        "training": Plan(stops=(Stop(page="train", link={"task": "copy", "steps": "60"}, actions=("show", "train")),)),
        "mask_by_hand": Plan(stops=(hand, *questions[:1])),
        "of_every_kind": Plan(
            stops=(*questions[:1], hand, Stop(page="generate"), Stop(page="read"), Stop(page="home"))
        ),
        "hidden": Plan(stops=(Stop(page="softmax", link={"hide": "predict,code", "cover": "false", "seed": "4"}),)),
        "real_head": Plan(stops=(Stop(page="output", link={"example": "language", "layer": "14", "head": "9"}),)),
        "actions": Plan(
            stops=(replace(questions[0], actions=("show", "ask", "pause", "again", "votes", "answer"), pause=45),)
        ),
    }


def made_progress() -> list[Progress]:
    """Nothing, something of each kind, and all lessons."""
    lessons = frozenset(("mask", "softmax", "train"))
    return [
        Progress(),
        Progress(lessons=lessons),
        Progress(exercises=frozenset(("softmax", "real_head")), levels=frozenset(("first", "two"))),
        Progress(lessons=lessons, homework=frozenset([noted("0" * 8, 1, "right", AT)])),
        Progress(lessons=frozenset(PAGES[1:17])),
    ]


def made_runs() -> dict[str, Any]:
    """Models of letters, built in several ways."""
    text = CharacterTask("hello world", 5)
    return {
        "hello": recommended(text, 3, steps=40),
        "sliced": recommended(text, 1337, steps=30, d_model=6, n_heads=2, heads="sliced", residual=False),
        "rotary": recommended(CharacterTask("to be or not to be", 7), 1, steps=30, positions="rotary", mlp=True),
        "two_layers": recommended(CharacterTask("aäbß中🙂 ab", 4), 2, steps=20, n_layers=2, n_heads=3, d_model=9),
        "sink": recommended(text, 5, steps=20, sink=True, layer_norm=True, optimiser="sgd", learning_rate=0.1),
    }


def make_class(stage: str) -> None:
    """A class of five in the middle of a plan, at this stage of its second question."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        keeper = Keeper(folder)
        code, key = keeper.open_class()
        keeper.join(code)
        keeper.bring_plan(code, key, plan_in_link(made_plans()["two_questions"]))
        first, second = (written_asked(first_asked(lesson)) for lesson in ("mask", "softmax"))
        keeper.ask(code, key, 0, 4, first)
        for voter in range(5):
            keeper.vote(code, f"voter {voter}", 1, "open", voter % 3)
        keeper.lead(code, key, keeper.revision(code), Lead(2, "softmax?seed=3", 60, 2, "open", 4, second))
        for voter in range(4):
            keeper.vote(code, f"voter {voter}", 2, "open", voter % 2)
        if stage != "open":
            keeper.step(code, key, 2, "open", "closed")
            keeper.step(code, key, 2, "closed", "again")
            for voter in range(4):
                keeper.vote(code, f"voter {voter}", 2, "again", 1)
        if stage == "explained":
            keeper.step(code, key, 2, "again", "compared")
            keeper.step(code, key, 2, "compared", "explained")
        keeper._run("UPDATE classes SET until = ?", FOR_GOOD)
        keeper._run("PRAGMA wal_checkpoint(TRUNCATE)")
        keeper._run("PRAGMA journal_mode = DELETE")
        save(f"class_{stage}.sqlite3", (Path(folder) / DATABASE).read_bytes())


if __name__ == "__main__":
    make()
