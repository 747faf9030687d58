"""What attention costs on this machine: measured for everybody at once, on a button, and taken home as a table."""

import functools
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pandas as pd
import streamlit as st
import torch

from attention_core.timings import MOST_TIMINGS, Timing
from attention_ui.controls.choices import chosen_in
from attention_ui.server.process import measuring, outside_turn, redrawn_picture
from attention_ui.session.chart import offer, show_notes
from attention_ui.session.real_model import smollm2
from lessons.cost.lesson import Choices
from lessons.cost.sliding_window import Slide, real_slide
from lessons.example.example import ExampleTrace
from lessons.screen.format import translate
from lessons.screen.message import message
from words import cached_by_language

LOOK_SECONDS = 1.0


def cost_choices(example: ExampleTrace) -> Choices:
    """What was chosen on the page of the cost; where it is about this machine, with what was measured on it."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        choices = chosen_in(Choices, example)
        if choices.view == "measured":
            timings = measuring_panel()
            return replace(choices, timings=timings, machine=this_machine(), slide=slide_here() if timings else None)
        return choices


def slide_here() -> Slide | None:
    """What the window of the real model does when it slides; None where the model is not on this machine."""
    model = smollm2()
    if model is None:
        return None
    with outside_turn():  # it takes seconds the first time
        return real_slide(model)


def measuring_panel() -> tuple[Timing, ...]:
    """The buttons, how far the series is that runs, and the results of the last one, whoever began it."""
    runs = measuring().running
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            translate("Measure on this machine"), key="measure", disabled=runs, on_click=begin_measuring, type="primary"
        )
        st.button(translate("Stop"), key="measure_stop", disabled=not runs, on_click=stop_measuring)
        if results := measuring().results:
            offer(
                translate("Measurements as CSV"), functools.partial(csv_of_timings, results), "measured.csv", "text/csv"
            )
    if runs:
        st.fragment(draw_measuring, run_every=LOOK_SECONDS)()
    elif measuring().problem:
        show_notes(message("The last measurements were not finished: {why}.", why=measuring().problem))
    return measuring().results


def begin_measuring() -> None:
    """Begin, unless somebody else has just begun."""
    measuring().start()


def stop_measuring() -> None:
    """End the series that runs, and look again only when it has ended."""
    measuring().cancel(wait=True)


def draw_measuring() -> None:
    """One look at the series that runs; at its end the page is drawn anew."""
    with redrawn_picture(small=True):
        done = measuring().done
        st.progress(
            min(1.0, done / MOST_TIMINGS),
            text=translate("{done} of at most {most} measured", done=done, most=MOST_TIMINGS),
        )
    if not measuring().running:
        st.rerun()


def timings_frame(timings: Sequence[Timing]) -> pd.DataFrame:
    """A row for each thing that was measured, and the machine."""
    return pd.DataFrame([asdict(timing) for timing in timings]).assign(machine=this_machine())


def csv_of_timings(timings: Sequence[Timing]) -> bytes:
    """Timings as a CSV file."""
    return timings_frame(timings).to_csv(index=False).encode()


@cached_by_language(maxsize=16)
def this_machine() -> str:
    """The processor and the version of PyTorch: nothing that tells whose machine it is."""
    return translate(
        "{processor}, cores used: 1 of {cores}, PyTorch {version}",
        processor=processor(),
        cores=os.cpu_count() or 1,
        version=str(torch.__version__),
    )


def processor() -> str:
    """What the processor calls itself."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text(encoding="utf-8", errors="replace").splitlines() if known.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine() or translate("a processor without a name")
