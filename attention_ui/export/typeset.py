"""Worksheets and keys as one PDF, where the packages `typst` and `pypdf` are here; `sheets.typ` says how they look.

What they say goes there as data and is never read as markup.
"""

import functools
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

from attention_ui.export.printed import PrintedSheet
from lessons.screen.format import translate
from words import language, tag_of

AT_ONCE = 20  # sheets: typst needs up to six megabytes for each, until its process ends
TEMPLATE, SETS_TYPE = (Path(__file__).with_name(name) for name in ("sheets.typ", "set_type.py"))
PAPERS = {"a4": "a4", "letter": "us-letter"}  # by our names to those of typst
LETTERS_OF_TYPST, FIXED_OF_TYPST = "Libertinus Serif", "DejaVu Sans Mono"  # which it brings along
# Fonts of the usual systems, the best first; they know Latin letters, too.
FONTS = {
    "zh": (
        *("Noto Serif CJK SC", "Source Han Serif SC", "Noto Sans CJK SC", "Source Han Sans SC", "Noto Sans SC"),
        *("Songti SC", "PingFang SC", "SimSun", "Microsoft YaHei", "WenQuanYi Micro Hei"),
    ),
    "ja": (
        *("Noto Serif CJK JP", "Source Han Serif", "Noto Sans CJK JP", "Source Han Sans", "Noto Sans JP"),
        *("Hiragino Mincho ProN", "Hiragino Sans", "Yu Mincho", "MS Mincho", "Yu Gothic", "IPAexGothic"),
    ),
}


@dataclass(frozen=True)
class Typeset:
    """All sheets of a file, then all keys, on one size of paper."""

    sheets: list[PrintedSheet]
    keys: list[PrintedSheet]
    paper: str


def can_typeset() -> bool:
    """True where the packages are here."""
    return all(find_spec(name) is not None for name in ("typst", "pypdf"))


def has_letters() -> bool:
    """True where some font on this machine has the letters of the reader's language."""
    return language().code not in FONTS or font_of(language().code) is not None


def font_of(code: str) -> str | None:
    """The best font for a language that has letters of its own; None where there is none."""
    here = font_families()
    return next((font for font in FONTS[code] if font in here), None)


@functools.cache
def font_families() -> frozenset[str]:
    """The names of all fonts on this machine."""
    from typst import Fonts

    return frozenset(Fonts().families())


def pdf_of(file: Typeset) -> bytes:
    """The file, in the reader's language: set some sheets at a time, and joined. Each part begins on a new leaf."""
    from pypdf import PdfWriter

    joined, written = PdfWriter(), BytesIO()
    for part in parts_of(file):
        if len(joined.pages) % 2:
            joined.add_blank_page()
        joined.append(BytesIO(typeset(part)), import_outline=False)
    joined.add_metadata({"/Title": translate("Worksheets")})
    joined.write(written)
    return written.getvalue()


def parts_of(file: Typeset) -> Iterator[Typeset]:
    """The same in parts: some sheets each, then some keys each."""
    for sheets in in_portions(file.sheets):
        yield Typeset(sheets, [], file.paper)
    for keys in in_portions(file.keys):
        yield Typeset([], keys, file.paper)


def in_portions(sheets: list[PrintedSheet]) -> Iterator[list[PrintedSheet]]:
    """A few at a time, in their order."""
    return (sheets[begin : begin + AT_ONCE] for begin in range(0, len(sheets), AT_ONCE))


def typeset(file: Typeset) -> bytes:
    """A part of a file as a PDF of its own."""
    command = [sys.executable, str(SETS_TYPE)]
    return subprocess.run(command, input=data_of(file).encode(), stdout=subprocess.PIPE, check=True).stdout


def data_of(file: Typeset) -> str:
    """What the template puts on paper, as JSON."""
    code = language().code
    said = {
        "title": translate("Worksheets"),
        "words": {"name": translate("Name"), "sheet": translate("Sheet"), "sentence": translate("Sentence")},
        "language": tag_of(code).partition("-")[0],
        "fonts": [font for font in (LETTERS_OF_TYPST, font_of(code) if code in FONTS else None) if font],
        "fixed": FIXED_OF_TYPST,
        "paper": PAPERS[file.paper],
        "sheets": file.sheets,
        "keys": file.keys,
    }
    return json.dumps(said, default=vars, ensure_ascii=False)


def pdf_that_says(text: str) -> bytes:
    """A page with one line."""
    import typst

    return typst.compile(b"#sys.inputs.said", sys_inputs={"said": text}, format="pdf")
