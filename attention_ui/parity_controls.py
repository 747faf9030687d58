"""Controls of the lesson on PyTorch, bound to the address: which example, what to compare, which random cases."""

import functools

import streamlit as st

from attention_core.pytorch_parity import Parity, RandomCase, random_cases
from attention_ui.lesson import covered, show_notes, show_rows
from attention_ui.links import LinkRule, text_in_link
from attention_ui.many_heads import SOURCES, source_and_sizes
from attention_ui.quiz import predict_about
from attention_ui.services import take_long
from attention_ui.state import get_state, set_state
from lessons.captions import magnitude
from lessons.example import ExampleTrace, Limit
from lessons.heads_example import HEADS_PRESETS, HeadsTrace, heads_example, run_heads
from lessons.parity import CASES, parameter_table
from lessons.questions import ask

VIEWS = {
    "module": "nn.MultiheadAttention",
    "fused": "scaled_dot_product_attention",
    "weights": "averaged weights",
    "meanings": "one mask, two meanings",
    "levels": "three levels",
    "cases": f"{CASES} random cases",
}
DRAWS = Limit(0, 9999)
LINK_RULES: dict[str, LinkRule] = {"parity": VIEWS, "cases": DRAWS}


def heads_of_lesson(running: ExampleTrace) -> HeadsTrace:
    """The heads of the lesson before, with their sizes: whatever has a module to compare."""
    sources = {key: title for key, title in SOURCES.items() if HEADS_PRESETS[key].draw is not None}
    without = {key: title for key, title in SOURCES.items() if key not in sources}
    asked = get_state("mh") or next((key for key in without if text_in_link("mh") == without[key]), None)
    notes = st.container()
    if asked in without:
        set_state("mh", "sentence")
        with notes:
            show_notes(f"There is no module to compare in “{without[asked]}”. Here is your sentence instead.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        source, choices = source_and_sizes(sources, notes)
    if not running.example.scaling:
        show_notes(
            "nn.MultiheadAttention always divides by √d_head, so this page does, though scaling is switched off."
        )
    return run_heads(heads_example(running, source, **choices))


def chosen_comparison() -> str:
    """What to compare with what."""
    chosen = st.segmented_control(
        "Compare", list(VIEWS), default="module", format_func=VIEWS.get, required=True, key="parity",
        bind="query-params", label_visibility="collapsed",
    )  # fmt: skip
    return chosen or "module"


def chosen_cases() -> tuple[RandomCase, ...]:
    """Random cases, from a number and a button for the next, with the largest difference in large type."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.button(f"Another {CASES}", key="cases_again", on_click=draw_again)
        drawn = st.number_input(
            "Drawn from number", DRAWS.least, DRAWS.most, 0, key="cases", bind="query-params", width=150
        )
        cases = compared_cases(int(drawn))
        if not covered("pytorch"):
            largest = max(case.difference for case in cases)
            st.metric(f"Largest difference in {len(cases)} cases", magnitude(largest), width="content")
    return cases


@functools.lru_cache(maxsize=32)
def compared_cases(seed: int) -> tuple[RandomCase, ...]:
    """The random cases of a number, computed once for all; between two of them others may go first."""
    cases = []
    for case in random_cases(seed, CASES):
        take_long()
        cases.append(case)
    return tuple(cases)


def draw_again() -> None:
    """The next random cases."""
    set_state("cases", (int(get_state("cases") or 0) + 1) % (DRAWS.most + 1))


def predict_parity(parity: Parity, trace: HeadsTrace) -> None:
    """Draw a question about these heads in PyTorch's functions."""
    about = (trace.example, str(parity.may_attend.tolist()))
    predict_about("pytorch", lambda number: ask("pytorch", parity, 0, number), about, cover=True)


def copied_panel(parity: Parity) -> None:
    """Where each of our maps stands in PyTorch's module; filled when it is opened."""
    with st.expander("The same weights, under PyTorch's names", key="copied", on_change="rerun") as panel:
        if panel.open:
            show_rows(parameter_table(parity.ours, parity.theirs), "content")
