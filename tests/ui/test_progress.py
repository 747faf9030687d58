"""What is solved, as a browser keeps it and as a file holds it: what is a stranger's word is checked."""

import json

import pytest

from attention_ui.page.progress import KNOWN, Progress, known_progress, load_progress, save_progress

SOME = Progress(frozenset(["softmax", "mask"]), frozenset(["scores"]))
GOOD = json.loads(save_progress(SOME))


def test_a_file_holds_what_was_solved_and_gives_it_back():
    assert load_progress(save_progress(SOME)) == (SOME, 0)
    everything = Progress(**KNOWN)
    assert load_progress(save_progress(everything)) == (everything, 0)
    assert load_progress(save_progress(Progress())) == (Progress(), 0)


def test_names_that_mean_nothing_here_are_counted_and_left_out():
    said = GOOD | {"lessons": ["softmax", "<b>", "softmax", "no such"], "exercises": ["mask", "softmax", "nothing"]}
    found, unknown = load_progress(json.dumps(said).encode())
    assert found == Progress(frozenset(["softmax"]), frozenset(["mask", "softmax"]))
    assert unknown == 3


def test_a_file_that_was_saved_before_there_were_levels_is_read():
    earlier = {name: said for name, said in GOOD.items() if name != "levels"}
    assert load_progress(json.dumps(earlier).encode()) == (SOME, 0)


BAD = {
    "no text": (b"\xff\xfe\x00", "cannot be read as JSON"),
    "nothing": (b"", "cannot be read as JSON"),
    "no JSON": (b"softmax, mask", "cannot be read as JSON"),
    "too deep": (b"[" * 19_000, "cannot be read as JSON"),
    "a number too long to be read": (b'{"attention-lab-progress": ' + b"9" * 10_000 + b"}", "cannot be read as JSON"),
    "10 MB": (b" " * 10**7, "It has 10,000,000 bytes"),
    "a list": (b"[]", "does not contain saved progress"),
    "null": (b"null", "does not contain saved progress"),
    "another file": (b'{"cells": []}', "does not contain saved progress"),
    "no names": (b'{"attention-lab-progress": 1}', "should contain lessons, exercises and levels, and nothing else"),
    "a foreign key": (
        json.dumps(GOOD | {"code": "x"}).encode(),
        "should contain lessons, exercises and levels, and nothing else",
    ),
    **{
        f"version {v!r}": (json.dumps(GOOD | {"attention-lab-progress": v}).encode(), "Its version is not 1")
        for v in (0, 2, 1.0, True, "1", None, [1])
    },
    **{
        f"{kind} is {v!r}": (json.dumps(GOOD | {kind: v}).encode(), f"Its {kind} should be a list of names")
        for kind in KNOWN
        for v in (None, "softmax", 5, {"softmax": True}, [1], ["softmax", None], [["softmax"]])
    },
}


@pytest.mark.parametrize("what", BAD)
def test_any_other_file_is_refused_in_sentences(what):
    file, words = BAD[what]
    with pytest.raises(ValueError, match=words) as refused:
        load_progress(file)
    said = str(refused.value)
    assert said.endswith(".") and said[0].isupper() and len(said) < 120


def test_of_what_a_browser_says_only_what_is_known_counts():
    assert known_progress(SOME.lists()) == SOME
    for forged in (None, 5, "x", [], {}, {"lessons": 5}, {"lessons": {"softmax": 1}}, {"lessons": [[], {}, None, "x"]}):
        assert known_progress(forged) == Progress()
    mixed = {"lessons": ["x" * 10**6, "softmax", 5, ["mask"]], "exercises": "scores", "more": 1}
    assert known_progress(mixed) == Progress(frozenset(["softmax"]))
    assert known_progress({"lessons": ["x"] * 10**6}) == Progress()
