"""The editor of plans: each of its folds, buttons and choices works, and changes what it says that it changes."""

import io
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from PIL import Image
from test_class_vote import fresh, press, said, student, teacher  # noqa: F401
from visiting import ROOT, captions, open_page, texts

from attention_ui.classroom.plan import plan_change
from attention_ui.classroom.plan.leading import LANGUAGE_TAGS, PAGES
from attention_ui.classroom.plan.plan_view import NO_STOPS, NONE_OPEN, PICTURES_LEFT_OUT
from lessons.example.example import run_example
from lessons.screen import render
from lessons.teachers.class_plan.own_question import OwnQuestion
from lessons.teachers.class_plan.plan import MOST_PICTURE, MOST_PICTURES, MOST_SHOWN, MOST_STOPS, Plan, Stop
from lessons.teachers.class_plan.plan_file import MOST_BYTES, hash_of_picture, plan_of_link, read_plan, written_plan
from lessons.teachers.class_plan.ready_made import READY_MADE, ready_plan

PAGE = "teachers/take_home"
VIEWS = [*map(str, READY_MADE), "own"]
FOLD = re.compile(r"\$\$ID-[0-9a-f]+-(\w+)")
LEAVES = {"plan_teach", "class_close", "lesson_before", "lesson_after"}  # after them another page is open
OPTIONS = {"plan_language": ["", *sorted(LANGUAGE_TAGS)], "plan_where": [0, 1, -1]}
HOSTILE = "<img src=x onerror=alert(1)> **bold** :red[x] $x$"


def png(width=40, height=30, colour="teal", **how):
    file = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(file, "PNG", **how)
    return file.getvalue()


def folds(at):
    """The keys of all folds on the page that are filled when they are opened."""
    return [found[1] for fold in at.get("expander") if (found := FOLD.fullmatch(fold.proto.id))]


def unfolded(at):
    """The page with all of its folds open, also those within others; it finds them itself."""
    for _ in range(5):
        closed = [key for key in folds(at) if key not in at.session_state or not at.session_state[key]]
        if not closed:
            return at
        for key in closed:
            at.session_state[key] = True
        at.run()
        assert not at.exception, at.exception
    raise AssertionError("there is no end of folds")


def kinds_of_buttons(at):
    """One of each kind: of the buttons that stand at every stop, the second, which has a stop before and behind."""
    kinds = {}
    for button in at.button:
        if button.key and not button.proto.disabled:
            kinds.setdefault(re.sub(r"\d+", "", button.key), []).append(button.key)
    return [keys[min(1, len(keys) - 1)] for keys in kinds.values()]


def try_all(opened):
    """Press one of each kind of button, and choose each option of each choice, on a page that nobody has changed."""
    at = unfolded(opened())
    for key in kinds_of_buttons(at):
        unfolded(opened()).button(key=key).click().run()
    for choice in at.get("button_group"):
        for option in ("number", "word", "choices") if choice.key.endswith("_kind") else ():
            at.segmented_control(key=choice.key).set_value(option).run()
            assert not at.exception, (choice.key, option)
    for choice in at.selectbox:
        for option in OPTIONS[choice.key]:
            at.selectbox(key=choice.key).set_value(option).run()
            assert not at.exception, (choice.key, option)


def own_plan():
    """A plan with a stop of each kind that one can make."""
    own = OwnQuestion(kind="number", prompt="How many?", number=3)
    slide = Stop(page="class_vote", text="Look up.")
    return Plan(stops=(ready_plan(45).stops[3], Stop(page="class_vote", own=own, actions=("ask", "answer")), slide))


def opened(view, language):
    def open_view():
        at = open_page(PAGE, paper=view, **({} if language is None else {"lang": language}))
        if view == "own":
            at.session_state["plan_own"] = own_plan()
            at.run()
        assert not at.exception, at.exception
        return at

    return open_view


@pytest.mark.parametrize("language", [None, "fr"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_fold_of_a_plan_opens(view, language):
    at = unfolded(opened(view, language)())
    stops = own_plan().stops if view == "own" else ready_plan(int(view)).stops
    assert {"plan_change", "plan_homework", *(f"plan_open_{place}" for place in range(len(stops)))} <= set(folds(at))
    assert len(at.text_area) >= len(stops), "what is said at each stop can be typed"


@pytest.mark.parametrize("language", [None, "fr"])
@pytest.mark.parametrize("view", ["45", pytest.param("90", marks=pytest.mark.slow), "own"])
def test_every_button_and_choice_of_a_plan_works(view, language, fresh):  # noqa: F811
    try_all(opened(view, language))


@pytest.mark.parametrize("language", [None, "fr"])
@pytest.mark.parametrize("begun", ["waiting", "asked", "led"])
def test_every_fold_button_and_choice_of_the_class_works(begun, language, fresh):  # noqa: F811
    at, code, key = teacher()
    if begun == "asked":
        press(at, "class_ask")
    if begun == "led":
        fresh.bring_plan(code, key, written_plan(own_plan()).decode())
    where = {"class": code, "teacher": key} | ({} if language is None else {"lang": language})

    def again():
        return open_page("teachers/class_vote", **where)

    at = unfolded(again())
    assert {"class_plans", "own_open"} <= set(folds(at))
    for button in kinds_of_buttons(at):
        if button != "class_close":
            unfolded(again()).button(key=button).click().run()
    for choice in ("number", "word", "choices") if language is None else ():
        assert not at.segmented_control(key="own_kind").set_value(choice).run().exception


def change(view="45", **query):
    """The page of a plan with the fold of what changes it."""
    at = open_page(PAGE, paper=view, **query)
    at.session_state["plan_change"] = True
    at.run()
    assert not at.exception, at.exception
    return at


def plan_now(at):
    return at.session_state["plan_own"]


def test_the_language_of_all_screens_is_chosen_by_its_own_name():
    at = change()
    languages = at.selectbox(key="plan_language").options
    assert {"Deutsch", "English", "Français"} <= set(languages) and len(languages) == len(LANGUAGE_TAGS) + 1
    at.selectbox(key="plan_language").set_value("de").run()
    assert plan_now(at) == replace(ready_plan(45), language="de")


def test_a_sentence_that_fits_changes_the_plan_and_one_that_does_not_leaves_it():
    sentence = " ".join(reversed(run_example(ready_example()).tokens))
    at = change()
    at.text_input(key="plan_sentence").set_value("too short").run()
    press(at, "plan_use_sentence")
    assert any("tokens" in line or "does not fit" in line for line in texts(at)) and "plan_own" not in at.session_state
    at.text_input(key="plan_sentence").set_value(sentence).run()
    press(at, "plan_use_sentence")
    said_now = {stop.link.get("says_stories") for stop in plan_now(at).stops if stop.link.get("example") == "stories"}
    assert said_now == {sentence}


def ready_example():
    from lessons.teachers.class_plan.ready_made import TAUGHT

    return TAUGHT


def test_a_plan_begins_empty_says_what_to_do_next_and_offers_nothing_that_needs_a_stop(fresh):  # noqa: F811
    at = open_page(PAGE, paper="own")
    assert render(NONE_OPEN) in texts(at)
    press(at, "plan_empty")
    assert plan_now(at) == Plan() and render(NO_STOPS) in texts(at) and "plan" not in at.query_params
    assert not {"plan_teach"} & {button.key for button in at.button} and "plan_homework" not in folds(at)
    assert at.selectbox(key="plan_where").options == ["at the end"], "what adds a stop is open"
    at.text_area(key="slide_text").set_value("Welcome").run()
    press(at, "plan_add_slide")
    assert plan_now(at).stops == (Stop(page="class_vote", minutes=2, text="Welcome"),)
    assert render(NO_STOPS) not in texts(at) and {"plan_teach"} <= {button.key for button in at.button}
    at.session_state["plan_open_0"] = True
    press(at.run(), "plan_out_0")
    assert plan_now(at) == Plan() and render(NO_STOPS) in texts(at), "its last stop can be removed"


def test_a_stop_comes_where_one_wants_it_and_the_next_one_after_it():
    at, before = change(), ready_plan(45).stops
    at.selectbox(key="plan_where").set_value(2).run()
    at.text_area(key="slide_text").set_value("One").run()
    press(at, "plan_add_slide")
    assert "Added as stop 3." in texts(at)
    at.text_input(key="stop_prompt").set_value("Two?").run()
    at.segmented_control(key="stop_kind").set_value("word").run()
    press(at, "plan_add_own")
    stops = plan_now(at).stops
    assert stops[:2] == before[:2] and stops[4:] == before[2:] and stops[2].text == "One"
    assert stops[3].own.prompt == "Two?" and "Added as stop 4." in texts(at)
    at.selectbox(key="plan_where").set_value(-1).run()
    press(at, "plan_add_own")
    assert plan_now(at).stops[-1] == stops[3], "and at the end"


def test_the_screen_that_was_seen_last_is_added_where_one_wants_it():
    at = open_page("one_head/softmax", temperature="2.0", example=None)
    at.switch_page(str(ROOT / "pages/teachers/take_home.py")).run()
    at.session_state["paper"] = "45"
    at.session_state["plan_change"] = True
    at.run()
    at.selectbox(key="plan_where").set_value(0).run()
    press(at, "plan_add")
    first = plan_now(at).stops[0]
    assert first.page == "softmax" and first.link["temperature"] == "2.0" and first.screen


@pytest.mark.parametrize("forged", [99, -7, "x", None, 1.5, True])
def test_a_forged_place_means_the_end(forged, monkeypatch):
    monkeypatch.setattr(plan_change, "get_state", {"plan_where": forged}.get)
    assert plan_change.place_of_new(ready_plan(45)) == plan_change.AT_THE_END


def test_a_text_is_shown_literally_changed_at_its_stop_and_kept_in_the_link():
    at = change("own", plan=None)
    press(at, "plan_empty")
    at.text_area(key="slide_text").set_value(f"{HOSTILE}\n\nsecond \u202eline ").run()
    press(at, "plan_add_slide")
    text = f"{HOSTILE}\n\nsecond line"
    assert plan_now(at).stops[0].text == text and text in texts(at)
    assert not any("onerror" in one.value for kind in ("markdown", "caption") for one in at.get(kind))
    assert at.text_area(key="slide_text").value == "", "the field is free for the next one"
    assert plan_of_link(said(at, "plan"), PAGES) == plan_now(at)
    at.session_state["plan_open_0"] = True
    at.run()
    at.text_area(key="plan_text_0").set_value("Shorter").run()
    assert plan_now(at).stops[0].text == "Shorter"
    at.text_area(key="plan_text_0").set_value("  ").run()
    assert plan_now(at).stops[0].text == "Shorter", "a text that shows nothing is none"
    press(at, "plan_add_slide")
    assert "Type a text, or choose a picture, and then add it." in texts(at) and len(plan_now(at).stops) == 1


def test_a_text_has_at_most_2000_characters_and_says_so():
    at = change()
    at.text_area(key="slide_text").set_value("x" * (MOST_SHOWN + 500)).run()
    assert any("at most 2000 characters" in line for line in texts(at)) and MOST_SHOWN == 2000
    press(at, "plan_add_slide")
    assert plan_now(at).stops[-1].text == "x" * MOST_SHOWN


def bring_picture(at, data, name="board.png", kind="image/png"):
    (count,) = [field.key for field in at.file_uploader if field.key.startswith("slide_picture_")]
    at.file_uploader(key=count).set_value((name, data, kind)).run()
    assert not at.exception, at.exception
    return press(at, "plan_add_slide")


def test_a_picture_is_written_anew_goes_with_the_file_and_is_said_to_be_in_no_link():
    at = change("own")
    press(at, "plan_empty")
    at.text_area(key="slide_text").set_value("Our board").run()
    brought = png(1600, 900)
    bring_picture(at, brought)
    (stop,), pictures = plan_now(at).stops, plan_now(at).pictures
    assert stop.text == "Our board" and list(pictures) == [stop.picture] == [hash_of_picture(pictures[stop.picture])]
    with Image.open(io.BytesIO(pictures[stop.picture])) as drawn:
        assert drawn.size == (1280, 720) and len(pictures[stop.picture]) <= MOST_PICTURE
    assert render(PICTURES_LEFT_OUT) in texts(at) and "plan" not in at.query_params
    assert any("data:image/png;base64," in one.value for one in at.markdown), "it is seen"
    at.session_state["plan_homework"] = True
    at.run()
    assert any("A link needs at least one stop" in line for line in texts(at))
    saved = written_plan(plan_now(at))
    other = open_page(PAGE, paper="45")
    other.session_state["plan_change"] = True
    other.run().file_uploader(key="plan_file_0").set_value(("plan.json", saved, "application/json")).run()
    assert plan_now(other) == plan_now(at)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (
            b"GIF89a" + bytes(100),
            "A picture is a PNG or a JPEG file, but this file is neither: save it as one of them.",
        ),
        (b"", "A picture is a PNG or a JPEG file, but this file is neither: save it as one of them."),
        (png()[:60], "This picture is damaged: it cannot be decoded. Save it again, as PNG or JPEG."),
        (png(5000, 3000), "A picture has at most 12 million pixels, but this one has more: save it smaller."),
        (bytes(1024 * 1024 + 1), "A picture has at most 1 MB, but this file has more: save it smaller."),
    ],
)
def test_what_is_no_picture_is_refused_in_one_sentence_and_nothing_is_lost(data, why):
    at = change()
    at.text_area(key="slide_text").set_value("Typed already").run()
    bring_picture(at, data)
    assert why in texts(at) and "plan_own" not in at.session_state
    assert at.text_area(key="slide_text").value == "Typed already"


def test_a_plan_has_at_most_five_pictures_and_forty_stops_and_says_so():
    at = change("own")
    press(at, "plan_empty")
    for n in range(MOST_PICTURES):
        bring_picture(at, png(30 + n))
    assert len(plan_now(at).stops) == len(plan_now(at).pictures) == MOST_PICTURES
    bring_picture(at, png(99))
    assert "A plan has at most 5 pictures, and this one has as many: remove one first." in texts(at)
    assert len(plan_now(at).stops) == MOST_PICTURES
    at.session_state["plan_open_0"] = True
    press(at.run(), "plan_out_0")
    assert len(plan_now(at).pictures) == MOST_PICTURES - 1, "a picture goes with its stop"
    at.session_state["plan_own"] = Plan(stops=(Stop(page="mask"),) * MOST_STOPS)
    at.session_state["slide_text"] = "One more"
    at.run()
    press(at, "plan_add_slide")
    assert "A plan has at most 40 stops, and this one has as many: remove one first." in texts(at)
    assert len(plan_now(at).stops) == MOST_STOPS and at.text_area(key="slide_text").value == "One more"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b" " * (MOST_BYTES + 1), "at most 1,048,576 bytes"),
        (b'{"stops": []}', "it needs at least one"),
        (b"{}", "it needs at least one"),
        (b"\xff\xd8\xff", "This is not a lesson plan"),
    ],
)
def test_a_file_that_is_no_plan_leaves_the_plan_that_is_open(data, why):
    at = change("own", plan=None)
    press(at, "plan_empty")
    at.session_state["slide_text"] = "Mine"
    press(at.run(), "plan_add_slide")
    before = plan_now(at)
    at.file_uploader(key="plan_file_0").set_value(("x.json", data, "application/json")).run()
    assert not at.exception and any(why in line for line in texts(at)) and plan_now(at) == before


def test_the_teacher_and_the_class_see_a_slide_then_a_question_then_a_slide_again(fresh):  # noqa: F811
    picture = png()
    name = hash_of_picture(picture)
    asks = Stop(page="class_vote", actions=("ask", "answer"), own=OwnQuestion(kind="word", prompt="Which word?"))
    slide = Stop(page="class_vote", actions=("show", "pause"), text=HOSTILE)
    shows = Stop(page="class_vote", picture=name, text="Our board", says="for me alone")
    at = change("own", plan=None)
    at.session_state["plan_own"] = Plan(stops=(slide, asks, shows), pictures={name: picture})
    at.run()
    press(at, "plan_teach")
    code, key = at.session_state["class_inside"], at.session_state["class_key"]
    assert fresh.picture(name) == picture and picture not in fresh.plan(code).encode()
    assert read_plan(fresh.plan(code).encode(), PAGES).stops == (slide, asks, shows)
    at = open_page("teachers/class_vote", **{"class": code, "teacher": key})
    one = student(code)
    asked_for = count_plans(fresh)
    seen = []
    for _ in range(5):
        press(at, "plan_next")
        at.run()
        one.run()
        assert not one.exception
        seen.append((HOSTILE in texts(at), HOSTILE in texts(one), board(at), board(one)))
    assert seen == [(True, True, 0, 0)] * 2 + [(False, False, 0, 0)] * 2 + [(False, False, 1, 1)]
    assert "for me alone" not in texts(one) and "You are in the class" not in [title.value for title in one.title]
    for _ in range(30):
        student(code)
    assert len(asked_for) <= 5, "its plan is read once for each step, however many look"
    notes = open_page("teachers/class_vote", **{"class": code, "teacher": key, "notes": "true"})
    assert board(notes) == 1 and "for me alone" in texts(notes)


def board(at):
    return sum("](./picture/" in one.value for one in at.markdown)


def count_plans(keeper):
    asked, plan = [], keeper.plan
    keeper.plan = lambda code: asked.append(code) or plan(code)
    return asked


def test_a_question_of_ones_own_with_a_number_shows_the_right_one_also_where_nobody_has_answered(fresh):  # noqa: F811
    from test_class_plans import asked_own

    from attention_ui.classroom.plan.after import file_of_class

    for own, right in (
        (OwnQuestion(kind="number", prompt="?", number=1234567.5), "The right number is 1234567.5."),
        (
            OwnQuestion(kind="number", prompt="?", number=-0.25, tolerance=0.000001),
            "The right number is −0.25, give or take 0.000001.",
        ),
    ):
        at, code, key = asked_own(fresh, own)
        one, stages = student(code), ["open", "closed", "shown", "explained"]
        for stage, to in pairwise(stages):
            assert right not in texts(at.run()) and right not in texts(one.run())
            fresh.step(code, key, 1, stage, to)
        assert right in texts(at.run()) and right in texts(one.run()) and right in file_of_class(code).decode()


def test_who_opens_a_class_is_told_that_it_ends_where_nobody_joins(fresh):  # noqa: F811
    ends = "If nobody joins within 15 minutes, the class ends by itself."
    assert any(ends in line for line in captions(open_page("teachers/class_vote")))
    at, _, _ = teacher()
    assert any(ends in line for line in captions(at))
    at = open_page(PAGE, paper="45")
    press(at, "plan_teach")
    led = open_page(
        "teachers/class_vote", **{"class": at.session_state["class_inside"], "teacher": at.session_state["class_key"]}
    )
    assert any(ends in line for line in captions(led))
