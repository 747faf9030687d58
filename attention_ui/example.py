"""The running example: its controls in the sidebar, bound to the address, and what was chosen with them."""

import streamlit as st

from attention_ui.editing import edits_in_link, edits_line
from attention_ui.lesson import show_notes
from attention_ui.links import SWITCH, LinkRule, link_notes, too_large_in_link
from lessons.example import DEFAULT_SENTENCE, LIMITS, PRESETS, Example, ExampleTrace, Limit, Preset, run_example
from lessons.formatting import plural

DEFAULTS = Example()
SOURCES = {key: preset.title for key, preset in PRESETS.items()}
WEIGHT_KINDS = {"normal": "standard normal", "small": "0.1 × normal", "linear": "PyTorch's Linear default"}
LINK_RULES: dict[str, LinkRule] = {
    "example": SOURCES,
    "unit": {unit: unit for unit in ("words", "characters")},
    "causal": SWITCH,
    "scaling": SWITCH,
    "init": WEIGHT_KINDS,
    "head": LIMITS["n_heads"],
    **{"heads" if name == "n_heads" else name: limit for name, limit in LIMITS.items()},
}


def example_controls(*, own_sizes: bool = False, own_mask: bool = False) -> tuple[Example, tuple[str, ...]]:
    """Draw the controls in the sidebar and return what they say, and notes on what they say in vain.

    What a notebook fixes is text, not a control. A lesson with `own_sizes` takes tokens, seed, mask and scaling
    from here and nothing else, so nothing else is offered there. With an `own_mask` the switch of the causal mask
    would move nothing on the screen: it stands there as it was left, for the other lessons.
    """
    with st.sidebar:
        st.subheader("The running example")
        changed = st.container(gap="xxsmall")
        source = st.selectbox("Sentence", list(SOURCES), format_func=SOURCES.get, key="example", bind="query-params")
        preset = PRESETS[source]
        choices = sentence_controls() if source == "sentence" else {}
        if preset.fixed:
            st.markdown(what_is_fixed(preset))
            choices |= batch_control() if source == "batch" else {}
        else:
            choices |= ({} if own_sizes else size_controls()) | seed_control()
        causal = st.toggle(
            "Causal mask: no looking ahead", DEFAULTS.causal, key="causal", bind="query-params", disabled=own_mask
        )
        if own_mask:
            st.caption("This page has a mask of its own.")
        scaling = st.toggle(r"Scaling: divide by $\sqrt{d_k}$", DEFAULTS.scaling, key="scaling", bind="query-params")
        edits, notes = (), ()
        if not own_sizes:
            with st.expander("More"):
                choices |= {} if preset.fixed else more_controls(choose_d_model=source == "sentence")
                edits, notes = edits_in_link()
            with changed:
                edits_line(edits)
    return Example(source=source, causal=causal, scaling=scaling, edits=edits, **choices), notes


def sentence_controls() -> dict[str, str]:
    """The learner's sentence, and how to cut it."""
    text = st.text_input("Your sentence", DEFAULT_SENTENCE, key="text", bind="query-params")
    unit = st.segmented_control(
        "Cut it into", ["words", "characters"], default="words", required=True, key="unit", bind="query-params"
    )
    return {"text": text or "", "unit": unit or "words"}


def size_controls() -> dict[str, int]:
    """Features and heads."""
    d_k = whole_number("$d_k$ · features of a query or key", "d_k", LIMITS["d_k"], DEFAULTS.d_k)
    d_v = whole_number("$d_v$ · features of a value", "d_v", LIMITS["d_v"], DEFAULTS.d_v)
    n_heads = whole_number("Heads", "heads", LIMITS["n_heads"], DEFAULTS.n_heads)
    return {"d_k": d_k, "d_v": d_v, "n_heads": n_heads}


def seed_control() -> dict[str, int]:
    """The seed."""
    limit, label = LIMITS["seed"], "Seed of all random numbers"
    seed = st.number_input(label, limit.least, limit.most, DEFAULTS.seed, key="seed", bind="query-params")
    return {"seed": int(seed)}


def more_controls(choose_d_model: bool) -> dict[str, int | str]:
    """What is changed less often."""
    d_model = DEFAULTS.d_model
    if choose_d_model:
        d_model = whole_number("$d_{model}$ · features of a token", "d_model", LIMITS["d_model"], DEFAULTS.d_model)
    kind = st.selectbox(
        "Weights drawn as", list(WEIGHT_KINDS), format_func=WEIGHT_KINDS.get, key="init", bind="query-params"
    )
    return {"d_model": d_model, "weight_kind": kind}


def batch_control() -> dict[str, int]:
    """Which sentence of the batch to look at, counted from 1."""
    limit = LIMITS["sentence_of_batch"]
    chosen = st.segmented_control(
        "Look at sentence",
        list(range(limit.least, limit.most + 1)),
        default=DEFAULTS.sentence_of_batch,
        required=True,
        key="sentence_of_batch",
        bind="query-params",
    )
    return {"sentence_of_batch": chosen or DEFAULTS.sentence_of_batch}


def what_is_fixed(preset: Preset) -> str:
    """The sizes that the notebook chose, in Markdown. Our own words and numbers only."""
    fixed = preset.fixed
    sizes = (f"d_{{model}} = {fixed.d_model}", f"d_k = {fixed.d_k}", f"d_v = {fixed.d_v}")
    formulas = " ".join(f"${{{size},}}$" for size in sizes)  # the braces keep each on one line
    return (
        f"The notebook fixes {formulas} {fixed.n_heads} {plural('head', fixed.n_heads)}, seed {fixed.seed} "
        f"and weights drawn as {WEIGHT_KINDS[fixed.weight_kind]}. {preset.remark}"
    )


def whole_number(label: str, key: str, limit: Limit, default: int) -> int:
    """A slider over whole numbers, bound to the address."""
    return st.slider(label, limit.least, limit.most, default, key=key, bind="query-params")


def head_choice(trace: ExampleTrace) -> int:
    """Which head to look at, asked only where there are several; counted from 0."""
    n_heads = trace.example.n_heads
    if n_heads == 1:
        return 0
    show_notes(*filter(None, [too_large_in_link("head", n_heads)]))
    chosen = st.segmented_control(
        f"{n_heads} {plural('head', n_heads)}, each with its own W. Look at head",
        list(range(1, n_heads + 1)),
        default=1,
        required=True,
        key="head",
        bind="query-params",
    )
    return (chosen or 1) - 1


def current_trace(*, own_sizes: bool = False, own_mask: bool = False) -> ExampleTrace:
    """The running example of this visitor, computed; its controls and notes are drawn."""
    example, notes = example_controls(own_sizes=own_sizes, own_mask=own_mask)
    trace = run_example(example)
    show_notes(*link_notes(), *notes, *trace.notes)
    return trace
