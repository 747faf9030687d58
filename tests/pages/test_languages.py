"""Every page in other languages: complete, each visitor in one's own, and links that mean the same in all."""

import re

import pyarrow as pa
import pytest
from google.protobuf.message import Message
from pseudo import spoken_by_all
from visiting import open_page, visitor

import words
from attention_ui.contents import CONTENTS
from lessons.example.presets import PRESETS
from lessons.example.task_models import TASK_SOURCES
from lessons.model.heads.example import HEADS_PRESETS
from lessons.model.read.choices import TEXTS
from words import FIRST, LANGUAGES, speaking

PAGES = [entry.file.removesuffix(".py") for entry in CONTENTS]
CODES = [code for code in LANGUAGES if code != FIRST]
SETTINGS = [{}, {"example": "pronouns", "cover": "true", "picture": "sentence"}]
# Fields of Streamlit's messages that nobody reads.
UNREAD = {
    "query_param_key",
    "type",
    "shortcut",
    "raw_values",
    "component_name",
    "js_source_path",
    "css_source_path",
    "language",
    "id",
    "element_id",
    "form_id",
    "url",
    "key",
    "color",
    "theme",
    "url_path",
    "icon",
    "name",
    "default",
    "placeholder",
    "selection_mode",
    "deferred_file_id",
}
READ_IN_TABLES = {"text", "say", "says", "name", "rest", "wide", "line"}
WORD = re.compile(r"[A-Za-z]{3,}")
# Code, names of the field, models and people, what models read, and letters of formulas.
ENGLISH = {
    *("PyTorch", "NumPy", "ALiBi", "MLP", "Letter", "CSV", "Top", "Concat", "MultiheadAttention"),
    *("GPT", "Llama", "Mistral", "Gemma", "Radford", "Brown", "Touvron", "Jiang", "Team", "small"),
    *("loss", "output", "weights", "scores", "scaled", "masked", "logit", "logits", "unembed", "after"),
    *(
        "textcolor",
        "mathrm",
        "softmax",
        "frac",
        "sum",
        "textstyle",
        "quad",
        "qquad",
        "mathbb",
        "times",
        "text",
        "cdot",
        "lor",
    ),
    *(
        "infty",
        "sqrt",
        "underbrace",
        "scriptstyle",
        "leftarrow",
        "Rightarrow",
        "lvert",
        "rvert",
        "approx",
        "top",
        "big",
    ),
    *("cup", "ldots", "max", "exp", "nan", "inf", "sin", "cos", "blue", "orange"),
}
# Whose texts are English on purpose.
EXEMPT = re.compile(r"<!doctype|github|SmolLM|arXiv|nn\.|torch|scaled_dot_product|^\{|^[a-z]+$")
QUOTED = re.compile(r"“[^”]*”|'[^']*'|\$[^$]*\$|\bd_model\b")  # tokens, formulas and a name of the field


def read_by_a_visitor(at):
    """Every text on a page, and in the tables of its charts."""
    return (text for block in at._tree.children.values() for text in read_in(block))


def read_in(block):
    for child in block.children.values():
        if hasattr(child, "children"):
            if child.proto is not None:
                yield from strings(child.proto)
            yield from read_in(child)
        elif getattr(child, "proto", None) is not None and child.type not in ("html", "code", "iframe"):
            for dataset in getattr(child.proto, "datasets", ()):
                table = pa.ipc.open_stream(dataset.data.data).read_all()
                for name in READ_IN_TABLES & set(table.column_names):
                    yield from (text for text in set(table[name].to_pylist()) if isinstance(text, str))
            yield from strings(child.proto)


def strings(proto):
    for field, value in proto.ListFields():
        if field.name not in UNREAD and field.name != "spec":
            for one in [value] if isinstance(value, str | bytes | int | float | bool | Message) else value:
                if isinstance(one, Message):
                    yield from strings(one)
                elif isinstance(one, str):
                    yield one


@pytest.mark.part(2)
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("settings", SETTINGS, ids=["numbers", "asked"])
def test_no_english_is_left_not_even_of_a_visitor_who_was_here_before(page, settings, monkeypatch):
    open_page(page, **settings)
    with spoken_by_all(monkeypatch):
        at = open_page(page, **settings)
        vocabulary = tokens_read(page)
        for text in read_by_a_visitor(at):
            left = set(WORD.findall(QUOTED.sub("", text))) - ENGLISH - vocabulary
            assert not left or EXEMPT.search(text), text


def tokens_read(page):
    """The words of the examples: models read English in every language, and the language model predicts it."""
    texts = [source.known + " " + source.sentence for source in TASK_SOURCES.values()]
    texts += [" ".join(preset.tokens or ()) for preset in PRESETS.values()]
    texts += [" ".join(getattr(preset, "tokens", ())) for preset in HEADS_PRESETS.values()]
    texts += [title for preset in PRESETS.values() if isinstance(title := preset.title, str)]
    texts += [text.lower() for text in TEXTS.values()] + list(TEXTS.values())
    return {word for text in texts for word in WORD.findall(text)} | {
        "hello",
        "world",
        "sells",
        "sea",
        "shells",
        "start",
    }


@pytest.mark.part(3)
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_in_every_language(page, code):
    with speaking(code):
        at = visitor(page, lang=words.tag_of(code)).run()
    assert not at.exception
    assert at.session_state["language"] == code


def test_two_visitors_read_each_their_own_language_whatever_the_other_has_read():
    page = "one_head/softmax"
    before = open_page(page)
    with speaking("de"):
        german = visitor(page, lang="de").run()
    after = open_page(page)
    texts = [sorted(map(str, set(read_by_a_visitor(at)))) for at in (before, german, after)]
    assert texts[0] == texts[2]
    assert any(text == "Temperatur" for text in texts[1]) and not any(text == "Temperature" for text in texts[1])


def test_a_choice_is_named_alike_in_every_language():
    asked = {"mask": "window", "masking": "late", "example": "mat"}
    links = []
    for code in ("en", "de", "ja"):
        with speaking(code):
            at = visitor("one_head/mask", lang=code, **asked).run()
            at.segmented_control(key="masking").set_value("difference").run()
        assert not at.exception
        links.append({name: at.query_params[name] for name in (*asked, "masking")})
    assert links[0] == links[1] == links[2] and links[0]["masking"] == "difference"


def test_a_link_with_the_english_label_of_a_choice_still_means_it():
    with speaking("fr"):
        at = visitor("one_head/mask", lang="fr", mask="drawn by hand").run()
        assert at.segmented_control(key="mask").value == "hand"


def test_what_the_link_says_wrongly_is_told_in_the_readers_language():
    with speaking("de"):
        at = visitor("one_head/softmax", lang="de", seed="12.5").run()
    told = [text.value for text in at.text if "seed = 12.5" in text.value]
    assert told and "The link" not in told[0]


def test_a_language_that_is_not_there_is_told_and_the_browsers_own_stays():
    at = visitor("one_head/softmax", lang="klingon").run()
    assert not at.exception and at.session_state["language"] == "en"
    assert any("lang = klingon" in text.value for text in at.text)
