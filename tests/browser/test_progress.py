"""Progress in a real browser: there after a reload, gone when it is forgotten, and no page is drawn again for it."""

import json

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from lessons.code.exercises.every import EXERCISES

COLOUR = "link => getComputedStyle(link).borderTopColor"
STORED = "() => JSON.parse(localStorage.getItem('attention-lab progress'))"
SOLUTION = EXERCISES["scores"].solution


def link(tab, title):
    return tab.page.get_by_test_id("stTopNavLink").filter(has_text=title)


def asked_to_run(tab):
    """The runs that this tab has asked for: each a page, or the name of the part of it that was to be drawn again."""
    messages = [BackMsg.FromString(frame) for frame in tab.sent if isinstance(frame, bytes)]
    return [message.rerun_script for message in messages if message.WhichOneof("type") == "rerun_script"]


def opened(tab, path):
    tab.open(path).page.wait_for_selector("h1")
    return tab.settled()


def test_what_was_solved_is_marked_after_a_reload_and_only_the_rail_is_drawn_for_it(visit):
    tab = opened(visit(), "mask")
    assert [asked.fragment_id for asked in asked_to_run(tab)] == [""], "a first visitor's page is drawn once"
    plain = link(tab, "Mask").evaluate(COLOUR)
    tab.answer_rightly("mask")
    tab.page.wait_for_function(f"() => ({STORED})()?.lessons.includes('mask')")

    tab.sent.clear()
    opened(tab, "softmax")
    tab.page.wait_for_function("""() => {
        const colour = name => getComputedStyle([...document.querySelectorAll('[data-testid=stTopNavLink]')]
            .find(link => link.innerText === name)).borderTopColor
        return colour('Mask') !== colour('Output')
    }""")
    tab.settled()
    whole, part = asked_to_run(tab)
    assert not whole.fragment_id and part.fragment_id, "the page itself is not drawn again"
    same = tab.marked()
    frames = len(tab.page.frames)
    link(tab, "Output").click()
    tab.page.wait_for_url("**/output**")
    tab.settled()
    assert len(asked_to_run(tab)) == 3, "other pages know it already"
    assert len(tab.page.frames) == frames and not same()
    assert plain != link(tab, "Mask").evaluate(COLOUR) != link(tab, "Output").evaluate(COLOUR)
    assert tab.page.locator(".st-key-progress_keeper").bounding_box() is None, "there is nothing to see of it"


def test_an_exercise_is_solved_saved_to_a_file_forgotten_and_loaded_again(visit):
    tab = opened(visit(), "exercises")
    frame = tab.page.frame_locator(".st-key-exercise_editor iframe")
    frame.locator("#run:enabled").wait_for()
    frame.locator("#code").fill(SOLUTION)
    frame.locator("#code").press("Control+Enter")
    tab.page.get_by_text("Right in all 3 cases.").wait_for()
    tab.page.wait_for_function(f"() => ({STORED})()?.exercises.includes('scores')")
    assert "scores" in tab.page.evaluate("localStorage.getItem('attention-lab exercises')")

    tab.page.locator(".st-key-drawer button", has_text="Your progress").press("Space")
    tab.page.get_by_role("button", name="Save to a file").wait_for()
    tab.settled()
    with tab.page.expect_download() as saving:
        tab.page.get_by_role("button", name="Save to a file").press("Enter")
    file = saving.value.path()
    assert json.loads(file.read_bytes())["exercises"] == ["scores"]

    tab.page.get_by_role("button", name="Forget everything").press("Enter")
    tab.page.get_by_role("button", name="Forget it").press("Enter")
    tab.page.get_by_text("Everything has been deleted").wait_for()
    tab.settled()
    tab.page.wait_for_function("() => !Object.keys(localStorage).some(key => key.startsWith('attention-lab'))")
    frame.locator("#code").click()
    frame.locator("#code").blur()
    assert frame.locator("body").evaluate("() => editor.text()") == EXERCISES["scores"].starter

    tab.page.reload()
    tab.page.locator(".st-key-drawer button", has_text="Your progress").press("Space")
    tab.page.get_by_text("Exercises solved: 0 of").wait_for()
    tab.page.locator("input[type=file]").set_input_files(
        {"name": "mine.json", "mimeType": "application/json", "buffer": file.read_bytes()}
    )
    tab.page.get_by_text("The file says that 0 lessons, 1 exercise and 0 levels are solved.").wait_for()
    tab.page.wait_for_function(f"() => ({STORED})()?.exercises.includes('scores')")


@pytest.mark.slow
def test_what_others_have_put_into_the_store_is_no_harm(visit):
    tab = opened(visit(), "mask")
    for stored in ("5", "[]", "{", '{"version": 2, "lessons": ["mask"]}', '{"version": 1, "lessons": {"a": 1}}'):
        tab.page.evaluate("text => localStorage.setItem('attention-lab progress', text)", stored)
        tab.sent.clear()
        opened(tab, "mask")
        assert len(asked_to_run(tab)) == 1
    many = json.dumps({"version": 1, "lessons": ["<img src=x>", "mask", *map(str, range(10**5))], "exercises": 7})
    tab.page.evaluate("text => localStorage.setItem('attention-lab progress', text)", many)
    opened(tab, "exercises")
    tab.page.locator(".st-key-drawer button", has_text="Your progress").press("Space")
    tab.page.get_by_text("Lessons with a question solved: 1 of").wait_for()
