"""How does one query find its keys? Its row, carried from X to the output in five chapters."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

from attention_core.attention import AttentionTrace, attend
from attention_core.heads import split_heads
from lessons.example.example import ExampleTrace, whose_weights
from lessons.kit.attention_notices import notice_mix
from lessons.kit.edit_notices import edit_remarks
from lessons.kit.formulas import stage_formula
from lessons.kit.head_derivation import HeadDerivation, derive_head, divisor_of
from lessons.kit.matrices import PAIRS, head_matrix, single_axis, weight_matrix
from lessons.kit.stages import Stage
from lessons.kit.weighted_sum import View
from lessons.overview.sentence_view import what_row_says
from lessons.projections.lesson import ran_projections
from lessons.screen.message import Fixed, Message, message, plural
from lessons.screen.program import ran_attention
from lessons.screen.screen import Cells, Code, Matrices, Matrix, Screen

HEADING = message("How does one query find its keys?")
OPENING = message("One row, carried through: from its token's features to what the head hands on.")

Chapter = Literal["ask", "answer", "compare", "share", "carry"]
CHAPTERS: tuple[Chapter, ...] = get_args(Chapter)
STAGE_OF_CHAPTER: dict[Chapter, Stage] = {
    "ask": "qkv",
    "answer": "qkv",
    "compare": "scaled",
    "share": "weights",
    "carry": "output",
}


@dataclass(frozen=True)
class Choices:
    """The chapter, and the query whose row is carried, counted from 0."""

    chapter: Chapter = "ask"
    query: int = 0


@dataclass(frozen=True, eq=False)
class RowOfHead:
    """One query of one head, and how its numbers come about."""

    example: ExampleTrace
    attention: AttentionTrace
    derivation: HeadDerivation
    head: int
    query: int

    def row(self, tensor: str, title: Message, *, given: bool = False, named: bool = True) -> Matrix:
        """The row of the query alone, of a tensor of the head; its keys `named` unless they stand above already."""
        values = self.example.x if tensor == "x" else getattr(self.attention, tensor)
        whole = head_matrix(self.derivation, tensor, title, values)
        query = self.query

        def sources(i: int, j: int) -> Iterator[Cells]:
            for cells in self.derivation.sources(tensor, query, j):
                yield cells._replace(row=0) if cells.row == query and cells.matrix in (*PAIRS, "x", "q") else cells

        return replace(
            whole,
            values=values[[query]],
            rows=single_axis(self.example.tokens[query], named=True),
            given=given,
            columns=replace(whole.columns, named=whole.columns.named and named),
            visible=None if whole.visible is None else [whole.visible[query]],
            sources=sources,
            step=lambda i, j: whole.step(query, j),
            before=lambda i, j: whole.before(query, j),
        )

    def whole(self, tensor: str, title: Message, *, given: bool = False) -> Matrix:
        """A tensor of the head with the rows of all tokens."""
        values = self.example.x if tensor == "x" else getattr(self.attention, tensor)
        return head_matrix(self.derivation, tensor, title, values, given=given)

    def keys_upright(self) -> Matrix:
        """The keys, a column each."""
        return head_matrix(self.derivation, "k_transposed", message("Kᵀ"), self.attention.k.mT, given=True)


def screen(example: ExampleTrace, head: int, choices: Choices) -> Screen:
    """One chapter of the way of a row."""
    attention = example.heads.select(head)
    query = min(choices.query, len(example.tokens) - 1)
    carried = RowOfHead(example, attention, derive_head(example, head), head, query)
    chapter = {"ask": it_asks, "answer": they_answer, "compare": compares, "share": shared_out, "carry": carried_on}
    told, first, bands = chapter[choices.chapter](carried)
    figure = Matrices(
        key="carried_figure",
        name=message("One row, carried through"),
        notice=(told,),
        first=first,
        bands=bands,
        weights=whose_weights(example),
        height=560,
        numbered=True,
    )
    return Screen(
        headline=told,
        formula=stage_formula(STAGE_OF_CHAPTER[choices.chapter], example),
        figures=(figure,),
        code=code_of_chapter(carried, choices.chapter),
        remarks=edit_remarks(example, head),
    )


def code_of_chapter(carried: RowOfHead, chapter: Chapter) -> Code:
    """What made the numbers of a chapter: the maps of the head, or the head itself."""
    attention, scale = carried.attention, carried.example.scale
    if STAGE_OF_CHAPTER[chapter] == "qkv":
        return Code((split_heads,), attention, scale, partial(ran_projections, carried.example, carried.head))
    shown = ("scores", "scaled", "masked") if chapter == "compare" else ("weights", "output")
    return Code((attend,), attention, scale, partial(ran_attention, attention, scale, shown))


def it_asks(carried: RowOfHead) -> View:
    """A row of X, and the query that W_q makes of it."""
    W_q = weight_matrix(carried.example, "q", carried.head)
    d_model, d_k = W_q.values.shape
    told = message(
        "{query} asks: W_q makes a query of {d_k} numbers from the {d_model} of its row.",
        query=carried.example.names[carried.query],
        d_k=d_k,
        d_model=d_model,
    )
    bands = (
        (None, W_q),
        (carried.row("x", message("X"), given=True), carried.row("q", message("Q"))),
    )
    return told, "q", bands


def they_answer(carried: RowOfHead) -> View:
    """All rows of X, and the keys and values that W_k and W_v make of them."""
    maps = [weight_matrix(carried.example, role, carried.head) for role in "kv"]
    told = message(
        "Every token answers: W_k makes a key of {d_k} numbers from its row, and W_v a value of {d_v}.",
        d_k=carried.attention.k.shape[1],
        d_v=carried.attention.v.shape[1],
    )
    rows = (
        carried.whole("x", message("X"), given=True),
        carried.whole("k", message("K")),
        carried.whole("v", message("V")),
    )
    return told, "k", ((None, *maps), rows)


def compares(carried: RowOfHead) -> View:
    """The query beside the keys: a score for each, divided, and hidden where it may not look."""
    seen = carried.attention.masked[carried.query][carried.attention.visible[carried.query]]
    said = {"query": carried.example.names[carried.query], "low": Fixed(float(seen.min()))}
    told = plural(
        "The query of {query} is compared with the {count} key it may look at: its score is {low}.",
        "The query of {query} is compared with the {count} keys it may look at: scores from {low} to {high}.",
        len(seen),
        high=Fixed(float(seen.max())),
        **said,
    )
    scaled = message("scaled: ÷ {divisor}", divisor=divisor_of(carried.example))
    bands = (
        (None, carried.keys_upright()),
        (carried.row("q", message("Q"), given=True), carried.row("scores", message("scores = Q Kᵀ"), named=False)),
        (None, carried.row("scaled", scaled, named=False)),
        (None, carried.row("masked", message("masked"), named=False)),
    )
    return told, "scaled", bands


def shared_out(carried: RowOfHead) -> View:
    """The row of scores, and the weights that the softmax makes of it."""
    told = what_row_says(carried.example.names, carried.attention, carried.query)
    scores = carried.row("masked", message("masked"), given=True)
    return told, "weights", ((scores,), (carried.row("weights", message("weights A"), named=False),))


def carried_on(carried: RowOfHead) -> View:
    """The row of weights beside the values: their mixture is what the head hands on."""
    told = notice_mix(carried.example.names, carried.attention, carried.query)
    bands = (
        (None, carried.whole("v", message("V"), given=True)),
        (carried.row("weights", message("weights A"), given=True), carried.row("output", message("output = A V"))),
    )
    return told, "output", bands
