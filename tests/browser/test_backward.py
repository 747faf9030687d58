"""What only a browser shows of the way back: what lights up with a gradient, its derivation, the fold of a screen."""

from attention_ui.page.derivation import LAST_STEPS
from lessons.example.example import Example, run_example
from lessons.learning.backward.lesson import Choices, screen
from lessons.screen import Cells, equation
from tests.figures import CELL, EVERY, TABLE_CELL, cell_at, lit

BOTTOMS = f"""() => {EVERY}('{TABLE_CELL}', document.querySelector('.st-key-way_back'))
    .map(cell => cell.getBoundingClientRect().bottom)"""
LINES = "() => [...document.querySelectorAll('.st-key-derivation [data-testid=stCode] code')].map(c => c.textContent)"


def matrices(stage):
    (figure,) = screen(run_example(Example()), 0, Choices(stage=stage)).figures
    return {matrix.key: matrix for matrix in figure.matrices}


def open_way(visit, stage, **settings):
    tab = visit(**settings).open(f"backward?back_to={stage}")
    tab.page.wait_for_selector(f".st-key-way_back {CELL}")
    return tab.settled()


def cells_of(matrix, cells):
    """The cells that such `Cells` are."""
    rows, columns = matrix.values.shape
    return {
        (i, j)
        for i in range(rows)
        for j in range(columns)
        if cells.row in (None, i) and cells.column in (None, j) and matrix.sees(i, j)
    }


def test_pointing_at_a_gradient_lights_what_made_it_and_a_click_derives_it(visit):
    tab, shown = open_way(visit, "scores"), matrices("scores")
    cell = tab.page.locator(cell_at(".st-key-way_back", "d_scores", 6, 2))
    assert all(0 < bottom <= 900 for bottom in tab.page.evaluate(BOTTOMS)), "every row stands above the fold"
    sent = len(tab.sent)
    cell.hover()
    made_of = (Cells("d_weights", row=6), Cells("weights", row=6), Cells("scores", 6, 2), Cells("d_scores", 6, 2))
    wanted = [(cells.matrix, *at) for cells in made_of for at in cells_of(shown[cells.matrix], cells)]
    assert lit(tab.page, ".st-key-way_back") == sorted(wanted)
    assert len(tab.sent) == sent, "pointing asks nobody"
    cell.click()
    wanted = [equation(step) for step in shown["d_scores"].derive(6, 2)[-LAST_STEPS:]]
    tab.page.wait_for_function(f"wanted => JSON.stringify(({LINES})()) === JSON.stringify(wanted)", arg=wanted)


def test_every_row_stands_above_the_fold_and_only_the_figure_scrolls_sideways(visit):
    tab = open_way(visit, "X")
    assert all(0 < bottom <= 900 for bottom in tab.page.evaluate(BOTTOMS))
    tab.page.set_viewport_size({"width": 390, "height": 844})
    tab.page.wait_for_function("() => document.documentElement.scrollWidth <= 390")
