"""The lesson on cost as a visitor uses it."""

import io
import threading

import pandas as pd
import pytest
from made_up_timings import FULL, made_up
from visiting import chart, open_page, source_shown, texts

import attention_ui.controls.timings
from attention_ui.controls.timings import csv_of_timings, this_machine
from attention_ui.server import process
from lessons.cost.lesson import Choices, screen
from lessons.example.example import Example, run_example
from lessons.screen.format import format_value, render
from runs.measuring import Measuring
from runs.page_lock import PageLock

COST = "todays_attention/cost"


def open_cost(**query):
    return open_page(COST, **query)


def test_the_page_counts_the_layer_of_the_running_example():
    at, shown = open_cost(), screen(run_example(Example()), 0, Choices())
    said = " ".join(texts(at))
    assert all(render(sentence) in said for figure in shown.figures for sentence in figure.notice)
    names = [row["text"] for row in chart(at)[1]["bars"] if row["kind"] == "name"]
    assert names == [format_value(part.name) for part in shown.figures[0].parts]
    products, moved = 108 + 72 + 72 + 72 + 36, 108 + 60 + 72 + 60 + 36  # 6 tokens, d_model 3, d_k = d_v = 2
    assert [metric.value for metric in at.metric] == [f"{products}", f"{moved}", "24", "24"]
    assert source_shown(at).startswith("def count_layer(")


def test_a_published_model_has_as_many_tokens_as_one_likes():
    at = open_cost(cost_of="gpt2", cost_tokens="2048")
    assert any(
        "At n = 2,048," in line and "GPT-2 small was trained to read at most 1,024" in line for line in texts(at)
    )
    at.selectbox(key="cost_of").set_value("example").run()
    assert not at.exception and any("At n = 6," in line for line in texts(at))


def test_many_multiplications_stand_on_logarithmic_axes():
    spec, tables, _ = chart(open_cost(cost_of="llama3_8b"), 1)
    scales = [
        layer["encoding"][axis]["scale"]["type"]
        for layer in spec["layer"]
        for axis in "xy"
        if "scale" in layer["encoding"].get(axis, {})
    ]
    assert scales and set(scales) == {"log"}
    assert min(row["y"] for row in tables["curves"]) > 0


def test_the_softmax_block_by_block_of_any_query():
    at = open_cost(cost_view="blocks", block="4", asks="3")
    shown = screen(run_example(Example()), 0, Choices("blocks", query=2, block=4))
    assert all(render(sentence) in " ".join(texts(at)) for sentence in shown.figures[0].notice)
    assert {row["moment"] for row in chart(at)[1]["passing"]} == {-1, 0}, "one block holds the three keys"
    at.slider(key="block").set_value(1).run()
    assert {row["moment"] for row in chart(at)[1]["passing"]} == {-1, 0, 1, 2}
    at.session_state["trace_open"] = at.session_state["trace_all"] = True
    at.run()
    assert any("output from the keys up to block 3" in line for line in texts(at))


@pytest.fixture
def measured(monkeypatch):
    """Measurements of our own in the place of those of the process."""
    series = Measuring(PageLock(), lambda: iter(()))
    for module in (attention_ui.controls.timings, process):
        monkeypatch.setattr(module, "measuring", lambda: series)
    return series


def test_before_anybody_measured_the_page_says_how(measured):
    at = open_cost(cost_view="measured")
    assert any(line.startswith("Nobody has measured on this machine yet.") for line in texts(at))
    assert not at.get("vega_lite_chart") and not at.get("download_button")
    assert at.button(key="measure_stop").disabled and not at.button(key="measure").disabled


def test_a_press_measures_for_everybody_and_says_where(measured):
    measured._series = lambda: iter(made_up(FULL))
    at = open_cost(cost_view="measured")
    at.button(key="measure").click().run()
    measured._thread.join(10)
    for visitor in (at.run(), open_cost(cost_view="measured")):
        assert not visitor.exception and len(visitor.get("vega_lite_chart")) == 6
        assert any(line.startswith(f"Measured on {this_machine()}") for line in texts(visitor))
        assert any("From 16 tokens on, reading all again" in line for line in texts(visitor))
        assert [button.proto.label for button in visitor.get("download_button")] == ["Measurements as CSV"]


def test_while_it_measures_it_can_be_stopped_and_nobody_else_begins(measured):
    inside, go_on = threading.Event(), threading.Event()

    def series():
        yield made_up(FULL)[0]
        inside.set()
        go_on.wait(10)
        yield made_up(FULL)[1]

    measured._series = series
    measured.start()
    assert inside.wait(10)
    at = open_cost(cost_view="measured")
    assert at.button(key="measure").disabled and not at.button(key="measure_stop").disabled
    measured.cancel()
    go_on.set()
    at.button(key="measure_stop").click().run()
    assert not at.exception and measured.results == () and not at.button(key="measure").disabled


def test_a_failure_is_said(measured):
    measured.problem = "it ended with MemoryError"
    assert any("it ended with MemoryError" in line for line in texts(open_cost(cost_view="measured")))


def test_the_file_has_a_row_for_each_timing_and_names_the_machine():
    timings = made_up(FULL)
    frame = pd.read_csv(io.BytesIO(csv_of_timings(timings)))
    assert len(frame) == len(timings) and set(frame["machine"]) == {this_machine()}
    assert frame["seconds"].tolist() == pytest.approx([timing.seconds for timing in timings])
    assert list(frame.columns) == [
        "over",
        "way",
        "tokens",
        "d_k",
        "heads",
        "seconds",
        "most_bytes",
        "machine",
    ]
