"""Where a test finds a figure and what is in it: only here do tests name what draws the figures.

All but `FIGURE_KIND` are selectors without a comma, so that one may follow another. What stands in a picture is looked
for in the picture, in its box, or in the part of the page around it.
"""

import re

FIGURE_KIND = "vega_lite_chart"  # what Streamlit calls a figure among the elements of a page
FIGURE_BOX = ".stVegaLiteChart"  # as wide as there is room; what is wider scrolls in it
PICTURE = "svg.marks"
LETTERS = f"{PICTURE} text"
CELL = ".mark-rect [aria-label]"  # of a matrix, as one points at it; its label is what the tooltip says
RECTANGLE = ".mark-rect path"
SYMBOL = ".mark-symbol path"
LINE = ".mark-line path"
RULE = ".mark-rule line"
TOOLTIP = "#vg-tooltip-element"
# What moves a film. Each has a label, which is pressed as well.
CONTROLS = ".vega-bindings"
CONTROL = f"{CONTROLS} :is(input, select)"
SLIDER, CHECK_BOX, MENU = (f"{CONTROLS} {kind}" for kind in ("input[type=range]", "input[type=checkbox]", "select"))
CONTROL_LABEL = ".vega-bind label"
# Matrices that are tables: all of a figure, and a cell of one.
TABLES, TABLE_CELL = ".figure", "td[data-at]"
# What no other file of the tests may say.
TAGS = re.compile(
    r"td\[data-at|vega_?lite_?chart|vega-bind|vg-tooltip|svg\.marks|\.mark-\w|\.[\w${}]*_marks\b",
    re.IGNORECASE,
)


def layer(name: str) -> str:
    """What one layer of a figure has drawn, by the layer's name."""
    return f".{name}_marks"


def ringed(figure: str) -> str:
    """A function that tells in JavaScript what the ringed marks of a figure say, in alphabetical order."""
    return f"""() => [...document.querySelectorAll('{figure} {PICTURE} [aria-label]')]
    .filter(mark => mark.getAttribute('stroke') && mark.getAttribute('stroke') !== 'transparent')
    .map(mark => mark.getAttribute('aria-label')).sort()"""
