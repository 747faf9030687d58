"""The lessons on several heads in a class: captions left out, numbers covered until an answer is chosen."""

import pytest
from visiting import answer, ask_about_the_figure, charts, open_page, page_of, texts

from attention_ui.page.derivation import CHOOSE
from lessons.screen import render

WAITING = "The numbers appear"
LESSONS = [
    ("heads", {}),
    ("heads", {"mh_step": "output"}),
    ("heads", {"mh_step": "slices"}),
    ("positions", {}),
    ("positions", {"order_view": "distance", "positions": "sinusoidal"}),
    ("pytorch", {}),
    ("pytorch", {"parity": "levels"}),
    ("pytorch", {"parity": "cases"}),
]


def told(at, plain):
    """What is said in the charts of an uncovered page, as far as this one says it too."""
    return {said for _, _, said in charts(plain) if said} & set(texts(at))


@pytest.mark.parametrize(("lesson", "query"), LESSONS)
def test_numbers_are_covered_until_an_answer_is_chosen(lesson, query):
    plain, at = (
        ask_about_the_figure(open_page(page_of(lesson), cover=cover, **query), lesson) for cover in ("false", "true")
    )
    assert not plain.toggle(key="cover").value and at.toggle(key="cover").value
    assert any(WAITING in line for line in texts(at)) and not told(at, plain)
    for _, tables, said in charts(at):
        assert WAITING in said if said else tables["covered"]
        for row in tables.get("cells", []):
            if row["cell_tag"] and row["cell_tag"].strip("|").split()[0] != "x":
                assert row["kind"] in ("ghost", "masked") and (row["v"], row["text"], row["say"]) == (None, "", "")
        assert not [rows for key, rows in tables.items() if key in ("distances", "bars") and rows]
    assert {metric.value for metric in at.metric} <= {"?"} and not at.dataframe and not at.get("download_button")
    assert render(CHOOSE) not in {panel.label for panel in at.expander}
    answer(at, lesson, "B")
    assert not at.exception
    assert told(at, plain) == told(plain, plain) and not any(WAITING in line for line in texts(at))
    assert [tables for _, tables, _ in charts(at)] == [tables for _, tables, _ in charts(plain)]


@pytest.mark.parametrize(("lesson", "query"), LESSONS)
def test_captions_can_be_left_to_the_class(lesson, query):
    plain, at = (open_page(page_of(lesson), hide=hide, **query) for hide in ("edit", "caption"))
    assert not told(at, plain) and (set(texts(plain)) - set(texts(at)) or query.get("parity") == "levels")
    assert {said for _, _, said in charts(at)} <= {None, "What to notice is left for you to find."}
    assert [tables.get("cells") for _, tables, _ in charts(at)] == [
        tables.get("cells") for _, tables, _ in charts(plain)
    ]
