"""The README in other languages: headings, tables, code and links as in English, and every link leads somewhere."""

import re
from collections import Counter
from pathlib import Path

import pytest
from replicas import ROOT

from words import FIRST, LANGUAGES

OTHERS = [code for code in LANGUAGES if code != FIRST]
BLOCK = re.compile(r"^```\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def text_of(code):
    return (ROOT / ("README.md" if code == FIRST else f"docs/README.{code}.md")).read_text("utf-8")


def form_of(text):
    """How many headings of which depth come after each other, how many rows tables have, and all code in the prose."""
    prose = BLOCK.sub("", text)
    depths = [len(marks) for marks in re.findall(r"^(#+) ", prose, re.MULTILINE)]
    return depths, len(re.findall(r"^\|", prose, re.MULTILINE)), Counter(re.findall(r"`([^`\n]+)`", prose))


def places_named(text):
    """The first words of each line of code: commands, and files of the map."""
    return [re.split(r"\s{2,}", line.strip())[0] for block in BLOCK.findall(text) for line in block.splitlines()]


def anchor_of(heading):
    """As GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("code", OTHERS)
def test_a_readme_in_another_language_has_all_that_the_english_one_has(code):
    ours, theirs = text_of(code), text_of(FIRST)
    assert form_of(ours) == form_of(theirs)
    begins = [place for place in places_named(theirs) if re.fullmatch(r"[\w.]+(/|\.py)|python3 .+", place)]
    assert begins and not [place for place in begins if place not in ours]
    assert len(LINK.findall(ours)) == len(LINK.findall(theirs))


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_link_of_a_readme_leads_somewhere(code):
    text = text_of(code)
    folder = ROOT if code == FIRST else ROOT / "docs"
    anchors = {anchor_of(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
    for target in LINK.findall(text):
        if target.startswith("#"):
            assert target[1:] in anchors, target
        elif not target.startswith("https://"):
            assert Path(folder, target).exists(), target
