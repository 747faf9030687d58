"""The page that writes, as a visitor uses it."""

import json

import pytest
from visiting import ROOT, answer, ask_about_the_figure, asked, chart, chosen, in_drawer, open_page, source_shown, texts

from attention_core.learning.tasks import CharacterTask
from attention_core.learning.training import TrainingSettings
from attention_core.measured.observe import SAMPLE_CHARACTERS
from attention_core.model.generation import generate
from attention_core.model.sampling import Sampling
from attention_core.model.small_model import ModelConfig
from attention_ui.session.training_runs import RUN
from attention_ui.writing.growing import growing_text
from attention_ui.writing.writers import shipped, shipped_settings
from lessons.example.token_names import text_of
from lessons.model.generate.lesson import Writing, generate_screen
from lessons.model.generate.real_writer import real_screen, real_writing, write_on
from lessons.screen import render, render_all
from runs.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from runs.recording import Recording

PAGE = "model/generate"
WRITES_STILL = "The model is still writing; the question comes with the last token."


def text_written(at):
    return next(code.value for code in at.code if code.language != "python")


def expected(name="notebook", start=None, length=12, seed=0, **sampling):
    """What the page must show: where the text begins, every new character, and how the newest was drawn."""
    checkpoint = shipped(name).checkpoint
    task = checkpoint.settings.task
    start = tuple(start or task.tokens[0])
    sampling = Sampling(**sampling)
    written = generate(checkpoint.model(), task.vocabulary, start, length, sampling, seed)
    return Writing(task, start, written, written[-1], sampling, seed)


def new_text(*args, **sampling):
    return "".join(new.token for new in expected(*args, **sampling).written)


def small_checkpoint(text="abcabcabcabc", steps=4):
    task = CharacterTask(text, 5)
    model = ModelConfig(vocabulary=len(task.vocabulary), context=5, d_model=6, n_heads=3)
    settings = TrainingSettings(task=task, model=model, steps=steps, seed=3)
    recording = Recording(settings)
    recording.record(steps)
    return Checkpoint(settings, steps, recording.snapshot(steps).weights)


def upload(at, data, name="model.safetensors"):
    at.session_state["keep_open"] = True
    at.run()
    at.file_uploader(key="model_file").set_value((name, data, "application/octet-stream")).run()
    assert not at.exception, at.exception


def test_the_notebooks_model_writes_and_runs_into_the_character_it_never_read():
    at = open_page(PAGE)
    screen = generate_screen(expected())
    assert text_written(at) == "h" + new_text()
    for place, figure in enumerate(screen.figures):
        assert render_all(figure.notice) in texts(at)
        assert chart(at, place)[2] in (None, render_all(figure.notice))
    assert {render(remark) for remark in screen.remarks} <= set(texts(at))
    assert any("“d” as an input" in text for text in texts(at))


def test_a_cold_link_restores_everything():
    at = open_page(PAGE, writer="sea", temp=1.5, top_k=5, top_p=0.9, draw_seed=7, begin="by the ", length=9)
    writing = expected("sea", "by the ", 9, 7, temperature=1.5, top_k=5, top_p=0.9)
    assert text_written(at) == "by the " + "".join(new.token for new in writing.written)
    assert render_all(generate_screen(writing).figures[0].notice) in texts(at)
    bars = {(r["line"], r["panel"]): r for r in chart(at, 0)[1]["bars"] if r["kind"] in ("bar", "drawn", "dropped")}
    final = sorted(writing.newest.draw.final.tolist(), reverse=True)
    kept = [r for (_, panel), r in sorted(bars.items()) if panel == 2 and r["kind"] != "dropped"]
    assert [r["to"] - r["from"] for r in kept] == pytest.approx([p for p in final if p], abs=1e-6)
    assert len(bars) == 3 * len(final)


def test_one_more_and_back_are_each_others_undoing():
    at = open_page(PAGE)
    before = text_written(at)
    at.button(key="write_more").click().run()
    assert text_written(at)[:-1] == before and at.number_input(key="length").value == 13
    at.button(key="write_back").click().run()
    assert text_written(at) == before
    at.button(key="write_again").click().run()
    assert text_written(at) == before[:2] and at.button(key="write_back").disabled


def test_it_plays_pauses_and_stays_where_it_was_paused():
    at = open_page(PAGE, length=3)
    short = text_written(at)
    at.button(key="write_play").click().run()
    assert at.button(key="write_play").label == "Pause" and at.number_input(key="length").disabled
    at.run()
    at.run()
    played = text_written(at)
    assert played.startswith(short) and len(played) == len(short) + 3
    assert not any(button.label == "Another question" for button in at.button), "no question about a text that moves"
    at.button(key="write_play").click().run()
    assert text_written(at) == played and at.number_input(key="length").value == 6
    assert at.button(key="write_play").label == "Play"


def test_playing_ends_with_the_longest_text():
    at = open_page(PAGE, length=198)
    at.button(key="write_play").click().run()
    at.run()
    assert len(text_written(at)) == 201
    assert at.button(key="write_play").label == "Play" and at.button(key="write_more").disabled
    assert at.number_input(key="length").value == 200


@pytest.mark.parametrize(
    ("change", "sampling"),
    [
        (("temp", "0"), {"temperature": 0.0}),
        (("temp", "2.5"), {"temperature": 2.5}),
        (("top_k", "1"), {"top_k": 1}),
        (("top_p", "0.05"), {"top_p": 0.05}),
    ],
)
def test_every_control_changes_how_it_draws(change, sampling):
    at = open_page(PAGE)
    key, value = change
    at.select_slider(key=key).set_value(value).run()
    assert text_written(at) == "h" + new_text(**sampling)


def test_another_seed_draws_another_text():
    at = open_page(PAGE)
    before = text_written(at)
    at.number_input(key="draw_seed").set_value(1).run()
    assert text_written(at) != before


@pytest.mark.parametrize(
    "text",
    ["<b>he</b>", "![x](http://127.0.0.1:9/a.png)", "$x^2$ {0} :red[no]", "\x00\x07\u202e", "👩‍👩‍👧", "h" * 3000, "  "],
)
def test_a_hostile_start_is_cut_to_what_the_model_knows_and_shown_literally(text):
    at = open_page(PAGE, begin=text)
    at.text_input(key="begin").set_value(text).run()
    assert not at.exception
    assert set(text_written(at)) <= set("hello world")
    markup = "".join(str(e.value) for kind in ("markdown", "caption", "header", "subheader") for e in at.get(kind))
    assert "<b>" not in markup and "127.0.0.1" not in markup


@pytest.mark.parametrize(
    "query",
    [
        {"temp": "hot"},
        {"temp": "-1"},
        {"temp": "1e309"},
        {"top_k": "0"},
        {"top_k": "x"},
        {"top_p": "2"},
        {"top_p": "nan"},
        {"draw_seed": "-5"},
        {"draw_seed": "9" * 30},
        {"length": "0"},
        {"length": "1e9"},
        {"writer": "nobody"},
        {"writer": "../../etc/passwd"},
        {"temp": "", "top_k": "", "length": ""},
    ],
)
def test_links_that_ask_for_the_impossible_are_repaired_and_say_so(query):
    at = open_page(PAGE, **query)
    assert any("The link says" in text for text in texts(at))
    assert text_written(at).startswith("h")


@pytest.mark.parametrize("temp", ["1.0", "2", "2.0"])
def test_a_temperature_may_be_written_with_or_without_its_zero(temp):
    at = open_page(PAGE, temp=temp)
    assert float(at.select_slider(key="temp").value) == float(temp)
    assert not any("The link says" in text for text in texts(at))


def test_the_model_of_this_session_writes_what_the_training_page_showed():
    at = open_page("learning/train", task="characters")
    at.button(key="one_step").click().run()
    sample = next(code.value for code in at.code if code.language != "python")
    at.switch_page(str(ROOT / f"pages/{PAGE}.py")).run()
    at.segmented_control(key="writer").set_value("mine").run()
    at.number_input(key="length").set_value(SAMPLE_CHARACTERS).run()
    assert not at.exception
    assert text_written(at) == sample
    writer = at.session_state["own_writer"]
    at.number_input(key="length").set_value(3).run()
    assert at.session_state["own_writer"] is writer, "the same model is not copied again and again"
    at.session_state[RUN].step_once()
    at.run()
    assert at.session_state["own_writer"].checkpoint.updates == 2


@pytest.mark.parametrize(("writer", "said"), [("mine", "No model was trained"), ("file", "No model has been uploaded")])
def test_a_model_that_is_not_there_gives_way_to_the_notebooks(writer, said):
    at = open_page(PAGE, writer=writer)
    assert any(said in text for text in texts(at))
    assert "Until then the notebook’s model writes." in texts(at)
    assert text_written(at) == "h" + new_text()


def test_an_untrained_model_says_so():
    at = open_page("learning/train", task="characters")
    at.switch_page(str(ROOT / f"pages/{PAGE}.py")).run()
    at.segmented_control(key="writer").set_value("mine").run()
    assert any("no training step yet" in text for text in texts(at))


def test_a_file_that_was_saved_here_is_brought_back_and_writes():
    at, checkpoint = open_page(PAGE), small_checkpoint()
    upload(at, save_checkpoint(checkpoint))
    at.run()
    assert at.segmented_control(key="writer").value == "file"
    task = checkpoint.settings.task
    written = generate(checkpoint.model(), task.vocabulary, ("a",), 12, Sampling(), 0)
    assert text_written(at) == "a" + "".join(new.token for new in written)


@pytest.mark.parametrize(
    "data", [b"", b"not a model", save_checkpoint(small_checkpoint())[:-5], b"\xff" * 5000, b"PK\x03\x04" * 40]
)
def test_a_file_that_cannot_be_used_is_refused_in_a_sentence_and_nothing_is_lost(data):
    at = open_page(PAGE)
    upload(at, save_checkpoint(small_checkpoint()))
    at.run()
    before = text_written(at)
    upload(at, data, "other.safetensors")
    assert text_written(at) == before
    said = [text for text in texts(at) if text.startswith("This file cannot be used: expected ")]
    assert len(said) == 1 and said[0].endswith("The model you uploaded before is kept.")
    upload(at, save_checkpoint(small_checkpoint("xyzxyzxyzxyz")), "third.safetensors")
    at.run()
    assert not any("cannot be used" in text for text in texts(at))
    assert set(text_written(at)) <= set("xyz")


def test_the_text_of_a_file_is_shown_literally_too():
    at = open_page(PAGE)
    upload(at, save_checkpoint(small_checkpoint("<b>![x](http://127.0.0.1:9/a.png)$x$ <b>")))
    at.run()
    assert text_written(at).startswith("<")
    markup = "".join(str(e.value) for kind in ("markdown", "caption", "header", "subheader") for e in at.get(kind))
    assert "127.0.0.1" not in markup


def test_a_model_with_broken_weights_is_explained_and_the_page_lives():
    at = open_page(PAGE)
    checkpoint = small_checkpoint()
    at.session_state["brought_model"] = Checkpoint(checkpoint.settings, 4, checkpoint.weights * float("nan"))
    at.segmented_control(key="writer").set_value("file").run()
    assert not at.exception
    assert any("This model cannot write: every score must be a finite number" in text for text in texts(at))
    at.button(key="write_more").click().run()
    at.segmented_control(key="writer").set_value("notebook").run()
    assert not at.exception and text_written(at).startswith("h")


def test_the_downloads_are_there_and_a_file_has_no_history():
    at = open_page(PAGE)
    at.session_state["keep_open"] = True
    at.run()
    labels = {b.proto.label: b.proto.disabled for b in at.get("download_button")}
    assert labels.pop("Numbers as CSV") is False, "the figure of the heads offers its own"
    assert labels == {"Download the model": False, "Download the history (CSV)": False}
    upload(at, save_checkpoint(small_checkpoint()))
    at.run()
    assert {b.proto.label: b.proto.disabled for b in at.get("download_button")}["Download the history (CSV)"]


@pytest.mark.parametrize("name", ["notebook", "sea"])
def test_the_models_that_come_with_the_app_are_what_their_settings_make(name):
    settings, writer = shipped_settings(name), shipped(name)
    recording = Recording(settings)
    recording.record(settings.steps)
    assert recording.snapshot(settings.steps).weights.tolist() == writer.checkpoint.weights.tolist()
    losses = [loss for _step, loss, *_ in writer.history()[1:]]
    assert losses == list(recording.losses(settings.steps))
    again = load_checkpoint(save_checkpoint(writer.checkpoint))
    assert again.settings == settings and again.weights.tolist() == writer.checkpoint.weights.tolist()


def test_the_question_is_about_the_newest_character_and_is_marked_against_it():
    at = open_page(PAGE)
    question = generate_screen(expected()).ask(0)
    assert render(question.prompt) == asked(at)
    answer(at, "generate", "ABCD"[question.right])
    assert f"Yes. {render(question.cards[question.right].reply)}" in texts(at)
    at.button(key="write_more").click().run()
    assert chosen(at, "generate") is None


def bars(at):
    """The names of the tokens from top to bottom, and the shares that are written beside their bars."""
    rows = chart(at, 0)[1]["bars"]
    names = [row["text"].removeprefix("▸ ") for row in rows if row["kind"] == "name"]
    return names, [row["text"] for row in rows if row["kind"] not in ("name", "title") and row["text"]]


def test_the_distribution_waits_for_the_answer_and_its_order_does_not_tell_it():
    at, parts = open_page(PAGE, cover="true"), [part.name for part in generate_screen(expected()).figures[0].parts]
    ask_about_the_figure(at, "generate")
    assert bars(at) == (sorted(parts), [])
    assert not any("The new token is" in text for text in texts(at))
    assert any("the last token read" in text for text in texts(at)), "that tells nothing"
    answer(at, "generate", "A")
    names, shares = bars(at)
    assert names == parts != sorted(parts) and len(shares) == 3 * len(parts)
    assert any("The new token is" in text for text in texts(at))


def test_a_text_that_moves_asks_nothing_and_hides_nothing():
    at = open_page(PAGE)
    at.button(key="write_play").click().run()
    assert at.title and not at.header and bars(at)[1]


def test_the_source_shown_is_the_source_that_ran():
    import inspect

    shown = source_shown(open_page(PAGE))
    assert inspect.getsource(generate).rstrip() in shown


def test_the_template_stays_while_the_text_grows():
    at = open_page(PAGE)
    before = {k: v for k, v in chart(at, 0)[0].items() if k != "datasets"}
    at.button(key="write_more").click().run()
    after = {k: v for k, v in chart(at, 0)[0].items() if k != "datasets"}
    assert json.dumps(before) == json.dumps(after)


@pytest.mark.parametrize("part", ["predict", "keep", "code"])
def test_a_class_may_be_shown_less(part):
    at = open_page(PAGE, hide=part)
    labels = {e.label for e in (*at.expander, *at.button)} | set(in_drawer(at))
    gone = {"predict": "Another question", "keep": "Save this model, or upload one", "code": "The code that ran"}
    assert gone[part] not in labels
    assert labels >= set(gone.values()) - {gone[part]}


def test_without_the_real_model_a_panel_offers_it_and_the_notebooks_writes():
    at = open_page(PAGE)
    assert at.segmented_control(key="writer").value == "language"
    assert any("a real language model goes on with your own text" in element.value for element in at.markdown)
    assert any(button.label.startswith("Get the model") for button in at.button)
    assert "Until then the notebook’s model writes." in texts(at) and text_written(at) == "h" + new_text()
    chosen_small = open_page(PAGE, writer="notebook")
    assert text_written(chosen_small) == text_written(at)
    assert not any(button.label.startswith("Get the model") for button in chosen_small.button)


def test_who_has_trained_no_model_is_offered_the_language_model():
    assert any("or choose the language model" in text for text in texts(open_page(PAGE, writer="mine")))


def test_the_real_model_writes_from_ones_own_text_step_by_step(smollm2):
    asked = {"writer": "language", "draw_seed": 5, "temp": 0.7, "top_k": 20, "length": 3, "begin": "Ça va? <b>日本</b>"}
    at, how = open_page(PAGE, **asked), Sampling(temperature=0.7, top_k=20)
    ids = tuple(smollm2.tokenizer.encode("Ça va? <b>日本</b>").ids)
    assert text_written(at) == text_of(smollm2, write_on(smollm2, ids, 3, how, 5))
    assert text_written(at).startswith("Ça va? <b>日本</b>")
    at.button(key="write_more").click().run()
    longer = real_writing(smollm2, ids, 4, how, 5)
    assert text_written(at) == longer.text_to_see and not at.exception
    screen = real_screen(longer, None)
    for place, figure in enumerate(screen.figures):
        assert render_all(figure.notice) in texts(at) and chart(at, place)[2] in (None, render_all(figure.notice))
    at.selectbox(key="attention_of").set_value("13.8").run()
    assert render_all(real_screen(longer, (13, 8)).figures[1].notice) in texts(at)
    tokens = [row["text"] for row in chart(at, 1)[1]["token_text"]]
    assert tokens[:3] == ["Ç₁", "Ç₂", "a"] and len(tokens) == len(longer.ids) - 1
    at.button(key="write_back").click().run()
    assert text_written(at) == text_of(smollm2, write_on(smollm2, ids, 3, how, 5)).rstrip(" ")


@pytest.mark.usefixtures("smollm2")
def test_what_was_written_for_a_reader_of_another_language_is_shown_in_ones_own():
    pages = (open_page(PAGE, writer="language", length=3, lang=code) for code in ("en", "de", "en"))
    below = [chart(at, 1)[1]["token_text"][1]["below"] for at in pages]
    assert below == ["4%", "4\u00a0%", "4%"]


def test_a_long_text_is_shown_as_it_grows_and_asked_about_when_it_is_whole(smollm2, monkeypatch):
    monkeypatch.setattr("attention_ui.writing.growing.WRITING_SECONDS", 0)
    ids = tuple(smollm2.tokenizer.encode("One two three").ids)
    whole, seen = write_on(smollm2, ids, 3, Sampling(), 77), []
    at = open_page(PAGE, writer="language", begin="One two three", draw_seed=77, length=3)
    for n_new in (1, 2, 3):
        so_far = real_writing(smollm2, ids, n_new, Sampling(), 77)
        assert text_written(at) == so_far.text_to_see and so_far.ids == whole[: len(ids) + n_new]
        assert (WRITES_STILL in texts(at)) == (n_new < 3)
        seen.append(any(button.label == "Another question" for button in at.button))
        at.run()
    assert seen == [False, False, True] and at.number_input(key="length").value == 3
    assert text_written(at) == text_of(smollm2, whole)


def test_a_text_that_grows_plays_on_from_what_is_written(smollm2, monkeypatch):
    monkeypatch.setattr("attention_ui.writing.growing.WRITING_SECONDS", 0)
    ids = tuple(smollm2.tokenizer.encode("One two three").ids)
    at = open_page(PAGE, writer="language", begin="One two three", draw_seed=78, length=50)
    at.button(key="write_play").click().run()
    text = growing_text(smollm2, ids, Sampling(), 78)
    assert text.written(50) == 2 and text_written(at) == text_of(smollm2, text.ids)
    at.run()
    assert text.written(50) == 3 and text_written(at) == text_of(smollm2, text.ids)
    at.button(key="write_play").click().run()
    assert at.number_input(key="length").value == 3
