"""The first screen as a visitor uses it: with the model, while its heads are measured, and without it."""

import base64
import json
import threading

import numpy as np
import pytest
from visiting import ROOT, asked, chart, open_page, read_plainly, texts

from attention_ui.process import head_jobs
from lessons.screen import render, render_all
from lessons.shared.head_jobs import JOBS, HeadJobs, Share
from lessons.start.overview.model_view import SENTENCES, ModelChoices, model_screen, read_sentence, shipped_sentence
from models.measured import Measurement

LAYERS, HEADS = 30, 9
MEASURED = (*(job.key for job in JOBS), "others_to_noun", "it_to_animal", "it_to_thing")


def first(**link):
    return open_page(**({"example": None, "picture": None, "cover": None} | link))


def made_up_jobs():
    """Head 13.8 looks from “it” to nouns, all heads of layer 18 do induction, the others nothing that has a name."""
    shares = {name: [[0.0] * HEADS for _ in range(LAYERS)] for name in MEASURED}
    shares["it_to_noun"][13][8] = 0.79
    shares["induction"][18] = [0.9] * HEADS
    return HeadJobs({name: Share(rows, [[0.1] * HEADS] * LAYERS, 0.1, 9) for name, rows in shares.items()})


@pytest.fixture
def measured(smollm2, monkeypatch, tmp_path):
    """The model, with names of heads that need not be measured."""
    measurement = Measurement("made_up", 1, lambda model, say: made_up_jobs().as_json())
    monkeypatch.setattr(measurement, "file_of", lambda model: tmp_path / "made_up.json")
    monkeypatch.setattr(head_jobs, "MEASUREMENT", measurement)
    measurement.wait(smollm2)
    return smollm2


def view(at):
    """The tables of the figure."""
    return chart(at)[1]


def row_of(at, head, query):
    """What a head gives to each token from a query: that of the chosen one, or else all from its query."""
    seen = view(at)
    if head == seen["chosen"] and (query != seen["query"] or not seen["of_query"]):
        return seen["of_head"][query]
    rows = np.frombuffer(base64.b64decode(seen["of_query"]), "<f4").reshape(-1, query + 1)
    return rows[head].tolist()


def lead(at):
    return read_plainly(at.markdown[0].value)


def test_it_opens_with_the_question_one_number_and_the_head_at_work(measured):
    at, read = first(), read_sentence(measured, ModelChoices())
    screen = model_screen(read, made_up_jobs())
    assert asked(at, "title") == render(screen.headline) and ":blue[" in at.title[0].value
    assert lead(at) == render_all(screen.lead) and ":violet[80%]" in at.markdown[0].value
    assert chart(at)[2] == render_all(screen.figures[0].notice)
    assert row_of(at, 13 * 9 + 8, 7) == pytest.approx(read.row.tolist(), abs=1e-6)
    assert len(view(at)["heads"]) == 270 and [job["count"] for job in view(at)["jobs"]] == [1, 0, 9, 0, 0, 0, 0, 260]
    assert not dict(at.query_params), "nothing was chosen yet"


def test_another_head_another_word_and_the_switch_all_follow_and_stand_in_the_link(measured):
    at = first()
    spec = json.dumps(chart(at)[0])
    at.selectbox(key="look_head").set_value("18.6").run()
    at.selectbox(key="look_asks").set_value(10).run()
    at.toggle(key="look_off").set_value(True).run()
    screen = model_screen(read_sentence(measured, ModelChoices(layer=18, head=6, asks=9, off=True)), made_up_jobs())
    assert asked(at, "title") == render(screen.headline) and lead(at) == render_all(screen.lead)
    assert chart(at)[2] == render_all(screen.figures[0].notice)
    guesses = screen.figures[0].guesses
    assert [row["share"] for row in view(at)["guesses"]] == pytest.approx([guess.without for guess in guesses])
    assert [row["was"] for row in view(at)["guesses"]] == pytest.approx([guess.share for guess in guesses])
    link = {"look_head": "18.6", "look_asks": "10", "look_off": "true"}
    said = {"look_head": "18.6", "look_asks": "10"}  # the switch is bound by the browser itself
    assert {name: at.query_params[name] for name in said} == said
    assert json.dumps(chart(at)[0]) == spec, "only the data changes"
    assert asked(first(**link), "title") == asked(at, "title")


def test_a_sentence_of_ours_brings_its_head_and_one_s_own_keeps_the_chosen_one(measured):
    at = first()
    at.segmented_control(key="look_sentence").set_value("fox").run()
    assert at.text_input(key="look_text").value == SENTENCES["fox"] and at.selectbox(key="look_head").value == "18.6"
    assert "“fox”" in lead(at)
    at.segmented_control(key="look_sentence").set_value("animal").run()
    assert at.selectbox(key="look_head").value == "13.8" and "“animal”" in lead(at)
    at.selectbox(key="look_head").set_value("9.4").run()
    at.selectbox(key="look_asks").set_value(2).run()
    at.text_input(key="look_text").set_value("Anna put the book on the table and it").run()
    assert at.selectbox(key="look_head").value == "9.4" and "“it”" in asked(at, "title")
    assert at.segmented_control(key="look_sentence").value is None and "look_asks" not in at.query_params


HOSTILE = ["<b>bold</b> ![x](http://127.0.0.1:9/a.png)", "$x^2$ :red[no] {0} it", "\u200b", "👩\u200d👧 it 東京", "a"]


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_is_shown_as_it_is(measured, text):
    at = first(look_text=text)
    assert not at.exception and "![" not in at.title[0].value and "<b>" not in at.title[0].value
    assert view(at)["words"]


def test_following_a_head_makes_it_the_running_example(measured):
    at = first(look_head="9.4")
    at.button(key="follow_head").click().run()
    assert not at.exception
    assert (at.session_state["example"], at.session_state["says_language"]) == ("language", SENTENCES["cat"])
    # AppTest stays on the page that it has opened: what the link says arrives at another one as it was meant
    lesson = open_page("one_head/softmax", example="language", says_language=SENTENCES["cat"], layer=14, head=5)
    assert lesson.query_params["head"] == "5"
    assert not any("The link says" in line for line in texts(lesson))


def test_while_its_heads_are_measured_the_map_says_how_far_that_is(smollm2, monkeypatch, tmp_path):
    go_on, told = threading.Event(), threading.Event()

    def measure(model, say):
        say(0.25)
        told.set()
        assert go_on.wait(60)
        return made_up_jobs().as_json()

    measurement = Measurement("made_up", 1, measure)
    monkeypatch.setattr(measurement, "file_of", lambda model: tmp_path / "made_up.json")
    monkeypatch.setattr(head_jobs, "MEASUREMENT", measurement)
    measurement.of(smollm2)
    assert told.wait(60)
    at = first()
    assert {job for job, _ in view(at)["heads"]} == {-1} and view(at)["jobs"] == []
    assert "25% is done" in at.get("progress")[0].proto.text
    go_on.set()
    measurement.wait(smollm2)
    assert len(view(at.run())["jobs"]) == len(JOBS) + 1


def test_without_the_model_the_sentence_is_there_and_the_rest_says_how_to_get_it():
    at, screen = first(), model_screen(shipped_sentence(ModelChoices()), None)
    assert asked(at, "title") == render(screen.headline) and lead(at) == render_all(screen.lead)
    assert view(at)["heads"] == [] and view(at)["guesses"] == []
    assert row_of(at, 13 * 9 + 8, 7)[1] == pytest.approx(0.80, abs=0.01)
    assert at.button(key="get_the_model") and at.text_input(key="look_text").disabled
    assert at.toggle(key="look_off").disabled
    at.selectbox(key="look_head").set_value("13.0").run()
    at.selectbox(key="look_asks").set_value(2).run()
    asks = model_screen(shipped_sentence(ModelChoices(head=0, asks=1)), None)
    assert lead(at) == render_all(asks.lead) and asked(at, "title") == render(asks.headline)


def test_a_link_to_another_head_or_text_without_the_model_shows_what_ships():
    at = first(look_text="something else", look_head="3.1", look_off="true")
    assert not at.exception and "“cat”" in lead(at) and "of its attention" in lead(at)


@pytest.mark.parametrize("link", [{"example": "pronouns"}, {"example": "sentence", "text": "one two"}, {"seed": 7}])
def test_a_link_that_names_a_small_example_shows_that_one(link):
    at = first(**link)
    assert "ribbons" in view(at) and at.segmented_control(key="picture").value == "sentence"


def test_an_example_that_is_chosen_elsewhere_is_shown_by_a_small_picture():
    at = first()
    assert "model" in view(at)
    at.switch_page(str(ROOT / "pages/one_head/tokens.py")).run()
    at.selectbox(key="example").set_value("induction").run()
    at.switch_page(str(ROOT / "pages/start/overview.py")).run()
    assert "ribbons" in view(at)
    at.segmented_control(key="picture").set_value("model").run()
    assert "model" in view(at) and "model" in view(at.run())


@pytest.mark.parametrize("link", [{"example": "language"}, {"picture": "model", "example": "pronouns"}])
def test_a_link_to_the_real_model_shows_it(link):
    assert "model" in view(first(**link))


def test_the_other_pictures_are_one_click_away():
    at = first()
    for name, table in (("sentence", "ribbons"), ("row", "cells"), ("steps", "cells"), ("model", "model")):
        at.segmented_control(key="picture").set_value(name).run()
        assert not at.exception and table in view(at)
    assert not any("{" in text for text in texts(at))
