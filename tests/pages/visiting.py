"""Opening a page as a visitor does: through the frame of the app."""

import io
import json
import re
from pathlib import Path

import pyarrow as pa
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from attention_ui.contents import ADDRESSES
from attention_ui.page import drawing
from tests.figures import FIGURE_KIND, TABLES_KIND, TABLES_NAME

ROOT = Path(__file__).parent.parent.parent


def visitor(page="start/overview", **query):
    """Somebody who is about to open a page by a link. A list is a parameter that the link says repeatedly.

    Unless the link says otherwise, this visitor would rather see the numbers at once than think first, looks at the
    first notebook's example, and on the first page at all steps; `example=None` names none.
    """
    usual = {"cover": "false", "example": "journey"} | ({"picture": "steps"} if page == "start/overview" else {})
    query = {name: value for name, value in (usual | query).items() if value is not None}
    at = AppTest.from_file(str(ROOT / "attention_ui/frame.py"), default_timeout=30)
    for name, value in query.items():
        at.query_params[name] = value if isinstance(value, bytes | list) else str(value)
    if page != "start/overview":
        at.switch_page(str(ROOT / f"pages/{page}.py"))
        if (address := ADDRESSES.get(page.rpartition("/")[2])) is not None:
            at._page_hash = calc_hash(address)  # before the first run Streamlit's tests know the names of files alone
    return at


def open_page(page="start/overview", **query):
    """The page, run once, with the query parameters of its link."""
    at = visitor(page, **query).run()
    assert not at.exception, at.exception
    return at


def page_of(lesson):
    """The page of a lesson."""
    [path] = (ROOT / "pages").glob(f"*/{lesson}.py")
    return f"{path.parent.name}/{lesson}"


def source_shown(at):
    """The first piece of source on the page, once the panel is opened."""
    assert not [code for code in at.code if code.language == "python"], "the panel is folded at first"
    at.session_state["drawer"] = "code"
    at.run()
    return next(code.value for code in at.code if code.language == "python")


def in_drawer(at):
    """What the drawer at the foot of the page holds."""
    return [option.content for pills in at.pills if pills.key == "drawer" for option in pills.proto.options]


def ask_about_the_figure(at, lesson):
    """Go on to a question whose answer stands in the figures, where the first is not one."""
    for _ in range(20):
        if at.session_state[f"{lesson}_in_figure"]:
            return at
        at.button(key=f"{lesson}_another").click().run()
    raise AssertionError(f"no question of {lesson} is about its figures")


def answer(at, lesson, letter="A"):
    """Press a card: A is the first."""
    at.button(key=f"{lesson}_card_{letter}").click().run()
    assert not at.exception, at.exception


def chosen(at, lesson):
    """The letter of the card that was chosen."""
    key = f"{lesson}_answer"
    return at.session_state[key] if key in at.session_state else None  # noqa: SIM401


def asked(at, level="header"):
    """The question on the page, or what its figure shows, as it is read: without the marks of Markdown."""
    return read_plainly(at.get(level)[0].value)


def read_plainly(markdown):
    plain = re.sub(r":(?:blue|orange|violet)\[((?:[^\[\]\\]|\\.)*)\]", r"\1", markdown)
    return re.sub(r"\\(.)", r"\1", plain.replace("\u2060", ""))


def texts(at):
    """Everything that is shown literally."""
    return [element.value for element in at.text]


def captions(at):
    """Everything that is said in small letters."""
    return [element.value for element in at.caption]


def charts(at):
    """The specification, the tables and the alternative text of each figure on the page but films."""
    return [*map(read_figure, filter(is_figure, [*at._tree]))]


def chart(at, index=0):
    """The specification, the tables and the alternative text of a figure, by its place on the page."""
    return charts(at)[index]


def is_figure(node):
    kind = getattr(node, "type", None)
    if kind == TABLES_KIND and node.proto.component_name.startswith(TABLES_NAME):
        return json.loads(node.proto.json)["kind"] != "film"
    return kind == FIGURE_KIND


def read_figure(node):
    if node.type == FIGURE_KIND:
        return read_chart(node.proto)
    data = read_given(node.proto)
    return read_matrices(data) if data["kind"] == "matrices" else read_sentence(data)


def read_sentence(data):
    """A sentence and its ribbons, or as a real model reads it."""
    return {"name of the figure": data["name"]}, data | {data["kind"]: True}, data["alt"]


def read_chart(proto):
    """A chart of Vega's."""
    tables = {d.name: pa.ipc.open_stream(io.BytesIO(d.data.data)).read_all().to_pylist() for d in proto.datasets}
    return json.loads(proto.spec) | {"name of the figure": proto.alt}, tables, tables["alt"][0]["text"]


def read_matrices(data):
    """Matrices, as rows of what is drawn. They have no alternative text: tables can be read."""
    rows = []
    for table in data["matrices"]:
        rows += [said("title", table["title"]), said("shape", table["note"])]
        for axis, kind in (("rows", "row"), ("columns", "column")):
            if table[axis]["named"]:
                rows += [said("axis", table[axis]["name"]), *(said(kind, label) for label in table[axis]["labels"])]
        rows += [*read_cells(data, table)]
    rows += [said(kind, data[kind]) for kind in ("about", "hint")]
    tables = {"cells": rows, "covered": [said("covered", "")] * data["covered"]}
    return {"name of the figure": data["name"]}, tables, None


def said(kind, text):
    return {"kind": kind, "text": text, "cell_tag": ""}


def read_cells(data, table):
    """The cells of a matrix: what each says, what lights up with it, and its number, which only tests are told."""
    keys = [matrix["key"] for matrix in data["matrices"]]
    for i, line in enumerate(table["text"]):
        for j, text in enumerate(line):
            kind = "masked" if text is None else "ghost" if text == "" else "number"
            there, lit = kind != "ghost" or data["covered"], [(keys[m], *at) for m, *at in table["lights"][i][j]]
            yield {
                "kind": kind,
                "cell_tag": f"|{table['key']} {i},{j}|" if there else "",
                "text": text or "",
                "v": float(table["values"][i][j]) if kind == "number" else None,
                "say": table["say"][i][j],
                "lights": "".join(map(tag_of, [(table["key"], i, j), *lit] if table["say"][i][j] else [])),
                "marked": bool(table["marked"] and table["marked"][i][j]),
            }


def tag_of(place):
    """A cell of a matrix, or all of a row or a column."""
    key, row, column = place
    where = f"column {column}" if row < 0 else f"row {row}" if column < 0 else f"{row},{column}"
    return f"|{key} {where}|"


def pick(at, figure, *cell):
    """Click a cell of a figure of matrices."""
    at.session_state[f"{figure}_tables"] = {"picked": [*cell]}
    return at.run()


def tables_with_values(figure, tables_of=drawing.tables_of, **how):
    """What is drawn of matrices, with their numbers in full."""
    data = tables_of(figure, **how)
    values = {matrix.key: matrix.values.tolist() for matrix in figure.matrices}
    told = [table | {"values": [[*map(str, line)] for line in values[table["key"]]]} for table in data["matrices"]]
    return data | {"matrices": told}


drawing.tables_of = tables_with_values


def follow(at, matrix, row, column):
    """Choose a number without a mouse; its lines, and those of all that it is made of."""
    if "trace_open" not in at.session_state or not at.session_state["trace_open"]:
        at.session_state["trace_open"] = at.session_state["trace_all"] = True
        at.run()
    at.selectbox(key="trace_matrix").set_value(matrix).run()
    at.selectbox(key="trace_row").set_value(row)
    at.selectbox(key="trace_column").set_value(column)
    assert not at.run().exception
    return [code.value for code in at.code if code.language != "python"]


def given_to(at, name):
    """What the page hands to each of its parts that a script of this name draws."""
    parts = (element.proto for element in at.get("bidi_component"))
    return [read_given(part) for part in parts if part.component_name.startswith(f"attention-lab.{name}_")]


def read_given(part):
    """What it is handed; the most of a figure is written in one piece."""
    given = json.loads(part.json)
    return given | json.loads(given.pop("written", "{}"))


def cells(at, index=0):
    """The cells of a figure of matrices, by what they are called: `weights 5,1`."""
    return {row["cell_tag"].strip("|"): row for row in chart(at, index)[1]["cells"] if row["cell_tag"]}
