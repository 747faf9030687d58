"""Why several heads?"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from attention_core.measured.head_measures import total_variation
from attention_core.model.small_model import MAX_D_MODEL
from attention_core.model.weights import named_weights
from attention_core.one_head.attention import attend
from attention_core.one_head.heads import keep_weights, linear, merge_heads, split_heads
from lessons.example.example import ExampleTrace
from lessons.model.heads.compute import attend_and_join, project_and_split, too_wide
from lessons.model.heads.example import (
    MOST_FEATURES,
    HeadsChosen,
    HeadsTrace,
    SideBySide,
    in_training,
    run_heads,
    shown_features,
)
from lessons.model.heads.formula import heads_formula
from lessons.model.heads.notices import (
    notice_concatenate,
    notice_joined,
    notice_model,
    notice_parameters,
    notice_project,
    notice_split,
)
from lessons.model.heads.questions import QUESTIONS
from lessons.model.heads.slices_view import code_of_reach, compute_reach, slices_figure
from lessons.model.heads.tensors_view import (
    FEW,
    concatenate_bands,
    heads_figure,
    joined_bands,
    project_bands,
    split_bands,
)
from lessons.model.heads.weights_view import attend_figures, dropout_figure
from lessons.screen import Code, Figure, Integer, Limit, Number, OneOf, Screen, Table, message
from lessons.shared.questions import question_picker
from lessons.trace.computation import Computation, taken_by

TOPIC = message("Multi-head attention")
POINT = message(
    "One head has one pattern of weights, so several work side by side, and the matrix W_o mixes what they find."
)

SHOWN: dict[str, tuple[str, ...]] = {  # of what each step computes, what its program prints
    "project": ("q", "k", "v"),
    "split": ("parts.q", "parts.k", "parts.v"),
    "attend": ("heads.weights",),
    "concatenate": ("concatenated",),
    "output": ("concatenated", "output"),
    "dropout": ("dropped.weights",),
}
OF_THE_CORE: dict[str, tuple[Callable, ...]] = {
    "project": (linear,),
    "split": (split_heads,),
    "attend": (attend, total_variation),
    "concatenate": (merge_heads,),
    "output": (linear,),
    "dropout": (keep_weights,),
}

STEP = OneOf(
    "mh_step",
    message("Step"),
    {
        "project": message("project"),
        "split": message("split"),
        "attend": message("attend"),
        "concatenate": message("concatenate"),
        "output": "W_o",
        "slices": message("projection or slice"),
        "dropout": message("dropout"),
    },
    "attend",
)
ROLE = OneOf("mh_role", message("Split"), {"q": "Q", "k": "K", "v": "V"})
HEAD = Number("mh_head", message("Enlarge head"), Limit(1, MAX_D_MODEL), 1, counted_from=1)


@dataclass(frozen=True)
class Choices:
    """What the learner chose on this page. Only the steps "attend" and "dropout" are about one `head`."""

    example: HeadsChosen  # under this name in the plans that teachers have kept
    step: STEP.type = STEP.begin
    role: ROLE.type = ROLE.begin
    head: HEAD.type = 0


def screen(trace: ExampleTrace, head: int, choices: Choices) -> Screen:
    """One step of multi-head attention."""
    heads = run_heads(trace.example, choices.example)
    view = {"slices": slices_step, "attend": attend_step, "dropout": dropout_step}.get(choices.step, way_step)
    figures, code = view(heads, choices)
    parameters = (parameters_table(heads),) if isinstance(heads, HeadsTrace) else ()
    return Screen(
        formula=heads_formula(heads),
        figures=(*figures, *parameters),
        code=code,
        remarks=notice_model(heads),
        ask=question_picker("heads", QUESTIONS, heads.seed, heads, choices.head),
    )


def attend_step(trace: SideBySide, choices: Choices) -> tuple[tuple[Figure, ...], Code]:
    """The weights of all heads."""
    return attend_figures(trace, choices.head), code_of_step(trace, trace.computation, choices)


def dropout_step(trace: SideBySide, choices: Choices) -> tuple[tuple[Figure, ...], Code]:
    """The weights of one head outside training and in it."""
    computation = in_training(trace)
    return (dropout_figure(trace, computation, choices.head),), code_of_step(trace, computation, choices)


def slices_step(trace: HeadsTrace, choices: Choices) -> tuple[tuple[Figure, ...], Code]:
    """What heads that project can see, and what heads with a slice can see."""
    computation = compute_reach(trace)
    return (slices_figure(trace, computation.result),), code_of_reach(trace, computation)


def way_step(trace: HeadsTrace, choices: Choices) -> tuple[tuple[Figure, ...], Code]:
    """A step of the way of the tensors."""
    match choices.step:
        case "project":
            notice, bands, first = notice_project(trace), project_bands(trace), "v"
        case "split":
            notice, bands = notice_split(trace, choices.role), split_bands(trace, choices.role)
            first = f"{choices.role}.{trace.n_heads - 1}"
        case "concatenate":
            notice, bands, first = notice_concatenate(trace), concatenate_bands(trace), "concatenated"
        case "output":
            notice, bands, first = notice_joined(trace), joined_bands(trace), "output"
    figure = heads_figure(trace, notice, bands=bands, first=first)
    return (figure,), code_of_step(trace, trace.computation, choices)


def code_of_step(trace: SideBySide, computation: Computation, choices: Choices) -> Code:
    """What a step computes, and of heads that are too wide to be written what it shows of that."""
    step, function, inputs = choices.step, computation.function, dict(computation.inputs)
    wide = trace.module is not None and too_wide(trace.module)
    if wide:
        most = MOST_FEATURES if step == "split" else FEW
        inputs = {name: shown_part(name, value, trace.n_heads, most) for name, value in inputs.items()}
    if step in ("project", "split"):
        function = project_and_split
    elif wide:
        function = attend_and_join
        inputs |= {name: getattr(trace.heads, name) for name in "qkv"}
        if step != "output":
            inputs = {name: value for name, value in inputs.items() if name not in ("W_o", "b_o")}
    taken = taken_by(function, inputs)
    shown, functions = SHOWN[step], OF_THE_CORE[step]
    return Computation(function, taken).code(
        shown, *functions, attention=trace.heads.select(choices.head), scale=trace.scale
    )


def shown_part(name: str, value: Any, n_heads: int, most: int) -> Any:
    """Of a wide map or its bias the features that the figure shows; another input as it is."""
    return value[..., shown_features(value.shape[-1], n_heads, most)] if name[:2] in ("W_", "b_") else value


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
        cells=(*rows, (message("total"), "", total)),
    )
