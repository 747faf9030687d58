"""The sizes of the real model: moving one goes over to a small model of that size, and there is a way back."""

import streamlit as st

from attention_ui.controls.learnt import MODEL_SIZES
from attention_ui.session import get_state, plain_label, set_state, take_state
from lessons.example.real_layer import RealModelSource
from lessons.screen import Number, translate

SMALL_MODEL = "stories"
WAY_BACK = "way_back"  # what was shown before somebody moved a size of the real model
ORDER = ("d_k", "d_v", "n_heads", "d_model")


def real_sizes(source: RealModelSource) -> dict[str, object]:
    """A slider for each size of the real model, which stands at the end of those that a small model can have."""
    real = source.sizes
    for name in ORDER:
        size = MODEL_SIZES[name]
        st.select_slider(
            plain_label(size.label),
            [*range(size.limit.least, size.limit.most + 1), real[name]],
            real[name],
            key=key_of(name),
            on_change=go_over,
            args=(name, size),
        )
    st.number_input(
        translate("Seed"),
        0,
        value=None,
        key=key_of("seed"),
        placeholder=translate("no seed"),
        on_change=go_over,
        args=("seed", None),
    )
    return {}


def key_of(name: str) -> str:
    """What the control of a size of the real model is called."""
    return f"real_{name}"


def go_over(name: str, size: Number | None) -> None:
    """Show the small model with this size, or this seed, in place of the real one."""
    chosen = get_state(key_of(name))
    if chosen is None:
        return
    set_state(WAY_BACK, get_state("example"))
    set_state("example", SMALL_MODEL)
    set_state("seed" if size is None else size.name, int(chosen))


KEYS_OF_SIZES = tuple(map(key_of, (*ORDER, "seed")))


def way_back() -> None:
    """Where somebody came from the real model by moving a size: why this is another one, and the way back."""
    if get_state(WAY_BACK) is None:
        return
    st.caption(
        translate("The sizes of the real model are fixed, so this is a small model of the chosen size, trained here.")
    )
    st.button(translate("Back to the real model"), key="to_the_real_model", on_click=go_back)


def go_back() -> None:
    """Show what was shown before."""
    set_state("example", take_state(WAY_BACK))
