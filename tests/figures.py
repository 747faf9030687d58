"""Where a test finds a figure and what is in it: only here do tests name what draws the figures.

All but the kinds are selectors, so that one may follow another. Playwright finds by them also what stands in a tree of
its own, as matrices do; a function of the page finds that by `EVERY`.
"""

import re

FIGURE_KIND = "vega_lite_chart"  # what Streamlit calls a figure among the elements of a page
TABLES_KIND, TABLES_NAME = "bidi_component", "attention-lab.figures_"  # one of matrices, and how its name begins
CHART_CLASS = "stVegaLiteChart"
FIGURE_BOX = ":is(.stVegaLiteChart, [data-testid=stBidiComponentIsolated])"  # as wide as there is room
CHART, TABLES, FILM, SENTENCE, MODEL = "svg.marks", ".figure", ".film", ".sentence", ".model"
SPANS = ":is(.arcs, .map-rows, .flow)"
PICTURE = f":is({CHART}, {TABLES}, {SENTENCE}, {MODEL}, {SPANS})"
RIBBON, WORD, SHARE = f"{SENTENCE} .ribbon", f"{SENTENCE} .word", f"{SENTENCE} .share"
TABLE_CELL = "td[data-at]"
CELL = f":is(.mark-rect [aria-label], {TABLE_CELL}:not(.empty))"  # as one points at it; a frame is none
OF_TABLES = "caption, small, .number, th:not(.nameless) span"
LETTERS = f":is(:is({CHART}, {SENTENCE}, {MODEL}, {SPANS}) text, {TABLES} :is({OF_TABLES}))"
LINE = ".mark-line path"
TOOLTIP = "#vg-tooltip-element"
# What moves a film. Each has a label, which is pressed as well.
CONTROLS = ":is(.vega-bindings, .controls:not(.waiting))"
CONTROL = f"{CONTROLS} :is(input, select)"
SLIDER, CHECK_BOX, MENU = (f"{CONTROLS} {kind}" for kind in ("input[type=range]", "input[type=checkbox]", "select"))
CONTROL_LABEL = ":is(.vega-bind, .controls) label"
# What no other file of the tests may say.
TAGS = re.compile(
    r"td\[data-at|td\.lit|stBidi|vega_?lite_?chart|vega-bind|vg-tooltip|svg\.marks|\.mark-\w|\.[\w${}]*_marks\b",
    re.IGNORECASE,
)
# All that a selector finds in a part of the page, the trees of their own in it included.
EVERY = """((selector, box = document) =>
    [box, ...[box, ...box.querySelectorAll('*')].map(one => one.shadowRoot).filter(Boolean)]
        .flatMap(root => [...root.querySelectorAll(selector)]))"""
# Whether every figure with a tree of its own has been drawn as large as its room allows.
DRAWN = f"""() => [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')].every(box => {{
    const figures = {EVERY}(':is({TABLES}, {FILM}, {SENTENCE}, {MODEL}, {SPANS})', box)
    const sized = '[style*="--size"], [style*="--letters"]'
    return figures.length && figures.every(one => !one.clientWidth || one.matches(sized) || one.querySelector(sized))
}})"""
# All that a selector of figures finds, which ends in `PICTURE`; or any other selector.
FIND_ALL = f"""(selector => {{
    const whose = selector.endsWith('{PICTURE}') && selector.slice(0, -{len(PICTURE)})
    return whose
        ? [...document.querySelectorAll(whose)].flatMap(box => {EVERY}('{PICTURE}', box))
        : [...document.querySelectorAll(selector)]
}})"""
FIND = f"(selector => {FIND_ALL}(selector)[0])"
PLACES = """cells => cells.map(cell =>
    [cell.closest('table').dataset.key, ...cell.dataset.at.split(',').slice(1).map(Number)])"""


def layer(name: str) -> str:
    """What one layer of a chart has drawn, by the layer's name."""
    return f".{name}_marks"


def cell_at(figure: str, matrix: str, row: int, column: int) -> str:
    """A cell of a matrix in a figure."""
    return f'{figure} [data-key="{matrix}"] td[data-at$=",{row},{column}"]'


def lit(page, figure: str) -> list[tuple[str, int, int]]:
    """The cells of a figure that have a ring because one points at what they made, or at themselves."""
    return sorted(map(tuple, page.locator(f"{figure} td.lit").evaluate_all(PLACES)))


def picked(page, figure: str) -> list[tuple[str, int, int]]:
    """The cell of a figure that has been picked."""
    return [*map(tuple, page.locator(f"{figure} td.picked").evaluate_all(PLACES))]
