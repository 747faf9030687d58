"""How does one query find its keys? Its row, carried from X to the output in five chapters."""

from dataclasses import dataclass, replace
from typing import Any

from attention_core.one_head.attention import AttentionTrace, attend
from attention_core.one_head.head import one_head, project
from lessons.example.example import ExampleTrace, whose_weights
from lessons.screen import Code, Fixed, Matrices, Matrix, Message, OneOf, Screen, message, plural
from lessons.shared.attention_notices import notice_mix
from lessons.shared.edit_notices import edit_remarks
from lessons.shared.formulas import letters_of, stage_formula
from lessons.shared.matrices import KEYS, PAIRS, head_matrix, single_axis, token_axis, traced_matrix, weight_matrix
from lessons.shared.shared_choices import QUERY
from lessons.shared.stages import Stage
from lessons.shared.weighted_sum import View
from lessons.start.overview.sentence_view import what_row_says
from lessons.trace.computation import Computation
from lessons.trace.head import compute_head, divisor_of

TOPIC = message("One query, step by step")
POINT = message(
    "A query is compared with every key: each comparison gives a score, scores become shares, and "
    "the shares mix the values."
)

CHAPTER = OneOf(
    "chapter",
    message("Step"),
    {
        "ask": message("1 Ask"),
        "answer": message("2 Answer"),
        "compare": message("3 Compare"),
        "share": message("4 Share"),
        "carry": message("5 Carry"),
    },
    look="steps",
)
STAGE_OF_CHAPTER: dict[str, Stage] = {
    "ask": "qkv",
    "answer": "qkv",
    "compare": "scaled",
    "share": "weights",
    "carry": "output",
}


@dataclass(frozen=True)
class Choices:
    """The chapter, and the query whose row is carried, counted from 0."""

    chapter: CHAPTER.type = CHAPTER.begin
    query: QUERY.type = 0


@dataclass(frozen=True, eq=False)
class RowOfHead:
    """One query of one head."""

    trace: ExampleTrace
    computation: Computation
    head: int
    query: int

    @property
    def attention(self) -> AttentionTrace:
        """The whole head."""
        return self.computation.result

    def row(self, tensor: str, title: Message, *, given: bool = False, named: bool = True) -> Matrix:
        """The row of the query alone, of a tensor of the head; its keys `named` unless they stand above already."""
        query = self.query
        look: dict[str, Any] = {"columns": token_axis(self.trace.tokens, KEYS)} if tensor in PAIRS else {}
        if tensor in PAIRS and not named:
            look = {"columns": replace(look["columns"], named=False)}
        if tensor in ("masked", "weights"):
            look["visible"] = self.attention.visible[[query]]
        return traced_matrix(
            self.computation,
            tensor,
            title,
            self.trace.tokens,
            take=lambda a: a[[query]],
            rows=single_axis(self.trace.tokens[query], named=True),
            given=given,
            **look,
        )

    def whole(self, tensor: str, title: Message, *, given: bool = False) -> Matrix:
        """A tensor of the head with the rows of all tokens."""
        return head_matrix(self.trace, self.computation, tensor, title, given=given)

    def keys_upright(self) -> Matrix:
        """The keys, a column each."""
        return head_matrix(self.trace, self.computation, "k_transposed", message("Kᵀ"), given=True)


def screen(trace: ExampleTrace, head: int, choices: Choices) -> Screen:
    """One chapter of the way of a row."""
    query = min(choices.query, len(trace.tokens) - 1)
    carried = RowOfHead(trace, compute_head(one_head, trace, head), head, query)
    chapter = {"ask": it_asks, "answer": they_answer, "compare": compares, "share": shared_out, "carry": carried_on}
    told, first, bands = chapter[choices.chapter](carried)
    figure = Matrices(
        key="carried_figure",
        name=message("One row, carried through"),
        notice=(told,),
        first=first,
        bands=bands,
        weights=whose_weights(trace),
    )
    return Screen(
        headline=told,
        formula=stage_formula(STAGE_OF_CHAPTER[choices.chapter], trace),
        figures=(figure,),
        code=code_of_chapter(carried, choices.chapter),
        remarks=(
            *(letters_of(trace) if STAGE_OF_CHAPTER[choices.chapter] == "qkv" else ()),
            *edit_remarks(trace, head),
        ),
    )


def code_of_chapter(carried: RowOfHead, chapter: str) -> Code:
    """What made the numbers of a chapter."""
    shown = {"ask": ("q",), "answer": ("k", "v"), "compare": ("scores", "scaled", "masked")}
    about = project if STAGE_OF_CHAPTER[chapter] == "qkv" else attend
    return carried.computation.code(shown.get(chapter, ("weights", "output")), about, attention=carried.attention)


def it_asks(carried: RowOfHead) -> View:
    """A row of X, and the query that W_q makes of it."""
    W_q = weight_matrix(carried.trace, "q", carried.head, carried.computation)
    d_model, d_k = carried.computation.inputs["W_q"].shape
    told = message(
        "{query} asks: W_q makes a query of size {d_k} from its row, of size {d_model}.",
        query=carried.trace.names[carried.query],
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
    maps = [weight_matrix(carried.trace, role, carried.head, carried.computation) for role in "kv"]
    told = message(
        "Every token answers: W_k makes a key of size {d_k} from its row, and W_v a value of size {d_v}.",
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
    said = {"query": carried.trace.names[carried.query], "low": Fixed(float(seen.min()))}
    told = plural(
        "The query of {query} is compared with the {count} key it may look at: its score is {low}.",
        "The query of {query} is compared with the {count} keys it may look at: the scores run from {low} to {high}.",
        len(seen),
        high=Fixed(float(seen.max())),
        **said,
    )
    scaled = message("scaled: ÷ {divisor}", divisor=divisor_of(carried.trace))
    bands = (
        (None, carried.keys_upright()),
        (carried.row("q", message("Q"), given=True), carried.row("scores", message("scores = Q Kᵀ"), named=False)),
        (None, carried.row("scaled", scaled, named=False)),
        (None, carried.row("masked", message("masked scores"), named=False)),
    )
    return told, "scaled", bands


def shared_out(carried: RowOfHead) -> View:
    """The row of scores, and the weights that the softmax makes of it."""
    told = what_row_says(carried.trace.names, carried.attention, carried.query)
    scores = carried.row("masked", message("masked scores"), given=True)
    return told, "weights", ((scores,), (carried.row("weights", message("weights A"), named=False),))


def carried_on(carried: RowOfHead) -> View:
    """The row of weights beside the values: their mixture is what the head hands on."""
    told = notice_mix(carried.trace.names, carried.attention, carried.query)
    bands = (
        (None, carried.whole("v", message("V"), given=True)),
        (carried.row("weights", message("weights A"), given=True), carried.row("output", message("output = A V"))),
    )
    return told, "output", bands
