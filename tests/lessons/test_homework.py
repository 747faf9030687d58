"""Homework: what is noted of a stop, the certificate and its check sum, and the table that a teacher makes of many."""

import csv
import io
import json
from dataclasses import replace

import pytest

from lessons.teachers.class_plan.own_question import OwnQuestion
from lessons.teachers.class_plan.plan import Plan, Stop
from lessons.teachers.class_plan.ready_made import ready_plan
from lessons.teachers.homework.certificate import (
    CHECK,
    KIND,
    MOST_BYTES,
    certificate_of,
    check_sum,
    file_of,
    read_certificate,
    written_certificate,
)
from lessons.teachers.homework.notes import noted
from lessons.teachers.homework.stops import kind_of_stop, mark_of, news, results_of
from lessons.teachers.homework.table import MOST_CERTIFICATES, Brought, csv_of_lines, lines_of, read_all
from words import speaking

NOW = 1_790_000_000
POLL = OwnQuestion(kind="choices", prompt="Which?", cards=("a", "b"))
PLAN = Plan(
    title="Week 3",
    stops=(
        Stop(page="mask", screen=ready_plan(45).stops[7].screen, actions=("ask", "answer")),
        Stop(page="mask", screen=ready_plan(45).stops[7].screen, actions=("show",)),
        Stop(page="exercises", link={"exercise": "mask"}),
        Stop(page="build", link={"level": "self"}),
        Stop(page="class_vote", own=POLL),
        Stop(page="exercises"),
    ),
)
MARK = mark_of(PLAN)


def certificate(name="Ada", notes=(), exercises=(), levels=(), plan=PLAN):
    return certificate_of(plan, name, NOW, frozenset(notes), frozenset(exercises), frozenset(levels))


def how(*happened, place=0, mark=MARK, **solved):
    """How far a stop is after all this happened, a second after the other."""
    notes = {noted(mark, place, what, NOW + second) for second, what in enumerate(happened)}
    found = results_of(PLAN, notes, solved.get("exercises", ()), solved.get("levels", ()))[place]
    return found.how, found.when - NOW if found.when else 0


def test_what_a_student_does_at_each_stop():
    kinds = [kind_of_stop(stop) for stop in PLAN.stops]
    assert kinds == ["question", "look", "exercise", "level", "own", "exercise"]


def test_only_the_first_answer_is_a_first_try():
    assert how() == ("open", 0)
    assert how("right") == ("first", 0) == how("right", "wrong")
    assert how("wrong") == ("wrong", 0) and how("wrong", "right") == ("later", 1)
    same_second = {noted(MARK, 0, what, NOW) for what in ("right", "wrong")}
    assert results_of(PLAN, same_second, (), ())[0].how == "later"
    assert how("right", mark="0" * 8) == ("open", 0), "another homework"
    assert how("done", place=4) == ("done", 0) == how("done", place=1)
    assert how(place=2, exercises=("mask",)) == ("done", 0) == how(place=3, levels=("self",))
    assert how(place=5, exercises=("mask",)) == ("open", 0) != how(place=5, exercises=("scores",))


def test_a_note_is_taken_only_where_it_is_news():
    results = dict(zip(("open", "wrong", "first"), (results_of(PLAN, n, (), ())[0] for n in NOTES), strict=True))
    assert [name for name, before in results.items() if news("wrong", before)] == ["open"]
    assert [name for name, before in results.items() if news("right", before)] == ["open", "wrong"]


NOTES = ((), {noted(MARK, 0, "wrong", NOW)}, {noted(MARK, 0, "right", NOW)})


def test_a_changed_plan_is_another_homework():
    marks = {mark_of(plan) for plan in (PLAN, replace(PLAN, title="x"), PLAN.moved(0, 1), PLAN.with_stop(0, says="x"))}
    assert len(marks) == 4 and all(len(mark) == 8 for mark in marks)


def test_a_certificate_says_what_was_done_when_and_of_which_seeds_and_reads_back():
    notes = [noted(MARK, 0, "wrong", NOW - 120), noted(MARK, 0, "right", NOW - 60)]
    made = certificate("  Ada\u202e <b>", notes, ["mask", "scores"], ["self"])
    said = json.loads(written_certificate(made))
    assert said[KIND] == 1 and said["title"] == "Week 3" and said["name"] == "Ada <b>"
    assert [stop["result"] for stop in said["stops"]] == ["later", "open", "done", "done", "open", "done"]
    assert said["stops"][0]["when"] == "2026-09-21T14:12Z" and said["made"] == "2026-09-21T14:13Z"
    assert said["stops"][0]["seed"] == 42 and said["stops"][2]["link"] == {"exercise": "mask"}
    assert said["exercises"] == ["mask", "scores"] and said["levels"] == ["self"]
    assert read_certificate(written_certificate(made)) == made


def test_a_certificate_lists_the_questions_that_went_wrong():
    happened = {0: ("wrong", "right"), 4: ("right",)}
    notes = {noted(MARK, place, what, NOW + i) for place, several in happened.items() for i, what in enumerate(several)}
    made = certificate_of(PLAN, "Ada", NOW, notes, (), (), asks=lambda stop: f"What about {stop.page}?\u202e")
    assert [stop.asked for stop in made.stops] == ["What about mask?", *[""] * 5]
    assert read_certificate(written_certificate(made)) == made
    (line,) = lines_of([made])
    assert line["wrong at first"] == "1: What about mask?"
    (line,) = lines_of([certificate("Ada", notes)])
    assert line["wrong at first"] == "1", "where it is not known what was asked"


def test_a_certificate_of_before_still_opens():
    said = {name: value for name, value in SOUND.items() if name != CHECK}
    said["stops"] = [{k: v for k, v in stop.items() if k != "asked"} for stop in said["stops"]]
    assert "asked" not in str(said)
    before = json.dumps(said | {CHECK: check_sum(said)}).encode()
    assert read_certificate(before) == certificate()


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("Ada Lovelace", "certificate_Ada_Lovelace.json"),
        ("", "certificate.json"),
        ("../../etc/passwd", "certificate_etc_passwd.json"),
        ("語 𝕏 Zoë", "certificate_語_𝕏_Zoë.json"),
        ("हिन्दी", "certificate_हिन्दी.json"),
        ("<>:|?*", "certificate.json"),
        ("x" * 60, f"certificate_{'x' * 40}.json"),
        ("CON.", "certificate_CON.json"),
    ],
)
def test_the_file_is_named_after_its_holder_with_letters_and_digits_alone(name, file):
    assert file_of(certificate(name)) == file


def test_how_a_file_is_laid_out_does_not_count():
    made = certificate("Zoë 語 𝕏")
    said = json.loads(written_certificate(made))
    backwards = dict(reversed(said.items()))
    for layout in (json.dumps(said), json.dumps(backwards, indent=4), json.dumps(said, ensure_ascii=False)):
        for text in (layout, layout.replace("\n", "\r\n"), f"\ufeff{layout}\n"):
            assert read_certificate(text.encode()) == made


def test_every_slip_and_damage_is_found():
    made = certificate("Ada", [noted(MARK, 0, "wrong", NOW)])
    data = written_certificate(made)
    for place in range(len(data)):
        for other in (data[:place] + data[place + 1 :], data[:place] + b"7" + data[place + 1 :], data[:place]):
            try:
                assert read_certificate(other) == made, "only what is between the words may differ"
            except ValueError as refused:
                assert str(refused).startswith(("This ", "The checksum"))


SOUND = json.loads(written_certificate(certificate()))


def forged(**changes):
    """A certificate with something else in it and a check sum that fits: everybody can make one."""
    said = {name: value for name, value in (SOUND | changes).items() if name != CHECK}
    return json.dumps(said | {CHECK: check_sum(said)}).encode()


DEEP = {"made": [[[]]] * 3}
BAD = {
    "nothing": b"",
    "no text": b"\xff\xfe\x00",
    "another file": b"{}",
    "a list": b"[1]",
    "too deep": b"[" * 90_000,
    "huge": b" " * (MOST_BYTES + 1),
    "a number without end": b'{"attention-lab-certificate": ' + b"9" * 9000 + b"}",
    "no number": b'{"attention-lab-certificate": NaN, "check": ""}',
    "another version": forged(**{KIND: 2}),
    "a version that is none": forged(**{KIND: True}),
    "changed": json.dumps(SOUND | {"name": "Bob"}).encode(),
    "without a check sum": json.dumps({k: v for k, v in SOUND.items() if k != CHECK}).encode(),
    "a check sum that is none": json.dumps(SOUND | {CHECK: ["x"]}).encode(),
    "a long name": forged(name="x" * 61),
    "a name that is none": forged(name=["Ada"]),
    "no stops": forged(stops=[]),
    "too many stops": forged(stops=SOUND["stops"] * 10),
    "a stop that is none": forged(stops=[5]),
    "an unknown result": forged(stops=[SOUND["stops"][0] | {"result": "best"}]),
    "a page that is none": forged(stops=[SOUND["stops"][0] | {"page": "<script>"}]),
    "a time that is none": forged(made="=1+1"),
    "a mark that is none": forged(homework="../../etc"),
    "exercises that are none": forged(exercises=["=cmd|' /C calc'!A0"]),
    "deep": forged(**DEEP),
}


@pytest.mark.parametrize("what", BAD)
def test_any_other_file_is_refused_in_one_sentence(what):
    with pytest.raises(ValueError, match=r"certificate|checksum") as refused:
        read_certificate(BAD[what])
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 300


def test_thirty_certificates_make_a_table_and_each_bad_file_a_sentence():
    names = [f"student {place:02d}" for place in range(26)]
    files = [Brought(f"{name}.json", written_certificate(certificate(name))) for name in reversed(names)]
    hostile = ["=1+1", "+1", "<img src=x onerror=alert(1)>", "@SUM(A1)"]
    files += [Brought("h.json", written_certificate(certificate(name))) for name in hostile]
    files += [
        Brought("again.json", files[0].data),
        Brought("<b>.json\u202e", b"{}"),
        Brought("cut.json", files[1].data[:-9]),
    ]
    read, said = read_all(files)
    lines = lines_of(read)
    assert len(read) == 30 and len(said) == 3
    assert [line["name"] for line in lines] == sorted([*hostile, *names])
    assert said[0].arguments == {"file": "again.json", "other": "student 25.json"}
    assert said[1].arguments["file"] == "<b>.json"
    table = list(csv.DictReader(io.StringIO(csv_of_lines(lines).decode("utf-8-sig"))))
    assert [unmarked(line["name"]) for line in table] == [line["name"] for line in lines]
    assert not any(cell[:1] in "=+-@\t\r" for line in table for cell in line.values() if cell)
    assert table[0] | {"name": ""} == {
        "name": "",
        "homework": f"Week 3 ({MARK})",
        "saved at (UTC)": "2026-09-21 14:13",
        "questions": "2",
        "right at the first try": "0",
        "right later": "0",
        "wrong at first": "",
        "tasks": "3",
        "tasks solved": "0",
        "seeds": "42",
        "titles of all exercises solved": "",
        "titles of all heads built": "",
    }


def unmarked(name):
    return name.removeprefix("'")


def test_more_files_than_a_class_are_told():
    files = [
        Brought(str(place), written_certificate(certificate(str(place)))) for place in range(MOST_CERTIFICATES + 5)
    ]
    read, (said,) = read_all(files)
    assert len(read) == MOST_CERTIFICATES and said.arguments == {"most": MOST_CERTIFICATES}


def test_the_table_speaks_the_language_of_its_reader():
    with speaking("de"):
        (line,) = lines_of([certificate("", exercises=["mask"])])
    assert line and list(line.values())[1] == f"Week 3 ({MARK})"
