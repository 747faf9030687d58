"""Taking a screen home: offered on every page that computes, and not before an answer that it would give away."""

import re

import pytest
from visiting import ask_about_the_figure, in_drawer, open_page, texts

from attention_ui.export.paper import sheet_section
from lessons.teachers.take_home.sheet import SheetChoices
from lessons.teachers.take_home.thread import thread_tasks

BUTTONS = {"This screen as a notebook", "All lessons as one notebook"}


def offered(at):
    at.session_state["drawer"] = "home"
    at.run()
    return {element.proto.label for element in at.get("download_button")}


@pytest.mark.parametrize("page", ["one_head/mask", "model/heads", "learning/backward", "today/cost"])
def test_a_lesson_is_taken_home_alone_or_with_all_others(page):
    assert offered(open_page(page, cover="false")) >= BUTTONS


@pytest.mark.parametrize(("page", "link"), [("model/read", {}), ("model/generate", {"writer": "notebook"})])
def test_where_a_whole_model_is_at_work_there_is_a_program_and_no_notebook(page, link, smollm2):
    parts = in_drawer(open_page(page, **link))
    assert {"The code that ran", "A program to copy"} <= {*parts} and "Take it home" not in parts


def test_the_numbers_behind_a_question_are_not_taken_home_before_an_answer():
    at = ask_about_the_figure(open_page("one_head/mask", cover="true"), "mask")
    assert not offered(at) & BUTTONS
    assert "The numbers appear once you have chosen an answer." in " ".join(texts(at))


def test_a_link_that_hides_the_code_hides_the_notebook():
    assert not any("home" in part for part in in_drawer(open_page("one_head/mask", hide="code")))


def test_the_longest_sentence_with_sixty_edits_is_taken_home():
    edits = ";".join(f"x{row},{column}={row - column / 8}" for row in range(1, 13) for column in range(1, 6))
    at = open_page(
        "one_head/output", cover="false", example="sentence", text="antidisestablishmentarianism " * 60, edits=edits
    )
    assert offered(at) >= BUTTONS and not at.exception


@pytest.mark.parametrize("page", ["one_head/softmax", "learning/backward"])
def test_the_code_that_ran_says_what_it_needs_and_names_the_program_that_runs_by_itself(page):
    at = open_page(page, cover="false")
    at.session_state["drawer"] = "code"
    (said,) = (text for text in texts(at.run()) if "attention_core" in text)
    program = next(part for part in in_drawer(at) if part in said)
    at.session_state["drawer"] = "program"
    assert program and "For code that runs on its own" in said and "def " in at.run().code[-1].value


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_sheet_prints_no_number_that_it_asks_for(seed):
    """Where something is to be filled in stands nothing but the sums of rows, each of several numbers."""
    choices = SheetChoices(seed=seed)
    tasks = thread_tasks(choices)
    tables = re.findall(r"<table.*?</table>", sheet_section(choices, tasks), re.DOTALL)
    asked = [blanks for task in tasks for blanks in task.blanks]
    filled = [table for table in tables if 'class="blank"' in table]
    assert len(filled) == len(asked)
    for blanks, table in zip(asked, filled, strict=True):
        for row, line in enumerate(re.findall(r"<tr><th scope=\"row\".*?</tr>", table)):
            cells = re.findall(r"<td(?: class=\"(\w+)\")?[^>]*>(.*?)</td>", line)
            told = [text for look, text in cells if look not in ("blank", "unasked")]
            several = sum(
                blanks.matrix.sees(row, column) and not blanks.is_crossed_out(row, column)
                for column in range(len(blanks.matrix.columns.labels))
            )
            assert len(told) == (blanks.sums == "given" and several > 1), (blanks.matrix.key, line)
