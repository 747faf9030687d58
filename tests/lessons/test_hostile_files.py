"""Certificates, plans and questions of one's own that a stranger wrote: each is whole, or refused in one sentence."""

import copy
import csv
import io
import json

import pytest

from attention_core.errors import InputError
from lessons.class_plan.own_question import OwnQuestion, read_own, written_own
from lessons.class_plan.plan import Plan, Stop
from lessons.class_plan.plan_file import plan_in_link, plan_of_link, read_plan, written_plan
from lessons.class_plan.ready_made import ready_plan
from lessons.homework.certificate import CHECK, certificate_of, check_sum, read_certificate, written_certificate
from lessons.homework.table import Brought, csv_of_lines, lines_of, read_all
from lessons.screen.format import render

PAGES = ("projections", "class_vote")
OWN = OwnQuestion(kind="choices", prompt="Which?", cards=("a", "b"), right=1)
PLAN = Plan(title="Week 3", stops=(ready_plan(45).stops[3], Stop(page="class_vote", own=OWN)))
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


def question_from(data):
    asked = read_own(data.decode())
    if asked is None:
        raise InputError("None.")
    question = asked.own.question()
    assert render(question.prompt) == asked.own.prompt and len(question.cards) == len(asked.own.cards)


READERS = {
    "certificate": (written_certificate(MADE), summed, certificate_from),
    "plan": (written_plan(PLAN), as_json, plan_from),
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


@pytest.mark.parametrize("kind", ["certificate", "plan"])
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
