"""The lesson on tokens says only what ids and rows say."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from screens import JUDGE, by_text, by_thought, chosen, holds

from attention_core.text.tokens import Vocabulary, tokenize
from lessons.example.example import Example, model_settings, run_example
from lessons.example.layer_on_text import shipped_layer
from lessons.example.task_models import TASK_SOURCES, recorded
from lessons.one_head.tokens.lesson import (
    Choices,
    compute_rows,
    look_up,
    notice_lookup,
    rows_of_x,
    screen,
    with_unknown_row,
)
from lessons.screen import render, render_all

WORDS = ("dog", "", "the cat {0}", "journey with a stranger")


def cases(trace):
    for words in WORDS:
        yield Choices(words)


def rows_of(case):
    """The row of each token, from the table itself where a model has one."""
    example = case.trace.example
    if example.source == "language":
        return shipped_layer().fetched
    task = task_of(example)
    if task is None:
        return case.trace.x
    words = task.vocabulary.tokens
    table = recorded(model_settings(example)).model(example.updates).token_table
    return table[[words.index(token) for token in case.trace.tokens]]


def task_of(example):
    """What the model of an example has learned; None where it has none."""
    if example.own is not None:
        return example.own.task
    return TASK_SOURCES[example.source].task if example.source in TASK_SOURCES else None


def rows_and_numbers(case, sentence):
    n, d = case.trace.x.shape
    plural = "" if d == 1 else "s"
    return {"count": n, "numbers": f"{d} number{plural}"}


def same_token(case, sentence):
    positions = [token.position for token in sentence.arguments["tokens"].items]
    first = positions[0]
    assert positions == [i for i, token in enumerate(case.trace.tokens) if token == case.trace.tokens[first]]
    assert len({tuple(rows_of(case)[i].tolist()) for i in positions}) == 1 < len(positions)
    return {"tokens": positions}


def vocabulary_of(case):
    task = task_of(case.trace.example)
    return list(dict.fromkeys(case.trace.tokens)) if task is None else task.vocabulary.tokens


def unknown(case, sentence):
    known = vocabulary_of(case)
    words = tokenize(case.choices.words, case.trace.example.unit)[:12]
    strangers = list(dict.fromkeys(word for word in words if word not in known))
    assert [token.text for token in sentence.arguments["words"].items] == strangers
    return {"words": [*range(len(strangers))], "row": len(known), "count": len(strangers)}


def counted(case, sentence):
    n, d = case.trace.x.shape
    assert sentence.count in (n, d)
    return {"count": sentence.count}


SHAPE = (
    "Another sentence has {tokens} tokens, {different} of them distinct, and every vector has "
    "{numbers} numbers. What is the shape of X, rows × columns?"
)
WHERE = "Where in X is the vector of {token}?"
TWO = "How do the rows of {one} and {other} in X compare?"
SWAP = "{one} and {other} swap positions, and each takes its vector along. What happens to X?"
AGAIN = "Suppose {token} appears once more, at the end of the sentence. Which row does X get?"

SAME_ROW = "A row is looked up by its token; the position is not in it."
SAME_AGAIN = "The same token gets the same row again: it starts with {number}."
OTHER_ROW = "Different tokens have different rows of the table: one starts with {first}, the other with {second}."


def first_number(case, said):
    """The prompt is not known here, so it must be the first number of some row."""
    (found,) = {row[0] for row in rows_of(case).tolist() if abs(row[0] - said.value) < 1e-6}
    return found


ORACLE = {
    "{count} token becomes a row of {numbers}.": rows_and_numbers,
    "{count} number": counted,
    "{count} token": counted,
    "{tokens} are the same token, so they get the same row.": same_token,
    "The table has no row for {words}. If it had one more, shared by all unknown words (row {row}, the mean of the "
    "others), the word would get that row.": unknown,
    "feature {feature}": chosen,
    "{rows}\u00a0×\u00a0{columns}": chosen,
    SHAPE: chosen,
    TWO: chosen,
    SAME_AGAIN: lambda case, sentence: {"number": first_number(case, sentence.arguments["number"])},
    OTHER_ROW: lambda case, sentence: {
        name: first_number(case, sentence.arguments[name]) for name in ("first", "second")
    },
    SWAP: chosen,
    AGAIN: chosen,
}


def answer_shape(case, prompt):
    n, d, different = (prompt.arguments[name] for name in ("tokens", "numbers", "different"))
    assert different <= n
    thoughts = {
        "rows for tokens, columns for features": (n, d),
        "rows for features, columns for tokens": (d, n),
        "rows for different tokens, columns for features": (different, d),
        "rows for tokens, columns for tokens": (n, n),
        "one row for the sentence, columns for features": (1, d),
    }
    shapes = {thought: dict(zip(("rows", "columns"), shape, strict=True)) for thought, shape in thoughts.items()}
    reply = "A row for each token, even one that appears twice; a column for each feature."
    return {reply: ..., JUDGE: by_thought(shapes)}


def answer_two(case, prompt):
    one, other = (prompt.arguments[name].position for name in ("one", "other"))
    rows = rows_of(case)
    alike = rows[one].tolist() == rows[other].tolist()
    assert alike == (case.trace.tokens[one] == case.trace.tokens[other])
    earlier, later = rows[min(one, other)], rows[max(one, other)]
    judge = by_text(
        {
            "They hold the same numbers.": alike,
            "They hold different numbers.": not alike,
            "The later one holds only larger numbers.": (later > earlier).all(),
            "They differ in a single number.": (later != earlier).sum() == 1,
        }
    )
    return {SAME_ROW if alike else OTHER_ROW: ..., JUDGE: judge}


def answer_swap(case, prompt):
    one, other = sorted(prompt.arguments[name].position for name in ("one", "other"))
    order = list(range(len(case.trace.tokens)))
    order[one], order[other] = other, one
    moved = (rows_of(case)[order] != rows_of(case)).any(dim=1).nonzero()[:, 0].tolist()
    assert moved == [one, other]
    before, after, columns = rows_of(case), rows_of(case)[order], [*range(rows_of(case).shape[1])]
    if other < len(columns):
        columns[one], columns[other] = other, one
    judge = by_text(
        {
            "Rows {first} and {second} swap.": True,
            "Rows {first} and {second} get numbers that X did not hold before.": not (
                set(after.flatten().tolist()) <= set(before.flatten().tolist())
            ),
            "Columns {first} and {second} swap.": other < len(columns) and torch.equal(after, before[:, columns]),
            "Nothing changes.": torch.equal(after, before),
        }
    )
    return {"The vectors move with their tokens, and no number in them changes.": ..., JUDGE: judge}


def answer_again(case, prompt):
    position = prompt.arguments["token"].position
    return {
        SAME_AGAIN: ...,
        JUDGE: by_text(
            {
                "The row that {token} already has.": all(
                    torch.equal(rows_of(case)[position], row)
                    for row, token in zip(rows_of(case), case.trace.tokens, strict=True)
                    if token == case.trace.tokens[position]
                ),
                "A row with its own numbers.": False,
                "No row at all.": False,
            }
        ),
    }


ORACLE |= {
    "No token repeats, so every row is different.": holds(
        lambda case: len({*case.trace.tokens}) == len({*map(tuple, rows_of(case).tolist())}) == len(rows_of(case))
    ),
    "No token repeats, so each has its own row.": holds(
        lambda case: len({*case.trace.tokens}) == len(case.trace.tokens)
    ),
    "The table knows every one of these words: each gets its row.": holds(
        lambda case: {*case.choices.words.lower().split()} <= {*vocabulary_of(case)}
    ),
}


def answer_where(case, prompt):
    """Right is the row in which the vector of the token's id is found."""
    position = prompt.arguments["token"].position
    place, id = position + 1, case.trace.ids[position]
    return {
        "The tokens are the rows of X, in the order of the sentence.": place,
        "{id} is its id, its row in the table.": id,
        "A column is one feature of all tokens.": place,
        "That is one number. A vector is a row.": place,
        JUDGE: lambda card: (
            card.text.template == "Row {row} of X."
            and 1 <= card.text.arguments["row"] <= len(case.trace.tokens)
            and case.trace.tokens[card.text.arguments["row"] - 1] == case.trace.tokens[position]
        ),
    }


ORACLE |= {WHERE: chosen, "{id} is its id, its row in the table.": chosen}
ANSWERS = {WHERE: answer_where, SHAPE: answer_shape, TWO: answer_two, SWAP: answer_swap, AGAIN: answer_again}


def said(words="dog", **choices):
    return [render_all(f.notice) for f in screen(run_example(Example(**choices)), 0, Choices(words)).figures]


def test_all_words_that_repeat_are_named():
    assert said(source="sentence", text="the cat the dog cat the")[0] == (
        "6 tokens become 6 rows of 4 numbers each. “the” (1), “the” (3) and “the” (6) are the same token, so they "
        "get the same row. “cat” (2) and “cat” (5) are the same token, so they get the same row."
    )
    assert said(source="sentence", text="one", d_model=1)[0] == "1 token becomes a row of 1 number."


def test_pointing_at_a_row_lights_all_rows_with_the_same_id():
    trace = run_example(Example(source="sentence", text="the cat the dog"))
    x, table = rows_of_x(trace, compute_rows(trace))
    assert len(table.rows.labels) == 3 and table.given and not x.given
    lit = {(cells.matrix, cells.row) for cells in x.sources(2, 0)}
    assert lit == {("table", 0), ("x", 0), ("x", 2)} == {(c.matrix, c.row) for c in table.sources(0, 1)}


def test_strangers_share_one_row_and_friends_keep_theirs():
    trace = run_example(Example(source="sentence", text="the cat saw the dog", d_model=5))
    lookup = look_up(trace, "the cow saw a cat")
    assert lookup.ids == (0, 4, 2, 4, 1) and lookup.unknown_id == 4
    different = torch.stack([trace.x[position] for position in (0, 1, 2, 4)])
    torch.testing.assert_close(lookup.rows[1], different.mean(dim=0))
    assert torch.equal(lookup.rows[1], lookup.rows[3]) and torch.equal(lookup.rows[4], trace.x[1])
    with pytest.raises(ValueError, match=r"'cow', 'a'$"):
        Vocabulary.in_order_of_appearance(trace.tokens).encode(lookup.tokens)
    sentence = render(notice_lookup(lookup))
    assert (
        "no rows for “cow” and “a”." in sentence and "(row 4, the mean" in sentence and "all 2 words would" in sentence
    )


def test_what_is_known_is_not_refused():
    lookup = look_up(run_example(Example()), "journey journey")
    assert lookup.unknown == () and lookup.ids == (1, 1)
    assert "knows every one" in render(notice_lookup(lookup))


def test_the_unknown_row_is_the_last_and_the_mean():
    table = torch.tensor([[1.0, 2.0], [3.0, 6.0], [5.0, 1.0]])
    assert with_unknown_row(table).tolist() == [*table.tolist(), [3.0, 3.0]]


@given(st.text())
def test_any_text_is_looked_up(text):
    lookup = look_up(run_example(Example()), text)
    assert lookup.rows.shape == (len(lookup.tokens), 3)
    assert render(notice_lookup(lookup))


def test_of_the_real_model_only_its_tokenizer_says_what_a_token_is(smollm2):
    """“the” and “ the” are two tokens with two rows; none of them is looked up among the words of a sentence."""
    text = "the cat saw the mat and the cat"
    trace = run_example(Example(source="language", text=text, real_model=smollm2))
    shown, encoding = screen(trace, 0, Choices("dog")), smollm2.tokenizer.encode(text)
    assert [figure.key for figure in shown.figures] == ["tokens_figure"]
    said = render_all(shown.figures[0].notice)
    assert "“␣the” (4) and “␣the” (7) are the same token" in said and "“the”" not in said
    assert [token.strip() for token in trace.tokens] == [token.strip("Ġ") for token in encoding.tokens]
    assert len(set(zip(trace.tokens, trace.ids, strict=True))) == len(set(trace.tokens)) == 6
    x = shown.figures[0].bands[0][0]
    whole = smollm2.trace(encoding.ids).layers[0].x
    assert all(str(i) in label for label, i in zip(x.rows.labels, encoding.ids, strict=True))
    np.testing.assert_array_equal(x.values, whole[:, [int(feature) - 1 for feature in x.columns.labels]])
