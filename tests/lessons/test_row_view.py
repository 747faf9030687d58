"""One row carried through five chapters: its numbers are those of the whole head, and each chapter begins where the
one before ended."""

import numpy as np
import pytest
import torch
from screens import check_matrix
from test_output import role, visible
from test_sentence_view import ORACLE as LOOK

from lessons.example.example import Example, learnt_example, run_example
from lessons.screen import render
from lessons.start.overview.row_view import CHAPTER, Choices, screen


def cases(trace):
    for chapter in CHAPTER.options:
        yield Choices(chapter, len(trace.tokens) - 1)
    yield Choices("compare", 0)
    yield Choices("carry", len(trace.tokens) // 2)


def its_query(case, sentence):
    return {
        "query": case.choices.query,
        "d_k": role(case, "q").shape[1],
        "d_model": case.trace.x.shape[1],
    }


def keys_and_values(case, sentence):
    return {"d_k": role(case, "k").shape[1], "d_v": role(case, "v").shape[1]}


def compared(case, sentence):
    query = case.choices.query
    scores = (role(case, "k")[visible(case, query)] @ role(case, "q")[query]).tolist()
    example = case.trace.example
    scores = [score * (example.d_k**-0.5 if example.scaling else 1.0) for score in scores]
    found = {"query": query, "count": len(scores), "low": min(scores)}
    return found | {"high": max(scores)}


ORACLE = LOOK | {
    "{query} asks: W_q makes a query of size {d_k} from its row, of size {d_model}.": its_query,
    "Every token answers: W_k makes a key of size {d_k} from its row, and W_v a value of size {d_v}.": keys_and_values,
    "The query of {query} is compared with the {count} key it may look at: its score is {low}.": compared,
}
ANSWERS: dict = {}


def figure_of(chapter, query=2, **choices):
    sizes = {"source": "sentence", "text": "a b c d e", "d_model": 7, "d_k": 3, "d_v": 2, "seed": 11}
    return screen(run_example(Example(**(sizes | choices))), 0, Choices(chapter, query)).figures[0]


def shown(chapter, **choices):
    return {matrix.key: matrix.values for matrix in figure_of(chapter, **choices).matrices}


@pytest.mark.parametrize("causal", [True, False])
def test_the_carried_row_is_that_of_the_head_in_every_chapter(causal):
    head = run_example(
        Example(source="sentence", text="a b c d e", d_model=7, d_k=3, d_v=2, seed=11, causal=causal)
    ).heads.select(0)
    ask, compare, share, carry = (shown(chapter, causal=causal) for chapter in ("ask", "compare", "share", "carry"))
    torch.testing.assert_close(ask["x"] @ ask["W_q"], ask["q"])
    assert torch.equal(ask["q"], compare["q"]) and torch.equal(compare["masked"], share["masked"])
    torch.testing.assert_close(compare["q"] @ compare["k_transposed"], compare["scores"])
    assert torch.equal(share["weights"], carry["weights"])
    torch.testing.assert_close(carry["weights"] @ carry["v"], carry["output"])
    torch.testing.assert_close(carry["output"][0], head.output[2])


@pytest.mark.parametrize("chapter", CHAPTER.options)
@pytest.mark.parametrize("example", [Example(), learnt_example("pronouns"), Example(source="sentence", text="one")])
def test_every_cell_of_every_chapter_evaluates_and_names_cells_of_its_figure(chapter, example):
    trace = run_example(example)
    figure = screen(trace, 0, Choices(chapter, len(trace.tokens) - 1)).figures[0]
    shapes = {matrix.key: matrix.values.shape for matrix in figure.matrices}
    for place, matrix in enumerate(figure.matrices):
        check_matrix(matrix, place)
        for i, j in np.ndindex(*matrix.values.shape):
            for cells in matrix.sources(i, j):
                if cells.matrix in shapes:
                    rows, columns = shapes[cells.matrix]
                    assert (cells.row or 0) < rows and (cells.column or 0) < columns


def test_masked_scores_of_the_row_stay_masked():
    matrices = {matrix.key: matrix for matrix in figure_of("compare").matrices}
    assert [matrices["masked"].sees(0, j) for j in range(5)] == [True, True, True, False, False]


def test_the_trained_head_is_told_with_its_numbers():
    trace = run_example(learnt_example("pronouns"))
    headlines = [render(screen(trace, 0, Choices(chapter, 6)).headline) for chapter in CHAPTER.options]
    assert headlines[0] == "“he” asks: W_q makes a query of size 2 from its row, of size 8."
    assert "over 99%" in headlines[3] and "“boy”" in headlines[3]
