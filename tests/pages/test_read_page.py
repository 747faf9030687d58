"""The lesson on the real model as a visitor uses it, with the model and without."""

import pytest
from test_link_fuzz import agrees, bound_widgets, in_range, packed, shown_text, told
from visiting import chart, charts, open_page, source_shown, texts, visitor

from attention_ui.process import head_jobs
from lessons.example.real_model import DEFAULT_TEXT
from lessons.model.read.choices import BEGINS, TEXTS, VIEW, ReadChoices
from lessons.model.read.lesson import NOT_CLAIMED, STANDS_HERE, TOPIC, read_screen
from lessons.model.read.reading import Reading, how_it_was_read
from lessons.screen import Table, render, render_all
from lessons.shared.head_jobs import JOBS, HeadJobs, Share
from models.measured import Measurement

HOSTILE = "<b>bold</b> **stars** $x^2$ [a](http://127.0.0.1:9) 🙂 {0}"


def open_read(**query):
    return open_page("model/read", **query)


def begun(view):
    """What the page shows of a view at first."""
    begin = BEGINS[view]
    layer, head = map(int, begin.head.split("."))
    text = TEXTS[begin.sentence] if view != "flip" else DEFAULT_TEXT
    return ReadChoices(view=view, text=text, layer=layer, head=head, word=7 if begin.word else None)


def test_without_the_model_the_page_says_what_will_stand_there():
    at = open_read(read_head="2.3", read_view="sink")
    assert [title.value for title in at.title] == [render(TOPIC)]
    assert render(STANDS_HERE) in [element.value for element in at.markdown]
    assert "get_the_model" in [button.key for button in at.button] and not charts(at)


@pytest.mark.parametrize("view", VIEW.options)
def test_a_view_shows_what_the_lesson_computes(view, smollm2):
    at, screen = open_read(read_view=view), read_screen(begun(view), smollm2)
    said, drawn = " ".join(texts(at)), [figure for figure in screen.figures if not isinstance(figure, Table)]
    if view == "flip":
        drawn = []  # which the encoder draws, where it is here
    for index, figure in enumerate(drawn):
        assert chart(at, index)[0]["name of the figure"] == render(figure.name)
        assert view == "one" or chart(at, index)[2] in (None, render_all(figure.notice) or render(figure.name))
    assert render(NOT_CLAIMED) in said
    assert all(render(sentence) in said for figure in screen.figures for sentence in figure.notice[:1])


def test_a_notice_that_a_reply_has_said_is_not_said_again_below_the_figure(smollm2):
    at, screen = open_read(read_view="flip"), read_screen(begun("flip"), smollm2)
    first, *others = [render(sentence) for figure in screen.figures for sentence in figure.notice]
    said = " ".join(texts(at))
    assert said.count(first) == 1 and all(other in said for other in others)
    at.button(key="read_card_A").click().run()
    said = " ".join(texts(at))
    assert said.count(first) == 1 and all(other in said for other in others)


@pytest.mark.parametrize("text", ["dog", HOSTILE, "", "word " * 60])
def test_a_cold_link_opens_any_text(text, smollm2):
    at = open_read(read="own", read_text=text, read_head="2.3", together="1,5,x,99")
    asked = ReadChoices(text=text, layer=2, head=3)
    words = [word["text"] for word in chart(at)[1]["words"]]
    assert words == [name.text for name in Reading(asked, smollm2).names]
    assert all(render(note) in texts(at) for note in how_it_was_read(Reading(asked, smollm2)))
    assert not [element.value for element in at.markdown if text.strip() and text in element.value]
    assert at.selectbox(key="read_head").value == "2.3"


def test_what_nobody_chose_goes_along_with_the_view_and_what_was_chosen_stays(smollm2):
    at = open_read()
    assert (at.selectbox(key="read").value, at.selectbox(key="read_head").value) == ("cat", "13.8")
    at.segmented_control(key="read_view").set_value("patch").run()
    assert (at.selectbox(key="read").value, at.selectbox(key="read_head").value) == ("names", "23.3")
    at.selectbox(key="read_head").set_value("29.1").run()
    at.segmented_control(key="read_view").set_value("sink").run()
    assert (at.selectbox(key="read").value, at.selectbox(key="read_head").value) == ("cat", "29.1")


def test_weights_of_chosen_words_are_summed_and_the_link_says_which(smollm2):
    at = open_read(together="2,6")
    assert "From “it”, the head gives “cat” and “mat” a total weight of 0.86." in " ".join(texts(at))
    at.multiselect(key="together").set_value([2]).run()
    assert "From “it”, the head gives “cat” a total weight of 0.80." in " ".join(texts(at))
    assert at.query_params["together"] in ("2", ["2"])


@pytest.fixture
def three_of_a_name(smollm2, monkeypatch, tmp_path):
    """The jobs of the heads, as if measured: three have one name, all others another."""
    named = [[0.9 if (i, j) in ((20, 0), (23, 3), (25, 2)) else 0.0 for j in range(9)] for i in range(30)]
    none, rest = ([[share] * 9 for _ in range(30)] for share in (0.0, 0.6))
    shares = {job.key: Share({"name_again": named, "first": rest}.get(job.key, none), none, 0.1, 9) for job in JOBS}
    jobs = HeadJobs(shares)
    measurement = Measurement("made_up", 1, lambda model, say: jobs.as_json())
    monkeypatch.setattr(measurement, "file_of", lambda model: tmp_path / "made_up.json")
    monkeypatch.setattr(head_jobs, "MEASUREMENT", measurement)
    measurement.wait(smollm2)


def test_all_heads_of_a_name_are_patched_at_once(three_of_a_name):
    at = open_read(read_view="patch", patch_heads="named")
    assert "With only these 3 heads taken from there" in " ".join(texts(at))
    at.segmented_control(key="patch_heads").set_value("one").run()
    assert "With only head 23.3 taken from there" in " ".join(texts(at))
    at.selectbox(key="read_head").set_value("29.1").run()
    assert at.segmented_control(key="patch_heads").options == ["one head", "several heads"], "267 are too many"


def test_heads_by_hand_are_patched_with_the_chosen_one_and_stand_in_the_link(smollm2):
    at = open_read(read_view="patch", patch_heads="several", read_heads="180,9999,x")
    assert "With only these 2 heads taken from there" in " ".join(texts(at))
    at.multiselect(key="read_heads").set_value([180, 227]).run()
    assert "With only these 3 heads taken from there" in " ".join(texts(at))
    assert at.query_params["read_heads"] in ("180,227", ["180,227"])
    at = open_read(read_view="patch", patch_heads="several", read_heads=",".join(map(str, range(100))))
    assert "With only these 30 heads taken from there" in " ".join(texts(at))


@pytest.mark.parametrize("view", VIEW.options)
def test_garbage_in_a_link_is_told_and_every_control_shows_something_that_it_offers(view, smollm2):
    asked = packed("model/read", list(VIEW.options).index(view)) | {"read_view": view}
    at = visitor("model/read", **asked).run()
    assert not at.exception and not any("Traceback" in line for line in texts(at))
    for name, widget in bound_widgets(at).items():
        assert in_range(widget), name
        assert name not in asked or agrees(name, widget, shown_text(asked[name])) or told(name, at), name


def test_the_word_stands_in_the_link_and_gives_way_to_the_nearest(smollm2):
    at = open_read(word="4")
    assert chart(at)[1]["chosen"] == 3
    at = open_read(word="48")
    assert chart(at)[1]["chosen"] == 9


def test_a_weight_can_be_followed_to_query_and_key(smollm2):
    at = open_read()
    at.session_state["trace_open"] = at.session_state["trace_all"] = True
    at.run()
    assert any("query · key, both turned by their positions" in line for line in texts(at))
    assert any("÷ √64" in code.value for code in at.code)


def test_the_code_is_what_ran(smollm2):
    assert source_shown(open_read()).startswith("def attend(")
    assert source_shown(open_read(read_view="guesses")).startswith("def stop_early(")


def test_no_switch_is_offered_that_would_cover_nothing(smollm2):
    at = open_read(cover=None)
    assert "cover" not in [toggle.key for toggle in at.toggle] and charts(at)


def test_a_head_opens_in_the_lessons_on_its_text(smollm2):
    at = open_page("model/read", example=None, read="names", read_head="23.3")
    at.button(key="open_head").click().run()
    names = ("example", "says_language", "layer", "head")
    assert not at.exception
    assert [at.session_state[name] for name in names] == ["language", TEXTS["names"], 24, 4], "both from 1 in links"
