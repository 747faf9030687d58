"""Items as GIFT, Moodle's format of text. Texts are HTML, so that a table can stand among them.

All of a file is one category of Moodle's question bank. GIFT is one file of text, so figures come as tables of their
numbers: a picture would have to stand in it as an address that holds it, many times as long as its table.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import BinaryIO
from xml.etree.ElementTree import Element, tostring

from lessons.teachers.platform import content
from lessons.teachers.platform.items import Item

ESCAPED = str.maketrans({sign: f"\\{sign}" for sign in "\\~=#{}:"})
COLLECTION = "Attention Lab"
# Where no style sheet of ours can come along.
LOOKS = {"table": {"border": "1", "cellpadding": "4"}}


def write_gift(items: Iterable[Item], file: BinaryIO) -> Iterator[None]:
    """Write these items, which have no pictures, into a file, one at each step."""
    file.write(f"$CATEGORY: {COLLECTION}\n\n".encode())
    for item in items:
        file.write(f"{gift_item(item)}\n".encode())
        yield


def gift_item(item: Item) -> str:
    """One question: its title, what is asked, its answers with what is said to each, and the explanation."""
    answers = numeric(item) if not item.options else choices(item)
    general = html(content.explanation(item))
    closing = [f"####{general}"] if general else []
    asked = html(content.asked(item, ()))
    return "\n".join([f"::{escaped(item.title)}::[html]{asked}{{", *answers, *closing, "}\n"])


def choices(item: Item) -> list[str]:
    """The answers to choose from: the right one begins with another sign."""
    return [
        f"{'=' if place == item.right else '~'}{html(content.choice(option))}"
        f"#{html([content.paragraph(option.feedback)])}"
        for place, option in enumerate(item.options)
    ]


def numeric(item: Item) -> list[str]:
    """A number within a tolerance."""
    return [f"#{written_out(item.number)}:{written_out(item.tolerance)}"]


def written_out(number: float) -> str:
    """All digits of a number: GIFT knows no powers of ten."""
    return format(Decimal(repr(number)), "f")


def html(elements: Iterable[Element]) -> str:
    """Elements as HTML that means nothing else in GIFT."""
    written = []
    for element in elements:
        for part in element.iter():
            part.attrib.update(LOOKS.get(part.tag, {}))
        written.append(tostring(element, encoding="unicode", method="html"))
    return escaped("".join(written))


def escaped(text: str) -> str:
    """A text in which no sign is one of GIFT's."""
    return text.translate(ESCAPED)
