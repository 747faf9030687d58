"""The lesson on the language model as a visitor uses it."""

import pytest
from visiting import chart, open_page, source_shown, texts

from attention_core.language_model import language_model
from lessons.example.language_model_text import ReadChoices, first_head_named, read
from lessons.read.lesson import HEADING, NOT_CLAIMED, how_it_was_read, no_pronoun_head, read_screen
from lessons.screen.format import render, render_all
from lessons.screen.screen import Arcs, HeadMaps, Matrices, Parts

LONG = " ".join(["the old man saw a dog in the house and"] * 4)  # 40 words
HOSTILE = "<b>bold</b> **stars** $x^2$ [a](http://127.0.0.1:9) 🙂 {0}"


def open_read(**query):
    return open_page("real_model/read", **query)


def drawn(screen):
    return [figure for figure in screen.figures if isinstance(figure, Arcs | HeadMaps | Parts | Matrices)]


def check_page(at, choices):
    """The charts and the words are those of the lesson."""
    screen, said = read_screen(choices), " ".join(texts(at))
    for index, figure in enumerate(drawn(screen)):
        assert chart(at, index)[0]["name of the figure"] == render(figure.name)
        assert chart(at, index)[2] == (render_all(figure.notice) or render(figure.name))
    for sentence in (*how_it_was_read(choices), *NOT_CLAIMED, no_pronoun_head()):
        assert render(sentence) in said
    assert all(render(sentence) in said for figure in screen.figures for sentence in figure.notice)


def test_the_page_opens_with_a_head_that_has_a_name():
    at, (layer, head) = open_read(), first_head_named("previous token")
    assert render(HEADING) in [caption.value for caption in at.caption]
    check_page(at, ReadChoices(layer=layer, head=head, word=len(read(ReadChoices()).encoded.ids) - 1))
    arcs = chart(at)[1]["arcs"]  # nothing is covered: the answers to the questions do not stand in the figures
    heavy = [arc for arc in arcs if arc["weight"] > 0.5 and not arc["self"]]
    assert heavy and all(arc["middle"] == pytest.approx((arc["token"] + arc["key"]) / 2) for arc in arcs)


@pytest.mark.parametrize(
    ("text", "said_twice"), [("dog", False), (LONG, False), (LONG, True), (HOSTILE, False), ("", False)]
)
def test_a_cold_link_opens_any_text(text, said_twice):
    at = open_read(read="own", read_text=text, read_head="2.3", twice=str(said_twice).lower(), head_off="true")
    choices = ReadChoices(text, twice=said_twice, layer=1, head=2, off=True)
    assert at.text_input(key="read_text").value == text
    check_page(at, choices)
    words = chart(at)[1]["words"]
    assert [word["text"] for word in words] == [name.text for name in read(choices).names]
    assert not [element.value for element in at.markdown if text and text in element.value]


def test_names_are_swapped_only_where_there_are_two():
    at = open_read(read="names")
    assert "mary" in [word["text"] for word in chart(at)[1]["words"]][:2]
    at.toggle(key="names_swapped").set_value(True).run()
    assert [word["text"] for word in chart(at)[1]["words"]][1] == "john"
    assert "names_swapped" not in [toggle.key for toggle in open_read(read="cat").toggle]


def test_a_head_is_switched_off_and_its_cost_is_said():
    at = open_read(read_head="4.1")
    assert not [line for line in texts(at) if "Without layer 4, head 1" in line]
    at.toggle(key="head_off").set_value(True).run()
    assert [line for line in texts(at) if "Without layer 4, head 1 its mean surprise" in line]
    titles = [row["text"] for row in chart(at, 2)[1]["bars"] if row["kind"] == "title"]
    assert titles == ["the whole model", "without layer 4, head 1"]


def test_the_word_stands_in_the_link_and_gives_way_to_the_nearest():
    at = open_read(read="cat", word="4")
    assert [word["chosen"] for word in chart(at)[1]["words"]].index(True) == 3
    at = open_read(read="cat", word="60")
    n = len(language_model().encode("The cat sat on the mat because it was tired.").ids)
    assert [word["chosen"] for word in chart(at)[1]["words"]].index(True) == n - 1


def test_a_weight_can_be_followed_to_query_and_key():
    at = open_read(read="cat")
    at.session_state["trace_open"] = at.session_state["trace_all"] = True
    at.run()
    assert any("query · key, both turned by their positions" in line for line in texts(at))
    assert any("÷ √32" in code.value for code in at.code)


def test_the_code_is_what_ran():
    assert source_shown(open_read()).startswith("def attend(")


def test_no_switch_is_offered_that_would_cover_nothing():
    at = open_read(cover=None)
    assert "cover" not in [toggle.key for toggle in at.toggle] and at.get("vega_lite_chart")
