"""What does attention do, in one picture?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

from attention_core.one_head.attention import AttentionTrace, attend
from attention_core.one_head.head import one_head
from lessons.example.example import ExampleTrace, whose_weights
from lessons.screen import Cells, Matrices, Matrix, Message, OneOf, Screen, message
from lessons.shared.edit_notices import edit_remarks
from lessons.shared.formulas import letters_of, stage_formula
from lessons.shared.matrices import PAIRS, head_matrix
from lessons.shared.stages import STAGE_NAMES, STAGES, Stage, notice_stage
from lessons.trace.head import compute_head, divisor_of

TOPIC = message("Attention in one picture")
POINT = message(
    "Each token compares its **query** with the **keys** it may look at, and receives a mix of their **values**."
)

STAGE_OF: dict[str, Stage] = {"x": "x", "q": "qkv", "k": "qkv", "v": "qkv", "k_transposed": "scores"}
OF_STEP: dict[Stage, tuple[str, ...]] = {
    "x": ("x",),
    "qkv": ("x", "q", "k", "v"),
    "scores": ("q", "k_transposed", "scores"),
    "scaled": ("scores", "scaled"),
    "masked": ("scaled", "masked"),
    "weights": ("masked", "weights"),
    "output": ("weights", "v", "output"),
}
FOLLOWED_FIRST = ("weights", "masked", "scaled", "scores", "q", "x")  # the last that is drawn is followed first


STEP = OneOf(
    "step",
    message("Step"),
    {"x": "X", "qkv": "Q K V"} | {stage: STAGE_NAMES[stage] for stage in STAGES[2:]},
    STAGES[-1],
    look="steps",
)


@dataclass(frozen=True)
class Choices:
    """How far the picture is drawn; the rest is the running example."""

    step: STEP.type = STEP.begin


def screen(trace: ExampleTrace, head: int, choices: Choices) -> Screen:
    """All matrices of one head, up to a stage."""
    computation = compute_head(one_head, trace, head)
    attention = computation.result
    reached = STAGES.index(choices.step)
    titles = {
        "x": message("X"),
        "k_transposed": message("Kᵀ"),
        "k": message("K"),
        "v": message("V"),
        "q": message("Q"),
        "scores": message("scores = Q Kᵀ"),
        "scaled": message("scaled: ÷ {divisor}", divisor=divisor_of(trace)),
        "masked": message("masked scores"),
        "weights": message("weights A"),
        "output": message("output = A V"),
    }
    sources = sources_of(attention)
    drawn = {
        key: head_matrix(
            trace,
            computation,
            key,
            title,
            drawn=STAGES.index(STAGE_OF.get(key, key)) <= reached,
            sources=partial(sources, key),
        )
        for key, title in titles.items()
    }
    return Screen(
        formula=stage_formula(choices.step, trace),
        figures=(pipeline(trace, head, choices.step, drawn),),
        code=computation.code(("weights", "output"), attend, attention=attention),
        remarks=(*(letters_of(trace) if choices.step == "qkv" else ()), *edit_remarks(trace, head)),
    )


def pipeline(trace: ExampleTrace, head: int, step: Stage, drawn: dict[str, Matrix]) -> Matrices:
    """Each product where its factors meet: Q left of the scores and Kᵀ above them, V above the output."""
    upper = ("x", "k_transposed", "k", None, None, "v")
    lower = ("q", "scores", "scaled", "masked", "weights", "output")
    return Matrices(
        key="pipeline",
        name=message("All matrices of one attention head"),
        notice=(*what_it_does(trace, head), *notice_stage(step, trace, head)),
        bands=tuple(tuple(key and drawn.get(key) for key in band) for band in (upper, lower)),
        weights=whose_weights(trace),
        first=next(key for key in FOLLOWED_FIRST if drawn[key].drawn),
        of_step=OF_STEP[step],
    )


def what_it_does(trace: ExampleTrace, head: int) -> tuple[Message, ...]:
    """What a trained head has been measured to do; nothing for random weights."""
    return () if trace.trained is None else (trace.trained.does(head),)


def sources_of(attention: AttentionTrace) -> Callable[[str, int, int], Sequence[Cells]]:
    """What lights up with a cell: its sources, and in the stages that follow, what becomes of it."""
    seen_by = [[m for m, visible in enumerate(row) if visible] for row in attention.visible.tolist()]

    @cache
    def of_pair(i: int, j: int) -> Sequence[Cells]:
        vectors = Cells("q", i), Cells("k_transposed", column=j), Cells("k", j)
        return *vectors, *(Cells(pair, i, j) for pair in PAIRS)

    @cache
    def of_weights(i: int) -> Sequence[Cells]:
        return *(Cells(name, i) for name in ("masked", "weights", "output")), *(Cells("v", m) for m in seen_by[i])

    def sources(key: str, i: int, j: int) -> Sequence[Cells]:
        match key:
            case "scores" | "scaled" | "masked":
                return of_pair(i, j)
            case "weights":
                return of_weights(i)
            case "output":
                return Cells("weights", i), *(Cells("v", m, j) for m in seen_by[i])
            case "x":
                return *(Cells(name, i) for name in ("x", "q", "k", "v")), Cells("k_transposed", column=i)
            case "k_transposed":
                return Cells("k", j, i), Cells("x", j)
        return (Cells("x", i),)

    return sources
