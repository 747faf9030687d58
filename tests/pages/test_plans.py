"""Plans: every stop opens the screen that it promises, asks what its notes say, and files and links are checked."""

import base64
import zlib
from urllib.parse import parse_qsl, urlsplit

import msgspec
import pytest
from visiting import asked, open_page, read_plainly, texts

from attention_ui.classroom.plan.leading import LANGUAGE_TAGS, PAGES
from attention_ui.classroom.plan.notes_view import notes_of, said_of_answer, title_of_stop
from attention_ui.classroom.plan.plan_view import url_of_stop
from attention_ui.classroom.vote.asked import asked_here
from attention_ui.contents import CONTENTS
from lessons.code.exercises.every import EXERCISES
from lessons.example.example import run_example
from lessons.screen import render
from lessons.teachers.class_plan.plan import Plan, Stop
from lessons.teachers.class_plan.plan_file import plan_in_link, plan_of_link, read_plan, written_plan
from lessons.teachers.class_plan.ready_made import READY_MADE, TAUGHT, ready_plan
from lessons.teachers.class_plan.sentence import with_sentence
from lessons.teachers.class_vote.question_link import read_asked

PAGE = "teachers/take_home"
STOPS = [(minutes, place) for minutes in READY_MADE for place in range(len(ready_plan(minutes).stops))]
FILES = {entry.address: entry.file.removesuffix(".py") for entry in CONTENTS}
VOTES = {"ask", "again", "answer", "votes"}


def opened(url):
    """The page that a link of a plan opens. It tells of nothing that had to be corrected."""
    parts = urlsplit(url)
    link = parse_qsl(parts.query)
    assert len(dict(link)) == len(link), "no name stands twice"
    at = open_page(
        FILES[parts.path.removeprefix("./") or "home"],
        **({"example": None, "picture": None, "cover": None} | dict(link)),
    )
    assert not any(line.startswith("The link says") for line in texts(at)), texts(at)
    return at


def headlines(at):
    return [read_plainly(headline.value) for headline in (*at.title, *at.header)]


def test_walking_every_plan_finds_at_each_stop_what_it_promises():
    walked = set()
    for minutes, place in STOPS:
        plan = ready_plan(minutes)
        stop = plan.stops[place]
        url = url_of_stop(plan, stop)
        key = (url, stop.actions)
        if key in walked or stop.page == "read":  # which needs the real model
            continue
        walked.add(key)
        at, notes = opened(url), notes_of(stop)
        assert "large=true" in url and at.toggle(key="large").value, "in the projector's layout"
        if stop.page == "exercises":
            assert render(EXERCISES[stop.link["exercise"]].asks) in [markdown.value for markdown in at.markdown]
        elif stop.actions == ("show",):
            assert not any(button.key == "show_numbers" for button in at.button), "what is shown is seen"
            assert not any("_card_" in (button.key or "") for button in at.button), "no question stands above it"
            assert notes.asks is None or (stop.page, stop.link["example"]) == ("home", "stories"), "nor in the notes"
            assert notes.asks is None or "trained_for" not in stop.link, "nobody can guess what it has not learned"
            said = " ".join([*texts(at), *headlines(at)])
            assert all(render(sentence) in said for sentence in notes.shows), (minutes, place)
        else:
            question = asked_here(stop.screen).question
            assert render(notes.asks) == render(question.prompt)
            if "hide" not in stop.link:
                assert asked(at) == render(question.prompt), "what is asked of the class is asked on its screen"


@pytest.mark.usefixtures("smollm2")
@pytest.mark.parametrize("place", [p for m, p in STOPS if m == 60 and ready_plan(60).stops[p].page == "read"])
def test_stops_at_the_real_model_ask_what_their_screen_asks(place):
    plan = ready_plan(60)
    stop = plan.stops[place]
    assert asked(opened(url_of_stop(plan, stop))) == render(notes_of(stop).asks)
    assert "again" not in stop.actions or asked_here(stop.screen).question.in_figure, "covered while the class votes"


@pytest.mark.parametrize("minutes", READY_MADE)
def test_a_plan_fills_its_time_votes_twice_lets_neighbours_talk_trains_and_ends_with_a_task(minutes):
    plan = ready_plan(minutes)
    done = [step.action for step in plan.steps]
    assert plan.minutes == minutes and done.count("train") == 1 and {"ask", "pause", "again", "answer"} <= set(done)
    assert plan.stops[-1].page == "exercises" and sum(stop.minutes for stop in plan.stops if stop.out) >= minutes / 10
    for stop in plan.stops:
        assert not VOTES & set(stop.actions) or stop.screen, "what is asked there is known"


def test_the_page_shows_every_stop_with_its_link_and_the_answers_that_will_come():
    at, plan = open_page(PAGE, paper="45"), ready_plan(45)
    assert [heading.value for heading in at.subheader] == [
        f"{place} · {title_of_stop(stop)}" for place, stop in enumerate(plan.stops, start=1)
    ]
    links, lines = [element.proto.url for element in at.get("link_button")], texts(at)
    for stop in plan.stops:
        notes = notes_of(stop)
        assert url_of_stop(plan, stop) in links and (notes.asks is None or render(notes.asks) in lines)
        assert notes.right is None or said_of_answer(notes.right) in lines


def test_what_there_is_to_notice_is_not_said_again_after_the_answers_that_say_it():
    stop = ready_plan(45).stops[0]
    notes, lines = notes_of(stop), texts(open_page(PAGE, paper="45"))
    (seen,) = map(render, notes.shows)
    assert [line for line in lines if seen in line] == [said_of_answer(notes.right)]
    noticed = next(notes for notes in map(notes_of, ready_plan(45).stops[1:]) if notes.shows)
    assert any(line.startswith(render(noticed.shows[0])) for line in lines), "what no answer says stays"


def test_what_is_changed_makes_a_plan_of_ones_own_that_the_link_opens_again():
    at = open_page(PAGE, paper="45")
    at.session_state["plan_open_0"] = True
    at.run()
    at.button(key="plan_down_0").click().run()
    at.session_state["plan_open_3"] = True
    at.run()
    at.number_input(key="plan_minutes_3").set_value(9).run()
    at.text_area(key="plan_says_3").set_value("<b>Look</b> *here*").run()
    assert not at.exception, at.exception
    before = ready_plan(45)
    expected = before.moved(0, 1).with_stop(3, minutes=9, says="<b>Look</b> *here*")
    code = at.query_params["plan"]
    assert plan_of_link(code[0] if isinstance(code, list) else code, PAGES) == expected
    again = open_page(PAGE, paper="own", plan=plan_in_link(expected))
    assert "<b>Look</b> *here*" in texts(again)


def test_a_plan_on_another_sentence_and_one_that_does_not_fit():
    sentence = " ".join(run_example(TAUGHT).tokens)
    plan = with_sentence(ready_plan(45), sentence)
    for stop in plan.stops:
        if stop.link.get("example") == "stories":
            assert stop.link["says_stories"] == sentence == read_asked(stop.screen).example.text
    with pytest.raises(ValueError, match=r"does not fit|must have \d+ tokens"):
        with_sentence(ready_plan(45), "the cat sat")
    with pytest.raises(ValueError, match="at least one word"):
        with_sentence(ready_plan(45), " \n")


SOUND = msgspec.json.decode(written_plan(Plan(stops=(Stop(page="mask"),))))


def with_first(**changes):
    return msgspec.json.encode(SOUND | {"stops": [SOUND["stops"][0] | changes]})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"stops": []}',
        b" " * 300_000,
        msgspec.json.encode({"stops": SOUND["stops"] * 41}),
        with_first(page="<script>alert(1)</script>"),
        with_first(page="../../etc/passwd"),
        with_first(page="nowhere"),
        with_first(link={"teacher": "x"}),
        with_first(link={"view": "x" * 10_000}),
        with_first(link={"a b": "x"}),
        with_first(minutes=-1),
        with_first(minutes=1e9),
        with_first(pause=10**9),
        with_first(actions=["rm"]),
        with_first(actions=[]),
        with_first(actions=["show"] * 100),
        with_first(screen='{"lesson":"os"}'),
        with_first(own={"kind": "number", "prompt": "x", "number": 1, "tolerance": -1}),
        with_first(own={"kind": "choices", "prompt": "x", "cards": ["a"]}),
        with_first(says="x" * 10_000),
    ],
)
def test_a_file_that_is_no_plan_is_refused_in_one_sentence(data):
    with pytest.raises(ValueError, match=r"plan|Stop \d+ names|link of stop|screen of stop") as refused:
        read_plan(data, PAGES, LANGUAGE_TAGS)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 400


def test_a_link_that_unpacks_to_far_more_than_it_is_long_is_refused():
    bomb = base64.urlsafe_b64encode(zlib.compress(b" " * 50_000_000, 9)).decode()[:12_000]
    for code in (bomb, "x", "é", "A" * 20_000, plan_in_link(ready_plan(45))[:-40]):
        with pytest.raises(ValueError, match="plan"):
            plan_of_link(code, PAGES)
    at = open_page(PAGE, paper="own", plan="x<b>")
    assert any("does not hold a complete plan" in line for line in texts(at))


@pytest.mark.parametrize("minutes", [45, 90])
def test_what_is_voted_on_twice_cannot_be_read_from_the_figures(minutes):
    twice = [stop for stop in ready_plan(minutes).stops if "again" in stop.actions]
    assert twice and all(asked_here(stop.screen).question.step == "predict" for stop in twice)
