"""Why queries, keys and values?"""

from dataclasses import dataclass
from functools import partial
from typing import Literal

import torch

from attention_core.attention import attend
from attention_core.embeddings import rotate
from attention_core.heads import split_heads
from lessons.example.example import ExampleTrace, projection_of, whose_weights
from lessons.kit.edit_notices import edit_remarks
from lessons.kit.formulas import stage_formula
from lessons.kit.head_derivation import VECTORS, derive_head, derive_without_weights
from lessons.kit.matrices import head_matrix, weight_matrix
from lessons.kit.questions import question_picker
from lessons.kit.stages import longest
from lessons.kit.weighted_sum import View
from lessons.projections.questions import QUESTIONS
from lessons.screen.format import distinguishable
from lessons.screen.message import Magnitude, Message, message
from lessons.screen.program import Ran
from lessons.screen.screen import Cells, Code, Matrices, Screen

HEADING = message("Why queries, keys and values?")
OPENING = message(
    "Three matrices give every token three vectors: a query to compare with the keys, a key to be compared with, and "
    "a value to pass on."
)

PROJECTION_TITLES = {"q": message("Q"), "k": message("K"), "v": message("V")}
SYMMETRIC_UP_TO = 1e-5  # of the largest score: what differs by less is equal


MOST_WRITTEN_OF_MAPS = 1000  # numbers of a map


@dataclass(frozen=True)
class Choices:
    """What the learner chose on this page; the rest is the running example."""

    role: Literal["q", "k", "v", "mirror"] = "q"


def screen(example: ExampleTrace, head: int, choices: Choices) -> Screen:
    """One of the three products, or what two of them are for: scores that need not be symmetric."""
    mirror = choices.role == "mirror"
    notice, first, bands = mirror_view(example, head) if mirror else product_view(example, head, choices.role)
    figure = Matrices(
        key="projections_figure",
        name=message("Projections"),
        notice=(notice,),
        first=first,
        bands=bands,
        weights=whose_weights(example),
    )
    return Screen(
        formula=stage_formula("qkv", example),
        figures=(figure,),
        code=Code((split_heads,), example.heads.select(head), example.scale, partial(ran_projections, example, head)),
        ask=question_picker("projections", QUESTIONS, example.example.seed, example, head),
        derive=lambda tensor, query, column: derive_head(example, head).derive(tensor, query, column),
        remarks=edit_remarks(example, head),
    )


def ran_projections(example: ExampleTrace, head: int) -> Ran:
    """X times W_q, W_k and W_v, split among the heads; and both kinds of scores. Of wide maps, this head's columns."""
    values = {f"W_{role}": getattr(example, f"W_{role}") for role in "qkv"} | {"n_heads": example.example.n_heads}
    attention, place = example.heads.select(head), head
    if example.W_q.numel() > MOST_WRITTEN_OF_MAPS:
        values = {f"W_{role}": projection_of(example, role, head) for role in "qkv"} | {"n_heads": 1}
        place = 0
    lines = tuple(f"{role} = split_heads(x @ W_{role}, n_heads)[{place}]" for role in "qkv")
    turned = ("q, k = rotate(q), rotate(k)",) if example.rotary else ()
    return Ran(
        {"x": example.x, **values},
        (*lines, *turned, "scores = q @ k.mT", "xx = x @ x.mT"),
        {
            **{role: getattr(attention, role) for role in "qkv"},
            "scores": attention.scores,
            "xx": example.x @ example.x.mT,
        },
        (rotate,) if example.rotary else (),
    )


def product_view(example: ExampleTrace, head: int, role: str) -> View:
    """X at the left, W above, and where a row of X meets a column of W, their product."""
    derivation, attention = derive_head(example, head), example.heads.select(head)
    x = head_matrix(derivation, "x", message("X"), example.x, given=True)
    product = head_matrix(derivation, role, PROJECTION_TITLES[role], getattr(attention, role))
    return notice_product(example, head, role), role, ((None, weight_matrix(example, role, head)), (x, product))


def notice_product(example: ExampleTrace, head: int, role: str) -> Message:
    """What W does to each token, and whose result is longest."""
    vectors = getattr(example.heads.select(head), role)
    d_model, width = projection_of(example, role, head).shape
    whose, length = longest(example.names, vectors)
    return message(
        "{matrix} turns the {d_model} features of each token into the {width} of its {vector}. The longest "
        "{vector} is that of {tokens}: length {length}.",
        matrix=f"W_{role}",
        vector=VECTORS[role],
        d_model=d_model,
        width=width,
        tokens=whose,
        length=length,
    )


def mirror_view(example: ExampleTrace, head: int) -> View:
    """Every row of X compared with every other, beside queries compared with keys."""
    plain = attend(example.x, example.x, example.x, scale=1.0)
    projected = example.heads.select(head)

    def mirrored(key: str):
        return lambda i, j: (Cells("xx", i, j), Cells("scores", i, j), Cells(key, j, i))

    band = (
        head_matrix(
            derive_without_weights(example, plain),
            "scores",
            message("X Xᵀ"),
            plain.scores,
            key="xx",
            sources=mirrored("xx"),
        ),
        head_matrix(
            derive_head(example, head), "scores", message("Q Kᵀ"), projected.scores, sources=mirrored("scores")
        ),
    )
    return notice_mirror(example, projected.scores), "scores", (band,)


def notice_mirror(example: ExampleTrace, scores: torch.Tensor) -> Message:
    """X Xᵀ is symmetric; Q Kᵀ in general is not."""
    if len(example.tokens) == 1:
        return message("A single token is compared with itself alone, so each matrix is one number.")
    gaps = (scores - scores.mT).abs()
    largest_gap = float(gaps.max())
    i, j = divmod(int(gaps.argmax()), len(example.tokens))
    if largest_gap <= SYMMETRIC_UP_TO * float(scores.abs().max()):
        return message("X Xᵀ is symmetric. Here Q Kᵀ is symmetric too.")
    there, back = (float(scores[a, b]) for a, b in ((i, j), (j, i)))
    if largest_gap < 0.005:
        return message(
            "X Xᵀ is symmetric. Q Kᵀ is not: mirrored scores differ by up to {gap}.", gap=Magnitude(largest_gap)
        )
    one, other = distinguishable(there, back)
    return message(
        "X Xᵀ is symmetric. Q Kᵀ is not: the query of {one} and the key of {other} give {there}, the query of "
        "{other} and the key of {one} give {back}.",
        one=example.names[i],
        other=example.names[j],
        there=one,
        back=other,
    )
