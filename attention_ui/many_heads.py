"""The controls of the lesson on heads, bound to the address, and what they make of the running example."""

import re

import streamlit as st

from attention_ui.lesson import picked_cell, show_notes, show_rows
from attention_ui.links import SWITCH, LinkRule, number_in_link, too_large_in_link
from attention_ui.quiz import predict_about
from attention_ui.state import get_state, set_state
from lessons.captions import plural
from lessons.example import ExampleTrace, Limit
from lessons.formulas import A, K, Q, V
from lessons.heads_example import (
    HEADS_PRESETS,
    LIMITS,
    HeadsExample,
    HeadsTrace,
    SideBySide,
    divisors,
    heads_example,
    nearest_divisor,
    parameter_table,
)
from lessons.questions import ask

DEFAULTS = HeadsExample()
SOURCES = {key: preset.title for key, preset in HEADS_PRESETS.items()}
STEPS = {
    "project": "project",
    "split": "split",
    "attend": "attend",
    "concatenate": "concatenate",
    "output": "W_o",
    "slices": "projection or slice",
    "dropout": "dropout",
}
SMALL_MAPS = "heads_figure"
STEPS_WITHOUT_MODULE = ("attend", "dropout")  # where Q, K and V are drawn, nothing is projected or split
ROLES = {"q": "Q", "k": "K", "v": "V"}
LINK_RULES: dict[str, LinkRule] = {
    "mh": SOURCES,
    "mh_step": STEPS,
    "mh_role": ROLES,
    "mh_d_model": LIMITS["d_model"],
    "mh_heads": Limit(1, LIMITS["d_model"].most),
    "mh_head": Limit(1, LIMITS["d_model"].most),
    "mh_bias": SWITCH,
    "mh_dropout": LIMITS["dropout_percent"],
}

SOURCE_WIDTH, SIZE_WIDTH, DROPOUT_WIDTH = 240, 210, 150  # pixels; see `training_controls`


def heads_controls(running: ExampleTrace) -> HeadsExample:
    """Draw the controls and return what they say, on the running example. What a notebook fixes is text."""
    notes = st.container()
    limit = LIMITS["dropout_percent"]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        source, choices = source_and_sizes(SOURCES, notes)
        percent = st.slider(
            "Dropout, percent", limit.least, limit.most, round(100 * DEFAULTS.dropout), key="mh_dropout",
            bind="query-params", width=DROPOUT_WIDTH,
        )  # fmt: skip
    return heads_example(running, source, dropout=percent / 100, **choices)


def source_and_sizes(sources: dict[str, str], notes) -> tuple[str, dict[str, int | bool]]:
    """Which example, and its sizes where no notebook fixes them; drawn side by side in a row that is there."""
    source = st.selectbox(
        "Example", list(sources), format_func=sources.get, key="mh", bind="query-params", width=SOURCE_WIDTH
    )
    if HEADS_PRESETS[source].fixed:
        st.text(what_is_fixed(source), width="stretch")
        return source, {}
    return source, size_choices(notes)


def size_choices(notes) -> dict[str, int | bool]:
    """Features, heads and bias; only numbers of heads that can share the features are offered."""
    label, limit = "$d_{model}$ · features", LIMITS["d_model"]
    d_model = st.slider(
        label, limit.least, limit.most, DEFAULTS.d_model, key="mh_d_model", bind="query-params", width=SIZE_WIDTH
    )
    asked = get_state("mh_heads") or number_in_link("mh_heads") or DEFAULTS.n_heads
    n_heads = nearest_divisor(d_model, asked)
    if n_heads != asked:
        with notes:
            show_notes(
                f"{asked} heads cannot share {d_model} {plural('feature', d_model)} evenly; "
                f"the nearest number that can is {n_heads}."
            )
    if len(divisors(d_model)) > 1:
        set_state("mh_heads", n_heads)
        usual = nearest_divisor(d_model, DEFAULTS.n_heads)
        n_heads = st.select_slider(
            "Heads", divisors(d_model), usual, key="mh_heads", bind="query-params", width=SIZE_WIDTH
        )
    bias = st.toggle("Bias", DEFAULTS.bias, key="mh_bias", bind="query-params")
    return {"d_model": d_model, "n_heads": n_heads, "bias": bias}


def what_is_fixed(source: str) -> str:
    """The sizes that a notebook chose."""
    preset = HEADS_PRESETS[source]
    d_model, n_heads, bias = (preset.fixed[key] for key in ("d_model", "n_heads", "bias"))
    if preset.draw is None:
        return f"Fixed: {d_model} features, seed {preset.fixed['seed']}. {preset.remark}"
    with_bias = "with" if bias else "without"
    sizes = f"{d_model} features, {n_heads} heads, {with_bias} bias, seed {preset.fixed['seed']}"
    return f"Fixed: {sizes}. {preset.remark}"


def chosen_step(trace: SideBySide) -> str:
    """Which step of the way to look at; at first the heads side by side."""
    steps = list(STEPS) if isinstance(trace, HeadsTrace) else list(STEPS_WITHOUT_MODULE)
    if get_state("mh_step") not in (None, *steps):
        set_state("mh_step", "attend")
    chosen = st.segmented_control(
        "Step", steps, default="attend", format_func=STEPS.get, required=True, key="mh_step", bind="query-params",
        label_visibility="collapsed",
    )  # fmt: skip
    return chosen or "attend"


def chosen_role() -> str:
    """Queries, keys or values."""
    chosen = st.segmented_control(
        "Split", list(ROLES), default="q", format_func=ROLES.get, required=True, key="mh_role", bind="query-params",
        label_visibility="collapsed",
    )  # fmt: skip
    return chosen or "q"


def chosen_head(trace: SideBySide) -> int:
    """The head to show large, counted from 0; the nearest where there are fewer by now."""
    if trace.n_heads == 1:
        return 0
    show_notes(*filter(None, [too_large_in_link("mh_head", trace.n_heads)]))
    follow_click()
    set_state("mh_head", min(get_state("mh_head") or number_in_link("mh_head") or 1, trace.n_heads))
    chosen = st.select_slider(
        f"Show large: {trace.noun}", range(1, trace.n_heads + 1), 1, key="mh_head", bind="query-params"
    )
    return chosen - 1


def follow_click() -> None:
    """A head whose small map was clicked since the last time is the one to show large."""
    clicked = picked_cell(get_state(f"{SMALL_MAPS}_chart"))
    if clicked != get_state("mh_clicked"):
        set_state("mh_clicked", clicked)
        found = re.fullmatch(r"map\.(\d{1,2})", clicked[0] if clicked else "", re.ASCII)
        if found:
            set_state("mh_head", int(found[1]) + 1)


def heads_formula(trace: SideBySide) -> str:
    """LaTeX for the whole way, with the shapes of the moment. Numbers only: never a learner's text."""
    n, h, d_head = len(trace.tokens), trace.n_heads, trace.d_head
    scale = rf"/\sqrt{{{d_head}}}" if trace.scale != 1 else ""
    head = rf"{A}_i = \mathrm{{softmax}}({Q}_i {K}_i^\top {scale})"
    maps, split, whole = (size(h, n, n), size(h, n, d_head), size(n, h * d_head))
    if not isinstance(trace, HeadsTrace):
        return rf"{head}\,{maps} \qquad {A}_i {V}_i\,{split}"
    projected = rf"X\,{whole} \to {Q},{K},{V}\,{whole} \to {Q}_i,{K}_i,{V}_i\,{split}"
    return (
        r"\small "
        + rf"{projected} \to {head}\,{maps} \to {A}_i {V}_i\,{split} \to \mathrm{{Concat}}\,{whole} \to O\,{whole}"
    )


def size(*axes: int) -> str:
    """A shape, small, in LaTeX."""
    return r"{\scriptstyle " + r"\times".join(map(str, axes)) + "}"


def predict_heads(trace: SideBySide, head: int) -> None:
    """Draw a question about these heads."""
    predict_about("heads", lambda number: ask("heads", trace, head, number), (trace.example, head), cover=True)


def parameter_panel(module) -> None:
    """The parameters as the module lists them; filled when it is opened."""
    with st.expander("The parameters", key="mh_parameters", on_change="rerun") as panel:
        if panel.open:
            show_rows(parameter_table(module), "content")
