"""Every page says its topic first, then its point, and only then asks."""

import pkgutil
import re
from importlib import import_module

import pytest
from finding import part_of
from visiting import open_page

from attention_ui.contents import CONTENTS
from lessons.screen import render
from tests.figures import FIGURE_KIND

MOST_WORDS = 22
READ_OR_SEEN = {"title", "header", "subheader", "markdown", "text", "caption", FIGURE_KIND}
OPENED = [(entry.file.removesuffix(".py"), {}) for entry in CONTENTS[1:]]
OPENED += [("start/overview", {"picture": picture}) for picture in ("sentence", "row", "steps")]


def parts_of(address):
    """The modules of a lesson."""
    package = part_of(address)
    return [import_module(f"{package.__name__}.{found.name}") for found in pkgutil.iter_modules(package.__path__)]


def points_of(address):
    """The topics of a lesson, each with its point."""
    return {render(part.TOPIC): render(part.POINT) for part in parts_of(address) if hasattr(part, "POINT")}


def in_order(block):
    """What stands in a part of a page, from its top to its end."""
    for one in block.children.values():
        yield from in_order(one) if hasattr(one, "children") else [one]


def words(point):
    return re.findall(r"\S*\w\S*", point)


def test_every_lesson_has_a_topic_of_its_own_and_its_point_is_one_sentence():
    addresses = {page.split("/")[1] for page, _ in OPENED}
    points = [(topic, point) for address in addresses for topic, point in points_of(address).items()]
    assert len(points) == len(dict(points)) == len(OPENED)
    for topic, point in points:
        assert not topic.endswith((".", "?")), topic
        assert point.endswith(".") and not re.search(r"[.!?]\s", point) and len(words(point)) <= MOST_WORDS, point


@pytest.mark.parametrize(("page", "link"), OPENED)
def test_a_page_says_its_topic_and_its_point_above_its_question_and_its_figure(page, link):
    at = open_page(page, **link)
    topic, point, *others = [element for element in in_order(at.main) if element.type in READ_OR_SEEN]
    assert [element.type for element in (topic, point)] == ["title", "markdown"]
    assert points_of(page.split("/")[1])[topic.value] == point.value
    assert not any(element.type == "title" for element in others)
    assert not any(point.value in str(element.value) for element in others if element.type != FIGURE_KIND)
