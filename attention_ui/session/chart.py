"""The furniture every page shares: the charts, the notes."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial

import pyarrow as pa
import streamlit as st

from attention_core.base.errors import Phrase
from attention_ui.figures.cover import covered_table
from attention_ui.figures.export import csv_of
from attention_ui.figures.template import alt_table
from attention_ui.process.turns import yield_turn
from attention_ui.session.links import hidden, switched_off_in_link, text_in_link
from attention_ui.state import get_state, set_state
from lessons.screen import Figure, Message, Switch, format_value, is_wide_letter, message, render, render_all, translate
from words import language, speaking

CLASS_VOTE = "class_vote"  # there the teacher says when the numbers are seen, and no switch does
Picked = tuple[str, int, int]  # the matrix, the row and the column of a cell
MOST_PLACES = 9999  # of a row or a column
LARGER = 15  # tenths
PROJECTED_LETTERS = 18  # pixels of the smallest letters on a projector
LARGE = Switch("large", message("Large figures, for a projector"))
COVER = Switch("cover", message("Cover the numbers while I think"), True)
COVERED = message("The numbers appear once you have chosen an answer.")
UNTIL_EXPLAINED = message("The numbers appear once the class has voted and the answer is shown.")
LEFT_OUT = message("What to notice is left for you to find.")


def is_projected() -> bool:
    """True where this visitor shows the page to a room: as the switch says, or before it is drawn the link."""
    chosen = get_state(LARGE.name)
    return text_in_link(LARGE.name) == "true" if chosen is None else bool(chosen)


def liked(cell: int) -> int:
    """The size of a cell as this visitor likes it: larger for a projector."""
    return LARGER * cell // 10 if is_projected() else cell


def least_letters() -> int:
    """The pixels that letters in figures have at least: 0 where their figure may decide."""
    return PROJECTED_LETTERS if is_projected() else 0


def covered(lesson: str | None) -> bool:
    """True while the numbers of a lesson are to be thought of, not seen: until its question is answered.

    Only where the answer stands in the figures, and not for a visitor who would rather see them at once. Whoever has
    answered, or uncovered them, explores freely until another question is wanted.
    """
    explores = get_state(f"{lesson}_explored") == (get_state(f"{lesson}_question") or 0)
    answered = explores or get_state(f"{lesson}_answer") is not None
    if not lesson or answered or not get_state(f"{lesson}_in_figure"):
        return False
    return lesson == CLASS_VOTE or (thinks_first() and not hidden("predict"))


def left_to_find(lesson: str | None) -> bool:
    """True where what there is to notice is not said: a class shall find it, or is voting on a question about it."""
    return bool(lesson) and (hidden("caption") or (lesson == CLASS_VOTE and bool(get_state("class_votes_on_it"))))


def thinks_first() -> bool:
    """True where this visitor would rather think of numbers than see them at once."""
    chosen = (said for said in (get_state(COVER.name), get_state("covering")) if said is not None)
    return bool(next(chosen, not switched_off_in_link(COVER.name)))


def uncover(lesson: str) -> None:
    """From now on the numbers of this lesson are seen, until another question is asked. Other lessons stay covered."""
    set_state(f"{lesson}_explored", get_state(f"{lesson}_question") or 0)


def room_for(key: str, texts: Sequence[Sequence[str]], width: str = "stretch") -> AbstractContextManager:
    """A place as high as the highest of these texts, whichever of them will stand in it: nothing below it moves.

    A text is one line or more, or several pieces beside each other. Nobody sees or hears what keeps the room: words as
    long as those of the texts, which tell nothing of them.
    """
    lines = ("".join(f"<span>{as_blanks(piece)}</span>" for piece in pieces) for pieces in texts)
    place = st.container(key=f"{key}_room", width=width)
    place.html(f'<div class="lab-room" aria-hidden="true">{"".join(f"<p>{line}</p>" for line in lines)}</div>')
    return place


def as_blanks(text: str) -> str:
    """A text of which only the lengths of words and the widths of letters are left."""
    return "".join(letter if letter.isspace() else "語" if is_wide_letter(letter) else "n" for letter in text)


def show_chart(
    figure: Figure,
    spec: dict,
    tables: dict[str, pa.Table],
    lesson: str | None,
    *,
    picks: bool = False,
    on_pick: Callable[[], None] | None = None,
    width: str = "content",
) -> Picked | None:
    """A chart from a shared template and fresh tables; the matrix, row and column of the cell that is picked in it.

    The box scrolls sideways; the page never does. A `lesson` can cover the numbers, and its cells can be picked where
    the chart `picks`. Elsewhere `on_pick` is called when something is picked. Only a click asks the server; pointing
    never does.
    """
    yield_turn()
    picking = on_pick is not None or (picks and lesson is not None)
    chart = {**spec, **numbers_as_spoken(), "datasets": datasets_of(figure, tables, lesson)}
    box = {"width": width, "height": "content", "alt": render(figure.name)}
    with st.container(key=figure.key):
        if not picking:
            st.vega_lite_chart(chart, **box)
        else:
            selects = {"key": f"{figure.key}_chart", "on_select": on_pick or "rerun", "selection_mode": ["pick"]}
            state = st.vega_lite_chart(chart, **box, **selects)
    return picked_in_chart(state) if picking and not covered(lesson) else None


def numbers_as_spoken() -> dict[str, object]:
    """How the browser writes the numbers of a chart; nothing for English, in which it writes them by itself."""
    here = language()
    if here.decimal == ".":
        return {}
    percent = here.percent.format("")
    written = {"decimal": here.decimal, "thousands": here.group, "grouping": [3], "currency": ["", ""]}
    return {"config": {"locale": {"number": written | {"percent": percent}}}}


def datasets_of(figure: Figure, tables: dict[str, pa.Table], lesson: str | None) -> dict[str, pa.Table]:
    """The tables of a chart and its alternative text, covered where the lesson is."""
    if covered(lesson):
        tables = {key: covered_table(table) for key, table in tables.items()}
    return {**tables, "alt": alt_table(told_of(figure, lesson))}


def told_of(figure: Figure, lesson: str | None) -> str:
    """What there is to see in a figure, for whoever does not see it; not before others see it."""
    if covered(lesson):
        return render(UNTIL_EXPLAINED if lesson == CLASS_VOTE else COVERED)
    return render(LEFT_OUT) if left_to_find(lesson) else render_all(figure.notice) or render(figure.name)


def offer_numbers(key: str, table: pa.Table) -> None:
    """A button that saves the numbers of a figure; they are written when it is pressed."""
    offer(translate("Numbers as CSV"), partial(csv_of, table), f"{key}.csv", "text/csv")


def offer(label: str, make: Callable[[], bytes], file: str, kind: str, key: str = "") -> None:
    """A small button that saves what is made when it is pressed. Its key follows from the name of the file."""
    key, made = key or file.replace(".", "_"), partial(made_in, language().code, make)
    st.download_button(label, made, file, kind, key=key, on_click="ignore", type="tertiary")


def made_in(code: str, make: Callable[[], bytes]) -> bytes:
    """A file in a language: whoever makes it when the button is pressed knows nothing of the visit."""
    with speaking(code):
        return make()


def picked_in_chart(state: dict) -> Picked | None:
    """The cell that the browser says was picked, if it says so in the way charts do."""
    found = re.fullmatch(r"\|(.+) (\d{1,4}),(\d{1,4})\|", str(first_pick(state).get("cell_tag")), re.ASCII)
    return (found[1], int(found[2]), int(found[3])) if found else None


def picked_cell(figure: str) -> Picked | None:
    """The cell that the browser says was picked in the tables of a figure, if it says so in the way these do."""
    state = get_state(f"{figure}_tables")
    told = state.get("picked") if isinstance(state, dict) else None
    cell = tuple(told) if isinstance(told, list) else ()
    if [*map(type, cell)] != [str, int, int] or not all(0 <= place <= MOST_PLACES for place in cell[1:]):
        return None
    return cell


def first_pick(state: object) -> dict:
    """What the browser says of the first thing picked; empty where it says nothing that makes sense."""
    selection = state.get("selection") if isinstance(state, dict) else None
    picked = selection.get("pick") if isinstance(selection, dict) else None
    first = picked[0] if isinstance(picked, list) and picked else None
    return first if isinstance(first, dict) else {}


def show_rows(rows: Sequence[Mapping[str, object]], width: str | int = "stretch") -> None:
    """A table with a line for each row, all with the same columns. Straight from Arrow, for pandas takes far longer."""
    st.dataframe(pa.Table.from_pylist(rows), hide_index=True, width=width)


def fold(part: str, title: str, key: str, fill: Callable[[], None]) -> None:
    """A part of the page below its title, filled when it is opened: every element costs the browser time."""
    if not hidden(part):
        with st.expander(title, key=key, on_change="rerun") as opened:
            if opened.open:
                fill()


def show_notes(*notes: str | Message | Phrase | None) -> None:
    """What wants to be seen, where there is any. Shown literally, whatever a learner's text in it may say."""
    notes = [note for note in notes if note]
    if notes:
        with st.container(border=True, gap="small"):
            for note in notes:
                st.text(format_value(note))
