"""A certificate, a plan or saved progress nested too deep is refused by its name, and hides no other file."""

import json

import pytest
from test_hostile_files import MADE, PAGES, PLAN, places_in, summed, with_value

from attention_core.base.errors import InputError
from attention_ui.page.progress import Progress, load_progress, save_progress
from lessons.screen import render
from lessons.shared.nesting import MOST_LEVELS, check_nesting
from lessons.teachers.class_plan.plan_file import read_plan, written_plan
from lessons.teachers.class_vote.question_link import read_asked
from lessons.teachers.homework.certificate import read_certificate, written_certificate
from lessons.teachers.homework.table import Brought, read_all

READERS = {
    "certificate": (written_certificate(MADE), read_certificate),
    "plan": (written_plan(PLAN), lambda data: read_plan(data, PAGES)),
    "progress": (save_progress(Progress(frozenset(["softmax"]))), load_progress),
}
DEPTHS = (MOST_LEVELS + 1, 300, 940, 980, 995, 20_000)  # those near 1,000 can be read and not be walked through


def depth_of(said):
    inner = said.values() if isinstance(said, dict) else said if isinstance(said, list) else None
    return 0 if inner is None else 1 + max(map(depth_of, inner), default=0)


def nested(depth, in_objects):
    begin, end = ('{"a":', "}") if in_objects else ("[", "]")
    return begin * depth + "1" + end * depth


@pytest.mark.parametrize("in_objects", [False, True])
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("kind", READERS)
def test_a_nested_file_is_refused_in_one_sentence_wherever_it_is_nested(kind, depth, in_objects):
    sound, read = READERS[kind]
    read(sound)
    for place in places_in(json.loads(sound)):
        with_mark = json.dumps(with_value(json.loads(sound), place, "the place"))
        with pytest.raises(InputError) as refused:
            read(with_mark.replace('"the place"', nested(depth, in_objects)).encode())
        assert "\n" not in str(refused.value) and 0 < len(str(refused.value)) < 400


@pytest.mark.parametrize("kind", READERS)
def test_what_is_saved_here_is_far_less_deep_and_brackets_in_texts_do_not_count(kind):
    sound, _ = READERS[kind]
    assert depth_of(json.loads(sound)) <= MOST_LEVELS / 2
    check_nesting(sound)
    check_nesting(json.dumps({"a": "[{" * 50, 'b"[[[[[[[[[[[[': ['\\"[[[[[[[[[[[[', "\\"]}).encode())


def test_levels_are_counted_as_a_walk_counts_them():
    for depth in range(2 * MOST_LEVELS):
        for text in (nested(depth, False), nested(depth, True), f'["\\"[", {nested(depth, False)}]'):
            within = depth_of(json.loads(text)) <= MOST_LEVELS
            if within:
                check_nesting(text.encode())
            else:
                with pytest.raises(InputError, match=f"more than {MOST_LEVELS} levels deep"):
                    check_nesting(text.encode())


def test_a_text_that_never_ends_is_gone_through_once():
    check_nesting(b'"' + b'\\"' * 100_000)
    check_nesting(b'"[' * 3 + b"\\")


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_nested_certificate_is_named_and_hides_no_other(depth):
    deep = written_certificate(MADE).replace(b'"Ada"', nested(depth, False).encode())
    sound = written_certificate(MADE)
    read, said = read_all([Brought("deep.json", deep), Brought("ada.json", sound)])
    assert read == [MADE]
    assert render(said[0]).startswith("deep.json: This is no certificate")
    assert f"more than {MOST_LEVELS} levels deep" in render(said[0])


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_nested_question_in_a_link_is_none(depth):
    for text in (
        f'{{"lesson": {nested(depth, False)}}}',
        nested(depth, True),
        f'{{"example": {nested(depth, False)}}}',
    ):
        with pytest.raises(InputError, match="expected a question"):
            read_asked(text)


def test_a_check_sum_that_fits_helps_nothing():
    with pytest.raises(InputError, match="levels deep"):
        read_certificate(summed(json.loads(written_certificate(MADE)) | {"name": json.loads(nested(50, False))}))
