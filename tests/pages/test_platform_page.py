"""The panel for a learning platform: what is listed, what is ticked, and the file that is saved."""

import io
import zipfile
from itertools import combinations, product
from xml.etree import ElementTree

import pytest
from visiting import open_page, texts

from attention_ui.figures.shares.sharing import WIDE
from attention_ui.page.drawing import picture_of
from attention_ui.practice import platform_view
from attention_ui.practice.platform_view import write_questions
from lessons.screen import letters
from lessons.teachers.class_plan.own_question import OwnQuestion
from lessons.teachers.class_plan.plan import Plan, Stop
from lessons.teachers.platform.gift import write_gift
from lessons.teachers.platform.items import ON_PLATFORM, PlatformChoices, items_of, undrawn
from lessons.teachers.platform.qti import write_qti
from words import LANGUAGES, speaking

PAGE = "teachers/take_home"
OWN = OwnQuestion(kind="number", prompt="<i>1/4</i>?", number=0.25, tolerance=0.01)
POLL = OwnQuestion(kind="choices", prompt="Which?", cards=("a", "b"))
SVG = "{http://www.w3.org/2000/svg}"
TWO = {"platform_lessons": "5,6", "platform_questions": 2}


def saved(at):
    return at.button(key="export_make").label


def file_of(choices, write, own=(), wanted=frozenset(), draw=picture_of):
    """The whole file."""
    file = io.BytesIO()
    for _ in write_questions(write, choices, own, wanted, draw, file):
        pass
    return file.getvalue()


def test_the_questions_are_listed_with_their_right_answers_and_saved():
    at = open_page(PAGE, paper="platform", **TWO)
    (table,) = at.dataframe
    assert list(table.value["lesson"]) == ["The causal mask"] * 2 + ["Softmax"] * 2 and saved(at) == "Save 4 questions"
    assert table.value["right answer"][1] == "None: exactly 0."
    everything = open_page(PAGE, paper="platform")
    assert len(set(everything.dataframe[0].value["lesson"])) == len(ON_PLATFORM)


def test_only_those_that_are_ticked_are_saved(monkeypatch):
    monkeypatch.setattr(platform_view, "picked_rows", lambda state: [0, 3, 99, -1, "1"])
    assert saved(open_page(PAGE, paper="platform", **TWO)) == "Save 2 questions"
    choices = PlatformChoices(lessons=("mask", "softmax"), questions=2, versions=2)
    gift = file_of(choices, write_gift, (OWN,), frozenset(["mask_1", "own_1"]), undrawn).decode()
    assert (
        gift.count("$CATEGORY") == 1
        and gift.count("::[html]") == 3
        and "Softmax" not in gift
        and "<p>&lt;i&gt;1/4&lt;/i&gt;?</p>" in gift
    )


def test_they_are_in_the_language_and_on_the_sentence_that_are_chosen():
    at = open_page(PAGE, paper="platform", platform_lang="de", platform_text="a <b>{c}</b> =d", **TWO)
    answers = list(at.dataframe[0].value["right answer"])
    assert any("0," in answer for answer in answers) and saved(at) == "Save 4 questions", "the page is not"
    assert any("„" in asked for asked in at.dataframe[0].value["question"])
    with speaking("de"):
        file = file_of(PlatformChoices(lessons=("mask",)), write_qti)
    with zipfile.ZipFile(io.BytesIO(file)) as packed:
        assert b'xml:lang="de"' in packed.read("items/mask_1_seed_1.xml")


def test_matrices_are_tables_in_gift_and_pictures_in_qti_unless_tables_are_wanted():
    choices = PlatformChoices(lessons=("mask",), questions=2)
    tables = file_of(choices, write_gift, draw=undrawn).decode()
    assert "<img" not in tables and tables.count("<table") == 2
    with zipfile.ZipFile(io.BytesIO(file_of(choices, write_qti))) as packed:
        pictures = [packed.read(name).decode() for name in packed.namelist() if name.endswith(".svg")]
    assert any("weights with the mask" in svg for svg in pictures)
    at = open_page(PAGE, paper="platform", **TWO)
    assert "platform_figures" not in {box.key for box in at.selectbox}, "a file of text has no pictures"
    at = open_page(PAGE, paper="platform", platform_file="qti", platform_figures="tables", **TWO)
    assert "platform_figures" in {box.key for box in at.selectbox}
    assert saved(at) == "Save 4 questions" and not at.exception


def test_every_figure_is_a_picture_and_only_single_numbers_are_tables():
    single = {"What the layer costs", "How far our numbers are from PyTorch's"}
    for item in items_of(PlatformChoices(questions=1), draw=picture_of):
        assert {table.title for table in item.tables} <= single, item.key
        assert bool(item.pictures) == (item.key != "train_1"), item.key
        for picture in item.pictures:
            assert ElementTree.fromstring(picture.svg).tag == f"{SVG}svg" and picture.alt


def texts_in(svg):
    """The texts of a picture, with where each begins and ends, in letters as wide as usual, and its height."""
    for text in ElementTree.fromstring(svg).iter(f"{SVG}text"):
        wide = letters(text.text) * 0.55 * float(text.get("font-size"))
        begins = float(text.get("x")) - wide * {"start": 0, "middle": 0.5, "end": 1}[text.get("text-anchor")]
        yield text.text, begins, begins + wide, float(text.get("y"))


SENTENCES = (
    "The cat sat on the mat",
    "incomprehensible counterrevolutionaries",
    "electroencephalographically incomprehensible counterrevolutionaries a b",
)


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("lesson", ["softmax", "cost"])
def test_every_text_of_a_picture_has_room(lesson, code):
    for sentence, number in product(SENTENCES, (0, 4)):
        choices = PlatformChoices(lessons=(lesson,), questions=5, text=sentence)
        with speaking(code):
            items = [item for item in items_of(choices, draw=picture_of)]
        svg = items[min(number, len(items) - 1)].pictures[0].svg
        left, _, wide, _ = map(float, ElementTree.fromstring(svg).get("viewBox").split())
        assert lesson == "cost" or wide > WIDE, "the table says what has room where the picture is so wide"
        texts = list(texts_in(svg))
        for one, begins, ends, _ in texts:
            assert left <= begins and ends <= left + wide, one
        for (one, begins, ends, high), (other, begin, end, at) in combinations(texts, 2):
            assert ends <= begin or end <= begins or abs(high - at) >= 12, (one, other)


def test_the_numbers_of_a_picture_are_those_of_its_table():
    for lesson, n_bars in (("softmax", 15), ("cost", 10)):  # five keys, thrice; five steps, twice
        choices = PlatformChoices(lessons=(lesson,), questions=1)
        (item,) = items_of(choices, draw=picture_of)
        (plain,) = items_of(choices)
        assert item.pictures[0].svg.count(b"<rect") == n_bars
        shown = {text for text, *_ in texts_in(item.pictures[0].svg)}
        numbers = plain.tables[0].cells if lesson == "cost" else plain.tables[0].cells[:2]  # weights are in percent
        assert {cell for line in numbers for cell in line} <= shown


def test_a_softmax_that_is_to_be_predicted_shows_its_scores_alone():
    choices = PlatformChoices(lessons=("softmax",), questions=5)
    free, *_, asked = (item.pictures[0].svg for item in items_of(choices, draw=picture_of))
    told = [{text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")} for svg in (free, asked)]
    assert {"0.57", "0.49", "35%"} <= told[0] and "0.57" in told[1] and not {"0.49", "35%"} & told[1]
    assert b"<polygon" in free and b"<polygon" not in asked


def test_a_picture_shows_nothing_that_its_question_asks_for():
    choices = PlatformChoices(lessons=("backward",), questions=2)
    free, asked = items_of(choices, draw=picture_of)
    of_free, of_asked = (item.tables for item in items_of(choices))
    numbers = [
        [text.text for text in ElementTree.fromstring(one.pictures[0].svg).iter(f"{SVG}text")] for one in (asked, free)
    ]
    assert set(numbers[0]) < set(numbers[1]) and "d_logits" in numbers[0]
    (hidden,) = (table for table in of_free if table not in of_asked)
    assert len(numbers[1]) - len(numbers[0]) == sum(map(len, hidden.cells))
    assert b"<title>" not in asked.pictures[0].svg and asked.pictures[0].alt.count("d_logits") == 0
    drawn = [svg.count(b"<path") for svg in (asked.pictures[0].svg, free.pictures[0].svg)]
    assert drawn[0] < drawn[1], "its bars are not drawn either"


def test_questions_of_the_teachers_own_plan_are_among_them():
    at = open_page(PAGE, paper="platform", **TWO)
    stops = tuple(Stop(page="class_vote", own=own) for own in (OWN, POLL))
    at.session_state["plan_own"] = Plan(stops=stops)
    at.run()
    assert list(at.dataframe[0].value["question"])[4:] == ["<i>1/4</i>?"] and saved(at) == "Save 5 questions"
    assert at.dataframe[0].value["right answer"][4] == "0.25 ± 0.01"


@pytest.mark.parametrize("typed", ["", "\u202e", "x" * 200], ids=range(3))
def test_a_sentence_that_says_nothing_gives_way(typed):
    at = open_page(PAGE, paper="platform", platform_text=typed, **TWO)
    assert saved(at).startswith("Save ") and len(at.dataframe) == 1
    assert typed != "x" * 200 or any("platform_text" in line for line in texts(at))


@pytest.mark.parametrize("state", [None, 5, {}, {"selection": 1}, {"selection": {"rows": 1}}, {"selection": {}}])
def test_a_forged_tick_is_none(state):
    assert platform_view.picked_rows(state) == []
