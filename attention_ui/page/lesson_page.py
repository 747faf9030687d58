"""The page of a lesson: its topic, the running example in the sidebar, and its screen from top to bottom."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from types import ModuleType

import streamlit as st

from attention_ui.controls.choices import chosen_in
from attention_ui.controls.example import USUAL_EXAMPLE, current_trace, head_choice
from attention_ui.export.notebook import notebook_of_path
from attention_ui.figures.roles import in_role_colours
from attention_ui.page.contents import draw_topic
from attention_ui.page.derivation import derivation_of_click, derivation_panel
from attention_ui.page.drawer import show_drawer
from attention_ui.page.drawing import draw_figure, draw_notice, kind_of
from attention_ui.page.question import current_question, is_answered, question_panel
from attention_ui.page.words import draw_words
from attention_ui.session.chart import Picked, covered, is_projected
from attention_ui.session.links import hidden
from attention_ui.session.markdown import ROLE_COLOURS, marked
from attention_ui.session.recent_screens import remember_screen
from lessons.example.example import ExampleTrace, unedited
from lessons.kit.formulas import spoken_formula
from lessons.screen.compare_edits import diff
from lessons.screen.format import join_sentences, render
from lessons.screen.message import Message
from lessons.screen.screen import Figure, Question, Screen

MARGIN = 30  # pixels
NOWHERE_ELSE = nullcontext()
HEADLINE_COLOURS = {**ROLE_COLOURS, "keys": ROLE_COLOURS["key"]}
LINE_WIDTH = 330  # of the lines below a figure, however few columns it has


@dataclass(frozen=True, eq=False)
class LessonPage:
    """The page of a lesson that is open: what its controls and its screen are about."""

    lesson: ModuleType
    address: str
    top: AbstractContextManager  # where its topic and its question will stand, known only when the screen is
    example: ExampleTrace
    head: int
    stage: AbstractContextManager  # where its first figure will stand

    def show(self, choices: object, beside: Callable[[], None] | None = None) -> None:
        """Draw the screen that these choices make, with what the learner's edits changed in it.

        `beside` draws a panel at the right of the first figure, below it where the screen is narrow.
        """
        screen = self.lesson.screen(self.example, self.head, choices)
        if self.example.example.edits:
            screen = diff(screen, self.lesson.screen(unedited(self.example), self.head, choices))
        path = partial(notebook_of_path, self.example, self.head)
        draw_screen(self.lesson, screen, self.top, beside, address=self.address, stage=self.stage, path=path)
        remember_screen(self.lesson, self.address, self.example.example, self.head, choices)


def open_lesson(
    lesson: ModuleType,
    *,
    address: str = "",
    top: AbstractContextManager | None = None,
    heads: bool = True,
    own_sizes: bool = False,
    own_mask: bool = False,
    own_tokens: bool = False,
    controls_below: bool = False,
) -> LessonPage:
    """Open the page of a lesson: a place for its topic, the controls of the running example, the choice of a head.

    A lesson with `own_sizes` takes tokens, seed, mask and scaling from the example and nothing else; one with an
    `own_mask` does not offer the switch of the causal mask; one with `own_tokens` takes seed, mask and scaling alone.
    Controls of its own that are drawn from now on stand above its first figure, or `controls_below` it.
    """
    address = address or lesson.__name__.split(".")[1]
    top = top or st.container()
    own_example = getattr(lesson, "OWN_EXAMPLE", USUAL_EXAMPLE)
    example = current_trace(own_example, own_sizes=own_sizes, own_mask=own_mask, own_tokens=own_tokens)
    head = head_choice(example) if heads else 0
    return LessonPage(lesson, address, top, example, head, stage_of_page(controls_below=controls_below))


def show_lesson(
    lesson: ModuleType,
    draw: Callable[[ExampleTrace], object] | None = None,
    *,
    columns: Sequence[float] = (),
    in_row: int = 0,
    **opened: bool | str | AbstractContextManager,
) -> None:
    """The whole page of a lesson, `opened` as `open_lesson` says.

    Its choices are what `draw` makes of the example, where it has controls that depend on each other; or else one
    control for each field of its `Choices`, of which the first stand side by side in `columns` or so many `in_row`.
    """
    page = open_lesson(lesson, **opened)
    page.show(draw(page.example) if draw else chosen_in(lesson.Choices, page.example, columns=columns, in_row=in_row))


def stage_of_page(*, controls_below: bool = False) -> AbstractContextManager:
    """Where the first figure will stand: above the controls that come now if they belong `controls_below` it.

    On a projector they always do: question, answers and figure are to be seen together.
    """
    return st.container() if controls_below or is_projected() else NOWHERE_ELSE


def draw_screen(
    lesson: ModuleType,
    screen: Screen,
    top: AbstractContextManager,
    beside: Callable[[], None] | None = None,
    *,
    address: str,
    stage: AbstractContextManager = NOWHERE_ELSE,
    covers: bool = True,
    path: Callable[[], bytes] | None = None,
) -> None:
    """Topic and question on top, figures with what there is to notice, the derivation of a number, the code.

    Where no answer ever stands in a figure, nothing `covers` them, and no switch for that is offered.

    Without a question there is nothing to think of first, so nothing is ever covered or left out. `path` makes the
    notebook of all lessons.
    """
    coverable = address if screen.ask is not None else ""
    question = screen.ask and current_question(address, screen.ask)
    asks = question is not None and not hidden("predict")
    with top:
        draw_top(lesson, screen, question if asks else None, address, covers)
        draw_words(lesson.__name__.split(".")[1])
    together, followed = groups(screen.figures), []
    for place, group in enumerate(together):
        with stage if place == 0 else NOWHERE_ELSE:
            if (place == 0 and beside is not None) or can_be_followed(group):
                followed.append(draw_with_panel(coverable, group, len(followed)))
            else:
                draw_group(coverable, group)
            say_notice(coverable, group, screen.headline, charts_below=group is not together[-1])
    draw_notice(coverable, screen.remarks, charts_below=False)
    if screen.formula is not None:
        st.latex(in_role_colours(spoken_formula(screen.formula), st.context.theme.type or "light"))
    draw_panels(screen, followed, coverable, question if asks and is_answered(address) else None, beside)
    show_drawer(address, screen.code, screen.figures, coverable, topic=lesson.TOPIC, path=path)


def draw_top(lesson: ModuleType, screen: Screen, question: Question | None, address: str, covers: bool) -> None:
    """The topic of the page and its point; below them what it shows, or a question about its numbers."""
    aside = draw_topic(lesson)
    if screen.headline is not None:
        with st.container(key=f"{address}_headline", gap="small"):
            st.header(marked(screen.headline, HEADLINE_COLOURS), anchor=False)
            if screen.lead:
                st.markdown(join_sentences(map(marked, screen.lead)))
    elif question is not None:
        question_panel(address, question, aside=aside, offered=covers)


def draw_panels(
    screen: Screen,
    followed: Sequence[tuple[Picked | None, AbstractContextManager]],
    coverable: str,
    answered: Question | None,
    beside: Callable[[], None] | None,
) -> None:
    """Beside each figure whose numbers can be followed, how the one comes about that was picked there.

    Beside the first stands also what belongs to no figure: the number of the question that was `answered`, the menus,
    and the panel of the page.
    """
    (picked, panel), *others = followed or [(None, NOWHERE_ELSE)]
    with panel:
        if not covered(coverable):
            derivation_panel(screen, picked, answered)
        if beside is not None:
            beside()
    for place, (picked, panel) in enumerate(others, start=1):
        with panel:
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


def draw_with_panel(lesson: str, group: Sequence[Figure], place: int) -> tuple[Picked | None, AbstractContextManager]:
    """What is picked in figures, and the place for its derivation: at the right of a single one where there is room.

    The places of a page are counted.
    """
    figure, *others = group
    if others:
        return draw_group(lesson, group), st.container()
    drawn = kind_of(figure).width
    width = max(drawn(figure), LINE_WIDTH) + MARGIN if drawn else "stretch"
    with st.container(horizontal=True, gap="medium", key=f"with_panel_{place}"):
        with st.container(width=width, key=f"wide_figure_{place}" if width == "stretch" else None):
            picked = draw_group(lesson, group)
        return picked, st.container(key=f"panel_{place}")


def say_notice(lesson: str, group: Sequence[Figure], headline: Message | None, *, charts_below: bool) -> None:
    """Below figures that stand side by side: what there is to notice in them that neither they nor the headline say."""
    notices = (figure.notice for figure in group if not kind_of(figure).says)
    draw_notice(
        lesson,
        [sentence for notice in notices for sentence in notice if sentence != headline],
        charts_below=charts_below,
    )


def lines_of(group: Sequence[Figure]) -> list[list[Figure]]:
    """Curves side by side go on in a new line where the page is full; other figures share its width."""
    if not all(kind_of(figure).together for figure in group):
        return [list(group)]
    lines = [[group[0]]]
    for figure in group[1:]:
        full = sum(other.width for other in (*lines[-1], figure)) > Figure.width
        lines.append([figure]) if full else lines[-1].append(figure)
    return lines
