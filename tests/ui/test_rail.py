"""The rail says where one is and what is solved, and names every lesson once."""

import re

import pytest

from attention_ui.contents import CONTENTS
from attention_ui.page.rail import LAPTOP, LINK, NAME_SIZE, rail, room_for_all, share_of_letters
from attention_ui.session import path_of
from words import LANGUAGES, speaking

LEAST_LETTERS = 11  # pixels


def rules(style):
    """What the style says of which addresses."""
    found = re.findall(r"^:is\((.*?)\) \{ (.*?): .* \}$", style.removesuffix("</style>"), re.MULTILINE)
    return {what: re.findall(r'\$="/(\w*)"', links) for links, what in found}


def test_nothing_is_marked_before_a_question_was_solved():
    assert "border-top-color" not in rules(rail(CONTENTS[0], ()))


def test_the_lessons_of_solved_questions_are_marked_and_no_others():
    assert rules(rail(CONTENTS[0], {"softmax", "tokens"}))["border-top-color"] == ["tokens", "softmax"]


def test_of_the_exercises_as_much_of_the_line_is_drawn_as_is_solved():
    assert "border-image" not in rules(rail(CONTENTS[0], ()))
    style = rail(CONTENTS[0], {"softmax"}, 0.3)
    assert rules(style)["border-image"] == ["exercises"] and "var(--lab-weight) 30%" in style
    [exercises] = [entry for entry in CONTENTS if entry.address == "exercises"]
    assert "border-image" not in rail(exercises, (), 0.3), "there the line says that one is here"


def test_a_group_begins_where_the_section_changes():
    style = rules(rail(CONTENTS[0], ()))
    begun = dict.fromkeys(entry.section for entry in CONTENTS)
    assert len(style["margin-left"]) == len(begun) - 1
    assert style["margin-left"][0] == "tokens"


def test_a_phone_is_told_where_one_is():
    for number, entry in enumerate(CONTENTS, start=1):
        assert f'"{number} of {len(CONTENTS)} · {entry.name}"' in rail(entry, ())


def test_no_address_ends_like_another():
    addresses = [LINK.format(address=path_of(entry.address)) for entry in CONTENTS]
    assert len(set(addresses)) == len(CONTENTS)
    assert sum(entry.address.endswith("heads") for entry in CONTENTS) == 1, "the style knows a link by its end"


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_names_of_all_lessons_fit_a_laptop_in_letters_that_can_be_read(code):
    """A title that is too long in one language makes all names of that language smaller."""
    with speaking(code):
        assert 16 * NAME_SIZE * share_of_letters() >= LEAST_LETTERS
        assert room_for_all() <= LAPTOP
