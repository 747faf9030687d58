"""Controls of the lesson on PyTorch, bound to the address: which example, what to compare, which random cases."""

from dataclasses import replace

import streamlit as st

from attention_core.measured.parity import fits_pytorch
from attention_ui.controls.bound import next_number, number_field, one_in_row
from attention_ui.controls.choices import chosen_mask
from attention_ui.controls.heads import SOURCE_OF_HEADS, seen_trained, source_and_sizes
from attention_ui.session import get_state, repaired_option, set_state, show_notes, text_in_link
from lessons.code.pytorch.lesson import DRAWN_FROM, VIEW, Choices
from lessons.code.pytorch.random_cases import CASES
from lessons.example.example import ExampleTrace
from lessons.model.heads.example import HEADS_PRESETS, HeadsChosen, run_heads
from lessons.screen import message, translate

VIEWS_WITHOUT_MODULE = ("fused", "cases")


def comparison_choices(trace: ExampleTrace) -> Choices:
    """Draw the controls of this page and return what they say."""
    chosen = heads_of_lesson(trace)
    heads = run_heads(trace.example, chosen)
    view = chosen_view(fits_pytorch(heads.module))
    may_attend = chosen_mask(len(heads.tokens))
    return Choices(chosen, may_attend, view, chosen_cases() if view == "cases" else 0)


def chosen_view(fits: bool) -> str:
    """What to compare; of heads that PyTorch's module cannot hold, what its function makes."""
    views = {view: title for view, title in VIEW.options.items() if fits or view in VIEWS_WITHOUT_MODULE}
    first, asked = next(iter(views)), get_state(VIEW.name)
    if asked not in (None, *views) or (asked is None and text_in_link(VIEW.name) in VIEW.options):
        said = text_in_link(VIEW.name)
        show_notes(repaired_option(VIEW.name, said, views)[1] if said else None)
        set_state(VIEW.name, asked if asked in views else first)
    return one_in_row(replace(VIEW, options=views, begin=first))


def heads_of_lesson(trace: ExampleTrace) -> HeadsChosen:
    """The heads of the lesson before, with their sizes: whatever has a module to compare."""
    titles, name = SOURCE_OF_HEADS.options, SOURCE_OF_HEADS.name
    sources = {key: title for key, title in titles.items() if HEADS_PRESETS[key].projects}
    without = {key: title for key, title in titles.items() if key not in sources}
    asked = get_state(name) or next((key for key in without if text_in_link(name) == key), None)
    notes = st.container()
    if asked in without:
        set_state(name, "sentence")
        with notes:
            title = without[asked]
            show_notes(
                message("There is no module to compare in “{title}”. Here is your sentence instead.", title=title)
            )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        source, choices = source_and_sizes(sources, notes, trace)
    if not trace.example.scaling:
        show_notes(
            message(
                "nn.MultiheadAttention always divides by √d_head, so this page does too, even though scaling is "
                "switched off."
            )
        )
    return seen_trained(trace, HeadsChosen(source=source, **choices))


def chosen_cases() -> int:
    """The number that random cases are drawn from, and a button for the next."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.button(
            translate("Draw another {count}", count=CASES),
            key="cases_again",
            on_click=next_number,
            args=(DRAWN_FROM,),
        )
        return number_field(DRAWN_FROM)
