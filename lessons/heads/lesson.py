"""Why several heads?"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from attention_core.attention import attend
from attention_core.head_measures import total_variation
from attention_core.heads import MultiHeadAttention, SlicedHeads, drop_weights, merge_heads, split_heads
from attention_core.weights import named_weights
from lessons.example.example import ExampleTrace
from lessons.heads.answers import derive_of_heads
from lessons.heads.derivation import derive_heads
from lessons.heads.example import HeadsExample, HeadsTrace, SideBySide, run_heads
from lessons.heads.notices import (
    notice_concatenate,
    notice_joined,
    notice_model,
    notice_parameters,
    notice_project,
    notice_split,
)
from lessons.heads.program import ran_heads
from lessons.heads.questions import QUESTIONS
from lessons.heads.slices_view import slices_figure
from lessons.heads.tensors_view import concatenate_bands, heads_figure, joined_bands, project_bands, split_bands
from lessons.heads.weights_view import attend_figures, dropout_figure
from lessons.kit.formulas import heads_formula
from lessons.kit.questions import question_picker
from lessons.screen.message import Integer, message
from lessons.screen.screen import Code, Figure, Screen, Table

HEADING = message("Why several heads?")
OPENING = message(
    "One head can express only one attention pattern. Several heads project all features, each to queries, keys and "
    "values of their own; W_o mixes what they find. Sentence, seed, mask and scaling come from the sidebar."
)

RAN: dict[str, tuple[Callable, ...]] = {
    "project": (MultiHeadAttention.project,),
    "split": (MultiHeadAttention.project, split_heads),
    "attend": (MultiHeadAttention.__call__, total_variation),
    "concatenate": (MultiHeadAttention.__call__, merge_heads),
    "output": (MultiHeadAttention.__call__,),
    "slices": (MultiHeadAttention.project, SlicedHeads.project),
    "dropout": (drop_weights,),
}


@dataclass(frozen=True)
class Choices:
    """What the learner chose on this page. Only the steps "attend" and "dropout" are about one `head`."""

    example: HeadsExample
    step: Literal["project", "split", "attend", "concatenate", "output", "slices", "dropout"] = "attend"
    role: Literal["q", "k", "v"] = "q"
    head: int = 0


def screen(example: ExampleTrace, head: int, choices: Choices) -> Screen:
    """One step of multi-head attention. All that this lesson takes from the running example is in its choices."""
    trace = run_heads(choices.example)
    projected, attention = isinstance(trace, HeadsTrace), trace.heads.select(choices.head)
    ran = RAN[choices.step] if projected or choices.step != "attend" else (attend, total_variation)
    parameters = (parameters_table(trace),) if projected else ()
    return Screen(
        formula=heads_formula(trace),
        figures=(*step_figures(trace, choices), *parameters),
        code=Code(ran, attention, trace.scale, partial(ran_heads, trace, choices.step)),
        remarks=notice_model(trace),
        ask=question_picker("heads", QUESTIONS, trace.example.seed, trace, choices.head),
        derive=partial(derive_of_heads, trace, choices.head),
    )


def step_figures(trace: SideBySide, choices: Choices) -> tuple[Figure, ...]:
    """What one step looks like."""
    derivation = derive_heads(trace)
    match choices.step:
        case "attend":
            return attend_figures(trace, derivation, choices.head)
        case "dropout":
            return (dropout_figure(trace, derivation, choices.head),)
        case "slices":
            return (slices_figure(trace),)
        case "project":
            notice, bands, first = notice_project(trace), project_bands(derivation), "v"
        case "split":
            notice, bands = notice_split(trace, choices.role), split_bands(derivation, choices.role)
            first = f"{choices.role}.{trace.n_heads - 1}"
        case "concatenate":
            notice, bands, first = notice_concatenate(trace), concatenate_bands(derivation), "concatenated"
        case "output":
            notice, bands, first = notice_joined(trace), joined_bands(derivation), "output"
    return (heads_figure(trace, notice, bands=bands, first=first),)


def parameters_table(trace: HeadsTrace) -> Table:
    """Every parameter as the module lists it, and how many numbers there are; folded."""
    parameters = [(name, weight.shape, weight.numel()) for name, weight in named_weights(trace.module)]
    rows = [(name, " × ".join(map(str, shape)), Integer(numbers)) for name, shape, numbers in parameters]
    total = Integer(sum(numbers for _, _, numbers in parameters))
    return Table(
        key="mh_parameters",
        name=message("The parameters"),
        notice=notice_parameters(trace),
        folded=True,
        width=420,
        columns=(message("parameter"), message("shape"), message("numbers")),
        cells=(*rows, (message("all together"), "", total)),
    )
