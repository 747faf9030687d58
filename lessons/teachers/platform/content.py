"""The texts, pictures and tables of an item as elements of XHTML, which GIFT and QTI alike can hold.

No text is ever markup.
"""

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement

from lessons.screen import NOT_IN_XML
from lessons.teachers.platform.items import Item, Option, Picture
from lessons.teachers.platform.tables import NumberTable

LINE_BREAK = re.compile("[\r\n]+")


def asked(item: Item, sources: Sequence[str]) -> list[Element]:
    """What is asked, and below it what it is asked about. The sources say where each of its pictures is."""
    pictures = (drawn(picture, source) for picture, source in zip(item.pictures, sources, strict=True))
    return [paragraph(item.prompt), *pictures, *map(table_of, item.tables), *map(paragraph, item.notes)]


def drawn(picture: Picture, source: str) -> Element:
    """A picture on its own."""
    line = Element("p")
    SubElement(line, "img", src=source, alt=in_one_line(picture.alt))
    return line


def choice(option: Option) -> list[Element]:
    """An answer, and below it the thought that leads to it."""
    return [paragraph(text) for text in (option.text, option.reason) if text]


def explanation(item: Item) -> list[Element]:
    """Why the right answer is right; the formula as TeX, which platforms with MathJax set and all others show."""
    formula = [paragraph(rf"\({item.formula}\)")] if item.formula else []
    return [*map(paragraph, item.explanation), *formula]


def paragraph(text: str) -> Element:
    """A text on its own."""
    return filled(Element("p"), text)


def filled(element: Element, text: str) -> Element:
    """The element with this text."""
    element.text = in_one_line(text)
    return element


def in_one_line(text: str) -> str:
    """The text on one line and without what XML cannot hold."""
    return LINE_BREAK.sub(" ", NOT_IN_XML.sub("", text))


def table_of(table: NumberTable) -> Element:
    """A table with its title, whose cells a voice can name by row and column."""
    whole = Element("table")
    filled(SubElement(whole, "caption"), table.title)
    body = SubElement(whole, "tbody")
    if any(table.columns):
        head = SubElement(body, "tr")
        filled(SubElement(head, "th", scope="col"), table.corner)
        for name in table.columns:
            filled(SubElement(head, "th", scope="col"), name)
    for name, cells in zip(table.rows, table.cells, strict=True):
        row = SubElement(body, "tr")
        filled(SubElement(row, "th", scope="row"), name)
        for cell in cells:
            filled(SubElement(row, "td"), cell)
    return whole
