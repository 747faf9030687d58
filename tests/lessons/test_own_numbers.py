"""Numbers that a learner changes in a figure: what a cell offers is what changes, and no other number that is given."""

from dataclasses import replace

import numpy as np
import pytest

from lessons.example.edits import Edit
from lessons.example.example import SOURCES, Example, run_example
from lessons.model.positions import lesson as positions
from lessons.one_head.projections import lesson as projections
from lessons.one_head.scores import lesson as scores
from lessons.screen import matrices_figures, render
from lessons.shared.own_numbers import changeable_numbers, entries_of, with_entries
from lessons.start.overview import matrices_view, row_view

CASES = [
    (matrices_view, {}),
    *((row_view, {"chapter": chapter, "query": 2}) for chapter in ("ask", "answer", "carry")),
    *((projections, {"role": role}) for role in ("q", "k", "v", "mirror")),
    (positions, {"view": "rows"}),
]
EXAMPLES = {
    "a repeated word, a head of several": Example(
        source="sentence", text="the cat the dog", n_heads=3, d_model=7, d_k=5, d_v=2
    ),
    "a real head": Example(source="language", **SOURCES["language"].begins),
    "changed already": Example(edits=(Edit("x", 1, 2, 0.25), Edit("W_k", 0, 1, -2.0))),
}


def offered(figures):
    """The matrices whose numbers can be changed."""
    return [matrix for figure in matrices_figures(figures) for matrix in figure.matrices if matrix.entries]


def figures_of(lesson, trace, head, **choices):
    order = {"permutation": tuple(range(len(trace.tokens)))} if lesson is positions else {}
    choices = lesson.Choices(**order, **choices)
    return with_entries(lesson.screen(trace, head, choices), trace, head).figures


def found_anew(matrix, figures):
    """The matrix with the key of this one among those of the figures whose numbers can be changed."""
    return next(one for one in offered(figures) if one.key == matrix.key)


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize(("lesson", "choices"), CASES)
def test_the_number_of_the_cell_changes_and_no_other_of_its_matrix(lesson, choices, example):
    example = EXAMPLES[example]
    trace = run_example(example)
    head = len(trace.heads.q) - 1
    for matrix in offered(figures_of(lesson, trace, head, **choices)):
        name, rows, columns = matrix.entries
        i, j = len(rows) - 1, len(rows[0]) - 1
        change = Edit(name, rows[i][j], columns[i][j], 0.375)
        after = run_example(replace(example, edits=(*example.edits, change)))
        now = found_anew(matrix, figures_of(lesson, after, head, **choices)).values
        before, now = np.asarray(matrix.values), np.asarray(now)
        assert now[i, j] == 0.375 != before[i, j]
        changed = {divmod(int(at), now.shape[1]) for at in (now != before).ravel().nonzero()[0]}
        same = [r for r, ids in enumerate(trace.row_ids) if ids == trace.row_ids[rows[i][j]]] if name == "x" else []
        assert changed == {(r, j) for r in range(len(rows)) if rows[r][j] in (same or [rows[i][j]])}


def test_what_is_computed_or_of_another_example_cannot_be_changed():
    trace = run_example(Example())
    assert [matrix.key for matrix in offered(figures_of(matrices_view, trace, 0))] == ["x"]
    assert offered(figures_of(scores, trace, 0)) == []
    other = run_example(Example(source="mat"))
    for matrix in figures_of(projections, trace, 0)[0].matrices:
        assert entries_of(matrix, other, 0) is None


def test_what_is_not_drawn_yet_cannot_be_changed():
    trace = run_example(Example())
    figure = figures_of(projections, trace, 0)[0]
    assert entries_of(replace(figure.matrices[0], drawn=False), trace, 0) is None


def test_all_that_can_be_changed_stands_in_one_figure_and_knows_what_it_was():
    example = EXAMPLES["a repeated word, a head of several"]
    trace = run_example(replace(example, edits=(Edit("W_k", 1, 5, 3.0),)))
    figure = changeable_numbers(trace, 1)
    assert [render(matrix.title) for matrix in figure.matrices] == ["X", "W_q", "W_k", "W_v"]
    x, _, W_k, W_v = figure.matrices
    assert [tuple(matrix.values.shape) for matrix in (x, W_k, W_v)] == [(4, 7), (7, 5), (7, 2)]
    assert W_k.entries.columns[0] == [5, 6, 7, 8, 9] and W_v.entries.columns[0] == [2, 3]
    assert float(W_k.values[1, 0]) == 3.0 != float(W_k.was[1][0])
