"""The training page as a visitor uses it."""

import base64
import threading
import time
from functools import partial
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from visiting import ROOT, charts, given_to, open_page, texts

from attention_core.learning.tasks import TASKS, CharacterTask
from attention_core.learning.training import recommended
from attention_core.measured.observe import ablate_heads
from attention_core.model.small_model import ModelConfig
from attention_ui.page import drawing
from attention_ui.process import turns as process
from attention_ui.session.training_runs import FIRST, RUN
from attention_ui.training import compare_runs
from attention_ui.training import view as training_view
from attention_ui.training.view import press_head
from lessons.example.task_texts import texts_of
from lessons.learning.train.compare_runs import COMPARISONS, differences
from lessons.learning.train.curves import leak_sentences
from lessons.learning.train.future_leak import measure_future_leak
from lessons.learning.train.lesson import film_steps
from lessons.learning.train.notebook_runs import HELLO_WORLD
from lessons.screen import number, render, render_all
from runs.run import TrainingRun


@pytest.fixture
def at():
    """With the preset that trains quickest."""
    return open_page("learning/train", task="characters")


def progress(at):
    return at.get("progress")[0].proto.text


def film(at, index=0):
    """What the page hands to the browser of a film."""
    return [given for given in given_to(at, "figures") if given["kind"] == "film"][index]


def moments(at, index=0):
    """What is said of each moment of a film, in their order."""
    return [": ".join(filter(None, said)) for said in film(at, index)["said"]]


def weights(at, moment=-1, index=0):
    """The weights of all heads at one moment of a film, in their order."""
    told = film(at, index)
    numbers = np.frombuffer(base64.b64decode(told["numbers"]), "<f4").reshape(len(told["said"]), -1)
    return numbers[moment].tolist()


def curve(at, name, index=0):
    """The points of a curve beside a film."""
    return [tables["curves"] for _, tables, _ in charts(at) if "curves" in tables][2 * index + (name == "progress")]


def training_losses(at, index=0):
    return [row["y"] for row in curve(at, "loss", index) if row["style"] == "line"]


def wait_for(at, condition, refreshes=200):
    """Refresh the page, as the browser does, until the condition holds."""
    pause = threading.Event()
    for _ in range(refreshes):
        at.run()
        if condition(at):
            return
        pause.wait(0.02)
    raise AssertionError("it never came to that")


def set_short(at, steps=60):
    at.number_input(key="steps").set_value(steps).run()


def wait_for_end(at, steps=60):
    wait_for(at, lambda at: progress(at) == f"{steps} of {steps} training steps" and len(moments(at)) > 1)


def test_before_the_start_it_shows_the_untrained_model(at):
    assert progress(at) == "0 of 600 training steps"
    assert len(training_losses(at)) == 1
    assert weights(at) and len(moments(at)) == 1
    assert any("Untrained" in caption.value for caption in at.caption)
    assert not at.exception


def test_it_trains_to_the_end_and_is_a_film_then(at):
    set_short(at)
    untrained = weights(at)
    at.button(key="start").click().run()
    wait_for_end(at)
    losses = training_losses(at)
    assert len(losses) == 61
    assert losses[-1] < losses[0] / 2
    run = at.session_state[RUN]
    steps = film_steps(run.recording.snapshot_steps(60))
    assert [int(said.split()[1]) for said in moments(at)] == steps and (steps[0], steps[-1]) == (0, 60)
    assert weights(at, 0) == untrained and weights(at, -1) != untrained
    assert len(film(at)["curve"]["heights"]) == len(film(at)["curve"]["said"]) == len(steps)
    assert not any("Untrained" in caption.value for caption in at.caption)
    assert at.button(key="start").disabled and at.button(key="pause").disabled and not at.button(key="reset").disabled


def test_the_last_moment_says_what_the_page_says(at):
    set_short(at)
    at.button(key="start").click().run()
    wait_for_end(at)
    sample = next(code.value for code in at.code)
    assert moments(at)[-1] == f"After 60 training steps, it writes: {sample}"


def test_the_first_picture_after_start_shows_an_update(at, monkeypatch):
    monkeypatch.setattr(TrainingRun, "train", lambda run: None)  # as if the thread had no time yet
    at.button(key="start").click().run()
    assert progress(at) == "1 of 600 training steps"


def test_while_it_trains_the_present_moment_alone_is_shown(at, monkeypatch):
    at.number_input(key="steps").set_value(400).run()
    run, here = at.session_state[RUN], 0
    monkeypatch.setattr(process.scheduler(), "wanted", dict)
    at.button(key="start").click().run()
    for here in (1, 99, 100, 180, 250, 300, 399):
        run.recording.record(here)
        at.run()
        shown = progress(at), [said.split()[1] for said in moments(at)], len(training_losses(at))
        assert shown == (f"{here} of 400 training steps", [str(run.recording.snapshot(here).step)], here + 1)
    run.recording.record(400)
    at.run()
    assert len(moments(at)) > 10


def test_after_a_pause_and_after_a_step_the_film_stands_at_the_present(at):
    at.number_input(key="steps").set_value(5000).run()
    at.button(key="start").click().run()
    wait_for(at, lambda at: int(progress(at).split()[0]) > 40)
    at.button(key="pause").click().run()
    assert len(moments(at)) > 1
    here = int(progress(at).split()[0])
    at.button(key="one_step").click().run()
    assert len(training_losses(at)) == here + 2
    assert at.session_state[RUN].position == here + 1


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
    assert progress(at) == "1 of 600 training steps"
    assert len(training_losses(at)) == 2


def test_reset_goes_back_to_the_untrained_model(at):
    untrained = weights(at)
    at.button(key="one_step").click().run()
    assert weights(at, 0) == untrained and weights(at) != untrained
    at.button(key="reset").click().run()
    assert progress(at) == "0 of 600 training steps"
    assert weights(at) == untrained and len(moments(at)) == 1


def test_it_goes_on_while_one_looks_at_another_page_and_can_be_stopped_there(at):
    at.number_input(key="steps").set_value(5000).run()
    at.button(key="start").click().run()
    at.switch_page(str(ROOT / "pages/start/overview.py")).run()
    assert "Your model" in progress(at)
    at.button(key="stop").click().run()
    assert not at.get("progress")


def test_a_second_visitor_trains_a_model_of_their_own(at):
    other = open_page("learning/train")
    at.button(key="one_step").click().run()
    other.run()
    assert progress(other) == "0 of 600 training steps"


def test_the_same_settings_are_one_recording():
    one, other = (open_page("learning/train").session_state[RUN] for _ in range(2))
    assert one is not other
    assert one.recording is other.recording
    assert open_page("learning/train", train_seed=1).session_state[RUN].recording is not one.recording


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the text is too short, of length 0"),
        ("hi", "need at least 9"),
        ("aaaaaaaaaaaaaaa", "repeats a single character"),
        ("".join(chr(0x4E00 + i) for i in range(300)), "at most 128"),
    ],
)
def test_a_text_that_cannot_be_learnt_is_explained_and_the_run_kept(at, text, said):
    at.button(key="one_step").click().run()
    at.text_input(key="learn").set_value(text).run()
    assert any(said in line for line in texts(at))
    assert progress(at) == "1 of 600 training steps"
    assert at.button(key="start").disabled


@pytest.mark.parametrize("text", ["hello 👩‍👩‍👧 world 🧑🏽", "שלום עולם שלום", "<b>bold</b> text\x07", "x y " * 4000])
def test_any_other_text_can_be_learnt(at, text):
    at.text_input(key="learn").set_value(text).run()
    at.button(key="one_step").click().run()
    assert not at.exception
    assert progress(at) == "1 of 600 training steps"


def test_a_learning_rate_that_breaks_it_is_said_and_the_last_good_model_kept(at):
    at.number_input(key="rate").set_value(1000.0)
    set_short(at)
    at.button(key="start").click().run()
    wait_for(at, lambda at: any("no longer a number" in line for line in texts(at)))
    assert all(loss < float("inf") for loss in training_losses(at))
    assert weights(at)


def test_changed_settings_start_nothing_by_themselves_but_are_named(at):
    at.button(key="one_step").click().run()
    at.number_input(key="rate").set_value(0.01).run()
    assert any("learning rate: 0.003 → 0.01" in line for line in texts(at))
    assert progress(at) == "1 of 600 training steps"
    at.button(key="start").click().run()
    assert not any("Changed since" in line for line in texts(at))


def test_attention_on_a_text_of_ones_choice(at):
    at.text_input(key="probe").set_value("wow! zoo").run()
    assert any("has never met ! z" in line for line in texts(at))
    axes = [table[axis] for table in film(at)["tables"]["matrices"] for axis in ("rows", "columns")]
    assert {axis["name"] for axis in axes} == {"queries ↓", "keys →"}
    assert {label for axis in axes for label in axis["labels"]} == {"w", "o", "␣"}


@pytest.mark.parametrize("query", [{"steps": 10**9}, {"window": 0}, {"train_seed": "x"}, {"kind": "none"}])
def test_links_are_repaired_here_too(query):
    at = open_page("learning/train", **query)
    assert not at.exception


def test_without_a_word_in_the_link_it_is_induction_and_the_address_says_so():
    at = open_page("learning/train")
    assert at.session_state[RUN].recording.settings == recommended(TASKS["induction"])
    assert at.query_params["task"] == "induction"
    at.selectbox(key="task").set_value("characters").run()
    assert at.query_params["task"] == "characters", "named, so that the address alone opens the same again"


@pytest.mark.parametrize("query", [{"steps": 77}, {"learn": "abcabdabcabd"}, {"rate": 0.02, "hide": "code"}])
def test_an_old_link_that_names_settings_and_no_task_still_means_a_text(query):
    at = open_page("learning/train", **query)
    settings = at.session_state[RUN].recording.settings
    assert settings.task == CharacterTask(query.get("learn", "hello world"))
    assert settings.steps == query.get("steps", 600) and settings.learning_rate == query.get("rate", 0.003)
    assert open_page("learning/train", hide="code").session_state[RUN].recording.settings.task == TASKS["induction"]


def test_a_link_names_its_task_by_its_short_name_or_its_title():
    for name in ("sort", "Sort", "SORT"):
        assert open_page("learning/train", task=name, steps=33).session_state[RUN].recording.settings.task.key == "sort"
    at = open_page("learning/train", task="nonsense")
    assert any("not one of the choices" in line for line in texts(at))


@pytest.mark.part(3)
@pytest.mark.parametrize("name", TASKS)
def test_every_task_opens_cold_with_what_is_recommended_for_it(name):
    at = open_page("learning/train", task=name)
    run = at.session_state[RUN]
    task = TASKS[name]
    if name == "characters":
        assert run.recording.settings.task.text == "hello world"
    else:
        assert run.recording.settings == recommended(task)
    said = " ".join(texts(at))
    assert render(texts_of(task).learns) in said and render(texts_of(task).once_learned) in said
    at.button(key="one_step").click().run()
    assert not at.exception
    assert weights(at) and len(moments(at)) == 2


def test_choosing_a_task_sets_every_control_to_what_it_recommends_and_starts_nothing(at):
    at.number_input(key="rate").set_value(0.5)
    at.toggle(key="mlp").set_value(True).run()
    at.selectbox(key="task").set_value("induction").run()
    assert at.session_state[RUN].recording.settings == recommended(TASKS["induction"])
    assert progress(at) == "0 of 600 training steps"
    assert at.number_input(key="rate").value == 0.005
    assert not at.toggle(key="mlp").value


def test_a_link_restores_every_setting():
    query = {
        "task": "reverse",
        "rate": 0.01,
        "steps": 77,
        "train_seed": 5,
        "layers": 2,
        "train_heads": 4,
        "features": 16,
        "query_features": 8,
        "train_positions": "rotary",
        "optimiser": "sgd",
        "batch": 7,
        "spread": 0.7,
        "train_causal": "true",
        "train_scaling": "false",
        "residual": "false",
        "norm": "true",
        "mlp": "true",
        "train_sink": "true",
    }
    settings = open_page("learning/train", **query).session_state[RUN].recording.settings
    model = settings.model
    assert settings.task == TASKS["reverse"]
    assert (settings.learning_rate, settings.steps, settings.seed, settings.batch_size) == (0.01, 77, 5, 7)
    assert (model.n_layers, model.n_heads, model.d_model, model.d_k) == (2, 4, 16, 8)
    assert (model.positions, settings.optimiser, model.embedding_std, model.sink) == ("rotary", "sgd", 0.7, True)
    assert (model.causal, model.scaling, model.residual, model.layer_norm, model.mlp) == (
        True,
        False,
        False,
        True,
        True,
    )


def test_one_press_sets_everything_as_in_the_notebook(at):
    at.number_input(key="rate").set_value(0.5)
    at.text_input(key="learn").set_value("another text, a long one").run()
    assert not any("the notebook's settings" in line for line in texts(at))
    at.button(key="as_in_notebook").click().run()
    settings = at.session_state[RUN].recording.settings
    assert settings == HELLO_WORLD and settings.seed == 1337
    assert any("get_batch ignores the batch size of 64" in line for line in texts(at))
    again = open_page("learning/train", **{name: at.query_params[name] for name in at.query_params})
    assert again.session_state[RUN].recording.settings == HELLO_WORLD, "the address says it all"
    at.selectbox(key="task").set_value("vectors").run()
    assert any("its own four vectors" in line for line in texts(at))
    at.number_input(key="rate").set_value(0.02).run()
    assert not any("its own four vectors" in line for line in texts(at))


def test_a_setting_that_cannot_be_is_explained(at):
    at.selectbox(key="task").set_value("previous").run()
    at.selectbox(key="kind").set_value("sliced")
    at.selectbox(key="query_features").set_value(128).run()
    assert any("let the heads project" in line for line in texts(at))
    assert at.button(key="start").disabled
    at.selectbox(key="query_features").set_value(0).run()
    assert not at.button(key="start").disabled


def open_fold(at, name):
    at.session_state[f"{name}_open"] = True
    return at.run()


@pytest.mark.part(3)
@pytest.mark.parametrize("asked", COMPARISONS)
def test_one_press_begins_both_runs_of_a_classical_question(at, asked):
    open_fold(at, "compare")
    at.selectbox(key="classic").set_value(asked).run()
    at.button(key="train_both").click().run()
    assert not at.exception
    first, second = (at.session_state[key] for key in (FIRST, RUN))
    assert (first.recording.settings, second.recording.settings) == COMPARISONS[asked].settings(0)
    assert first.goal == first.recording.settings.steps and second.goal == second.recording.settings.steps
    assert not any("Changed since" in line for line in texts(at)), "the controls show the second run"
    named = differences(first.recording.settings, second.recording.settings)
    said = next(line for line in texts(at) if line.startswith("From the first to the second"))
    assert all(render(d.sentence) in said for d in named)
    at.button(key="pause").click().run()
    assert not first.training and not second.training
    assert film(at, 0) and film(at, 1), "a film for each"


def test_a_page_looks_again_when_the_first_of_two_runs_has_moved(monkeypatch):
    asked = []
    for name, instead in (
        ("draw_progress", lambda view: None),
        ("picture_seconds", lambda: 100.0),
        ("look_again_when", asked.append),
    ):
        monkeypatch.setattr(compare_runs, name, instead)
    second, first = (SimpleNamespace(position=3, training=training) for training in (False, True))
    for run in (first, second):
        run.look = partial(SimpleNamespace, position=run.position, training=run.training)
    compare_runs.watch_progress(second, first, time.monotonic())
    [is_new] = asked
    assert not is_new()
    first.position = 4
    assert is_new()
    first.position, first.training = 3, False
    assert is_new(), "both have come to their end"


def test_a_run_can_be_kept_and_compared_with_the_next_and_forgotten(at):
    at.button(key="one_step").click().run()
    open_fold(at, "compare")
    at.button(key="keep_first").click().run()
    at.number_input(key="rate").set_value(0.01)
    set_short(at)
    at.button(key="start").click().run()
    wait_for(at, lambda at: progress(at) == "60 of 60 training steps" and len(moments(at, 1)) > 2)
    assert at.session_state[FIRST].position == 1
    assert [len(training_losses(at, index)) for index in (0, 1)] == [2, 61]
    assert moments(at, 0)[-1].startswith("After 1 training step, ") and moments(at, 1)[-1].startswith(
        "After 60 training steps, "
    )
    assert any("learning rate: 0.003 → 0.01" in line for line in texts(at))
    assert [element.value for element in at.main.subheader] == ["The first run", "The second run"]
    at.button(key="forget_first").click().run()
    assert not at.main.subheader


def test_afterwards_one_ablates_heads(at):
    at.selectbox(key="task").set_value("last").run()
    set_short(at)
    at.button(key="start").click().run()
    wait_for_end(at)
    open_fold(at, "heads_off")
    assert len(moments(at)) == len(film_steps(at.session_state[RUN].recording.snapshot_steps(60))) > 10
    table = at.dataframe[-1].value
    assert list(table["ablated"]) == [*(f"layer 1, head {n}" for n in (1, 2, 3, 4)), "all of layer 1"]


def test_one_press_leaves_a_head_out_and_another_brings_it_back(at):
    at.selectbox(key="task").set_value("last").run()
    set_short(at)
    assert "left_out" not in {group.key for group in at.get("button_group")}, "nothing is trained yet"
    at.button(key="start").click().run()
    wait_for_end(at)
    run = at.session_state[RUN]
    at.pills(key="left_out").set_value((0, 2)).run()
    less = {row["x"]: row["y"] for row in curve(at, "loss") if row["line"].startswith("without layer 1, head 3")}
    assert list(less) == film_steps(run.recording.snapshot_steps(60))
    for step in (0, 20, 60):
        expected = ablate_heads(run.recording.settings, run.recording.snapshot(step), [(0, 2)])
        assert less[step] == pytest.approx(expected.loss, abs=1e-5)
    named = [row["name"] for _, tables, _ in charts(at) for row in tables.get("names", [])]
    (name,) = [one for one in named if one.startswith("without")]
    assert name == f"without layer 1, head 3: {number(less[60])}"
    assert any("Without layer 1, head 3 the evaluation loss is" in line for line in texts(at))
    at.pills(key="left_out").set_value(None).run()
    assert not [row for row in curve(at, "loss") if row["line"].startswith("without")]


def test_below_the_film_of_a_text_stand_its_windows(at):
    assert at.dataframe[0].value.values.tolist() == [
        ["1", "hello␣wo", "ello␣wor"],
        ["2", "ello␣wor", "llo␣worl"],
        ["3", "llo␣worl", "lo␣world"],
    ]
    at.text_input(key="learn").set_value("<b>abcdefghijklmnop</b>").run()
    assert at.dataframe[0].value.values.tolist()[0][1] == "<b>abcde"
    assert len(at.dataframe[0].value) == 6 and any(line.endswith("The first 6 are shown here.") for line in texts(at))


def test_what_is_given_back_follows_the_run(at):
    def given_back():
        (cells,) = [
            tables["cells"]
            for _, tables, _ in charts(at)
            if any(row["cell_tag"].startswith("|given_back ") for row in tables.get("cells", ()))
        ]
        return [[row["v"] for row in cells if row["cell_tag"].startswith(f"|{key} ")] for key in ("given_back", "x")]

    at.selectbox(key="task").set_value("vectors").run()
    before, x = given_back()
    set_short(at)
    at.button(key="start").click().run()
    wait_for_end(at)
    after, still = given_back()
    assert still == x and len(x) == 32

    def furthest(given):
        return max(abs(one - other) for one, other in zip(given, x, strict=True))

    assert furthest(after) < furthest(before) / 2


def titles(at):
    return [(table["title"], table["role"]) for table in film(at)["tables"]["matrices"]]


@pytest.mark.parametrize("said", ["1.7", "", None, 3, "0.0 or 1=1"])
def test_a_click_on_what_is_no_head_leaves_none_out(at, said):
    state = {"run_film": {"pressed": said}}
    with patch.object(training_view, "get_state", state.get), patch.object(training_view, "set_state") as kept:
        press_head("run_film", "left_out", ModelConfig(vocabulary=3, context=5, d_model=6, n_layers=1, n_heads=2))
    kept.assert_not_called()


def test_the_map_of_a_head_that_is_left_out_is_grey_and_its_title_says_so(at):
    at.selectbox(key="task").set_value("last").run()
    at.button(key="one_step").click().run()
    assert titles(at) == [(f"layer 1, head {n}", "weight") for n in (1, 2, 3, 4)]
    at.pills(key="left_out").set_value((0, 2)).run()
    assert titles(at)[2] == ("layer 1, head 3: left out", "muted") and titles(at)[1] == ("layer 1, head 2", "weight")
    assert [table["key"] for table in film(at)["tables"]["matrices"]] == ["0.0", "0.1", "0.2", "0.3"]


def test_a_head_that_the_new_model_does_not_have_is_not_left_out(at):
    at.selectbox(key="task").set_value("last").run()
    at.button(key="one_step").click().run()
    at.pills(key="left_out").set_value((0, 3)).run()
    at.selectbox(key="task").set_value("copy").run()
    at.button(key="reset").click().run()
    at.button(key="one_step").click().run()
    assert not at.exception
    assert not [row for row in curve(at, "loss") if row["line"].startswith("without")]


@pytest.mark.parametrize("part", ["compare", "heads_off", "keep"])
def test_a_class_may_do_without_a_part(part):
    labels = {"compare": "Compare two runs", "heads_off": "Ablate a head", "keep": "Save the model"}
    folds = [fold.label for fold in open_page("learning/train", hide=part).expander]
    assert not any(labels[part] in label for label in folds)
    assert sum(any(label in fold for fold in folds) for label in labels.values()) == 2


def test_a_model_that_may_look_ahead_is_told_apart_from_one_that_learnt(at):
    def told():
        return [line[line.index("With the later") :] for line in texts(at) if "with them hidden" in line]

    at.selectbox(key="task").set_value("noise").run()
    run = at.session_state[RUN]
    leak = measure_future_leak(run.recording.settings, run.recording.snapshot(0))
    assert told() == [render_all(leak_sentences(leak))]
    at.toggle(key="train_causal").set_value(True).run()
    assert not told()
    at.selectbox(key="task").set_value("reverse").run()
    assert not told()


def test_a_film_of_many_moments_lets_others_go_first_and_a_single_one_does_not(at, monkeypatch):
    said = []
    monkeypatch.setattr(training_view, "lower_priority", lambda: said.append(progress))
    set_short(at)
    assert not said
    at.button(key="start").click().run()
    wait_for_end(at)
    assert said


def test_a_page_drawn_anew_by_itself_lets_others_go_first_once(at, monkeypatch):
    turns, seconds = [], iter((-1.0,))
    for turn in (process.page_turn, process.later_turn):
        noted = partial(lambda turn, **how: turns.append(turn.__name__) or turn(**how), turn)
        monkeypatch.setattr(process, turn.__name__, noted)
    monkeypatch.setattr(process.scheduler(), "wanted", dict)
    monkeypatch.setattr(compare_runs, "picture_seconds", lambda: next(seconds, 100.0))
    at.button(key="start").click().run()
    assert turns == ["page_turn", "later_turn"]
    at.button(key="pause").click().run()
    assert turns == ["page_turn", "later_turn", "page_turn"]


def test_the_film_of_a_run_that_stands_still_is_made_once(at, monkeypatch):
    made, cells = [], []
    noted = lambda told, real: lambda *args, **how: told.append(how) or real(*args, **how)  # noqa: E731
    monkeypatch.setattr(training_view, "train_screen", noted(made, training_view.train_screen))
    monkeypatch.setattr(drawing, "film_of", noted(cells, drawing.film_of))
    set_short(at)
    at.button(key="start").click().run()
    wait_for_end(at)
    before = len(made), len(cells), film(at)
    at.run()
    assert (len(made), len(cells), film(at)) == before
