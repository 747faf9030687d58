"""The running example: its controls in the sidebar, bound to the address, and what was chosen with them."""

from collections.abc import Callable, Collection
from contextlib import nullcontext
from dataclasses import replace

import streamlit as st

from attention_core.learning.training import TrainingSettings
from attention_ui.controls.bound import (
    clamped_control,
    number_field,
    one_in_list,
    one_in_row,
    slider,
    switch,
    text_field,
)
from attention_ui.controls.editing import edits_in_link
from attention_ui.controls.learnt import (
    layer_choice,
    model_sizes,
    more_of_model,
    real_text,
    see_it_read,
    see_it_trained,
    sentence_of_model,
    updates_of_model,
)
from attention_ui.controls.pictures import BEFORE_MODELS_CAME
from attention_ui.controls.real_sizes import SMALL_MODEL, real_sizes, way_back
from attention_ui.process.turns import yield_turn
from attention_ui.session import (
    get_state,
    is_held,
    link_notes,
    named_in_link,
    say_in_link,
    set_state,
    show_notes,
    text_in_link,
)
from lessons.example.example import (
    LIMITS,
    SOURCES,
    Example,
    ExampleTrace,
    model_settings,
    run_afresh,
    run_example,
)
from lessons.example.presets import Preset
from lessons.example.source import DEFAULT_SENTENCE, Source
from lessons.example.task_models import OwnRun
from lessons.screen import Limit, Number, OneOf, Switch, Text, message, plural, reason, render, translate
from lessons.shared.glossary import TERMS
from runs.settings_code import LONGEST_CODE, settings_code, settings_of_code

DEFAULTS = Example()
MORE = ("edits", "d_model", "init", "model_d_model", "train_mask", "train_scaling")  # in the fold of the sidebar
USUAL_EXAMPLE = "stories"  # of a lesson that names none
OWN = "lesson"  # each lesson shows the example that suits it best, until somebody chooses one
TITLES = {key: source.title for key, source in SOURCES.items()}
UNITS = {"words": message("words"), "characters": message("characters")}
WEIGHT_KINDS = {
    "normal": message("standard normal"),
    "small": message("0.1 × normal"),
    "linear": message("PyTorch's Linear default"),
}
SOURCE = OneOf(
    "example",
    message("Which model?"),
    {OWN: message("Each lesson’s own"), **{key: source.title for key, source in SOURCES.items()}},
)
OWN_RUN = Text("own", message("The model you trained"), LONGEST_CODE)
SENTENCE = Text("text", message("Your sentence"), None, DEFAULT_SENTENCE)
UNIT = OneOf("unit", message("Cut it into"), UNITS, labelled=True)
CAUSAL = Switch("causal", message("Causal mask: no looking ahead"), DEFAULTS.causal)
SCALING = Switch("scaling", message(r"Scaling: divide by $\sqrt{d_k}$, the root of the key size"), DEFAULTS.scaling)
WEIGHT_KIND = OneOf("init", message("Weights drawn as"), WEIGHT_KINDS)
D_MODEL = Number("d_model", message("$d_{model}$ · features of a token"), LIMITS["d_model"], DEFAULTS.d_model)
D_K = Number("d_k", message("$d_k$ · features of a query or key"), LIMITS["d_k"], DEFAULTS.d_k)
D_V = Number("d_v", message("$d_v$ · features of a value"), LIMITS["d_v"], DEFAULTS.d_v)
HEADS = Number("heads", message("Heads"), LIMITS["n_heads"], DEFAULTS.n_heads)
HEAD = Number("head", message("Head"), Limit(1, 200), 1)
SEED = Number("seed", message("Seed of all random numbers"), LIMITS["seed"], DEFAULTS.seed, typed=True)
SENTENCE_OF_BATCH = Number("sentence_of_batch", message("Look at sentence"), LIMITS["sentence_of_batch"], 1)


def example_controls(
    lessons_own: str,
    *,
    own_sizes: bool = False,
    own_mask: bool = False,
    own_tokens: bool = False,
    x_alone: bool = False,
) -> tuple[Example, tuple[str, ...]]:
    """Draw the controls in the sidebar and return what they say, and notes on what they say in vain.

    The `lessons_own` example is shown until another one is chosen.

    What a notebook fixes is text, not a control. A lesson with `own_sizes` takes tokens, seed, mask and scaling
    from here and nothing else, so nothing else is offered there. With an `own_mask` the switch of the causal mask
    would move nothing on the screen: it stands there as it was left, for the other lessons. A lesson with `own_tokens`
    takes seed, mask and scaling. Where `x_alone` is used, the style sheet hides what does not change X.

    What is folded is drawn from when it is opened on, or where something in it may not be as it is at first, or is held
    by a hand.
    """
    with st.sidebar, st.container(key="x_alone") if x_alone else nullcontext():
        st.subheader(translate("The running example"))
        if own_tokens:
            st.caption(translate("This page has its own sentences."))
            return Example(**seed_control(), **attention_switches(own_mask)), ()
        source = chosen_source(lessons_own)
        if source.key == SMALL_MODEL:
            way_back()
        choices = source.begins | controls_of(source.reads, source)
        told = st.container() if source.reads else None
        choices |= controls_of(source.asks, source, without=SIZES if own_sizes else ()) | attention_switches(own_mask)
        edits, notes = (), ()
        if not own_sizes:
            with st.expander(translate("More"), key="more", on_change="rerun") as more:
                opened = more.open or is_held()
                if opened or named_in_link(MORE) or any(get_state(name) is not None for name in MORE):
                    choices |= controls_of(source.more, source)
                    edits, notes = edits_in_link()
    example = Example(source=source.key, edits=edits, **choices)
    if told is not None:
        with told:
            example = trained_so_far(example, own_sizes)
    if get_state("example") == OWN and named_in_link((SOURCE.name, *BEFORE_MODELS_CAME)):
        say_in_link("example", OWN)
    return example, notes


def controls_of(names: Collection[str], source: Source, *, without: Collection[str] = ()) -> dict[str, object]:
    """Draw the controls that a source names, and return what they say."""
    said = (CONTROLS[name](source) for name in names if name not in without)
    return {choice: value for choices in said for choice, value in choices.items()}


def trained_so_far(example: Example, own_sizes: bool) -> Example:
    """See the model of the example trained, choose one of its layers, and say how well it does.

    For a task, a lesson with sizes of its own trains another and tells of that itself.
    """
    run = model_settings(example)
    if run is not None:
        see_it_trained(run, example.updates)
    another = own_sizes and not example.given_by.brings_sizes
    example = replace(example, layer=layer_choice(example, named=not another))
    if not another:
        st.caption(render(run_example(replace(example, edits=())).trained.origin()))
    return example


def chosen_source(lessons_own: str) -> Source:
    """Whose weights they are.

    A visit begins with what each lesson shows best. That does not stand in the link, unless another choice about the
    example does: without it, such a link is one from before models came.
    """
    begin = OWN if get_state("example") in SOURCE.options else source_in_link()
    here = {key: source for key, source in SOURCES.items() if source.of(own_run()) is not None}
    offered = (key for key, source in here.items() if not source.retired or key in (begin, get_state("example")))
    titles = {key: SOURCE.options[key] for key in (OWN, *offered)}
    chosen = one_in_list(
        replace(SOURCE, options=titles, begin=begin, always=begin != OWN),
        on_change=use_its_mask,
        help=render(TERMS["parameter"].meaning),
    )
    source = here[lessons_own if chosen == OWN else chosen]
    if source.needs_run:
        say_in_link("own", settings_code(own_run()) or "")
    return source.of(own_run())


def own_run() -> TrainingSettings | None:
    """The visitor's run that the lessons can show, opened from the training page or by a link."""
    return get_state("own_run")


def run_in_link() -> bool:
    """Take over the run that the link spells. False, and a note, where it spells none that the lessons can show."""
    try:
        settings = settings_of_code(text_in_link("own"))
        OwnRun(settings)
    except ValueError as error:
        note = message(
            "The link says example = {mine}, which describes no run that can be shown here: {why}.",
            mine=OwnRun.title,
            why=reason(error),
        )
        set_state("link_notes", [*link_notes(), render(note)])
        return False
    set_state("own_run", settings)
    return True


def show_in_lessons(settings: TrainingSettings) -> dict[str, str]:
    """Make this run the running example, from its end on; what a link says of it. Raises ValueError for others."""
    shown = {"example": OwnRun(settings).key, "layer": 1, "head": 1, "trained_for": settings.steps}
    switches = {"causal": settings.model.causal, "scaling": settings.model.scaling}
    for name, value in (shown | switches | {"own_run": settings}).items():
        set_state(name, value)
    said = shown | {"own": settings_code(settings)} | {name: str(on).lower() for name, on in switches.items()}
    return {name: str(value) for name, value in said.items()}


def source_in_link() -> str:
    """The source that the link names; where it names none but other controls, what links meant before models came."""
    named = text_in_link("example")
    if named in SOURCES:
        return named if not SOURCES[named].needs_run or run_in_link() else OWN
    old = named != OWN and named_in_link((SOURCE.name, *BEFORE_MODELS_CAME))
    return DEFAULTS.source if old else OWN


def use_its_mask() -> None:
    """Called when another source was chosen: the mask is as its model was trained, unless the learner set it."""
    source = SOURCES.get(get_state("example"))
    own = source is None or source.causal
    if own != (get_state("own_mask") is not False):
        set_state("own_mask", own)
        set_state("causal", own)


def attention_switches(own_mask: bool) -> dict[str, bool]:
    """The switches for mask and scaling."""
    causal = switch(CAUSAL, disabled=own_mask, help=render(TERMS["mask"].meaning))
    if own_mask:
        st.caption(translate("This page has its own mask."))
    return {"causal": causal, "scaling": switch(SCALING)}


def sentence_controls(source: Source | None = None) -> dict[str, str]:
    """The learner's sentence, and how to cut it."""
    return {"text": text_field(SENTENCE), "unit": one_in_row(UNIT)}


def size_controls(source: Source | None = None) -> dict[str, int]:
    """The controls for the numbers of features and heads."""
    return {"d_k": slider(D_K), "d_v": slider(D_V), "n_heads": slider(HEADS, help=render(TERMS["head"].meaning))}


def seed_control(source: Source | None = None) -> dict[str, int]:
    """The control for the seed; where X is written by hand, of the maps alone."""
    by_hand = isinstance(source, Preset) and source.writes_x
    with st.container(key="seed_of_maps") if by_hand else nullcontext():
        return {"seed": number_field(SEED, help=render(TERMS["seed"].meaning))}


def features_control(source: Source) -> dict[str, int]:
    """How many features a token has."""
    return {"d_model": slider(D_MODEL, help=render(TERMS["feature"].meaning))}


def weight_kind_control(source: Source) -> dict[str, str]:
    """The control for how the weights are drawn."""
    return {"weight_kind": one_in_list(WEIGHT_KIND)}


def batch_control(source: Source | None = None) -> dict[str, int]:
    """Which sentence of the batch to look at, counted from 1."""
    name, label, limit = SENTENCE_OF_BATCH.name, SENTENCE_OF_BATCH.label, SENTENCE_OF_BATCH.limit
    return {name: one_in_row(OneOf(name, label, counted(limit.most), labelled=True))}


def counted(most: int) -> dict[int, str]:
    """The numbers from 1 on, to choose from."""
    return {number: str(number) for number in range(1, most + 1)}


def what_is_fixed(preset: Preset) -> dict[str, object]:
    """In the place of controls, the sizes that the notebook chose, in Markdown. Our own words and numbers only."""
    fixed = preset.fixed
    sizes = (f"d_{{model}} = {fixed.d_model}", f"d_k = {fixed.d_k}", f"d_v = {fixed.d_v}")
    formulas = " ".join(f"${{{size},}}$" for size in sizes)  # the braces keep each on one line
    said = plural(
        "The notebook fixes {sizes} {count} head, seed {seed} and the weights ({kind}). {remark}",
        "The notebook fixes {sizes} {count} heads, seed {seed} and the weights ({kind}). {remark}",
        fixed.n_heads,
        sizes=formulas,
        seed=fixed.seed,
        kind=WEIGHT_KINDS[fixed.weight_kind],
        remark=preset.remark,
    )
    st.markdown(render(said))
    return {}


CONTROLS: dict[str, Callable[[Source], dict[str, object]]] = {
    "fixed": what_is_fixed,
    "batch": batch_control,
    "sentence": sentence_controls,
    "sizes": size_controls,
    "seed": seed_control,
    "d_model": features_control,
    "init": weight_kind_control,
    "real_text": real_text,
    "real_sizes": real_sizes,
    "says": sentence_of_model,
    "updates": updates_of_model,
    "model_sizes": model_sizes,
    "more_of_model": more_of_model,
}
SIZES = ("sizes", "model_sizes", "real_sizes")  # that a lesson may have of its own


def head_choice(trace: ExampleTrace) -> int:
    """Which head to look at, asked only where there are several; counted from 0."""
    n_heads = trace.example.n_heads
    if n_heads == 1:
        return 0
    asks = message("{n_heads} heads. Look at head", n_heads=n_heads)
    heads = counted(n_heads)
    if trace.trained is not None:
        heads = {n: render(trace.trained.label(n - 1)) for n in heads}
    first = trace.example.given_by.first_head + 1
    with clamped_control(HEAD.name, Limit(1, n_heads), first):
        chosen = st.segmented_control(
            render(asks), list(heads), format_func=heads.get, required=True, key=HEAD.name, persist_state="session"
        )
    return (chosen if chosen in heads else min(first, n_heads)) - 1  # a forged message may name what is none


def current_trace(lessons_own: str = USUAL_EXAMPLE, **of_lesson: bool) -> ExampleTrace:
    """The running example of this visitor, computed; its controls and notes are drawn.

    Until one is chosen, it is the `lessons_own`; `of_lesson` says what `example_controls` is told.
    """
    example, notes = example_controls(lessons_own, **of_lesson)
    yield_turn()
    see_it_read(example)
    # What a hand passes by is seen once: it would push out what others look at.
    trace = run_afresh(example) if is_held() else run_example(example)
    yield_turn()
    show_notes(*link_notes(), *notes, *trace.notes)
    return trace
