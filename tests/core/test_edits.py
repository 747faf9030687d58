"""Numbers changed by hand: what may be set, where it counts, what follows from it, and how a link spells it."""

import math
import re
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.base.randomness import generator
from attention_core.text.embeddings import embedding_table
from lessons.example.edits import (
    LARGEST,
    LETTER_OF,
    MOST_CHARACTERS,
    MOST_EDITS,
    MOST_PLACES,
    Edit,
    edits_code,
    parse_edits,
    put_edit,
    usable_number,
)
from lessons.example.example import Example, run_example, unedited
from lessons.example.presets import PRESETS
from lessons.screen import format_value, render
from lessons.shared.edit_notices import edit_remarks, tensors_of
from lessons.shared.matrices import PAIRS

VALUES = st.floats(-LARGEST, LARGEST, allow_nan=False)
ANY_EDIT = st.builds(
    Edit,
    matrix=st.sampled_from(list(LETTER_OF)),
    row=st.integers(0, MOST_PLACES - 1),
    column=st.integers(0, MOST_PLACES - 1),
    value=VALUES,
)
# Distinct primes: 5 tokens, d_model 7, d_k 3, d_v 2, and two heads.
SENTENCE = Example(source="sentence", text="a b c d e", d_model=7, d_k=3, d_v=2, n_heads=2, seed=11)


def edited(*edits, example=SENTENCE):
    return run_example(replace(example, edits=tuple(edits)))


def changes(trace, head=0):
    """For each tensor, True where a number is not what it was before."""
    now, then = tensors_of(trace, head), tensors_of(unedited(trace), head)
    return {key: now[key] != then[key] for key in now}


def counts(trace, head=0):
    return {key: int(marks.sum()) for key, marks in changes(trace, head).items()}


# What may be set


def said_of(found):
    """What was found, and the sentences on the rest as they are read."""
    edits, sentences = found
    return edits, tuple(map(format_value, sentences))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"matrix": "W_o"}, "the matrices that can be edited are x, W_q, W_k, W_v, but got W_o"),
        ({"row": -1}, "rows and columns go from 1 to 9999, but got row 0, column 2"),
        ({"column": 9999}, "rows and columns go from 1 to 9999, but got row 1, column 10000"),
        ({"value": math.nan}, "“nan” is not a number from −1000 to 1000"),
        ({"value": math.inf}, "inf is too large: numbers go from −1000 to 1000"),
        ({"value": -math.inf}, "-inf is too large"),
        ({"value": 1e308}, r"1e\+308 is too large"),
        ({"value": 1000.0000001}, "too large"),
    ],
)
def test_what_cannot_be_set_is_an_error_that_says_why(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        Edit(**({"matrix": "W_q", "row": 0, "column": 1, "value": 0.5} | wrong))


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        (None, "the cell is empty"),
        ("", "the cell is empty"),
        ("0.5", "“0.5” is not a number"),
        ("<b>", "“<b>” is not a number"),
        (True, "“True” is not a number"),
        (math.nan, "“nan” is not a number"),
        (math.inf, "inf is too large"),
        (1e308, "1e+308 is too large"),
        (10**400, "is too large"),
        ([1], "“[1]” is not a number"),
    ],
)
def test_what_is_no_number_is_refused_with_a_sentence(typed, why):
    with pytest.raises(ValueError, match=re.escape(why)):
        usable_number(typed)


def test_setting_a_number_again_replaces_it_and_too_many_are_refused():
    edits = ()
    for i in range(MOST_EDITS):
        edits = put_edit(edits, Edit("W_q", i, 0, 1.0))
    edits = put_edit(edits, Edit("W_q", 3, 0, 2.0))
    assert len(edits) == MOST_EDITS
    assert [edit.value for edit in edits if edit.row == 3] == [2.0]
    with pytest.raises(ValueError, match="50 numbers have already been changed by hand"):
        put_edit(edits, Edit("W_v", 0, 0, 1.0))


# Where it counts


@given(data=st.data(), source=st.sampled_from(list(PRESETS)))
def test_an_edit_sets_its_number_and_no_other(data, source):
    plain = run_example(Example(source=source))
    matrix = data.draw(st.sampled_from(list(LETTER_OF)))
    rows, columns = getattr(plain, matrix).shape
    i, j = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
    edit = Edit(matrix, i, j, data.draw(VALUES))
    trace = run_example(Example(source=source, edits=(edit,)))
    for name in LETTER_OF:
        expected = getattr(plain, name).clone()
        if name == matrix:
            same_row = [row for row in range(rows) if matrix == "x" and plain.ids[row] == plain.ids[i]] or [i]
            for row in same_row:
                expected[row, j] = edit.value
        assert torch.equal(getattr(trace, name), expected)
    assert trace.heads.output.isfinite().all()


def test_a_row_of_x_is_the_row_of_the_table_so_the_same_word_keeps_the_same_vector():
    example = Example(source="sentence", text="the cat the dog", d_model=3)
    trace = edited(Edit("x", 2, 1, 9.0), example=example)
    assert trace.x[:, 1].tolist()[::2] == [9.0, 9.0]
    assert torch.equal(trace.x[0], trace.x[2])
    table = embedding_table(3, 3, generator(42, "embedding"))
    assert torch.equal(trace.x[1], table[1]) and torch.equal(trace.x[3], table[2])


def test_an_edit_outside_the_matrix_waits_and_says_so():
    edits = (Edit("W_q", 0, 5, 1.0), Edit("W_q", 6, 5, 2.0), Edit("x", 4, 0, 3.0))
    large = edited(*edits)
    assert large.W_q[0, 5] == 1 and large.W_q[6, 5] == 2 and large.x[4, 0] == 3 and large.notes == ()
    small = edited(*edits, example=replace(SENTENCE, d_k=2, text="a b c"))
    assert tuple(map(format_value, small.notes)) == (
        "X is 3×7 now, and 1 number changed by hand lies outside it. "
        "Nothing is lost: the change counts again once there is room.",
        "W_q is 7×4 now, and 2 numbers changed by hand lie outside it. "
        "Nothing is lost: the changes count again once there is room.",
    )
    assert torch.equal(small.W_q, run_example(replace(SENTENCE, d_k=2, text="a b c")).W_q)
    assert small.example.edits == edits


def test_the_tensors_that_are_drawn_are_left_alone():
    before = run_example(Example()).x.clone()
    edited(Edit("x", 0, 0, 5.0), example=Example())
    assert torch.equal(run_example(Example()).x, before)


def test_an_example_with_edits_can_be_a_key():
    assert len({SENTENCE, replace(SENTENCE, edits=(Edit("x", 0, 0, 1.0),)), SENTENCE}) == 2


# What follows


@given(i=st.integers(0, 6), j=st.integers(0, 1), value=VALUES)
def test_editing_w_v_changes_no_score_and_no_weight(i, j, value):
    changed = counts(edited(Edit("W_v", i, j, value)))
    assert all(changed[key] == 0 for key in ("x", "W_q", "W_k", "q", "k", *PAIRS))
    assert changed["W_v"] <= 1 and changed["v"] <= 5 and changed["output"] <= 5


@given(i=st.integers(0, 6), j=st.integers(0, 2), value=VALUES)
def test_editing_w_q_changes_one_column_of_q_and_neither_keys_nor_values(i, j, value):
    marks = changes(edited(Edit("W_q", i, j, value)))
    assert not any(marks[key].any() for key in ("x", "W_k", "W_v", "k", "v"))
    assert not marks["q"][:, [other for other in range(3) if other != j]].any()


def test_editing_one_head_leaves_the_other_alone():
    trace = edited(Edit("W_q", 0, 4, 3.0))
    assert not any(counts(trace, head=0).values())
    assert counts(trace, head=1)["W_q"] == 1
    (remark,) = edit_remarks(trace, 0)
    assert render(remark) == "The changes made by hand change nothing in this head."


def test_the_future_stays_unchanged_under_a_causal_mask():
    marks = changes(edited(Edit("x", 3, 0, 5.0)))
    assert not marks["output"][:3].any() and marks["output"][3:].all()


def test_without_edits_nothing_is_marked():
    assert not any(counts(run_example(SENTENCE)).values())


# How a link spells it


@given(edits=st.lists(ANY_EDIT, max_size=MOST_EDITS, unique_by=lambda edit: edit.place))
def test_what_a_link_spells_comes_back_to_the_last_bit(edits):
    code = edits_code(tuple(edits))
    assert len(code) <= MOST_CHARACTERS
    assert parse_edits(code) == (tuple(edits), ())


def test_the_spelling_counts_from_one_and_is_short():
    edits = (Edit("W_q", 0, 1, 0.5), Edit("x", 2, 0, -1.0))
    assert edits_code(edits) == "q1,2=0.5;x3,1=-1"
    assert parse_edits(" q1,2=0.5; x3,1=-1 ;") == (edits, ())


@pytest.mark.parametrize(
    ("piece", "why"),
    [
        ("q1,2", "write it like q1,2=0.5"),
        ("o1,2=3", "write it like q1,2=0.5"),
        ("q0,1=3", "rows and columns go from 1 to 9999, but got row 0, column 1"),
        ("q10000,1=3", "write it like q1,2=0.5"),
        ("q१,1=3", "write it like q1,2=0.5"),
        ("q1,2=", "the cell is empty"),
        ("q1,2=nan", "“nan” is not a number"),
        ("q1,2=inf", "“inf” is not a number"),
        ("q1,2=1e308", "1e+308 is too large"),
        ("q1,2=1e999", "inf is too large"),
        ("q1,2=1001", "1001.0 is too large"),
        ("q1,2=0x10", "“0x10” is not a number"),
        ("q1,2=1_0", "“1_0” is not a number"),
        ("<script>alert(1)</script>", "write it like"),
        ("\ud800\u202e", "write it like"),
    ],
)
def test_a_bad_piece_is_left_out_with_a_sentence_and_the_good_ones_count(piece, why):
    edits, notes = said_of(parse_edits(f"k2,1=0.25;{piece};v1,1=2"))
    assert edits == (Edit("W_k", 1, 0, 0.25), Edit("W_v", 0, 0, 2.0))
    assert len(notes) == 1 and why in notes[0] and "was left out of the numbers changed by hand" in notes[0]
    notes[0].encode("utf-8")


def test_a_code_that_is_too_long_changes_nothing_and_says_so():
    edits, notes = said_of(parse_edits("q1,1=1;" * 2000))
    assert edits == () and "14,000 characters" in notes[0]


@given(code=st.text(st.characters(exclude_categories=()), max_size=60) | st.from_regex(r"([xqkv]\d,\d=.{0,4};){0,4}"))
def test_any_text_gives_edits_and_sentences(code):
    edits, notes = said_of(parse_edits(code))
    assert all(isinstance(edit, Edit) for edit in edits)
    "".join(notes).encode("utf-8")
    assert parse_edits(edits_code(edits)) == (edits, ())
