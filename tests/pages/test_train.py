"""The training page as a visitor uses it."""

import threading

import pytest
from visiting import ROOT, chart, open_page, texts

from attention_ui.services import training_room


@pytest.fixture
def at():
    return open_page("training/train")


def progress(at):
    return at.get("progress")[0].proto.text


def wait_for(at, condition, refreshes=200):
    """Refresh the page, as the browser does, until the condition holds."""
    pause = threading.Event()
    for _ in range(refreshes):
        at.run()
        if condition(at):
            return
        pause.wait(0.02)
    raise AssertionError("it never came to that")


def set_fast_and_short(at, steps=60):
    at.number_input(key="steps").set_value(steps)
    at.segmented_control(key="pace").set_value(0).run()


def test_before_the_start_it_shows_the_untrained_model(at):
    assert progress(at) == "0 of 200 updates"
    assert len(chart(at, 0)[1]["losses"]) == 1
    assert chart(at, 1)[1]["cells"]
    assert not at.exception


def test_it_trains_to_the_end(at):
    set_fast_and_short(at)
    before = chart(at, 1)[1]
    at.button(key="start").click().run()
    wait_for(at, lambda at: progress(at) == "60 of 60 updates")
    losses = [row["loss"] for row in chart(at, 0)[1]["losses"]]
    assert len(losses) == 61
    assert losses[-1] < losses[0] / 2
    assert chart(at, 1)[1] != before
    assert at.button(key="start").label == "Play again"


def test_pause_stands_still_and_one_step_moves_by_one(at):
    at.button(key="start").click().run()
    wait_for(at, lambda at: not progress(at).startswith("0 "))
    at.button(key="pause").click().run()
    here = progress(at)
    at.run()
    assert progress(at) == here
    at.button(key="one_step").click().run()
    assert int(progress(at).split()[0]) == int(here.split()[0]) + 1
    assert at.button(key="start").label == "Go on"


def test_one_step_from_the_beginning(at):
    at.button(key="one_step").click().run()
    assert progress(at) == "1 of 200 updates"
    assert len(chart(at, 0)[1]["losses"]) == 2


def test_reset_goes_back_to_the_untrained_model(at):
    untrained = chart(at, 1)[1]
    at.button(key="one_step").click().run()
    assert chart(at, 1)[1] != untrained
    at.button(key="reset").click().run()
    assert progress(at) == "0 of 200 updates"
    assert chart(at, 1)[1] == untrained


def test_it_goes_on_while_one_looks_at_another_page_and_can_be_stopped_there(at):
    at.number_input(key="steps").set_value(5000).run()
    at.button(key="start").click().run()
    at.switch_page(str(ROOT / "pages/start/overview.py")).run()
    assert "Your model" in progress(at)
    at.button(key="stop").click().run()
    assert not at.get("progress")


def test_a_second_visitor_trains_a_model_of_their_own(at):
    other = open_page("training/train")
    at.button(key="one_step").click().run()
    other.run()
    assert progress(other) == "0 of 200 updates"


def test_the_same_settings_are_one_tape():
    settings = [open_page("training/train").number_input(key="train_seed").value for _ in range(2)]
    assert settings == [0, 0]
    runs = [run for run in training_room()._runs if run.tape.settings.seed == 0]
    assert len({run.tape for run in runs if run.tape.settings.steps == 200}) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the text has 0 characters"),
        ("hi", "need at least 9"),
        ("aaaaaaaaaaaaaaa", "repeats a single character"),
        ("".join(chr(0x4E00 + i) for i in range(300)), "at most 128"),
    ],
)
def test_a_text_that_cannot_be_learnt_is_explained_and_the_run_kept(at, text, said):
    at.button(key="one_step").click().run()
    at.text_input(key="learn").set_value(text).run()
    assert any(said in line for line in texts(at))
    assert progress(at) == "1 of 200 updates"
    assert at.button(key="start").disabled


@pytest.mark.parametrize("text", ["hello 👩‍👩‍👧 world 🧑🏽", "שלום עולם שלום", "<b>bold</b> text\x07", "x y " * 4000])
def test_any_other_text_can_be_learnt(at, text):
    at.text_input(key="learn").set_value(text).run()
    at.button(key="one_step").click().run()
    assert not at.exception
    assert progress(at) == "1 of 200 updates"


def test_a_learning_rate_that_breaks_it_is_said_and_the_last_good_model_kept(at):
    at.number_input(key="rate").set_value(1000.0)
    set_fast_and_short(at)
    at.button(key="start").click().run()
    wait_for(at, lambda at: any("no longer a number" in line for line in texts(at)))
    assert all(row["loss"] < float("inf") for row in chart(at, 0)[1]["losses"])
    assert chart(at, 1)[1]["cells"]


def test_changed_settings_start_nothing_by_themselves_but_are_named(at):
    at.button(key="one_step").click().run()
    at.number_input(key="rate").set_value(0.01).run()
    assert any("learning rate: 0.003 → 0.01" in line for line in texts(at))
    assert progress(at) == "1 of 200 updates"
    at.button(key="start").click().run()
    assert not any("Changed since" in line for line in texts(at))


def test_attention_on_a_text_of_ones_choice(at):
    at.text_input(key="probe").set_value("wow! zoo").run()
    assert any("has never met ! z" in line for line in texts(at))
    names = {row["text"] for row in chart(at, 1)[1]["cells"] if row["kind"] == "row"}
    assert names == {"w", "o", "␣"}


@pytest.mark.parametrize("query", [{"steps": 10**9}, {"window": 0}, {"train_seed": "x"}, {"kind": "none"}])
def test_links_are_repaired_here_too(query):
    at = open_page("training/train", **query)
    assert not at.exception
