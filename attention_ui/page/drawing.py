"""Figures of every kind on the page: each becomes a table for a template that is built once."""

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from attention_ui.figures.curves.curves import covered_shape, curves_numbers, curves_tables, shape_of
from attention_ui.figures.features.by_feature import pairs_numbers, tables_of_pairs
from attention_ui.figures.features.by_feature_chart import pairs_template
from attention_ui.figures.features.strips import strips_numbers, tables_of_strips
from attention_ui.figures.features.strips_chart import strips_template
from attention_ui.figures.matrices.film import film_of, numbers_of_film, still_tables
from attention_ui.figures.matrices.parts import ALONE, BESIDE_CARDS, BESIDE_QUESTION, parts_on_a_projector
from attention_ui.figures.matrices.picture import in_full, svg_of
from attention_ui.figures.matrices.tables import covered_tables, numbers_of, tables_of
from attention_ui.figures.sentence.arcs import arcs_of
from attention_ui.figures.sentence.model_view import view_numbers, view_of
from attention_ui.figures.sentence.ribbons import ribbon_numbers, ribbons_of
from attention_ui.figures.sentence.token_text import (
    LARGE_LETTERS,
    LETTERS,
    lines_at,
    token_table,
    token_text_chart,
)
from attention_ui.figures.shares.flow import flow_of
from attention_ui.figures.shares.head_maps import maps_of
from attention_ui.figures.shares.parts import line_height, parts_table
from attention_ui.figures.shares.passing import passing_table
from attention_ui.figures.shares.picture import picture_of_parts, picture_of_sharing
from attention_ui.figures.shares.sharing import film_of_sharing, sharing_table
from attention_ui.figures.template import fitted, template
from attention_ui.page.code import show_source
from attention_ui.page.derivation import traceable
from attention_ui.process.kept import KeptByLanguage, KeptWithIt
from attention_ui.process.turns import yield_turn
from attention_ui.session import (
    CLASS_VOTE,
    Picked,
    covered,
    first_pick,
    fold,
    get_state,
    hidden,
    is_held,
    is_projected,
    least_letters,
    left_to_find,
    liked,
    offer,
    offer_numbers,
    picked_cell,
    set_state,
    show_chart,
    show_rows,
    told_of,
)
from attention_ui.streamlit_insides import IN_BROWSER, part_of_page
from lessons.example.real_model import MAX_TOKENS, head_name
from lessons.screen import (
    Arcs,
    ByFeature,
    Curves,
    Facts,
    Figure,
    Film,
    HeadMaps,
    Listing,
    Matrices,
    Message,
    ModelView,
    OnlineSoftmaxFigure,
    Parts,
    Points,
    Ribbons,
    Sharing,
    Strips,
    Table,
    TokenText,
    format_value,
    join_sentences,
    not_yet_said,
    render,
    translate,
)
from lessons.teachers.class_vote.lesson import Flow

CURVES_WIDER = 13  # tenths, for curves on a projector: two of them fill it
PART_OF_FILM = 310, 300  # pixels of a curve of a film on a projector, before it is enlarged
PROJECTED_WIDTH = 1180  # pixels that a figure has on a projector
UNKNOWN = "?"  # in the place of a number that waits
WIDTH_BESIDE, HEIGHT_BESIDE = 860, 400  # pixels of bars beside a question there, all of it seen at once
CLASS_BARS = 780  # pixels of bars beside the cards of a class
HIGHEST_ON_A_PHONE = 30  # rows of cells
SVG = "image/svg+xml"
PROJECTED_NUMBER = 24  # pixels of numbers on a projector, where they have room
LINE_OF_LETTERS = 1.2  # letters of the height that a line of bars takes
# A run that stands still is drawn with every press on its page. One moment may be that of a run that moves on.
FILMS: KeptByLanguage[str] = KeptByLanguage(16)
MOMENTS: KeptByLanguage[str] = KeptByLanguage(8)
STILLS: KeptByLanguage[dict] = KeptByLanguage(16)  # what stands still in them
# They live as long as their figures, which all share who look at the same screen.
WRITTEN: KeptWithIt[str] = KeptWithIt()  # as the browser reads them, which takes a tenth of the memory
COVERED: KeptWithIt[str] = KeptWithIt()
VIEWS: KeptWithIt[str] = KeptWithIt()


def draw_notice(
    lesson: str | None,
    sentences: Sequence[Message],
    *,
    before: Sequence[Message | None] = (),
    charts_below: bool = True,
) -> None:
    """What there is to notice that was not said `before`; not where a class shall find it, nor while it is covered.

    Its position is kept where nothing is said, for the sake of `charts_below`.
    """
    said = [] if covered(lesson) or left_to_find(lesson) else not_yet_said(sentences, before)
    if said:
        st.text(join_sentences(said))
    elif charts_below:
        st.container()


def draw_matrices(lesson: str | None, figure: Matrices) -> Picked | None:
    """Matrices as tables; on a projector part by part where all would be too small."""
    if is_projected():
        figure = chosen_part(figure, lesson)
    yield_turn()
    if is_held():  # nobody points at a number meanwhile
        tables = tables_of(figure, told=False)
        written = json.dumps(covered_tables(tables, given_in(figure)) if covered(lesson) else tables)
    elif covered(lesson):
        written = COVERED.get(figure, lambda: json.dumps(covered_tables(tables_of(figure), given_in(figure))))
    else:
        written = WRITTEN.get(figure, lambda: json.dumps(tables_of(figure)))
    picked = show_tables(figure, written, picks=lesson is not None and not covered(lesson))
    if lesson is None:  # elsewhere the drawer offers them
        offer_numbers(figure.key, numbers_of(figure))
    return picked


def show_tables(figure: Matrices, written: str, *, picks: bool) -> Picked | None:
    """Tables of the browser; the cell that is picked in them. They are handed over in one piece: Streamlit would look
    at each number. On a projector what is pointed at is said above their last line.
    """
    data = {"kind": "matrices", "written": written, "picks": picks, "hinted": not is_projected()}
    changes: Callable[[], None] = nothing
    if any(matrix.entries for matrix in figure.matrices) and not hidden("edit"):
        from attention_ui.controls.editing import take_by_hand  # with torch, which the first page does without

        data |= {"by_hand": True, "heard": get_state(f"{figure.key}_heard")}
        changes = partial(take_by_hand, figure)
    key, tall = f"{figure.key}_tables", sum(one.values.shape[0] for one in figure.matrices) > HIGHEST_ON_A_PHONE
    with st.container(key=figure.key), st.container(key=f"tall_{figure.key}") if tall else nullcontext():
        draw_part(key, data, on_picked_change=nothing, on_by_hand_change=changes)
    return picked_cell(figure.key) if picks else None


def nothing() -> None:
    """What is done when a cell is picked: the page is drawn anew in any case."""


def given_in(figure: Matrices) -> list[str]:
    """The matrices that stay where a question covers the others."""
    return [matrix.key for matrix in figure.matrices if matrix.given]


def chosen_part(figure: Matrices, lesson: str | None) -> Matrices:
    """The part of a figure that a projector shows. A key goes on to the next; after the last comes the first again."""
    room = BESIDE_CARDS if lesson == CLASS_VOTE else ALONE if hidden("predict") else BESIDE_QUESTION
    parts = parts_on_a_projector(figure, room)
    return parts[step_through(figure.key, len(parts)) if len(parts) > 1 else 0]


def step_through(figure: str, count: int) -> int:
    """Which of so many parts of a figure is shown, counted from 0; and what goes on to the next one."""
    key = f"{figure}_part"
    here = (get_state(key) or 0) % count
    with st.container(
        key=f"parts_{figure}", horizontal=True, vertical_alignment="center", gap="small", width="content"
    ):
        st.text(f"{here + 1} / {count}", width="content")
        st.button(translate("Next"), key=f"{key}_next", shortcut="Down", on_click=set_state, args=(key, here + 1))
    return here


def draw_curves(lesson: str | None, figure: Curves) -> None:
    """Curves; between two pictures of the same shape only their numbers change."""
    # With Altair, which a page of matrices does without.
    from attention_ui.figures.curves.curves_chart import curves_template

    letters = least_letters()
    figure = liked_curves(figure)
    shape = covered_shape(figure) if covered(lesson) else shape_of(figure)
    show_chart(figure, curves_template(shape._replace(letters=letters)), curves_tables(figure, letters), lesson)
    say_whose_weights(figure)


def liked_curves(figure: Curves) -> Curves:
    """Curves as large as this visitor likes them: larger for a projector."""
    if not is_projected():
        return figure
    return replace(figure, width=CURVES_WIDER * figure.width // 10, height=CURVES_WIDER * figure.height // 10)


def draw_points(lesson: str | None, figure: Points) -> None:
    """A cloud of points."""
    from attention_ui.figures.curves.points import points_chart, points_table  # with Altair

    titles = render(figure.x), render(figure.y)
    chart = template(points_chart, figure.width, figure.height, *titles, *figure.logarithmic)
    show_chart(figure, chart, {"points": points_table(figure)}, lesson)
    say_whose_weights(figure)


def say_whose_weights(figure: Figure) -> None:
    """Below a figure that does not say so itself."""
    if figure.weights is not None:
        st.caption(render(figure.weights))


def draw_film(
    lesson: str | None, film: Film, on_pick: Callable[[], None] | None = None, part: int | None = None
) -> None:
    """Matrices at many moments, which the browser moves through, and curves. `on_pick` is called when a matrix is
    pressed.

    Beside a question on a projector only one `part` of it has room: its matrices (0), or its curves (1).
    """
    if part == 1:
        draw_curves_side_by_side(lesson, film.curves)
        return
    with st.container(horizontal=True, gap="medium", vertical_alignment="top"):
        with st.container(key=f"{film.key}_maps"):
            draw_moving(film, on_pick)
        if part is None:
            with st.container(key=f"{film.key}_curves", width="content"):
                for curves in film.curves:
                    draw_curves(lesson, only_first_level(curves) if is_projected() else curves)
    offer_numbers(film.key, numbers_of_film(film.frames))


def draw_curves_side_by_side(lesson: str | None, every: Sequence[Curves]) -> None:
    """Curves as large as fit a projector beside each other."""
    width, height = PART_OF_FILM
    for place, curves in zip(st.columns(len(every)), every, strict=True):
        with place:
            draw_curves(lesson, replace(only_first_level(curves), width=width, height=height))


def only_first_level(curves: Curves) -> Curves:
    """Curves with one level: the names of more would lie over each other in large letters."""
    return replace(curves, levels=curves.levels[:1])


def draw_moving(film: Film, on_pick: Callable[[], None] | None) -> None:
    """The matrices of a film, and what moves them."""
    yield_turn()  # the numbers take a while
    kept = FILMS if len(film.frames) > 1 else MOMENTS
    first = film.frames[0]
    still = STILLS.get((first.alike or first, first.width), lambda: still_tables(first))
    written = kept.get((film.frames, film.curves, first.width), lambda: json.dumps(film_of(film, still)))
    data = {"kind": "film", "written": written, "picks": on_pick is not None}
    with st.container(key=film.key):
        draw_part(f"{film.key}_film", data, on_pressed_change=on_pick or nothing)


def draw_parts(lesson: str | None, figure: Parts) -> None:
    """Bars for the parts of a whole."""
    from attention_ui.figures.shares.parts_chart import parts_chart  # with Altair, which the first page does without

    width, line, letters = figure.width, line_height(figure), least_letters()
    if is_projected():
        width = min(liked(figure.width), CLASS_BARS if lesson == CLASS_VOTE else WIDTH_BESIDE)
        line = min(liked(line), HEIGHT_BESIDE // (len(figure.parts) + 1))
        letters = max(letters, min(PROJECTED_NUMBER, int(line / LINE_OF_LETTERS)))
    chart = template(parts_chart, len(figure.rows), width, line, letters)
    show_chart(figure, chart, {"bars": parts_table(figure)}, lesson)


def draw_sharing(lesson: str | None, figure: Sharing) -> Picked | None:
    """Numbers that become parts of one whole; once the question is answered, the figure plays how."""
    from attention_ui.figures.shares.sharing_chart import sharing_chart  # with Altair

    if lesson and not covered(lesson) and get_state(f"{lesson}_answer") is not None:
        set_state("film", film_of_sharing(figure))
    chart = fitted(template(sharing_chart, least_letters()), slots=len(figure.portions))
    table = sharing_table(figure, covered=covered(lesson))
    return show_chart(figure, chart, {"sharing": table}, lesson, picks=True, width="stretch")


def draw_passing(lesson: str | None, figure: OnlineSoftmaxFigure) -> None:
    """A row that is read block by block: it stands at its end, and the browser plays how it came to that."""
    from attention_ui.figures.shares.passing_chart import passing_template  # with Altair

    chart = passing_template(len(figure.keys), len(figure.moments), least_letters())
    show_chart(figure, chart, {"passing": passing_table(figure)}, lesson, width="stretch")


def draw_ribbons(lesson: str | None, figure: Ribbons) -> None:
    """A sentence and where its tokens look; the browser moves through the training. What is said stands in it."""
    yield_turn()
    data = {"kind": "ribbons", "written": json.dumps(ribbons_of(figure)), "large": is_projected()}
    data["alt"] = told_of(figure, lesson)
    with st.container(key=figure.key):
        draw_part(f"{figure.key}_sentence", data, on_asked_change=partial(let_it_ask, f"{figure.key}_sentence"))


def let_it_ask(part: str) -> None:
    """The word that was clicked becomes the query token, if the browser says so in the way the figure does."""
    state = get_state(part)
    word = state.get("asked") if isinstance(state, dict) else None
    if type(word) is int and 0 <= word < MAX_TOKENS:
        set_state("asks", word + 1)


def draw_part(key: str, data: dict[str, Any], **on_change: Callable[[], None]) -> None:
    """What our scripts draw of these data."""
    part_of_page(IN_BROWSER / "figures", "figure.js", "figure.css")(key=key, data=data, **on_change)


def draw_model_view(lesson: str | None, figure: ModelView) -> None:
    """A sentence as a real model reads it, and all its heads. A head or a word that is clicked is chosen."""
    yield_turn()
    part = f"{figure.key}_picture"
    data = {"kind": "model", "written": VIEWS.get(figure, lambda: json.dumps(view_of(figure))), "large": is_projected()}
    data["alt"] = told_of(figure, lesson)
    sizes = figure.n_layers, figure.n_heads, len(figure.tokens)
    with st.container(key=figure.key):
        draw_part(part, data, on_chosen_change=partial(choose_in_view, part, *sizes))


def choose_in_view(part: str, n_layers: int, n_heads: int, n_tokens: int) -> None:
    """What was clicked, if the browser says so in the way the figure does."""
    state = get_state(part)
    match state.get("chosen") if isinstance(state, dict) else None:
        case ["head", int(place)] if 0 <= place < n_layers * n_heads:
            set_state("look_head", head_name(*divmod(place, n_heads)))
        case ["word", int(place)] if 0 <= place < n_tokens:
            set_state("look_asks", place + 1)


def draw_strips(lesson: str | None, figure: Strips) -> None:
    """Matrices of many features, a thin bar for each number."""
    widths = tuple(one.values.shape[1] for one in figure.strips)
    spec = strips_template(widths, len(figure.tokens), least_letters())
    show_chart(figure, spec, tables_of_strips(figure), lesson, width="stretch")
    say_whose_weights(figure)


def draw_by_feature(lesson: str | None, figure: ByFeature) -> None:
    """A query with each key, feature by feature. The key that is clicked is chosen."""
    n_columns = len(figure.shown) + bool(figure.others)
    n_terms = n_columns + 1 + (figure.scaled is not None)
    spec = pairs_template(len(figure.keys), n_columns, n_terms, least_letters())
    on_pick = partial(choose_key, f"{figure.key}_chart", figure)
    show_chart(figure, spec, tables_of_pairs(figure), lesson, on_pick=on_pick, width="stretch")


def choose_key(chart: str, figure: ByFeature) -> None:
    """The key that was clicked, if the browser says so in the way the figure does."""
    place = first_pick(get_state(chart)).get("i")
    if isinstance(place, int | float) and place in range(len(figure.keys)):
        set_state(figure.picks, figure.keys[int(place)].key.position + 1)


def draw_arcs(lesson: str | None, figure: Arcs) -> None:
    """Arcs above a sentence."""
    draw_pointed("arcs", lesson, figure, arcs_of(figure, covered=covered(lesson)))
    say_whose_weights(figure)


def draw_pointed(kind: str, lesson: str | None, figure: Figure, drawn: dict[str, Any]) -> None:
    """A picture of this kind, at whose parts one points."""
    yield_turn()
    data = {"kind": kind, "written": json.dumps(drawn), "alt": told_of(figure, lesson), "least": least_letters()}
    with st.container(key=figure.key):
        draw_part(f"{figure.key}_picture", data)


def draw_token_text(lesson: str | None, figure: TokenText) -> None:
    """A text in tokens, which can be clicked where that chooses something."""
    size = LARGE_LETTERS if is_projected() else LETTERS
    table = token_table(figure, size)
    spec = token_text_chart(lines_at(table), shares=figure.shares, picks=bool(figure.picks), size=size)
    on_pick = partial(choose_by_token, figure) if figure.picks else None
    show_chart(figure, spec, {"token_text": table}, lesson, on_pick=on_pick, width="stretch")


def choose_by_token(figure: TokenText) -> None:
    """What the token stands for that was clicked is chosen, if the browser says so in the way the figure does."""
    token = first_pick(get_state(f"{figure.key}_chart")).get("token")
    if isinstance(token, int | float) and token in range(len(figure.tokens)):
        set_state(figure.picks, figure.tokens[int(token)].chooses)


def draw_flow(lesson: str | None, figure: Flow) -> None:
    """Two votes side by side."""
    draw_pointed("flow", lesson, figure, flow_of(figure))


def draw_head_maps(lesson: str | None, figure: HeadMaps) -> None:
    """Small maps of many heads."""
    draw_pointed("maps", lesson, figure, maps_of(figure, covered=covered(lesson)))


def draw_facts(lesson: str | None, figure: Facts) -> None:
    """Numbers in large type, side by side; while the lesson is covered, a sign in the place of each."""
    for place, (what, fact) in zip(st.columns(len(figure.facts)), figure.facts, strict=True):
        place.metric(render(what), UNKNOWN if covered(lesson) else format_value(fact))


def draw_listing(lesson: str | None, figure: Listing) -> None:
    """The source of functions that ran."""
    st.subheader(render(figure.title), anchor=False)
    st.text(render(figure.note))
    show_source(*figure.functions)


def draw_table(lesson: str | None, figure: Table) -> None:
    """A small table. A folded one is made when it is opened."""
    if figure.folded:
        fold(figure.key, render(figure.name), figure.key, partial(draw_rows, figure))
    else:
        draw_rows(figure)


def draw_rows(figure: Table) -> None:
    """The rows of a table."""
    columns = [render(column) for column in figure.columns]
    rows = [dict(zip(columns, map(format_value, row), strict=True)) for row in figure.cells]
    show_rows(rows, figure.width if figure.width != Table.width else "stretch")


# What can be taken out of the drawer.


def offer_matrices(figure: Matrices) -> None:
    """One figure of matrices: its name, its numbers, and its picture, which stays sharp at any size."""
    with offer_line(figure):
        offer_numbers(figure.key, numbers_of(figure))
        offer(translate("Picture as SVG"), lambda: svg_of(tables_of(figure)), f"{figure.key}.svg", SVG)


def picture_of_matrices(figure: Matrices, empty: bool) -> bytes:
    """Matrices as a picture that nobody can point at; where it is `empty`, with no numbers but those given."""
    data = in_full(tables_of(figure))
    return svg_of(covered_tables(data, given_in(figure)) if empty else data, says=False)


def offer_ribbons(figure: Ribbons) -> None:
    """The weights of a sentence at all moments."""
    with offer_line(figure):
        offer_numbers(figure.key, ribbon_numbers(figure))


def offer_model_view(figure: ModelView) -> None:
    """The weights of the head that is chosen."""
    with offer_line(figure):
        offer_numbers(figure.key, view_numbers(figure))


def offer_strips(figure: Strips) -> None:
    """Every number of the matrices."""
    with offer_line(figure):
        offer_numbers(figure.key, strips_numbers(figure))


def offer_by_feature(figure: ByFeature) -> None:
    """What each feature adds to each score."""
    with offer_line(figure):
        offer_numbers(figure.key, pairs_numbers(figure))


def offer_curves(*figures: Curves) -> None:
    """Curves, those of a screen in one table."""
    with offer_line(figures[0]):
        offer_numbers(figures[0].key if len(figures) == 1 else "curves", curves_numbers(figures))


def offer_line(figure: Figure) -> AbstractContextManager:
    """A line that begins with the name of a figure."""
    line = st.container(horizontal=True, vertical_alignment="center")
    line.text(render(figure.name), width="content")
    return line


def has_steps(figure: Matrices) -> bool:
    """True where the numbers of a matrix can be followed."""
    return bool(traceable([figure]))


class Kind(NamedTuple):
    """How a page treats one kind of figure.

    While its lesson is covered, it is drawn without its numbers, or else `waits` undrawn. Beside one that can be
    `followed` stands how a number in it comes about. It `says` what there is to notice within itself, or the page does
    below it. `numbers` offers what is in it as a file, and its `picture` is one of SVG, where it can be. Those that go
    `together` share a line, and a file. What is no picture, but numbers in large type, is not `seen`: it is about the
    picture that follows.
    """

    draw: Callable[[str | None, Any], Picked | None]
    waits: bool = False
    followed: Callable[[Any], bool] = lambda figure: False
    says: bool = False
    numbers: Callable[..., None] | None = None
    picture: Callable[[Any, bool], bytes | None] = lambda figure, empty: None
    together: bool = False
    seen: bool = True


KINDS: dict[type[Figure], Kind] = {
    Matrices: Kind(draw_matrices, followed=has_steps, numbers=offer_matrices, picture=picture_of_matrices),
    Curves: Kind(draw_curves, numbers=offer_curves, together=True),
    Points: Kind(draw_points),
    Parts: Kind(draw_parts, picture=picture_of_parts),
    Film: Kind(draw_film),
    Arcs: Kind(draw_arcs),
    HeadMaps: Kind(draw_head_maps),
    Sharing: Kind(draw_sharing, followed=lambda figure: True, picture=picture_of_sharing),
    OnlineSoftmaxFigure: Kind(draw_passing),
    TokenText: Kind(draw_token_text),
    Ribbons: Kind(draw_ribbons, says=True, numbers=offer_ribbons),
    ModelView: Kind(draw_model_view, says=True, numbers=offer_model_view),
    Strips: Kind(draw_strips, numbers=offer_strips),
    ByFeature: Kind(draw_by_feature, numbers=offer_by_feature),
    Flow: Kind(draw_flow),
    Facts: Kind(draw_facts, seen=False),
    Listing: Kind(draw_listing, waits=True),
    Table: Kind(draw_table, waits=True),
}


def kind_of(figure: Figure) -> Kind:
    """How this figure is treated."""
    return KINDS[type(figure)]


def draw_figure(lesson: str | None, figure: Figure) -> Picked | None:
    """Draw one figure; the cell that was picked in it, where it has cells.

    Without a `lesson` nothing on the page covers numbers or follows them: cells can be pointed at, not picked. While
    the lesson is covered, of charts only the frames are drawn, of facts what they are, and of the rest nothing.
    """
    kind = kind_of(figure)
    return None if kind.waits and covered(lesson) else kind.draw(lesson, figure)


def picture_of(figure: Figure, empty: bool) -> bytes | None:
    """A figure as a file of SVG, where it can be drawn so; `empty` as it is until its question is answered."""
    return kind_of(figure).picture(figure, empty)


def offer_figures(figures: Sequence[Figure]) -> None:
    """The numbers of figures as tables for a spreadsheet, and matrices as pictures."""
    offered = [(kind_of(figure), figure) for figure in figures if kind_of(figure).numbers]
    for kind, figure in offered:
        if not kind.together:
            kind.numbers(figure)
    for kind in dict.fromkeys(kind for kind, _ in offered if kind.together):
        kind.numbers(*(figure for other, figure in offered if other == kind))
