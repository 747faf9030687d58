"""Certificates, plans and questions of one's own that a stranger wrote: each is whole, or refused in one sentence."""

import copy
import csv
import io
import json

import pytest

from attention_core.base.errors import InputError
from lessons.screen import render
from lessons.teachers.class_plan.own_question import OwnQuestion, read_own, written_own
from lessons.teachers.class_plan.plan import Plan, Stop
from lessons.teachers.class_plan.plan_file import (
    hash_of_picture,
    plan_in_link,
    plan_of_link,
    read_file,
    read_plan,
    text_of_plan,
    written_plan,
)
from lessons.teachers.class_plan.ready_made import ready_plan
from lessons.teachers.homework.certificate import (
    CHECK,
    certificate_of,
    check_sum,
    read_certificate,
    written_certificate,
)
from lessons.teachers.homework.stops import mark_of
from lessons.teachers.homework.table import Brought, csv_of_lines, lines_of, read_all

PAGES = ("projections", "class_vote")
OWN = OwnQuestion(kind="choices", prompt="Which?", cards=("a", "b"), right=1)
PLAN = Plan(title="Week 3", stops=(ready_plan(45).stops[3], Stop(page="class_vote", own=OWN)))
DRAWN = b"what the server has drawn"
SHOWN = Plan(
    stops=(
        Stop(page="class_vote", text="Look up."),
        Stop(page="class_vote", picture=hash_of_picture(DRAWN), text="Our board"),
        Stop(page="projections"),
    ),
    pictures={hash_of_picture(DRAWN): DRAWN},
)
MADE = certificate_of(PLAN, "Ada", 10**9, (), ("mask",), ("self",))
DEEP = json.loads("[" * 900 + "]" * 900)
HOSTILE = {
    "nothing": None,
    "true": True,
    "a negative number": -1,
    "a huge number": 10**400,
    "not a number": float("nan"),
    "without end": float("inf"),
    "a long text": "x" * 30_000,
    "HTML": "<img src=x onerror=alert(1)>",
    "Markdown": "![x](https://example.org/x.png) $\\href{javascript:alert(1)}{x}$",
    "a formula": '=HYPERLINK("https://example.org")',
    "half a letter": "\ud800",
    "no letters": "\x00\x1b[31m\u202e",
    "a path": "../../etc/passwd",
    "an empty list": [],
    "a long list": ["x"] * 5000,
    "an empty object": {},
    "deep": DEEP,
    "its own class": {"__class__": "os.system", "py/object": "os.system"},
}


def places_in(said, at=()):
    """Every place of a value in what JSON says."""
    if at:
        yield at
    for name, inner in said.items() if isinstance(said, dict) else enumerate(said) if isinstance(said, list) else ():
        yield from places_in(inner, (*at, name))


def with_value(said, place, value):
    said = copy.deepcopy(said)
    *way, last = place
    here = said
    for name in way:
        here = here[name]
    here[last] = value
    return said


def as_json(said):
    return json.dumps(said).encode()


def summed(said):
    """With a check sum that fits: everybody can make one."""
    said = {name: value for name, value in said.items() if name != CHECK}
    return as_json(said | {CHECK: check_sum(said)})


def certificate_from(data):
    made = read_certificate(data)
    assert read_certificate(written_certificate(made)) == made
    written = csv_of_lines(lines_of([made])).decode("utf-8-sig")
    for sign in ",;\t":
        cells = [cell for line in csv.reader(io.StringIO(written), delimiter=sign) for cell in line]
        assert not any(cell[:1] in "=+-@＝＋－＠\t\r" for cell in cells if cell)


def plan_from(data):
    plan = read_plan(data, PAGES)
    assert plan_of_link(plan_in_link(plan), PAGES) == plan == read_plan(written_plan(plan), PAGES)
    assert all(stop.page in PAGES for stop in plan.stops)


def slides_from(data):
    drawn = []
    plan = read_file(data, lambda brought: drawn.append(brought) or DRAWN, PAGES)
    shown = {stop.picture for stop in plan.stops if stop.picture}
    assert plan.pictures == {hash_of_picture(DRAWN): DRAWN for _ in shown} and len(drawn) >= len(shown)
    assert read_file(written_plan(plan), lambda brought: brought, PAGES) == plan
    kept = read_plan(text_of_plan(plan).encode(), PAGES)
    assert kept.stops == plan.stops and not kept.pictures, "a class keeps pictures elsewhere"
    assert all(stop.page == "class_vote" and not stop.own and not stop.screen for stop in plan.stops if stop.is_slide)
    if plan.without_pictures().stops:
        assert not any(stop.picture for stop in plan_of_link(plan_in_link(plan), PAGES).stops)


def question_from(data):
    asked = read_own(data.decode())
    if asked is None:
        raise InputError("None.")
    question = asked.own.question()
    assert render(question.prompt) == asked.own.prompt and len(question.cards) == len(asked.own.cards)


READERS = {
    "certificate": (written_certificate(MADE), summed, certificate_from),
    "plan": (written_plan(PLAN), as_json, plan_from),
    "slides": (written_plan(SHOWN), as_json, slides_from),
    "question": (written_own(OWN).encode(), as_json, question_from),
}


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("what", HOSTILE)
def test_whatever_stands_anywhere_in_a_file_it_is_read_whole_or_refused_in_one_sentence(kind, what):
    sound, written, read = READERS[kind]
    read(sound)
    said = json.loads(sound)
    for place in places_in(said):
        try:
            read(written(with_value(said, place, HOSTILE[what])))
        except InputError as refused:
            assert "\n" not in str(refused) and 0 < len(str(refused)) < 400, place


WHOLE = {
    "nothing": b"",
    "deep": b"[" * 90_000,
    "deep objects": b'{"a":' * 15_000,
    "huge": b" " * 300_000,
    "no letters": b"\xff\xfe\x00",
    "a number too long": b"9" * 9000,
    "a pickle": b"\x80\x04\x95\x00cos\nsystem\n(S'ls'\ntR.",
    "XML": b'<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>',
}


@pytest.mark.parametrize("kind", ["certificate", "plan", "slides"])
@pytest.mark.parametrize("what", WHOLE)
def test_a_file_of_another_kind_is_refused_in_one_sentence(kind, what):
    with pytest.raises(ValueError, match=r"^(This is no|This is not a|A) (certificate|lesson plan|plan)") as refused:
        READERS[kind][2](WHOLE[what])
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 400


def test_of_a_name_that_stands_twice_the_last_counts_and_the_check_sum_is_of_that():
    sound = written_certificate(MADE)
    doubled = sound.replace(b'"name": "Ada"', b'"name": "=1", "name": "Ada"')
    assert doubled != sound and read_certificate(doubled) == MADE
    with pytest.raises(ValueError, match="checksum"):
        read_certificate(sound.replace(b'"name": "Ada"', b'"name": "Ada", "name": "=1"'))
    read, said = read_all([Brought("a.json", sound), Brought("b.json", doubled)])
    assert len(read) == len(said) == 1


def with_pictures(count, **stop):
    pictures = {hash_of_picture(bytes([n])): "AA==" for n in range(count)}
    return as_json({"stops": [{"page": "class_vote", **stop}], "pictures": pictures})


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (with_pictures(6, text="x"), "at most 5 pictures, but this file has 6: take some out"),
        (with_pictures(0, picture="0" * 64), "Stop 1 shows a picture that is not in this file"),
        (with_pictures(1, picture="0" * 64), "Stop 1 shows a picture that is not in this file"),
        (with_pictures(0, text="x" * 2001), "This is not a lesson plan"),
        (with_pictures(0, picture="../../etc/passwd"), "This is not a lesson plan"),
        (with_pictures(0, text="x", own={"kind": "word", "prompt": "?"}), "neither a screen nor a question as well"),
        (with_pictures(0, text="x", link={"view": "all"}), "neither a screen nor a question as well"),
        (as_json({"stops": [{"page": "projections", "text": "x"}]}), "neither a screen nor a question as well"),
        (as_json({"stops": [], "pictures": {}}), "it needs at least one: add a stop"),
        (as_json({"stops": [{"page": "projections", "screen": "x" * 19_999}] * 12}), "at most 200,000 bytes"),
        (b" " * (1024 * 1024 + 1), "A plan has at most 1,048,576 bytes"),
    ],
)
def test_a_file_that_shows_what_it_cannot_is_refused_with_the_remedy(data, why):
    with pytest.raises(InputError, match=why):
        read_file(data, lambda brought: brought, PAGES)


def test_a_picture_that_no_stop_shows_is_not_even_decoded():
    plan = read_file(with_pictures(3, text="x"), lambda brought: 1 / 0, PAGES)
    assert not plan.pictures


def test_what_is_made_of_a_plan_without_slides_is_what_it_always_was():
    plan = Plan(
        title="Week 3",
        stops=(
            Stop(page="mask", link={"view": "all"}, says="é"),
            Stop(
                page="class_vote",
                own=OwnQuestion(kind="choices", prompt="Which?", cards=("a", "b"), right=1),
                actions=("ask",),
            ),
        ),
    )
    assert mark_of(plan) == "771c35e4", "else a homework that students have begun is another one"
    assert not {b"text", b"picture"} & set(written_plan(plan).split(b'"'))
