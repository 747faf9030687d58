"""The lessons on order and on PyTorch: a number of a figure opens its arithmetic."""

import re

import pytest
from visiting import cells, follow, open_page, page_of, pick

VIEWS = [
    ("positions", {}),
    ("positions", {"positions": "rotary", "d_k": 4}),
    ("positions", {"order_view": "weights", "positions": "sinusoidal", "order_mask": "causal", "heads": 2, "head": 2}),
    ("positions", {"order_view": "rows"}),
    ("positions", {"order_view": "rows", "positions": "learned"}),
    ("positions", {"order_view": "rows", "positions": "rotary", "d_k": 4}),
    ("pytorch", {"mh_bias": "true"}),
    ("pytorch", {"parity": "fused", "mh_heads": 4}),
    ("pytorch", {"parity": "weights", "mh_heads": 4}),
    pytest.param("pytorch", {"mh": "wide"}, marks=pytest.mark.slow),  # its lines have 512 terms
]
PLAIN = {"causal": "false", "mask": "none"}


def equations(at):
    """The arithmetic on the page, which is the only code in no language."""
    return [code.value for code in at.code if code.language != "python"]


def result(at):
    """What the last line of the panel comes to."""
    mantissa, _, exponent = re.split(" [=≈] ", equations(at)[-1])[-1].replace("−", "-").partition("·10^(")
    return float(mantissa) * 10 ** int(exponent.strip(")") or 0)


@pytest.mark.parametrize(("lesson", "query"), VIEWS)
def test_a_cell_of_each_matrix_is_followed_to_the_number_that_is_drawn(lesson, query):
    at = open_page(page_of(lesson), **PLAIN, **query)
    drawn = cells(at)
    for matrix, key in {key.split()[0]: key for key in drawn}.items():
        follow(at, matrix, *map(int, key.split()[1].split(",")))
        value = drawn[key]["v"] or 0.0  # what is masked has no number
        assert result(at) == pytest.approx(
            value, rel=0.05 if matrix == "gap" else 2e-3, abs=1e-11 if matrix == "gap" else 1e-4
        ), key


@pytest.mark.parametrize(
    ("lesson", "query", "figure", "cell"),
    [
        ("heads", {"mh_step": "output"}, "way_figure", "output 3,5"),
        ("heads", {"mh_head": 2}, "head_figure", "map.1 4,2"),
        ("positions", {}, "positions_figure", "first 2,1"),
    ],
)
def test_a_click_opens_the_arithmetic_of_that_number(lesson, query, figure, cell):
    at = open_page(page_of(lesson), **query)
    assert not equations(at)
    matrix, place = cell.split()
    pick(at, figure, matrix, *map(int, place.split(",")))
    assert not at.exception
    assert equations(at)
    at.session_state["trace_open"] = True
    at.run()
    chosen = [at.selectbox(key=f"trace_{part}").value for part in ("matrix", "row", "column")]
    assert chosen == [matrix, *map(int, place.split(","))]


def test_a_click_into_a_figure_further_down_opens_its_arithmetic_beside_it():
    at = open_page("code/pytorch")
    assert not equations(at)
    pick(at, "parity_figure", "theirs", 1, 3)
    assert not at.exception
    assert result(at) == pytest.approx(cells(at)["theirs 1,3"]["v"], rel=2e-3)
