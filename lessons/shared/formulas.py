"""The formula of each stage, with the sizes of the moment filled in. Numbers only: never a learner's text."""

import re
from collections.abc import Iterator

from lessons.example.example import ExampleTrace
from lessons.screen import POINT, Message, message, render
from words import language

# Each in the colour of its role, which whoever shows the formula fills in: formulas know no theme.
Q, K, V, A = (
    rf"\textcolor{{{role}}}{{{letter}}}" for letter, role in {"Q": "q", "K": "k", "V": "v", "A": "weight"}.items()
)


# All words that stand in a formula of ours; names of tensors stay as they are.
WORDS_IN_FORMULAS = (
    message("no mask: "),
    message(" stays as it is"),
    message(" where "),
    message("each row sums to "),
    message(" for each "),
    message(" at once"),
    message(" may not look at "),
    message(" of "),
    message("right"),
    message("rate"),
    message("multiplications"),
    message("scores, softmax, mixture"),
)
IN_TEXT = re.compile(r"\\text\{([^{}]*)\}")


def spoken_formula(formula: str) -> str:
    """A formula whose words are in the reader's language."""
    words = {said.template: render(said) for said in WORDS_IN_FORMULAS}
    formula = IN_TEXT.sub(lambda found: rf"\text{{{words.get(found[1], found[1])}}}", formula)
    return POINT.sub("{,}", formula) if language().decimal == "," else formula


def stage_formula(stage: str, trace: ExampleTrace) -> str:
    """LaTeX for one stage of the pipeline: what is computed, and the shapes of what goes in and comes out."""
    n, d_model = trace.x.shape
    d_k, d_v = trace.example.d_k, trace.example.d_v
    scale = r"\,/\sqrt{" + str(d_k) + "}" if trace.scale != 1 else ""
    unmasked = r"\text{no mask: } S' \text{ stays as it is}"
    formulas = {
        "x": rf"X \in \mathbb{{R}}^{{{n}\times{d_model}}}",
        "qkv": rf"{Q} = {made_of(trace, 'q')},\quad {K} = {made_of(trace, 'k')},\quad {V} = {made_of(trace, 'v')}"
        + rf"\qquad {shape(n, d_model)}\cdot{shape(d_model, d_k)} = {shape(n, d_k)}"
        + (rf",\quad {shape(n, d_model)}\cdot{shape(d_model, d_v)} = {shape(n, d_v)}" if d_v != d_k else ""),
        "scores": rf"S = {Q}{K}^\top \qquad {shape(n, d_k)}\cdot{shape(d_k, n)} = {shape(n, n)}",
        "scaled": rf"S' = S{scale} \qquad {shape(n, n)}",
        "masked": r"S'_{ij} = -\infty \ \text{ where } j > i" if trace.example.causal else unmasked,
        "weights": rf"{A}_{{ij}} = \frac{{e^{{S'_{{ij}}}}}}{{\sum_{{m=1}}^{{{n}}} e^{{S'_{{im}}}}}}"
        + r"\qquad \text{each row sums to } 1",
        "output": rf"O = {A}{V} \qquad {shape(n, n)}\cdot{shape(n, d_v)} = {shape(n, d_v)}",
    }
    return formulas[stage]


def made_of(trace: ExampleTrace, role: str) -> str:
    """LaTeX for how queries, keys or values (role "q", "k" or "v") are made, step by step, as `heads_of` makes them.

    P are vectors that are added for positions, R turns each row by its position, T turns all rows of a head alike: the
    axes along which it is shown.
    """
    compares = role != "v"
    made = rf"(X + P) W_{role}" if compares and trace.added is not None else f"X W_{role}"
    if compares and trace.rotary is not None:
        made = rf"R({made})"
    if trace.turn is None:
        return made
    return rf"{made}\,T" if compares else rf"{made}\,T_v"


def letters_of(trace: ExampleTrace) -> Iterator[Message]:
    """What P, R and T stand for, where they stand in `made_of`."""
    if trace.added is not None:
        yield message("P has a row for each position. It is added to X for queries and keys alone.")
    if trace.rotary is not None:
        yield message("R turns each row by the position of its token.")
    if trace.turn is not None:
        yield message(
            "T turns the queries and keys of this head alike, and T_v its values, so that a few features hold most of "
            "them. That changes no score, and of no vector the length."
        )


def shape(rows: int, columns: int) -> str:
    """Rows × columns, in LaTeX."""
    return rf"({rows}\times{columns})"
