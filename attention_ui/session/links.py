"""The only file that touches query parameters: what a link says, the nearest to it that can be, and what goes along.

Streamlit hands over to another page only what widgets of the frame have bound to the address, and a page that was left
after its first run keeps nothing of its controls. So a visit remembers what its addresses have said, and the page where
one arrives is opened with it: however one comes there, it shows what the page before showed.
"""

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import NoReturn
from urllib.parse import urlencode

import streamlit as st

from attention_core.text.tokens import clean_text, split_characters
from attention_ui.process.turns import end_turn
from attention_ui.state import get_state, set_state, take_all, take_state
from attention_ui.streamlit_insides import address_by_controls, address_given, came_through_history, switch_page
from lessons.screen import (
    Argument,
    Choice,
    Integer,
    Label,
    Limit,
    Message,
    Number,
    OneOf,
    OneToken,
    Span,
    Switch,
    Text,
    format_value,
    message,
    render,
    said_in_links,
    spellings,
    translate,
)
from words import FIRST, speaking

MOST_QUOTED, MOST_LOOKED_AT = 20, 200  # characters: of a link of 100,000 no more is read than can be shown
MOST_DIGITS = 18  # of a number that a control could take; of thousands Python reads none
FIRST_PLACE = "home"  # the page that has the bare address
SHOWN_WITH = ("large", "lang", "hide")  # how pages are shown, whatever they are about


@dataclass(frozen=True)
class LinkRules:
    """Every choice that a link can make, by its name in links; the names that go `along` from page to page; and what
    links may still say though it is gone, a name or one value of a name, with what is said of that.
    """

    choices: Mapping[str, Choice]
    along: frozenset[str]
    retired: Mapping[str, Message | None]


def use_rules(make: Callable[[], LinkRules]) -> None:
    """Have links follow these rules. They are made where a link is looked at: with them every control is imported,
    which the first page does without.
    """
    global link_rules
    link_rules = make


@dataclass(frozen=True)
class VisitLink:
    """What the addresses of a visit have said: the value of each name, and the names that stood on each page."""

    values: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def after(self, place: str, said: Mapping[str, str]) -> "VisitLink":
        """This link once a page says this. What the page said before and no longer says returns to its beginning."""
        gone = self.names.get(place, frozenset()) - said.keys()
        values = {name: value for name, value in self.values.items() if name not in gone}
        return VisitLink(values | said, {**self.names, place: frozenset(said)})

    def on_page(self, place: str, along: Collection[str]) -> dict[str, str]:
        """What the address of a page says: what goes `along` from page to page, and what it said itself before."""
        own = self.names.get(place, frozenset())
        return {name: value for name, value in self.values.items() if name in along or name in own}


def address_of(place: str, said: Mapping[str, str] | None = None) -> str:
    """The address of a page of the app, seen from any other, that says this."""
    return f"./{path_of(place)}{'?' if said else ''}{urlencode(said or {})}"


def path_of(place: str) -> str:
    """The end of the address of a page."""
    return "" if place == FIRST_PLACE else place


def settle_link(page, place: str) -> None:
    """Where one arrives: open the page again if its link does not say all that goes along, or asks for the impossible.

    Of the impossible the nearest that is possible is taken; Streamlit itself would put such a widget at its default,
    without a word, or fail. Short names of choices become the labels that it expects. To be called in each run, before
    any widget is drawn.
    """
    back = came_through_history()
    if get_state("place") == place and not back:
        remember_link(place)
        return
    written = {name: st.query_params.get_all(name) for name in st.query_params}
    here = with_plain_names(address_given() if back else written)
    if here and get_state("visit_link") is None:
        # A click may come before the rules are there, which take a second where the server has just started.
        keep_link(place, {name: values[-1] for name, values in here.items()})
    set_state("place", place)
    # An address that one comes back to counts as it is, if it is a whole one.
    along = {} if back and "example" in here else {name: [value] for name, value in along_to(place).items()}
    possible, notes = repaired_link(along | here)
    keep_link(place, {name: value for name, (value,) in possible.items()})  # a click may come before this run has ended
    if possible != written:
        set_state("link_notes", notes)
        open_link(page, possible)


def with_plain_names(written: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """What a link says of each name. In the source of a page & is written &amp;, and whoever copies a link from there
    has a name amp;d_k: it is d_k.
    """
    said: dict[str, list[str]] = {}
    for name, values in written.items():
        said.setdefault(re.sub("^(amp;)+", "", name), []).extend(values)
    return said


def open_link(page, said: Mapping[str, str | list[str]]) -> NoReturn:
    """Open a page with all that its link says; the one that runs ends here, and so does its turn."""
    end_turn()
    switch_page(page, said)


def along_to(place: str) -> dict[str, str]:
    """What this visit takes along to a page."""
    kept = get_state("visit_link")
    if not kept:
        return {}
    return kept.on_page(place, link_rules().along)


def remember_link(place: str) -> None:
    """The address as it is now is what the visit goes on with."""
    said = st.query_params.to_dict() | address_by_controls()
    keep_link(place, {name: value for name, value in said.items() if value is not None})


def keep_link(place: str, said: Mapping[str, str]) -> None:
    """What a page says is what the visit goes on with."""
    set_state("visit_link", (get_state("visit_link") or VisitLink()).after(place, said))


def repaired_link(said: Mapping[str, Collection[str]]) -> tuple[dict[str, list[str]], list[str]]:
    """What of the values of a link can be, for each name one; and sentences on what it says otherwise, or twice."""
    if not said:
        return {}, []
    rules, possible, notes = link_rules(), {}, []
    for name, (*others, asked) in said.items():
        if gone := {name, f"{name}={asked}"} & rules.retired.keys():
            notes += [render(says) for says in map(rules.retired.get, gone) if says]
            continue
        value, note = repaired_value(name, asked, rules.choices.get(name))
        notes += [translate("The link says {name} more than once; the last one counts.", name=name)] if others else []
        notes += [note] if note else []
        possible |= {name: [value]} if value is not None else {}
    return possible, list(dict.fromkeys(notes))


def link_notes() -> list[str]:
    """What had to be changed in the link, in sentences; told once."""
    return take_state("link_notes") or []


def text_in_link(name: str) -> str:
    """What the link says of this name; nothing where it does not mention it."""
    return st.query_params.get(name, "")


def say_in_link(name: str, said: str) -> None:
    """The address says this of a name, even where it is what one finds at first."""
    if text_in_link(name) != said:
        st.query_params[name] = said


def forget_in_link(*names: str) -> None:
    """The address says nothing of these names any more."""
    for name in names:
        st.query_params.pop(name, None)


def number_in_link(name: str) -> int | None:
    """The whole number that the link gives for a widget whose choices depend on others; None without one."""
    asked = text_in_link(name)
    return int(asked) if asked.isascii() and asked.isdigit() and len(asked) <= MOST_DIGITS else None


def repaired_value(name: str, asked: str, choice: Choice | None) -> tuple[str | None, str | None]:
    """What of a parameter can be, or None; and a sentence where that is something else than the link says.

    A text whose length is not limited says itself what was changed in it.
    """
    match choice:
        case Number() | OneToken():
            return repaired_number(name, asked, choice.limit)
        case Text(most=int()):
            return repaired_text(name, asked, choice.most)
        case OneOf(look="scale"):  # which Streamlit itself names
            return repaired_option(name, asked, {str(number): label for number, label in choice.options.items()})
        case OneOf() | Switch():
            return repaired_option(name, asked, choice.options)
    return asked, None


def repaired_option(name: str, asked: str, labels: Mapping[object, Label]) -> tuple[str | None, str | None]:
    """The short name; also for an English label, as links once named it; nothing, and a sentence, for anything else."""
    known = {english(label).lower(): said_in_links(key) for key, label in labels.items()}
    known |= {word.lower(): said_in_links(key) for key in labels for word in (*spellings(key), said_in_links(key))}
    if asked.lower() in known:
        return known[asked.lower()], None
    return None, translate(
        "The link says {name} = {asked}, which is not one of the choices; it was left out.", **link_says(name, asked)
    )


def repaired_number(name: str, asked: str, limit: Limit | Span) -> tuple[str | None, str | None]:
    """The nearest possible number; nothing for what is no number; and the sentence that says so."""
    try:
        value = float(asked)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        return None, translate(
            "The link says {name} = {asked}, which is not a number; it was left out.", **link_says(name, asked)
        )
    within = min(max(value, limit.least), limit.most)
    nearest = round(within) if isinstance(limit, Limit) else within
    if value == nearest:
        return str(nearest), None
    says = link_says(name, asked) | {"nearest": str(nearest)}
    if value == within:
        return str(nearest), translate(
            "The link says {name} = {asked}, but {name} is a whole number; {nearest} is used.", **says
        )
    ends = {"least": str(limit.least), "most": str(limit.most)}
    return str(nearest), translate(
        "The link says {name} = {asked}, but {name} goes from {least} to {most}; {nearest} is used.", **says, **ends
    )


def repaired_text(name: str, asked: str, most: int) -> tuple[str, str | None]:
    """The beginning that fits, and the sentence that says so."""
    if len(asked) <= most:
        return asked, None
    used = beginning_of(asked, most)
    note = translate(
        "The link says {name} = {asked}, which has {count} characters; the first {most} are used.",
        **link_says(name, asked),
        count=Integer(len(asked)),
        most=len(used),
    )
    return used, note


def beginning_of(text: str, most: int) -> str:
    """The beginning of a text that is too long: its whole words, or its whole characters where a word fills half."""
    fits = "".join(split_characters(text[: most + 1])[:-1])
    words = fits if text[len(fits)].isspace() else re.sub(r"\S+$", "", fits)
    return words.rstrip() if 2 * len(words) > most else fits


def link_says(name: str, asked: str) -> dict[str, Argument]:
    """What a sentence about what cannot be names; what was asked may be anything, so it is made fit to show."""
    clean = clean_text(asked[:MOST_LOOKED_AT]).text
    whole = len(clean) <= MOST_QUOTED and len(asked) <= MOST_LOOKED_AT
    shown = clean if whole else f"{clean[:MOST_QUOTED]}…"
    return {"name": name, "asked": shown or message("nothing")}


def english(label: Label) -> str:
    """What a choice is called in English."""
    with speaking(FIRST):
        return format_value(label)


def restore_number(name: str, limit: Limit, default: int) -> str | None:
    """Before a control is drawn whose limits follow the tokens, which Streamlit cannot bind: set it, from the link.

    A number that is new in the link is taken over; what lies outside the limits by now gives way to the nearest,
    and whoever never chose keeps the default. The sentence returned says what of the link could not be.
    """
    asked, note = st.query_params.get(name), None
    untouched = get_state(name) in (None, get_state(f"{name}_default"))
    # A forged message may have put words there.
    value = default if untouched or not isinstance(get_state(name), int) else get_state(name)
    new = asked != get_state(f"{name}_in_link")
    if asked is not None and (new or get_state(name) is None):
        found, said = repaired_number(name, asked, limit)
        value, note = default if found is None else int(found), said if new else None
    set_state(name, limit.clamp(value))
    set_state(f"{name}_default", default)
    return note


def linked_option(name: str, options: Collection[object], default: object) -> None:
    """Before a control is drawn that chooses among options: set it, from the link where that is new.

    `name_option_in_link` is to be called after it is drawn.
    """
    asked, known, chosen = text_in_link(name), {said_in_links(option): option for option in options}, get_state(name)
    if asked in known and (chosen is None or asked != get_state(f"{name}_in_link")):
        chosen = known[asked]
    # A forged message may have put anything there. On another page the control is another one, and knows nothing.
    set_state(name, chosen if chosen in list(options) else default)


def name_option_in_link(name: str, options: Collection[object], unless: object = None) -> None:
    """The address says what was chosen, unless it is what one finds at first."""
    chosen = get_state(name)
    said = said_in_links(chosen) if chosen in list(options) and chosen != unless else ""
    if said != text_in_link(name):
        if said:
            st.query_params[name] = said
        else:
            st.query_params.pop(name, None)
    set_state(f"{name}_in_link", said)


def named_in_link(names: Collection[str]) -> bool:
    """True when the address sets one of these controls."""
    return not st.query_params.keys().isdisjoint(names)


def write_in_link(name: str) -> None:
    """After such a control is drawn: the address says what was chosen, unless it is the default."""
    chosen = None if get_state(name) == get_state(f"{name}_default") else str(get_state(name))
    if chosen is None:
        st.query_params.pop(name, None)
    elif chosen != st.query_params.get(name):
        st.query_params[name] = chosen
    set_state(f"{name}_in_link", chosen)


def too_large_in_link(name: str, most: int) -> str | None:
    """A sentence where the link, before its control was ever drawn, asks for more than there is just now."""
    asked = number_in_link(name) if get_state(name) is None else None
    if asked is None or asked <= most:
        return None
    return translate(
        "The link says {name} = {asked}, but there are only {most} here.", **link_says(name, str(asked)), most=most
    )


def switched_off_in_link(name: str) -> bool:
    """True when the address turns this switch off."""
    return text_in_link(name).lower() == "false"


def hidden(part: str) -> bool:
    """True when the link of this class leaves the part out: `?hide=predict,code`."""
    return part in left_out()


def left_out() -> list[str]:
    """The names of all that the link of this class leaves out, those that can be names."""
    return [name for name in text_in_link("hide").split(",") if re.fullmatch("[A-Za-z_]{1,40}", name)]


def said_in_link(*names: str) -> dict[str, str]:
    """What the link says of these names."""
    return {name: st.query_params[name] for name in names if name in st.query_params}


def begin_link_anew() -> None:
    """Forget what this visit has said and chosen with its controls.

    To be called before a link is opened that says everything, as when one follows a class: nothing goes along then.
    """
    chosen = {f"{name}{what}" for name in link_rules().choices for what in ("", "_in_link", "_default", "_begin")}
    take_all(chosen | {"covering"})
    set_state("visit_link", None)


def go_to(page, place: str, **settings: str) -> None:
    """Open another page with all that goes along, and with these settings."""
    remember_link(get_state("place"))
    open_link(page, along_to(place) | settings)
