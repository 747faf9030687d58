"""Files for spreadsheets: whichever sign separates the cells, none of them is a formula."""

import csv
import io
import re
import tomllib
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_ui.figures.export import csv_of
from words.spreadsheet import csv_file, harmless

ROOT = Path(__file__).parents[2]
PRODUCT = ("attention_core", "attention_ui", "classes", "lessons", "models", "pages", "runs", "words", "worker")
DELIMITERS = ",;|\t"
HOSTILE = [
    "x;=cmd|' /c calc'!A1;",
    "=1+1",
    "＝1+1",
    "\t=1",
    "@x",
    "\u034f=1",
    "a\n-1+1",
    "a\r\n＠x",
    'x;"=1+1"',
    "1; \u200b\ufeff−x",
    "=",
    '";=1',
]


def read(file: bytes, delimiter: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(file.decode("utf-8-sig"), newline=""), delimiter=delimiter))


def is_formula(cell: str) -> bool:
    """True where the first sign that one sees begins a formula, and it is no number of ours."""
    seen = re.sub(r'^[\s\x00-\x1f\u034f\u200b-\u200f\ufeff"]+', "", cell)
    return seen[:1] in set("=+-−@＝＋－＠") and not re.match("−[0-9]", seen)


def no_formula(file: bytes) -> bool:
    return not any(is_formula(cell) for sign in DELIMITERS for line in read(file, sign) for cell in line if cell)


def written_as_it_is(lines: list[list]) -> bytes:
    held = io.StringIO(newline="")
    csv.writer(held).writerows(lines)
    return held.getvalue().encode()


@pytest.mark.parametrize("text", HOSTILE)
def test_no_cell_is_a_formula_whatever_separates_the_cells(text):
    lines = [[text, 1, text], ["a", text]]
    assert no_formula(csv_file(lines)) and not no_formula(written_as_it_is(lines))
    assert harmless(harmless(text)) == harmless(text)


@given(st.text(alphabet="=+-−@＝＋－＠,;|\t\n\r\"' a1.()\u034f\u200b"), st.text(alphabet=' ";=a'))
def test_no_text_makes_a_formula(text, other):
    assert no_formula(csv_file([[text, 1, other], [other, text]]))


@pytest.mark.parametrize("text", ["", "a=1", "a-b, c", "−0.5", "(0.5, −0.25)", "x: +1", "a @b", "1;2", "é"])
def test_what_is_no_formula_stays_as_it_is(text):
    assert harmless(text) == text and read(csv_file([[text, "x"]]), ",") == [[text, "x"]]


def test_numbers_stay_numbers_and_what_is_missing_is_empty():
    assert read(csv_file([[-1, -0.1, None, 1e-300]]), ",") == [["-1", "-0.1", "", "1e-300"]]
    table = pa.table({"=a": ["=1", None], "value": pa.array([-0.1, 0.2], pa.float32())})
    assert read(csv_of(table), ",") == [["'=a", "value"], ["'=1", "-0.1"], ["", "0.2"]]


def test_every_file_for_a_spreadsheet_is_written_by_the_one_function():
    """Also those that a table of Streamlit's would save by itself, in the browser."""
    writes = re.compile(r"csv\.writer|DictWriter|write_csv|to_csv|import csv\b|to_excel|to_clipboard")
    files = [file for place in PRODUCT for file in (ROOT / place).rglob("*.py")]
    assert [file.name for file in files if writes.search(file.read_text())] == ["spreadsheet.py"]
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    assert settings["client"]["disableDataExport"]
