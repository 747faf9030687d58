"""What is drawn on the screen: the area of every square is the weight of its cell, and its number can be read."""

import pytest

from attention_core.one_head.attention import attend
from attention_ui.figures.roles import FULL, role_colours
from lessons.example.example import Example, run_example
from tests.figures import CELL, SYMBOL

SQUARES = f"""([figure, colour]) => [...document.querySelectorAll(`.st-key-${{figure}} {SYMBOL}`)]
    .filter(path => path.getAttribute('fill') === colour)
    .map(path => path.getBBox()).map(box => [box.width, box.height])"""
WIDEST = f"""figure => Math.max(...[...document.querySelectorAll(`.st-key-${{figure}} {CELL}`)]
    .map(path => path.getBBox().width))"""
INNER = 0.94  # of a place is the cell, the rest is the gap


@pytest.mark.part(2)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_square_is_as_large_as_its_weight(visit, scheme):
    tab = visit(color_scheme=scheme).open("mask?mask=none&cover=false&example=sentence&text=a+b+c+d+e")
    tab.page.wait_for_selector(f".st-key-mask_figure {CELL}")
    tab.settled()
    attention = run_example(Example(source="sentence", text="a b c d e")).heads.select(0)
    weights = attend(attention.q, attention.k, attention.v, scale=Example().d_k ** -0.5).weights.flatten().tolist()
    drawn = tab.page.evaluate(SQUARES, ["mask_figure", role_colours(scheme)["weight"]])
    whole = FULL * tab.page.evaluate(WIDEST, "mask_figure") / INNER
    assert len(drawn) == 2 * len(weights), "without the mask and with it, which hides nothing"
    for (wide, high), weight in zip(drawn, 2 * weights, strict=True):
        assert wide == pytest.approx(high, abs=0.01)
        assert wide * high / whole**2 == pytest.approx(weight, abs=0.01)
