"""Why queries, keys and values?"""

from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float

from attention_core.base.arrays import Array
from attention_core.one_head.attention import dot_product_scores
from attention_core.one_head.head import project
from lessons.example.example import ExampleTrace, projection_of, whose_weights
from lessons.one_head.projections.questions import questions_of
from lessons.one_head.projections.real_head import compute_by_feature, head_figures
from lessons.screen import Cells, Matrices, Matrix, Message, OneOf, OneToken, Screen, distinguishable, message
from lessons.shared.edit_notices import edit_remarks
from lessons.shared.formulas import letters_of, stage_formula
from lessons.shared.matrices import KEYS, QUERIES, token_axis, traced_matrix, weight_matrix
from lessons.shared.questions import question_picker
from lessons.shared.shared_choices import PLACES, QUERY
from lessons.shared.stages import longest
from lessons.shared.weighted_sum import View
from lessons.trace.computation import Computation
from lessons.trace.head import VECTORS, head_inputs, head_names

TOPIC = message("Queries, keys and values")
POINT = message("Three matrices give each token a query to ask with, a key to be found by, and a value to pass on.")

PROJECTION_TITLES = {"q": message("Q"), "k": message("K"), "v": message("V")}
SYMMETRIC_UP_TO = 1e-5  # of the largest score: what differs by less is equal


ROLE = OneOf(
    "role",
    message("Step"),
    {
        "q": message("Q: queries"),
        "k": message("K: keys"),
        "v": message("V: values"),
        "mirror": message("X Xᵀ beside Q Kᵀ"),
        "head": message("The whole head"),  # of a head of many features
    },
    look="steps",
)
ONE_PAIR = ("role", ("head",))
ASKS = replace(QUERY, only=ONE_PAIR, masked=False, width=150)
MEETS = OneToken("meets", message("Key token"), PLACES, only=ONE_PAIR, masked=False, width=150)


@dataclass(frozen=True)
class Choices:
    """What the learner chose on this page; the rest is the running example. Tokens are counted from 0."""

    role: ROLE.type = ROLE.begin
    query: ASKS.type = 0
    meets: MEETS.type = 0


@dataclass(frozen=True, eq=False)
class Projected:
    """The vectors of one head, and two kinds of scores: of queries with keys, and of the rows of X with each other."""

    q: Float[Array, "queries d_k"]
    k: Float[Array, "keys d_k"]
    v: Float[Array, "keys d_v"]
    scores: Float[Array, "queries keys"]
    xx: Float[Array, "queries keys"]


def project_and_compare(x, W_q, W_k, W_v, **others) -> Projected:
    """Queries, keys and values; then every query with every key, and every row of X with every other."""
    q, k, v = project(x, W_q, W_k, W_v, **others)
    return Projected(q, k, v, dot_product_scores(q, k), dot_product_scores(x, x))


SENTENCES = {"xx": message("score of {key} for {query}: their rows of X, multiplied and added up")}


def screen(trace: ExampleTrace, head: int, choices: Choices) -> Screen:
    """One of the three products, or what two of them are for: scores that need not be symmetric; or a whole head."""
    if choices.role == "head":
        return whole_head(trace, head, choices)
    inputs = head_inputs(trace, head)
    inputs = {name: inputs[name] for name in inputs if name not in ("may_attend", "scale")}
    computation = Computation(project_and_compare, inputs, head_names(trace, **SENTENCES))
    mirror = choices.role == "mirror"
    view = mirror_view(trace, computation) if mirror else product_view(trace, head, computation, choices.role)
    notice, first, bands = view
    figure = Matrices(
        key="projections_figure",
        name=message("Projections"),
        notice=(notice,),
        first=first,
        bands=bands,
        weights=whose_weights(trace),
    )
    return Screen(
        formula=stage_formula("qkv", trace),
        figures=(figure,),
        code=computation.code(
            ("q", "k", "v", "scores", "xx"), project, attention=trace.heads.select(head), scale=trace.scale
        ),
        **asked_of(trace, head, computation, choices.role),
    )


def whole_head(trace: ExampleTrace, head: int, choices: Choices) -> Screen:
    """All numbers of the head, and one of its scores, feature by feature."""
    computation = compute_by_feature(trace, head, choices.query)
    return Screen(
        formula=stage_formula("qkv", trace),
        figures=tuple(head_figures(trace, computation, head, choices.query, choices.meets)),
        code=computation.code(
            ("q", "k", "v", "products", "scores", "scaled"), project, attention=trace.heads.select(head)
        ),
        **asked_of(trace, head, computation, choices.role),
    )


def asked_of(trace: ExampleTrace, head: int, computation: Computation, view: str) -> dict[str, Any]:
    """What all views have: the questions, where their numbers come from, and what edits have changed."""
    return {
        "ask": question_picker("projections", questions_of(view), trace.example.seed, trace, head),
        "derive": lambda tensor, *place: computation.follow(tensor).derive(*place),
        "remarks": (*letters_of(trace), *edit_remarks(trace, head)),
    }


def product_view(trace: ExampleTrace, head: int, computation: Computation, role: str) -> View:
    """X, W and their product: a row of X meets a column of W."""
    x = traced_matrix(computation, "x", message("X"), trace.tokens, given=True)
    product = traced_matrix(computation, role, PROJECTION_TITLES[role], trace.tokens)
    weights = weight_matrix(trace, role, head, computation)
    return notice_product(trace, head, role), role, ((x, weights, product),)


def notice_product(trace: ExampleTrace, head: int, role: str) -> Message:
    """What W does to each token, and whose result is longest."""
    vectors = getattr(trace.heads.select(head), role)
    d_model, width = projection_of(trace, role, head).shape
    whose, length = longest(trace.names, vectors)
    return message(
        "{matrix} turns the row of each token, of size {d_model}, into its {vector}, of size {width}. The longest "
        "{vector} is that of {tokens}: length {length}.",
        matrix=f"W_{role}",
        vector=VECTORS[role],
        d_model=d_model,
        width=width,
        tokens=whose,
        length=length,
    )


def mirror_view(trace: ExampleTrace, computation: Computation) -> View:
    """Every row of X compared with every other, beside queries compared with keys."""

    def pairs(path: str, title: Message) -> Matrix:
        mirrored = lambda i, j: (Cells("xx", i, j), Cells("scores", i, j), Cells(path, j, i))  # noqa: E731
        rows, columns = token_axis(trace.tokens, QUERIES), token_axis(trace.tokens, KEYS)
        return traced_matrix(computation, path, title, trace.tokens, sources=mirrored, rows=rows, columns=columns)

    band = pairs("xx", message("X Xᵀ")), pairs("scores", message("Q Kᵀ"))
    return notice_mirror(trace, computation.result.scores), "scores", (band,)


def notice_mirror(trace: ExampleTrace, scores: torch.Tensor) -> Message:
    """X Xᵀ is symmetric; Q Kᵀ in general is not."""
    if len(trace.tokens) == 1:
        return message("A single token is compared only with itself.")
    gaps = (scores - scores.mT).abs()
    largest_gap = float(gaps.max())
    i, j = divmod(int(gaps.argmax()), len(trace.tokens))
    if largest_gap <= SYMMETRIC_UP_TO * float(scores.abs().max()):
        return message("X Xᵀ is symmetric. Here Q Kᵀ is symmetric too.")
    there, back = (float(scores[a, b]) for a, b in ((i, j), (j, i)))
    one, other = distinguishable(there, back)
    return message(
        "X Xᵀ is symmetric. Q Kᵀ is not: the query of {one} and the key of {other} give {there}, the query of "
        "{other} and the key of {one} give {back}.",
        one=trace.names[i],
        other=trace.names[j],
        there=one,
        back=other,
    )
