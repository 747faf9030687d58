"""A link may say anything: every page opens all the same, and tells what it changed."""

import functools
import math
import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from visiting import open_page, texts, visitor

from attention_core.text.tokens import split_characters
from attention_ui.contents import CONTENTS
from attention_ui.controls.learnt import MODEL_SIZES
from attention_ui.link_rules import LINK_RULES
from attention_ui.page import tokens_page
from attention_ui.session import (
    beginning_of,
    repaired_number,
    repaired_option,
    repaired_text,
    repaired_value,
)
from lessons.model.read import choices as read
from lessons.screen import Limit, Number, OneOf, OneToken, Span, Switch, Text, declared_in, format_value
from lessons.teachers.take_home.sheet import SheetChoices, sheet_code

PAGES = [entry.file.removesuffix(".py") for entry in CONTENTS]
# Texts of any length, which say themselves what was changed in them.
FREE = ("text", "learn", "edits", "plan", "homework")
# Of languages see tests/pages/test_languages.py.
RULES = {name: choice for name, choice in LINK_RULES.items() if name not in ("lang", *FREE)}
NUMBERED, OPTIONAL = Number | OneToken, OneOf | Switch
OTHERS = ("own", "hide", "nonsense", "tokens_answer", "embed", "start", "<b>", "‮", "a" * 500)
OPENINGS, ALL_OPENINGS = 5, 10  # of each page, at every change and with --all; 5 are enough for each of its ways
FOLDS = ("editing_open", "mh_parameters", "copied", "compare_open", "heads_off_open", "keep_open")
# What brings controls onto a page that are not always there.
WAYS = {
    "start/overview": [{"picture": picture} for picture in ("steps", "model", "row")],
    "one_head/dot_product": [{"view": "one"}],
    "one_head/mask": [{"mask": kind} for kind in ("window", "padding", "hand")],
    "one_head/output": [{"of": "one"}],
    "model/heads": [{"mh": "sentence", "mh_step": step} for step in ("split", "attend", "dropout")],
    "model/positions": [{"order_view": "distance", "positions": "rotary"}, {"order_view": "output"}],
    "code/pytorch": [
        {"mh": "sentence", "parity": "cases", "mask": "window"},
        {"mask": "padding"},
        {"mask": "hand"},
    ],
    "today/variants": [
        *({"variant": kind} for kind in ("window", "sink", "cap", "rotary")),
        {"variant": "cross", "example": "sentence"},
    ],
    "learning/backward": [{"back_view": view} for view in ("way", "softmax", "sums", "update", "check")],
    "today/cost": [
        {"cost_of": "gpt2", "cost_view": "counted"},
        {"cost_view": "blocks"},
    ],
    "teachers/take_home": [
        {"paper": "sheet", "paper_code": ""},  # with a code there are no controls of a new sheet
        {"paper": "sheet", "paper_code": sheet_code(SheetChoices(text="a sentence of one's own"))},
        {"paper": "platform"},
        {"paper": "platform", "platform_file": "qti"},
    ],
    "model/generate": [{"writer": "language"}, {}],
    "learning/train": [{"task": "characters", "learn": "hello world", "window": "3"}, {"task": "characters"}, {}],
}
STOPS = ("trained_for",)  # of these a number gives way to the stop before it, as the slider does
# What pages say that know better than the rule.
SAID = {"compared": "Our solution appears", "mh_heads": "heads cannot share", "mh": "no module to compare"}
SOURCES = [
    {"example": "sentence", "heads": "4"},
    {"example": "batch"},
    {"example": "stories"},
    {"example": "pronouns", "model_heads": "3"},
    {"example": "mine", "own": '{"task":"copy","training":{"steps":20}}'},
    *({"example": source} for source in ("previous", "reverse", "lookup", "induction", "language")),
]

GARBAGE = [
    *("", " ", "-1", "0", "1", "3", "7.5", "1e308", "-1e308", "1e999", "nan", "-inf", "0x10", "1_0", "٣", "9" * 5000),
    *("true", "x" * 5000, "a b, a! " * 300, "<script>alert(1)</script>", "![x](http://127.0.0.1:9/a.png)", "$x^2$ {0}"),
    *("\u202eabc\u2066\u200f", "a\x00\x1b[31m\r\n\tb", "e\u0301\u0301 👩‍👩‍👧 \u200d \ufe0f", "'; DROP TABLE x; --"),
    *("2 1 3", "1;2;3", "q1,2=0.5;x3,1=nan;z9,9=1", "x1,1=1e308;q1,1=-1e308", "None", "[]", "a,b,predict,,code"),
    *(b"\xed\xa0\x80", b"\xff\xfe%00", ["1", "2"], ["", "x" * 5000], ["-1", "-1"]),
]


def shown_text(value):
    """What arrives at the server of a value that was sent."""
    last = value[-1] if isinstance(value, list) else value
    return last.decode(errors="replace") if isinstance(last, bytes) else last


def packed(page, number):
    """The link of one opening: garbage in every parameter, another for each, and in each opening another."""
    names = [*RULES, *FREE, *OTHERS]
    drawn = random.Random(f"{page} {number}")
    shift = drawn.randrange(len(GARBAGE))
    asked = {name: GARBAGE[(place * (number + 1) + shift) % len(GARBAGE)] for place, name in enumerate(names)}
    for name, rule in RULES.items():
        if isinstance(rule, OPTIONAL) and drawn.random() < 0.5:
            asked[name] = drawn.choice(
                [f"{short:g}" if isinstance(short, float) else str(short) for short in rule.options]
            )
    ways = WAYS.get(page, [{}])
    source = SOURCES[(number // 2 + PAGES.index(page)) % len(SOURCES)] if number % 2 == 0 else {}
    return asked | source | ways[number % len(ways)]


def bound_widgets(at):
    """The controls on the page that the address fills, by their names."""
    kinds = ("slider", "select_slider", "number_input", "text_input", "selectbox", "button_group", "toggle", "radio")
    found = [widget for kind in kinds for widget in at.get(kind)]
    # which the pages themselves fill from the address
    linked = (
        "sentence_of_batch",
        "asks",
        "look_asks",
        "width",
        "real",
        "task",
        "word",
        "example",
        "head",
        "layer",
        "trained_for",
        *(size.name for size in MODEL_SIZES.values()),
    )
    return {
        w.key: w
        for w in found
        if getattr(w.proto, "query_param_key", "") or w.key in linked or isinstance(RULES.get(w.key), OPTIONAL)
    }


def in_range(widget):
    """Whether a control shows something that it offers."""
    if widget.type in ("slider", "number_input"):
        return widget.min <= widget.value <= widget.max
    if widget.type in ("selectbox", "radio"):
        return widget.index is not None and 0 <= widget.index < len(widget.options)
    if widget.type == "select_slider":
        return str(widget.value) in widget.options
    if widget.type == "button_group":
        return len(widget.indices) == 1 and 0 <= widget.indices[0] < len(widget.options)
    return isinstance(widget.value, bool if widget.type == "toggle" else str)


def agrees(name, widget, asked):
    """Whether a control shows what was asked for."""
    if widget.type == "text_input":
        return widget.value == asked
    rule = RULES.get(name)  # that of a number also where a few numbers are buttons
    if isinstance(rule, NUMBERED) or (widget.type in ("slider", "number_input") and not isinstance(rule, OPTIONAL)):
        number = float(repaired_number(name, asked, Span(-math.inf, math.inf))[0] or "nan")
        return number == widget.value or (name in STOPS and widget.value <= number)
    expected = repaired_value(name, asked, rule)[0] if isinstance(rule, OPTIONAL) else asked
    if expected is not None and isinstance(widget.value, float):
        return float(expected) == widget.value
    return expected is not None and expected.lower() == str(widget.value).lower()


def told(name, at):
    """Whether the page says that something of this name could not be."""
    return any(f"The link says {name} " in line or (name in SAID and SAID[name] in line) for line in texts(at))


@pytest.fixture
def openings(whole):
    """What was asked of a page, and the page that came."""
    return functools.partial(opened, count=ALL_OPENINGS if whole else OPENINGS)


@functools.cache
def opened(page, count):
    """The first so many of them."""
    links = [packed(page, number) for number in range(count)]
    visitors = [visitor(page, **asked) for asked in links]
    for at in visitors:
        for fold in FOLDS:
            at.session_state[fold] = True
        at.session_state["drawer"] = "code"
        at.run()
    return list(zip(links, visitors, strict=True))


@pytest.mark.parametrize("page", PAGES)
def test_no_link_breaks_a_page(page, openings):
    for _, at in openings(page):
        assert not at.exception, at.exception[0].message
        assert not any("Traceback" in line for line in texts(at))


@pytest.mark.parametrize("page", PAGES)
def test_every_control_shows_something_that_it_offers(page, openings):
    for _, at in openings(page):
        for name, widget in bound_widgets(at).items():
            assert in_range(widget), (name, widget)


@pytest.mark.parametrize("page", PAGES)
def test_whatever_is_changed_is_told(page, openings):
    for asked, at in openings(page):
        for name, widget in bound_widgets(at).items():
            if name in asked:
                agreed = agrees(name, widget, shown_text(asked[name]))
                assert agreed or told(name, at), (name, shown_text(asked[name])[:50], widget.value)


def test_every_parameter_was_on_some_page(openings):
    drawn = {name for page in PAGES for _, at in openings(page) for name in bound_widgets(at)}
    assert drawn - {*RULES, *FREE, *OTHERS} == set(), "a control that the address fills has no rule"
    # which no control shows, or one that shows several
    fields = {"own", "class", "teacher", "plan", "follow", "after", "notes", "built", "homework", "stop"}
    fields |= {"platform_lessons"}
    reading = {choice.name for module in (read, tokens_page) for choice in declared_in(module)}
    # which stand on a page where the model is, or a head of it, or several of them: see there
    of_model = {*reading, "meets", "language_model"}
    assert {*RULES, *FREE} - fields - of_model - drawn == set(), (
        "a rule whose control is nowhere, or garbage that did not reach it"
    )


@pytest.mark.parametrize("page", PAGES)
def test_every_page_tells_of_every_impossible_parameter(page):
    impossible = {name: "9" * 30 if isinstance(rule, NUMBERED) else "x" * 999 for name, rule in RULES.items()}
    lines = texts(open_page(page, **impossible))
    for name, rule in RULES.items():
        what = "characters; the first" if isinstance(rule, Text) else "not one of the choices"
        what = f"{name} goes from {rule.limit.least} to" if isinstance(rule, NUMBERED) else what
        assert any(line.startswith(f"The link says {name} = ") and what in line for line in lines), name


def test_a_parameter_said_twice_counts_once_and_is_told():
    at = open_page("one_head/tokens", seed=["3", "5"], text=["a b", "c d"], example="sentence")
    assert (at.number_input(key="seed").value, at.text_input(key="text").value) == (5, "c d")
    assert "The link says seed more than once; the last one counts." in texts(at)


@pytest.mark.parametrize(
    ("page", "name", "asked", "told"),
    [
        ("one_head/output", "head", {"example": "sentence", "heads": 2, "head": 3}, "head goes from 1 to 2; 2 is used"),
        ("model/heads", "mh_head", {"mh": "sentence", "mh_heads": 2, "mh_head": 3}, "there are only 2 here"),
    ],
)
def test_a_head_that_there_is_not_is_told(page, name, asked, told):
    at = open_page(page, **asked)
    assert bound_widgets(at)[name].value == 2
    assert f"The link says {name} = 3, but {told}." in texts(at)


# The rules themselves, without a page

ALIKE = [shown_text(value) for value in GARBAGE]
NUMBERS = [
    *map(str, range(-40, 40)),
    *map(repr, (x / 8 for x in range(-80, 80))),
    *(f"{sign}{n}" for sign in ("", "-", "+") for n in (10**6 - 1, 2**31 - 1, 2**31, 2**53 + 1, 2**63, 10**300)),
    *("infinity", "-Infinity", "NaN", "-nan", "1e-400", "1e-320", " 7 ", "7e0", "--7", "1,5"),
    *("\u00bd", "\u2160", "\u06f5", "7\u0000"),
]
HOSTILE = [*ALIKE, *NUMBERS]


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if isinstance(rule, NUMBERED)])
def test_a_number_is_the_nearest_there_is(name):
    rule = RULES[name].limit
    for asked in HOSTILE:
        repaired, note = repaired_number(name, asked, rule)
        try:
            value = float(asked)
        except ValueError:
            value = math.nan
        if math.isnan(value):
            assert repaired is None and "is not a number" in note
            continue
        nearest = float(repaired)
        assert rule.least <= nearest <= rule.most
        assert not isinstance(rule, Limit) or repaired == str(int(nearest))
        others = (rule.least, rule.most, math.floor(nearest) - 1, math.floor(nearest) + 1)
        assert all(abs(value - nearest) <= abs(value - n) for n in others if rule.least <= n <= rule.most)
        assert (note is None) == (value == nearest)
        assert note is None or f"{repaired} is used." in note
        assert repaired_number(name, repaired, rule) == (repaired, None)


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if isinstance(rule, OPTIONAL)])
def test_a_choice_is_one_that_there_is(name):
    options = RULES[name].options
    labels = {f"{short:g}" if isinstance(short, float) else str(short): label for short, label in options.items()}
    decimals = {}
    for short, option in zip(labels, options, strict=True):
        label, written = format_value(labels[short]), []
        if isinstance(option, float):
            written = [word for word in (f"{option:.1f}", f"{option:.2f}") if float(word) == option]
        for asked in (label, short.upper(), label.lower(), *written):
            assert repaired_option(name, asked, options)[0] in labels
        assert repaired_option(name, short, options) == (short, None)
        decimals |= dict.fromkeys(written, short)
    known = {word.lower() for word in (*labels, *map(format_value, labels.values()), *decimals)}
    for asked in HOSTILE:
        repaired, note = repaired_option(name, asked, options)
        assert (repaired is None) == (note is not None) == (asked.lower() not in known)
        assert note is None or (name in note and len(note) < 120 and note.replace("\u200d", "").isprintable())


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if isinstance(rule, Text)])
def test_a_text_is_the_beginning_that_fits(name):
    most = RULES[name].most
    for asked in [*HOSTILE, "x" * most, "x" * (most + 1)]:
        repaired, note = repaired_text(name, asked, most)
        assert asked.startswith(repaired) and min(len(asked), most) / 2 <= len(repaired) <= most
        assert (note is None) == (repaired == asked)
        assert note is None or f"the first {len(repaired)} are used" in note


WORDS = st.lists(st.sampled_from(["cat", "a", "girl", "é", "e\u0301", "naïve", "👩‍👩‍👧", "🇫🇷", "x" * 30]), min_size=1)


@given(WORDS, st.sampled_from([" ", "  ", "\n", ""]), st.integers(5, 40))
def test_a_text_is_cut_after_a_whole_word_or_where_that_would_lose_half_after_a_whole_character(parts, space, most):
    text = space.join(parts)
    assume(len(text) > most)
    used = beginning_of(text, most)
    assert text.startswith(used) and len(used) <= most
    assert split_characters(text)[: len(split_characters(used))] == split_characters(used)
    ends = [at for at in range(most + 1) if text[at].isspace() and text[:at].split()]
    last = len(text[: ends[-1]].rstrip()) if ends else 0
    assert len(used) == last if 2 * last > most else 2 * len(used) >= most - 10


@pytest.mark.parametrize("escape", ["amp;", "amp;amp;"])
def test_a_link_may_be_written_as_in_the_source_of_a_page(escape):
    """As learning platforms write it: ?example=journey&amp;d_k=5."""
    meant = {"example": "sentence", "text": "a b c", "seed": "7", "heads": "2", "cover": "false", "temperature": "0.3"}
    first, *others = meant
    asked = {first: meant[first]} | {f"{escape}{name}": meant[name] for name in others}
    at = open_page("one_head/softmax", cover=None, **asked)
    assert at.query_params == open_page("one_head/softmax", **meant).query_params == meant
    assert at.slider(key="temperature").value == 0.3 and at.number_input(key="seed").value == 7


def test_a_name_that_stands_in_a_link_in_both_ways_stands_there_twice():
    at = open_page("one_head/softmax", seed="3", **{"amp;seed": "7", "amp;no_such_name": "1"})
    assert at.query_params["seed"] == "7" and "amp;seed" not in at.query_params
    assert "The link says seed more than once; the last one counts." in texts(at)
