"""The page of a lesson: its topic, the running example in the sidebar, and its screen from top to bottom."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from types import ModuleType

import streamlit as st

from attention_ui.contents import draw_topic
from attention_ui.controls.choices import chosen_in
from attention_ui.controls.editing import SAME_ROWS, edits_line
from attention_ui.controls.example import USUAL_EXAMPLE, current_trace, head_choice
from attention_ui.export.notebook import notebook_of_path
from attention_ui.figures.roles import in_role_colours
from attention_ui.page.derivation import derivation_of_click, derivation_panel
from attention_ui.page.drawer import show_drawer
from attention_ui.page.drawing import draw_figure, draw_matrices, draw_notice, kind_of
from attention_ui.page.question import current_question, is_answered, question_panel, reply_to_choice
from attention_ui.page.words import draw_words
from attention_ui.process.kept import KeptByLanguage
from attention_ui.process.turns import yield_turn
from attention_ui.session import ROLE_COLOURS, Picked, covered, fold, hidden, is_held, marked, set_state
from attention_ui.session.recent_screens import remember_screen
from lessons import name_of
from lessons.example.example import ExampleTrace, unedited
from lessons.screen import Figure, Message, Screen, diff, join_sentences, matrices_figures, render, translate
from lessons.shared.formulas import spoken_formula
from lessons.shared.own_numbers import changeable_numbers, with_entries
from models.small import is_small

NOWHERE_ELSE = nullcontext()
SCREENS: KeptByLanguage[Screen] = KeptByLanguage(8 if is_small() else 32)
HEADLINE_COLOURS = {**ROLE_COLOURS, "keys": ROLE_COLOURS["key"]}


@dataclass(frozen=True, eq=False)
class Room:
    """Where the parts of a lesson's page stand, in the order in which they are read, whenever each is known.

    The question, and how a number comes about, stand beside the first figure where there is room, else below it.
    """

    topic: AbstractContextManager
    notes: AbstractContextManager
    stage: AbstractContextManager  # the first figure, or those that stand side by side
    question: AbstractContextManager
    panel: AbstractContextManager
    controls: AbstractContextManager  # of the first figure


def lay_out() -> Room:
    """Keep a place for each part of a lesson's page."""
    topic, notes, lesson = st.container(), st.container(), st.container(key="lesson")
    with lesson:
        stage, beside, controls = (st.container(key=key) for key in ("stage", "beside", "controls"))
    with beside:
        return Room(topic, notes, stage, st.container(), st.container(key="panel_0"), controls)


@dataclass(frozen=True, eq=False)
class LessonPage:
    """The page of a lesson that is open: what its controls and its screen are about."""

    lesson: ModuleType
    address: str
    room: Room
    trace: ExampleTrace
    head: int
    by_hand: bool  # whether the numbers of the example can be changed

    def about(self, trace: ExampleTrace, head: int) -> "LessonPage":
        """The same page about another example and head."""
        return replace(self, trace=trace, head=head, by_hand=self.by_hand and trace is self.trace)

    def show(self, choices: object) -> None:
        """Draw the screen that these choices make, with what the learner's edits changed in it."""
        screen = self.screen(self.trace, choices)
        if self.trace.example.edits:
            screen = diff(screen, self.screen(unedited(self.trace), choices))
        set_state(SAME_ROWS, self.trace.row_ids)
        yield_turn()
        path = partial(notebook_of_path, self.trace, self.head)
        draw_screen(self.lesson, screen, self.room, address=self.address, path=path)
        if self.by_hand:
            with self.room.controls:
                self.change_by_hand(screen)
        remember_screen(self.lesson, self.address, self.trace.example, self.head, choices)

    def screen(self, trace: ExampleTrace, choices: object) -> Screen:
        """The screen of an example. What a hand that holds a number passes by is seen once, so it is not kept."""
        if is_held() and trace is self.trace:
            return self.lesson.screen(trace, self.head, choices)
        by_hand = self.by_hand and not trace.example.edits
        return kept_screen(self.lesson, trace, self.head, choices, by_hand=by_hand)

    def change_by_hand(self, screen: Screen) -> None:
        """The way back from what was changed; and where no figure of the screen shows numbers to change, a fold."""
        edits_line(self.trace.example.edits)
        if not any(matrix.entries for figure in matrices_figures(screen.figures) for matrix in figure.matrices):
            figure = partial(changeable_numbers, self.trace, self.head)
            fold("edit", translate("Change numbers by hand"), "editing_open", lambda: draw_matrices(None, figure()))


def kept_screen(lesson: ModuleType, trace: ExampleTrace, head: int, choices: object, *, by_hand: bool) -> Screen:
    """The screen that these choices make. A class opens the first one of each lesson, one that is led the same one all
    at once, so the last ones are kept, for all visitors: never change one.
    """

    def made() -> Screen:
        screen = lesson.screen(trace, head, choices)
        return with_entries(screen, trace, head) if by_hand else screen

    return SCREENS.get((lesson, trace, head, choices), made)


def open_lesson(
    lesson: ModuleType,
    *,
    address: str = "",
    room: Room | None = None,
    heads: bool = True,
    own_sizes: bool = False,
    own_mask: bool = False,
    own_tokens: bool = False,
    x_alone: bool = False,
) -> LessonPage:
    """Open the page of a lesson: its places, the controls of the running example, the choice of a head.

    A lesson with `own_sizes` takes tokens, seed, mask and scaling from the example and nothing else; one with an
    `own_mask` does not offer the switch of the causal mask; one with `own_tokens` takes seed, mask and scaling alone.
    Where one uses `x_alone`, the controls that do not change X are hidden.
    """
    address, room = address or name_of(lesson), room or lay_out()
    own_example = getattr(lesson, "OWN_EXAMPLE", USUAL_EXAMPLE)
    with room.notes:
        trace = current_trace(
            own_example, own_sizes=own_sizes, own_mask=own_mask, own_tokens=own_tokens, x_alone=x_alone
        )
    with room.controls:
        head = head_choice(trace) if heads else 0
    return LessonPage(lesson, address, room, trace, head, by_hand=not (own_sizes or own_tokens))


def show_lesson(
    lesson: ModuleType,
    draw: Callable[[ExampleTrace], object] | None = None,
    *,
    columns: Sequence[float] = (),
    in_row: int = 0,
    **opened: bool | str | Room,
) -> None:
    """The whole page of a lesson, `opened` as `open_lesson` says.

    Its choices are what `draw` makes of the example, where it has controls that depend on each other; or else one
    control for each field of its `Choices`, of which the first stand side by side in `columns` or so many `in_row`.
    """
    page = open_lesson(lesson, **opened)
    with page.room.controls:
        draw = draw or partial(chosen_in, lesson.Choices, columns=columns, in_row=in_row)
        choices = draw(page.trace)
    page.show(choices)


def draw_screen(
    lesson: ModuleType,
    screen: Screen,
    room: Room,
    *,
    address: str,
    covers: bool = True,
    path: Callable[[], bytes] | None = None,
) -> None:
    """Topic, figures, question, what there is to notice, the derivation of a number, the code.

    Where no answer ever stands in a figure, nothing `covers` them, and no switch for that is offered.

    Without a question there is nothing to think of first, so nothing is ever covered or left out. `path` makes the
    notebook of all lessons.
    """
    coverable = address if screen.ask is not None else ""
    question = screen.ask and current_question(address, screen.ask)
    asks = question is not None and not hidden("predict")
    with room.topic:
        draw_top(lesson, screen, address)
    before = [screen.headline]
    if asks and screen.headline is None:
        before.append(reply_to_choice(address, question))
        with room.question:
            question_panel(address, question, offered=covers)
    with room.question:
        draw_words(name_of(lesson))
    yield_turn()
    first, others = with_the_first_picture(groups(screen.figures))
    picked = None
    with room.stage:
        for group in first:
            picked = draw_group(coverable, group)
    with room.panel:
        if not covered(coverable):
            derivation_panel(screen, picked, question if asks and is_answered(address) else None)
    for group in first:
        say_notice(coverable, group, before, charts_below=bool(others))
    for place, group in enumerate(others, start=1):
        draw_further(screen, coverable, group, place)
        say_notice(coverable, group, before, charts_below=group is not others[-1])
    draw_notice(coverable, screen.remarks, before=before, charts_below=False)
    if screen.formula is not None:
        st.latex(in_role_colours(spoken_formula(screen.formula), st.context.theme.type or "light"))
    yield_turn()
    show_drawer(address, screen.code, screen.figures, coverable, topic=lesson.TOPIC, path=path)


def draw_top(lesson: ModuleType, screen: Screen, address: str) -> None:
    """The topic of the page and its point; below them, where it asks nothing, what its figure shows."""
    draw_topic(lesson)
    if screen.headline is not None:
        with st.container(key=f"{address}_headline", gap="small"):
            st.header(marked(screen.headline, HEADLINE_COLOURS), anchor=False)
            if screen.lead:
                st.markdown(join_sentences(map(marked, screen.lead)))


def draw_further(screen: Screen, lesson: str, group: Sequence[Figure], place: int) -> None:
    """Figures further down the page; below them, how the number comes about that is picked there."""
    if not can_be_followed(group):
        draw_group(lesson, group)
        return
    with st.container(key=f"with_panel_{place}"):
        picked = draw_group(lesson, group)
        with st.container(key=f"panel_{place}"):
            derivation_of_click(screen, picked, place)


def groups(figures: Sequence[Figure]) -> list[list[Figure]]:
    """The figures that stand side by side, together."""
    together = []
    for figure in figures:
        if figure.beside and together:
            together[-1].append(figure)
        else:
            together.append([figure])
    return together


def with_the_first_picture(together: list[list[Figure]]) -> tuple[list[list[Figure]], list[list[Figure]]]:
    """What stands first, and what follows: facts that come first are about the picture below them."""
    pictures = (place for place, group in enumerate(together) if any(kind_of(figure).seen for figure in group))
    here = next(pictures, 0) + 1
    return together[:here], together[here:]


def can_be_followed(group: Sequence[Figure]) -> bool:
    """True where a number can be picked in one of these figures."""
    return any(kind_of(figure).followed(figure) for figure in group)


def draw_group(lesson: str, group: Sequence[Figure]) -> Picked | None:
    """Figures side by side; the cell that was picked in one of them."""
    if group[0].heading is not None:
        st.subheader(render(group[0].heading), anchor=False)
    picked = None
    for line in lines_of(group):
        places = st.columns([figure.width for figure in line]) if len(line) > 1 else [nullcontext()]
        for place, figure in zip(places, line, strict=True):
            with place:
                picked = draw_figure(lesson, figure) or picked
    return picked


def say_notice(lesson: str, group: Sequence[Figure], before: Sequence[Message | None], *, charts_below: bool) -> None:
    """Below figures that stand side by side: what there is to notice in them that neither they nor `before` say."""
    notices = (figure.notice for figure in group if not kind_of(figure).says)
    draw_notice(lesson, [*chain.from_iterable(notices)], before=before, charts_below=charts_below)


def lines_of(group: Sequence[Figure]) -> list[list[Figure]]:
    """Curves side by side go on in a new line where the page is full; other figures share its width."""
    if not all(kind_of(figure).together for figure in group):
        return [list(group)]
    lines = [[group[0]]]
    for figure in group[1:]:
        full = sum(other.width for other in (*lines[-1], figure)) > Figure.width
        lines.append([figure]) if full else lines[-1].append(figure)
    return lines
