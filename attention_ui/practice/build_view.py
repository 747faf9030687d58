"""The page on which a head is built by hand: the level, the figure, and the numbers that one sets.

The link holds the numbers of the level that is open; a visit keeps those of each.
"""

import streamlit as st

from attention_core.puzzles import LARGEST, PUZZLES, Puzzle, Weights
from attention_ui.controls.bound import number_field, one_in_row
from attention_ui.figures.roles import in_role_colours
from attention_ui.page.derivation import derivation_panel
from attention_ui.page.drawer import show_drawer
from attention_ui.page.drawing import draw_figure, draw_notice
from attention_ui.page.lesson_page import Room, draw_group, draw_top, groups, lay_out
from attention_ui.page.progress import Progress, add_progress, progress
from attention_ui.session import (
    forget_in_link,
    get_state,
    is_projected,
    link_notes,
    say_in_link,
    set_state,
    show_in_widget,
    show_notes,
    text_in_link,
)
from attention_ui.streamlit_insides import came_through_history
from lessons.one_head.puzzle import lesson as build
from lessons.one_head.puzzle.compute import feature_name
from lessons.one_head.puzzle.levels import LEVELS
from lessons.one_head.puzzle.numbers import MATRICES, Place, read_numbers, write_numbers
from lessons.screen import ListOf, OneOf, Screen, format_value, message, plural, render, translate
from lessons.shared.formulas import spoken_formula

LINKS_KNOWN = 20  # that this page has said last
CHANGES_TO_HINT, CHANGES_TO_SOLUTION = 6, 20  # numbers that are changed until there is a hint, and our solution
INPUT, LARGE_INPUT, LABEL = 132, 150, 84  # pixels: an input with less has no buttons
MATRIX_SAYS = {
    "W_q": message("$W_q$: what it asks for"),
    "W_k": message("$W_k$: what it answers"),
    "W_v": message("$W_v$: what it hands on"),
}


def show_build() -> None:
    """The whole page."""
    room = lay_out()
    with room.notes:
        level = one_in_row(levels_of_visit())
    puzzle, code = PUZZLES[level], numbers_of_visit(level)
    weights, notes = read_numbers(puzzle, code)
    solved = puzzle.is_solved(build.mean(build.scores_of(puzzle, weights)))
    if solved and level not in progress().levels:
        add_progress(Progress(levels=frozenset([level])))
        st.rerun()  # the row of levels has been drawn without its tick
    with room.notes:
        show_notes(*link_notes(), *notes)
    with room.controls:
        beside = beside_numbers(level)
        numbers_panel(level, puzzle, weights)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            sentence = build.SENTENCE.limit.clamp(number_field(build.SENTENCE))
            st.button(
                translate("Show the worst sentence"), key="build_worst", on_click=look_at_worst, args=(level, code)
            )
            compared = one_in_row(beside)
    screen = build.build_screen(build.BuildChoices(level, code, sentence, compared))
    if get_state("class_inside"):
        from attention_ui.classroom.plan.level_here import level_of_class  # which only a class needs

        with room.notes:
            level_of_class(level, solved)
    draw_built(screen, room)
    show_drawer("build", screen.code, screen.figures, topic=build.TOPIC)


def draw_built(screen: Screen, room: Room) -> None:
    """Where the head looks; beside it how well it does and the table that its numbers make, below it these numbers."""
    looks, table, facts, *others = screen.figures
    with room.topic:
        draw_top(build, screen, "build")
    with room.stage:
        picked = draw_figure("build", looks)
    with room.question:
        with st.container(horizontal=True, key="build_scores"):
            for what, fact in facts.facts:
                st.metric(render(what), format_value(fact), width="content")
        picked = draw_figure("build", table) or picked
        draw_notice("build", table.notice)
    with room.panel:
        derivation_panel(screen, picked)
    draw_notice("build", screen.remarks)
    for group in groups(others):
        draw_group("build", group)
        draw_notice("build", [sentence for figure in group for sentence in figure.notice])
    st.latex(in_role_colours(spoken_formula(screen.formula), st.context.theme.type or "light"))


def levels_of_visit() -> OneOf:
    """The levels, in a row; a tick stands before those that are solved."""
    solved = progress().levels
    titles = {
        key: message("✓ {title}", title=level.title) if key in solved else level.title for key, level in LEVELS.items()
    }
    return OneOf(build.LEVEL.name, build.LEVEL.label, titles)


def beside_numbers(level: str) -> OneOf:
    """What may be put beside the learner's head; a link that asks for more is told when it comes."""
    options = dict(build.BESIDE.options)
    if changes_made(level) < CHANGES_TO_SOLUTION and level not in progress().levels:
        del options["ours"]
        if text_in_link(build.BESIDE.name) == "ours":
            show_notes(
                message(
                    "Our solution appears beside yours once you have made {count} changes or solved the level.",
                    count=CHANGES_TO_SOLUTION,
                )
            )
    return OneOf(build.BESIDE.name, build.BESIDE.label, options)


# The numbers.


def numbers_of_visit(level: str) -> str:
    """The numbers of a level: those of the link where it is new, else those that this visit keeps.

    A link without numbers, such as a class's, takes none away. Nor does one that this page has said lately, of this
    level or of the one before: a browser that sends two things at once sends the second with a link that does not know
    of the first.
    """
    asked, said = text_in_link(build.BUILT.name), get_state("built_said") or ("",)
    if (asked and asked not in said) or (asked != said[-1] and came_through_history()):
        set_state(f"built_{level}", asked)
    code = get_state(f"built_{level}") or ""
    say_in_link(build.BUILT.name, code) if code else forget_in_link(build.BUILT.name)
    if code != said[-1]:
        set_state("built_said", (*said, code)[-LINKS_KNOWN:])
    return code


def numbers_panel(level: str, puzzle: Puzzle, weights: Weights) -> None:
    """A field for each number, matrix by matrix; what resets them; and, after some tries, a hint."""
    for head in range(puzzle.n_heads):
        if puzzle.n_heads > 1:
            st.markdown(translate("**Head {head}**", head=head + 1))
        with st.container(horizontal=True, gap="medium", key=f"build_head_{head}"):
            for matrix in MATRICES if puzzle.counts else MATRICES[:2]:
                matrix_fields(level, puzzle, weights, matrix, head)
    with st.container(horizontal=True, vertical_alignment="center"):
        empty = not write_numbers(puzzle, weights)
        st.button(
            translate("All to 0"), key="build_reset", on_click=set_state, args=(f"built_{level}", ""), disabled=empty
        )
        help_panel(level)


def matrix_fields(level: str, puzzle: Puzzle, weights: Weights, matrix: str, head: int) -> None:
    """The rows of one matrix of one head: the name of a feature, and its numbers."""
    width = puzzle.d_k if matrix != "W_v" else 1
    with st.container(width=LABEL + (wide_input() + 8) * width, gap="xxsmall", key=f"build_{matrix}_{head}"):
        st.markdown(render(MATRIX_SAYS[matrix]))
        for row in puzzle.free_rows(matrix, head):
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                st.text(format_value(feature_name(puzzle.features[row])), width=LABEL - 16)
                for column in range(head * width, (head + 1) * width):
                    number_input(level, puzzle, weights, Place(matrix, row, column))


def wide_input() -> int:
    """The width of a field, in which its buttons have room."""
    return LARGE_INPUT if is_projected() else INPUT


def number_input(level: str, puzzle: Puzzle, weights: Weights, place: Place) -> None:
    """One number: typed, or moved by its buttons and by the keys up and down."""
    key = f"set_{level}_{place.matrix}_{place.row}_{place.column}"
    show_in_widget(key, float(getattr(weights, place.matrix)[place.row, place.column]))
    names = {"matrix": place.matrix, "feature": feature_name(puzzle.features[place.row]), "column": place.column + 1}
    st.number_input(
        translate("{matrix}, {feature}, column {column}", **names),
        -LARGEST,
        LARGEST,
        None,
        step=1.0,
        format="%g",
        key=key,
        width=wide_input(),
        label_visibility="collapsed",
        on_change=take_number,
        args=(level, place, key),  # no tensors: a visit keeps them
    )


def take_number(level: str, place: Place, key: str) -> None:
    """A number was set: it becomes part of the link. An empty field is a 0."""
    puzzle = PUZZLES[level]
    weights, _ = read_numbers(puzzle, get_state(f"built_{level}") or "")
    typed = get_state(key) or 0.0
    if abs(typed) <= LARGEST:  # a forged message may hold what is no number
        getattr(weights, place.matrix)[place.row, place.column] = round(typed, 2)
        set_state(f"built_{level}", write_numbers(puzzle, weights))
        set_state(f"build_tries_{level}", changes_made(level) + 1)


def look_at_worst(level: str, code: str) -> None:
    """Show the one of the other sentences on which these numbers do worst."""
    scores = build.scores_of(PUZZLES[level], read_numbers(PUZZLES[level], code)[0])
    set_state(build.SENTENCE.name, scores.index(min(scores)) + 1)


# Help.


def changes_made(level: str) -> int:
    """How many numbers were changed in this level."""
    return get_state(f"build_tries_{level}") or 0


def help_panel(level: str) -> None:
    """A hint, after some tries; and which levels are solved."""
    left = CHANGES_TO_HINT - changes_made(level)
    locked = left > 0 and level not in progress().levels
    with st.popover(translate("Hint"), disabled=locked):
        st.markdown(render(LEVELS[level].hint))
    if locked:
        st.caption(render(plural("after {count} more change", "after {count} more changes", left)))
    solved = tuple(LEVELS[key].title for key in LEVELS if key in progress().levels)
    if solved:
        st.caption(
            translate("Solved, {count} of {all}: {titles}", count=len(solved), all=len(LEVELS), titles=ListOf(solved))
        )
