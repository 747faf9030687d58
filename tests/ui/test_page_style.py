"""The style of every page: what a browser can apply to the part of a page that changed, not to all of it."""

import re
from pathlib import Path

import pytest

import attention_ui

STYLE = (Path(attention_ui.__file__).parent / "frame.css").read_text(encoding="utf-8")


def selectors_of(style):
    """Every selector of a style, those of nested rules with what they stand in; what is no selector left out."""
    around, text = [], ""
    for letter in re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL):
        if letter == "{":
            head = " ".join(text.rpartition(";")[2].split())
            around.append(head)
            if not head.startswith("@"):
                outer = next((each for each in reversed(around[:-1]) if not each.startswith("@")), "")
                yield from (f"{outer} {part}".strip() for part in apart(head, ","))
        if letter == "}":
            around.pop()
        text = "" if letter in "{}" else text + letter


def apart(selector, at):
    """The parts of a selector that stand outside of brackets, between these letters."""
    depth, parts = 0, [""]
    for letter in selector:
        depth += (letter in "([") - (letter in ")]")
        if depth == 0 and letter in at:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def anywhere(compound):
    """Whether any element at all could be what this part of a selector is about."""
    choices = re.match(r":(?:is|where)\(", compound)
    if choices:
        inside = apart(compound, ":")[0].partition("(")[2].removesuffix(")")
        return any(anywhere(apart(choice, " >~+")[-1]) for choice in apart(inside, ","))
    return re.match(r"[\w.#\[]|:root|:lang", compound) is None


def anywhere_in(selector):
    *_, last = compounds = apart(selector, " >~+")
    return ":has(" in selector and (anywhere(last) or any(anywhere(one) for one in compounds if ":has(" in one))


def test_no_rule_makes_the_browser_style_a_whole_page_anew_where_a_part_of_it_changed():
    """A `:has()` that could begin anywhere, or is about anything, is looked up for each element after each change."""
    selectors = list(selectors_of(STYLE))
    assert sum(":has(" in selector for selector in selectors) > 30
    assert [selector for selector in selectors if anywhere_in(selector)] == []


@pytest.mark.parametrize(
    "selector",
    [":has(> .a) ~ *", ".a:has(.b) > *", ".a > :has(.b)", ":root:has(.a) :is(.b p, .c *)", ".a:has(b) ~ :first-child"],
)
def test_such_a_rule_would_be_found(selector):
    assert anywhere_in(selector)


@pytest.mark.parametrize(
    "selector", [".a:has(.b) > p", ".a > [b]:has(> .c)", ":root:has(.a) :is(.b p, .c:hover)", ".a > *"]
)
def test_others_are_left_alone(selector):
    assert not anywhere_in(selector)
