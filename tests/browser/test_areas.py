"""What is drawn on the screen: behind the number of a weight its share of the floor of its cell, and one tint."""

import pytest

from attention_core.one_head.attention import attend
from lessons.example.example import Example, run_example
from tests.figures import CELL, EVERY, TABLE_CELL

# Of each cell: how much of its floor is filled, its tint, and whether its number stands in it and above what is filled.
FLOORS = f"""() => {EVERY}('{TABLE_CELL}', document.querySelector('.st-key-mask_figure')).map(cell => {{
    const floor = getComputedStyle(cell, '::after'), number = document.createRange()
    number.selectNodeContents(cell.firstChild)
    const [text, box] = [number.getBoundingClientRect(), cell.getBoundingClientRect()]
    return [new DOMMatrix(floor.transform).a, getComputedStyle(cell).backgroundColor,
        text.left >= box.left && text.right <= box.right && text.bottom <= box.bottom - parseFloat(floor.height) + 2]
}})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_weight_fills_as_much_of_its_floor_and_its_number_stands_clear_of_it(visit, scheme):
    tab = visit(color_scheme=scheme, reduced_motion="reduce").open(
        "mask?mask=none&cover=false&example=sentence&text=a+b+c+d+e"
    )
    tab.page.wait_for_selector(f".st-key-mask_figure {CELL}")
    tab.settled()
    attention = run_example(Example(source="sentence", text="a b c d e")).heads.select(0)
    weights = attend(attention.q, attention.k, attention.v, scale=Example().d_k ** -0.5).weights.flatten().tolist()
    drawn = tab.page.evaluate(FLOORS)
    assert len(drawn) == 2 * len(weights), "without the mask and with it, which hides nothing"
    assert [share for share, *_ in drawn] == pytest.approx(2 * weights, abs=0.001)
    assert all(clear for *_, clear in drawn)
    tints = [tint for _, tint in sorted(zip(weights, (tint for _, tint, _ in drawn), strict=False))]
    assert len(set(tints)) > 10, "the larger the weight, the stronger its tint"
