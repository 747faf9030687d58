"""The lesson on tokens with a real model, as a visitor uses it, and without one."""

from visiting import chart, open_page, texts

from lessons.one_head.tokens.cutting import TEXT_AT_FIRST, cut, cutting_screen
from lessons.screen import render_all

PAGE = "one_head/tokens"


def tokens_shown(at, place=0):
    return [row["text"] for row in chart(at, place)[1]["token_text"]]


def test_without_the_model_the_example_stands_there_and_a_panel_offers_it():
    at = open_page(PAGE)
    assert any("cuts your own text into tokens" in element.value for element in at.markdown)
    assert any(button.label.startswith("Get the model") for button in at.button)
    assert any(text.key == "stranger" for text in at.text_input), "the example looks words up"
    small = open_page(PAGE, cuts="example")
    assert not any(button.label.startswith("Get the model") for button in small.button)


def test_ones_own_text_is_cut_and_its_merges_are_played_one_by_one(smollm2):
    at = open_page(PAGE)
    assert tokens_shown(at)[:4] == ["The", "␣cat", "␣didn", "'t"]
    cutting = cut(smollm2, TEXT_AT_FIRST)
    word = cutting.longest
    steps = cutting.words[word].steps
    for step in range(len(steps)):
        assert len(tokens_shown(at, 1)) == len(steps[step])
        assert render_all(cutting_screen(cutting, word, step).figures[1].notice) in texts(at)
        if step < len(steps) - 1:
            at.button(key="merge_next").click().run()
    assert at.button(key="merge_next").disabled and not at.exception
    at.button(key="merge_back").click().run()
    assert len(tokens_shown(at, 1)) == len(steps[-2])
    at.text_input(key="cut").set_value("Ça <b>鰯</b> ![x](http://127.0.0.1/a)").run()
    assert not at.exception and tokens_shown(at)[:3] == ["Ç₁", "Ç₂", "a"]
    assert not any("127.0.0.1" in element.value for element in at.markdown)


def test_a_link_restores_the_text_the_word_and_the_step(smollm2):
    at = open_page(PAGE, cut="un unbelievable story", merge_word=2, merges=3)
    cutting = cut(smollm2, "un unbelievable story")
    assert render_all(cutting_screen(cutting, 1, 3).figures[1].notice) in texts(at)
    at = open_page(PAGE, cut="x", merge_word=9, merges=70)
    assert not at.exception and tokens_shown(at) == ["x"]


def test_of_a_real_model_as_the_example_no_word_is_asked_for_that_its_table_may_not_hold(smollm2):
    at = open_page(PAGE, cuts="example", example="language", says_language="the cat and the dog")
    assert not at.exception and not any(text.key == "stranger" for text in at.text_input)
