"""Models of one's own: offered by name where the real model is used, said in a sentence where they cannot be."""

import re
from dataclasses import replace

import pytest
from gguf_files import gguf_of, random_llama
from visiting import captions, open_page, texts

from attention_core.stored.tokenizing import gguf_tokenizer
from attention_core.text.byte_pairs import BYTE_OF
from attention_ui.session.chosen_model import is_local
from lessons.example.example import Example, run_example
from lessons.example.real_model import cut_text
from lessons.example.token_names import called_alone, parts_of_text, text_of, vocabulary_of
from lessons.model.read.earned_names import called
from lessons.screen import render
from models.folders import model_named
from models.opening import shared_model
from tests.rounding import assert_close_for_size

TOKENS = [*BYTE_OF, "Ġt", "he", "Ġthe"]
WORDS = {
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "smollm",
    "tokenizer.ggml.tokens": TOKENS,
    "tokenizer.ggml.token_type": [1] * len(TOKENS),
    "tokenizer.ggml.merges": ["Ġ t", "h e", "Ġt he"],
}
SIZES = {"vocab_size": len(TOKENS), "hidden_size": 36, "num_attention_heads": 4, "max_position_embeddings": 300}


@pytest.fixture
def own(smollm2, tmp_path, monkeypatch):
    """A folder with a small model, one whose file is cut short, and one that stretches its positions."""
    whole = gguf_of(random_llama(**SIZES), **WORDS)
    (tmp_path / "tiny.gguf").write_bytes(whole)
    (tmp_path / "short.gguf").write_bytes(whole[: len(whole) * 2 // 3])
    (tmp_path / "stretched.gguf").write_bytes(
        gguf_of(random_llama(**SIZES), **WORDS, llama__rope__scaling__type="yarn", llama__rope__scaling__factor=2.0)
    )
    monkeypatch.setenv("ATTENTION_LAB_MODELS", str(tmp_path))
    return tmp_path


@pytest.fixture
def tiny(own):
    return shared_model(model_named("tiny"))


def offered(at):
    return [box for box in at.selectbox if box.key == "language_model"]


PAGES = {
    "model/read": {"example": None, "read_view": "one"},
    "model/generate": {"writer": "language"},
    "one_head/tokens": {"cuts": "real"},
    "one_head/scores": {"example": "language"},
}


@pytest.mark.parametrize("page", PAGES)
def test_only_where_there_are_several_is_one_chosen_and_the_link_says_which(page, smollm2, monkeypatch, own):
    at = open_page(page, **PAGES[page])
    (box,) = offered(at)
    assert box.options == ["SmolLM2-135M-Instruct", "short", "stretched", "tiny"] and box.value == box.options[0]
    assert "language_model" not in at.query_params
    box.set_value("tiny").run()
    assert not at.exception and at.query_params["language_model"] == "tiny"
    monkeypatch.delenv("ATTENTION_LAB_MODELS")
    assert page != "one_head/scores" or not offered(open_page(page, **PAGES[page]))


def test_it_reads_under_numbers_alone_and_opens_in_the_lessons(tiny):
    at = open_page("model/read", example=None, language_model="tiny", read_head="2.3")
    heads = at.selectbox(key="read_head")
    assert heads.options == [f"{layer}.{head}" for layer in range(3) for head in range(4)] and heads.value == "2.3"
    for view in ("maps", "sink", "guesses", "off", "patch", "flip"):
        shown = open_page("model/read", example=None, language_model="tiny", read_view=view)
        assert not shown.exception, view
    at.button(key="open_head").click().run()
    assert not at.exception and at.query_params["language_model"] == "tiny"


def test_the_lessons_show_its_layer_and_say_whose_it_is(tiny):
    at = open_page(
        "one_head/scores", example="language", language_model="tiny", layer=3, head=4, says_language="the dog"
    )
    trace = run_example(Example(source="language", text="the dog", layer=3, real_model=tiny))
    assert render(trace.trained.origin()) in captions(at) and not any("two trillion" in line for line in captions(at))
    heads = tiny.trace(cut_text(tiny, "the dog").ids).layers[2].attention.heads
    assert_close_for_size(trace.heads.weights, heads.weights, heads.scaled / 2)


@pytest.mark.parametrize("name", ["short", "stretched", "gone", "../tiny"])
def test_of_one_that_cannot_be_used_a_sentence_says_why_and_the_usual_one_is_there(name, own):
    at = open_page("model/read", example=None, language_model=name)
    assert not at.exception and at.selectbox(key="read_head").value == "13.8"
    said = " ".join(texts(at))
    if name in ("short", "stretched"):
        assert f"{name} cannot be used: " in said and "In its place SmolLM2-135M-Instruct is used." in said
        assert offered(at)[0].value == name
    else:
        assert f"{name} is not on this machine; SmolLM2-135M-Instruct is used." in said


@pytest.fixture
def misfits(own):
    """Folders whose embedding has a row less than the tokenizer has tokens, and one or many rows more."""
    for name, rows in (("narrow", len(TOKENS) - 1), ("padded", len(TOKENS) + 1), ("wide", 7 * len(TOKENS))):
        random_llama(**SIZES | {"vocab_size": rows}).save_pretrained(own / name)
        gguf_tokenizer(WORDS).save(str(own / name / "tokenizer.json"))
    return own


READ_VIEWS = ("one", "maps", "sink", "guesses", "off", "patch", "flip")


@pytest.mark.parametrize("page", PAGES)
def test_a_tokenizer_with_more_tokens_than_there_are_rows_is_said_in_a_sentence(page, misfits):
    at = open_page(page, **PAGES[page] | {"language_model": "narrow"})
    said = " ".join(texts(at))
    assert f"narrow cannot be used: expected a row of the embedding table for each of its {len(TOKENS)} tokens" in said
    assert f"but the table has {len(TOKENS) - 1}" in said and "In its place SmolLM2-135M-Instruct is used." in said
    (box,) = offered(at)
    assert "tiny" in box.options and box.value == "narrow"
    box.set_value("tiny").run()
    assert not at.exception and "cannot be used" not in " ".join(texts(at))


@pytest.mark.parametrize("name", ["padded", "wide"])
def test_rows_without_a_token_are_called_by_their_numbers(name, misfits):
    model = shared_model(model_named(name))
    rows, last = model.transformer.config.vocabulary, len(TOKENS)
    names = vocabulary_of(model).tokens
    assert len(names) == rows and names[last:] == tuple(f"<{i}>" for i in range(last, rows))
    assert called_alone(model, last) == f"<{last}>" and called_alone(model, TOKENS.index("Ġthe")) == " the"
    assert parts_of_text(model, (TOKENS.index("Ġthe"), last, TOKENS.index("Ġt"))) == (" the", f"<{last}>", " t")


@pytest.mark.parametrize("view", READ_VIEWS)
def test_a_model_with_rows_to_spare_is_read(view, misfits):
    open_page("model/read", example=None, language_model="wide", read_view=view)


def test_a_model_with_rows_to_spare_writes_them_by_their_numbers(misfits):
    at = open_page("model/generate", writer="language", language_model="wide", length=20)
    text = next(code.value for code in at.code if code.language != "python")
    numbers = [int(number) for number in re.findall(r"<(\d+)>", text)]
    assert len(numbers) > 5 and min(numbers) >= len(TOKENS) and max(numbers) < 7 * len(TOKENS)
    model = shared_model(model_named("wide"))
    assert text_of(model, [TOKENS.index("Ġthe"), *numbers[:1], TOKENS.index("Ġt")]) == f" the<{numbers[0]}> t"


def test_a_model_built_otherwise_is_no_example_of_the_lessons(tiny):
    biased = replace(tiny.kept, config=replace(tiny.kept.config, qkv_bias=True))
    trace = run_example(Example(source="language", text="the dog", layer=3, real_model=replace(tiny, kept=biased)))
    assert trace.trained.layer == 13 and "built differently" in render(trace.notes[0])


def test_names_are_those_that_this_very_model_has_earned(tiny):
    assert render(called(None, 1, 2)) == "1.2"


@pytest.mark.parametrize(
    ("local", "headers", "address"),
    [
        (True, {"Origin": "http://localhost:8501"}, None),
        (True, {"Origin": "http://127.0.0.1:8501"}, None),
        (False, {"Origin": "https://lab.example.org"}, None),
        (False, {"Origin": "http://localhost:8501", "X-Forwarded-For": "10.0.0.7"}, None),
        (False, {"Origin": "http://localhost:8501"}, "10.0.0.7"),
        (False, {}, None),
        (False, {"Origin": "null"}, None),
    ],
)
def test_the_cache_of_the_hub_is_for_whoever_sits_at_the_machine(local, headers, address):
    assert is_local(headers, address) == local
