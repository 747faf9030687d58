"""The lesson on cost as a visitor uses it."""

from visiting import chart, open_page, source_shown, texts

from lessons.example.example import Example, run_example
from lessons.screen import format_value, render
from lessons.teachers.class_vote.question_link import read_asked, written_asked
from lessons.today.cost.lesson import Choices, screen

COST = "today/cost"


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


def test_of_a_layer_of_the_real_model_the_window_of_that_model_slides(smollm2):
    at = open_cost(example="language")
    said, of_example = (" ".join(texts(page)) for page in (at, open_cost(example="sentence")))
    assert f"{smollm2.name} sees 24 tokens at once here" in said
    assert "A small model with random weights sees 32 tokens at once here" in of_example
    assert "its window slides over" not in " ".join(texts(open_cost(cost_of="gpt2")))
    seen = at.session_state["screens_seen"]["cost"]
    assert read_asked(written_asked(seen)).choices == seen.choices, "a class can be asked about it"


def test_a_link_to_what_was_measured_here_opens_the_counts_and_says_so():
    at = open_cost(cost_view="measured")
    assert [line for line in texts(at) if "measured" in line] == [
        "Times measured on this machine are gone from Cost; the counts are shown."
    ]
    assert source_shown(at).startswith("def count_layer(")
