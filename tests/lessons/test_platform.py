"""Questions for a learning platform: what a file holds is what the screens ask, and others read it as it was meant."""

import io
import json
import re
import shutil
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch

from attention_core.base.randomness import generator
from attention_core.text.embeddings import embed, embedding_table
from lessons.screen import number, render
from lessons.teachers.class_plan.own_question import OwnQuestion
from lessons.teachers.platform.gift import write_gift
from lessons.teachers.platform.items import (
    MOST_QUESTIONS,
    ON_PLATFORM,
    PlatformChoices,
    items_of,
    own_items,
    screens_of,
)
from lessons.teachers.platform.qti import write_qti
from words import speaking

READERS = Path(__file__).parent / "readers"
QTI = "{http://www.imsglobal.org/xsd/imsqti_v2p1}"
HOSTILE = "<b>&amp; {a=b} ~c #d :e \\f %50% -> ]]> 'g' \"h\""
OWN = (
    OwnQuestion(kind="number", prompt="1/4 = ? {~#:}", number=0.25, tolerance=0.01),
    OwnQuestion(kind="choices", prompt="Which & why?", cards=("=a", "~b", "<c>"), right=2),
    OwnQuestion(kind="number", prompt="How small?", number=0.000001, tolerance=1e-9),
    OwnQuestion(kind="word", prompt="Say it"),
    OwnQuestion(kind="choices", prompt="A poll", cards=("a", "b")),
)


@pytest.fixture(autouse=True)
def shapes(shapes_taken_for_granted):
    """The screens are those of the lessons, whose own tests look at every shape."""


def as_read(*texts):
    return " ".join(" ".join(texts).split())


def written(element):
    """All that is read in an element, word by word."""
    return as_read(*element.itertext())


def as_explained(item):
    """All that is said to whoever has answered."""
    return as_read(*item.explanation, *([rf"\({item.formula}\)"] if item.formula else []))


def html(text):
    """HTML as XML, in which a picture is closed and an attribute holds no sign of it."""
    closed = re.sub(r'<img((?: \w+="[^"]*")*)>', lambda found: f"<img{found[1].replace('<', '&lt;')}/>", text)
    return ElementTree.fromstring(f"<div>{closed}</div>")


def file_of(write, items):
    """The whole file."""
    file = io.BytesIO()
    assert sum(1 for _ in write(items, file)) == len(items), "one at each step"
    return file.getvalue()


def package(items):
    """The files of a package, as XML by name."""
    with zipfile.ZipFile(io.BytesIO(file_of(write_qti, items))) as packed:
        assert packed.testzip() is None
        return {name: ElementTree.fromstring(packed.read(name)) for name in packed.namelist()}


def test_every_item_says_what_its_screen_asks_and_no_question_is_left_out():
    choices = PlatformChoices(questions=3, versions=2, seed=7)
    items = list(items_of(choices))
    assert {item.key.rpartition("_")[0] for item in items} == set(ON_PLATFORM)
    screens = {(lesson, seed): screen for seed in (7, 8) for lesson, _, screen in screens_of(choices, seed)}
    for item in items:
        lesson, _, number = item.key.rpartition("_")
        question = screens[lesson, item.seed].ask(int(number) - 1)
        assert item.prompt == render(question.prompt) and item.right == question.right
        assert [option.text for option in item.options] == [render(card.text) for card in question.cards]
        assert [option.feedback for option in item.options] == [render(card.reply) for card in question.cards]
        assert item.explanation[0] == render(question.cards[question.right].reply)
    prompts = {item.prompt for item in items}
    assert prompts == {render(screen.ask(n).prompt) for screen in screens.values() for n in range(3)}


def test_what_is_to_be_predicted_comes_without_its_numbers_and_what_is_read_off_with_all():
    look, predict = items_of(PlatformChoices(lessons=("dot_product",), questions=2))
    assert [table.title for table in predict.tables] == ["X"]
    assert [table.title for table in look.tables] == ["X", "X Xᵀ", "softmax of each row", "weights × X"]
    table = embedding_table(6, 4, generator(1, "embedding"))
    x = embed(torch.arange(6), table)
    assert look.tables[0].cells == tuple(tuple(number(value) for value in row) for row in x.tolist())


def test_of_those_that_are_wanted_all_versions_are_written_and_no_other_question():
    choices = PlatformChoices(lessons=("mask", "softmax"), versions=3)
    items = list(items_of(choices, ["softmax_2", "mask_1", "own_1"]))
    assert [item.identifier for item in items] == [
        f"{key}_seed_{seed}" for seed in (1, 2, 3) for key in ("mask_1", "softmax_2")
    ]
    assert not list(items_of(choices, ["own_1"]))


def test_versions_that_read_alike_are_written_once():
    items = list(items_of(PlatformChoices(lessons=("pytorch", "softmax"), questions=1, versions=4)))
    texts = [(item.prompt, frozenset(item.options), item.tables, item.explanation) for item in items]
    assert len(set(texts)) == len(texts) and [item.key for item in items].count("softmax_1") == 4


def test_a_version_with_its_answers_in_another_order_reads_alike():
    (item,) = items_of(PlatformChoices(lessons=("softmax",), questions=1))
    turned = replace(item, options=item.options[::-1], seed=2, title="", right=3 - item.right)
    assert turned.fingerprint == item.fingerprint
    for change in (
        {"prompt": ""},
        {"tables": ()},
        {"explanation": ()},
        {"options": item.options[1:]},
        {"key": "mask_1"},
    ):
        assert replace(item, **change).fingerprint != item.fingerprint


def test_a_package_lists_its_items_and_each_has_one_right_answer():
    items = [*items_of(PlatformChoices(versions=2, text=HOSTILE)), *own_items(OWN)]
    files = package(items)
    listed = [part.get("href") for part in files.pop("imsmanifest.xml").iter() if part.tag.endswith("}resource")]
    assert sorted(listed) == sorted(files) and len(files) == len(items) == len({item.identifier for item in items})
    for item in items:
        whole = files[f"items/{item.identifier}.xml"]
        assert re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", whole.get("identifier"))
        letters = [choice.get("identifier") for choice in whole.iter(f"{QTI}simpleChoice")]
        (right,) = (value.text for value in whole.iter(f"{QTI}value"))
        assert letters == list("ABCD"[: len(item.options)])
        assert right == letters[item.right] if letters else float(right) == item.number
        said = {part.get("identifier"): written(part) for part in whole.iter(f"{QTI}modalFeedback")}
        assert [said[letter] for letter in letters] == [as_read(option.feedback) for option in item.options]
        assert whole.find(f"{QTI}itemBody/{QTI}p").text == item.prompt


GIFT_ITEM = re.compile(r"::(.*?)(?<!\\)::\[html\](.*?)(?<!\\)\{\n(.*)\n\}\n?", re.S)
GIFT_ANSWER = re.compile(r"([=~])(.*?)(?<!\\)#(.*)")


def unescaped(text):
    return re.sub(r"\\([\\~=#{}:])", r"\1", text)


def read_gift(text):
    """What GIFT means by this text: of each question its title, what is asked, the answers and the explanation."""
    for question in re.split(r"\n\n", re.sub(r"\$CATEGORY.*\n\n", "", text)):
        if question.strip():
            title, asked, answers = GIFT_ITEM.fullmatch(question).groups()
            answers, _, explained = answers.partition("\n####")
            lines = [GIFT_ANSWER.fullmatch(line).groups() for line in answers.split("\n") if line[0] in "=~"]
            answers = [(sign, html(unescaped(chosen)), html(unescaped(said))) for sign, chosen, said in lines]
            yield unescaped(title), html(unescaped(asked)), answers, html(unescaped(explained))


def test_no_text_is_a_sign_of_gift_and_all_of_it_comes_back():
    items = [*items_of(PlatformChoices(versions=2, text=HOSTILE)), *own_items(OWN)]
    text = file_of(write_gift, items).decode()
    assert text.startswith("$CATEGORY: Attention Lab\n\n") and text.count("$CATEGORY") == 1, "all in one category"
    for item, (title, asked, answers, explained) in zip(items, read_gift(text), strict=True):
        assert title == item.title and asked.find("p").text == item.prompt
        assert written(explained) == as_explained(item)
        assert [sign == "=" for sign, *_ in answers] == [place == item.right for place in range(len(item.options))]
        for (_, chosen, said), option in zip(answers, item.options, strict=True):
            assert written(chosen) == as_read(option.text, option.reason) and written(said) == as_read(option.feedback)
    assert "{\n#0.25:0.01\n" in text and "{\n#0.000001:0.000000001\n" in text


def drawn(figure, covered):
    """A stand-in for a picture."""
    return f"<svg><!-- {'covered' if covered else figure.key} =#~{{}} --></svg>".encode()


def test_pictures_take_the_place_of_tables_and_say_their_numbers():
    def read_off(**more):
        choices = PlatformChoices(lessons=("dot_product",), questions=2)
        return list(items_of(choices, **more))

    for item, plain in zip(read_off(draw=drawn), read_off(), strict=True):
        (picture,) = item.pictures
        assert item.tables == () and plain.pictures == () and item.notes == plain.notes
        told = [text for table in plain.tables for text in (table.title, *table.rows, *sum(table.cells, ()))]
        assert all(text in picture.alt for text in told) and picture.alt.count(";") >= sum(
            len(table.rows) for table in plain.tables
        )
    assert read_off(draw=lambda figure, covered: None) == read_off()
    assert not any(item.pictures for item in items_of(PlatformChoices(lessons=("scores",)), ["scores_2"], draw=drawn))


def test_seventy_questions_are_a_small_file_of_gift():
    items = list(items_of(PlatformChoices(questions=MOST_QUESTIONS)))
    assert len(items) >= 70
    size = len(file_of(write_gift, items))
    assert size / len(items) * 70 < 300_000 and b"data:" not in file_of(write_gift, items)


@pytest.mark.parametrize("seed", range(1, 61))
def test_nothing_in_an_exported_question_needs_powers_of_ten(seed):
    for item in items_of(PlatformChoices(questions=MOST_QUESTIONS, seed=seed, lessons=("pytorch", "cost", "heads"))):
        told = [item.prompt, *item.notes, *item.explanation]
        told += [text for option in item.options for text in (option.text, option.reason, option.feedback)]
        told += [cell for table in item.tables for row in table.cells for cell in row]
        assert not [text for text in told if re.search(r"\de[−-]?\d", text)], item.key


def test_pictures_stand_beside_the_items_of_a_package():
    items = list(items_of(PlatformChoices(lessons=("scores", "heads"), versions=2, text=HOSTILE), draw=drawn))
    assert max(len(item.pictures) for item in items) == 2 and min(len(item.pictures) for item in items) == 0
    with zipfile.ZipFile(io.BytesIO(file_of(write_qti, items))) as packed:
        listed = [
            part.get("href")
            for part in ElementTree.fromstring(packed.read("imsmanifest.xml")).iter()
            if "file" in part.tag
        ]
        assert sorted(listed) == sorted(set(packed.namelist()) - {"imsmanifest.xml"})
        for item in items:
            whole = ElementTree.fromstring(packed.read(f"items/{item.identifier}.xml"))
            shown = [(packed.read(f"items/{held.get('src')}"), held.get("alt")) for held in whole.iter(f"{QTI}img")]
            assert shown == [(picture.svg, picture.alt) for picture in item.pictures]


def test_a_poll_and_a_word_make_no_item():
    assert [item.prompt for item in own_items(OWN)] == ["1/4 = ? {~#:}", "Which & why?", "How small?"]


@pytest.mark.parametrize(
    "wrong", [{"lessons": ()}, {"lessons": ("read",)}, {"questions": 0}, {"versions": 21}, {"seed": -1}]
)
def test_choices_that_make_no_file_are_refused(wrong):
    with pytest.raises(ValueError, match=r"lessons are some of|goes from"):
        PlatformChoices(**wrong)


@pytest.fixture(scope="session")
def readers(pytestconfig):
    """The readers by others, installed once into the cache of the tests."""
    if shutil.which("npm") is None:
        pytest.skip("no npm here, which brings the readers")
    place = pytestconfig.rootpath / ".pytest_cache" / "readers"
    shutil.copytree(READERS, place, dirs_exist_ok=True)
    lock = place / "package-lock.json"
    if (place / "installed").exists() and (place / "installed").read_bytes() == lock.read_bytes():
        return place
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"npm could not bring the readers: {done.stderr.strip()[-300:]}")
    shutil.copy(lock, place / "installed")
    return place


def read_by_others(place, items):
    """What gift-pegjs and qti-convert understand of both files."""
    with zipfile.ZipFile(io.BytesIO(file_of(write_qti, items))) as packed:
        names = [f"items/{item.identifier}.xml" for item in items]
        said = {"gift": file_of(write_gift, items).decode(), "qti": [packed.read(name).decode() for name in names]}
    done = subprocess.run(["node", "read.mjs"], cwd=place, input=json.dumps(said), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("code", ["en", "ja"])
def test_readers_by_others_find_every_question_its_right_answer_and_its_feedback(readers, code):
    with speaking(code):
        choices = PlatformChoices(questions=MOST_QUESTIONS, versions=2, seed=314)
        drawn_ones = items_of(PlatformChoices(questions=1, seed=5, text=HOSTILE), draw=drawn)
        items = [*items_of(choices), *items_of(PlatformChoices(text=HOSTILE)), *drawn_ones, *own_items(OWN)]
        found = read_by_others(readers, items)
    for of_format in ("gift", "qti"):
        for item, read in zip(items, found[of_format], strict=True):
            asked = html(read["asked"])
            assert read["title"] == item.title and written(asked.find("p")) == as_read(item.prompt)
            cells = [as_read("".join(cell.itertext())) for cell in asked.iter("td")]
            assert cells == [as_read(c) for table in item.tables for row in table.cells for c in row]
            assert [held.get("alt") for held in asked.iter("img")] == [picture.alt for picture in item.pictures]
            assert written(html(read["explained"])) == as_explained(item)
            if not item.options:
                assert (read["number"]["number"], read["number"]["range"]) == (item.number, item.tolerance)
                continue
            assert [place for place, answer in enumerate(read["answers"]) if answer["right"]] == [item.right]
            for answer, option in zip(read["answers"], item.options, strict=True):
                assert written(html(answer["text"])) == as_read(option.text, option.reason)
                assert written(html(answer["said"])) == as_read(option.feedback)
