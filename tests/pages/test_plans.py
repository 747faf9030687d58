"""The lesson plans: each link opens the screen that it promises, which asks and says what the plan says."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from visiting import asked, open_page, read_plainly, texts

from attention_ui.page.contents import CONTENTS
from attention_ui.practice.plan_view import (
    said_of_answer,
    said_of_mistake,
    title_of_stop,
    url_of_stop,
    url_of_what_is_shown,
)
from lessons.exercises.every import EXERCISES
from lessons.screen.format import render
from lessons.take_home.plans import PLANS, begins_at, if_time_is_short, planned

PAGE = "practice/take_home"
STOPS = [(minutes, place) for minutes, plan in PLANS.items() for place in range(len(plan))]
FILES = {entry.address: entry.file.removesuffix(".py") for entry in CONTENTS}


def opened(url):
    """The page that a link of a plan opens. It tells of nothing that had to be corrected."""
    parts = urlsplit(url)
    address = parts.path.removeprefix("./") or "home"
    link = parse_qsl(parts.query)
    assert len(dict(link)) == len(link), "no name stands twice"
    at = open_page(FILES[address], **({"example": None, "picture": None, "cover": None} | dict(link)))
    assert not any(line.startswith("The link says") for line in texts(at)), texts(at)
    return at


def headlines(at):
    return [read_plainly(headline.value) for headline in (*at.title, *at.header)]


@pytest.mark.parametrize(("minutes", "place"), STOPS)
def test_a_link_opens_the_screen_whose_question_the_plan_asks(minutes, place):
    stop = PLANS[minutes][place]
    found, at = planned(stop), opened(url_of_stop(stop))
    if stop.exercise:
        assert render(EXERCISES[stop.exercise].asks) in [markdown.value for markdown in at.markdown]
        return
    if stop.opens.screen().ask is None:
        assert render(found.right.reply) in headlines(at)
        return
    assert asked(at) == render(found.asks)
    cards = [read_plainly(button.label).split("\n\n")[0] for button in at.button if "_card_" in (button.key or "")]
    assert sorted(cards) == sorted(render(answer.text) for answer in (found.right, *found.wrong))


@pytest.mark.parametrize(("minutes", "place"), [at for at in STOPS if PLANS[at[0]][at[1]].then])
def test_what_is_shown_then_says_what_the_plan_says(minutes, place):
    stop = PLANS[minutes][place]
    at, shows = opened(url_of_what_is_shown(stop)), planned(stop).shows
    assert not any(button.key == "show_numbers" for button in at.button), "the answer is to be seen"
    if any("_card_" in (button.key or "") for button in at.button):
        assert asked(at) == render(planned(stop).asks), "no other question stands above it"
    said = " ".join([*texts(at), *headlines(at)])
    assert shows and all(render(sentence) in said for sentence in shows)


@pytest.mark.parametrize("minutes", PLANS)
def test_a_plan_fills_its_time_and_says_what_to_leave_out(minutes):
    plan = PLANS[minutes]
    assert sum(stop.minutes for stop in plan) == minutes == begins_at(plan, len(plan))
    out, ends = if_time_is_short(plan)
    saved = sum(stop.minutes for stop in plan if stop.out)
    assert render(out).endswith(f"that saves {saved} minutes.") and saved >= minutes / 10
    assert all(str(place) in render(out) for place, stop in enumerate(plan, start=1) if stop.out)
    assert all(str(place) in render(ends) for place, stop in enumerate(plan, start=1) if stop.ends)


@pytest.mark.parametrize("minutes", PLANS)
def test_the_page_shows_every_stop_with_its_links_and_the_answers_that_will_come(minutes):
    at = open_page(PAGE, paper=str(minutes))
    assert [heading.value for heading in at.subheader] == [
        f"{place} · {title_of_stop(stop)}" for place, stop in enumerate(PLANS[minutes], start=1)
    ]
    links = [element.proto.url for element in at.get("link_button")]
    lines = texts(at)
    for stop in PLANS[minutes]:
        assert url_of_stop(stop) in links and (stop.then is None or url_of_what_is_shown(stop) in links)
        found = planned(stop)
        assert render(found.asks) in lines
        says = said_of_answer if stop.opens else said_of_mistake
        assert found.right is None or said_of_answer(found.right) in lines
        assert found.wrong and "\n".join(f"• {says(answer)}" for answer in found.wrong) in lines


def test_links_are_shown_as_the_plan_is():
    at = open_page(PAGE, paper="45", large="true", lang="en", hide="caption")
    links = [dict(parse_qsl(urlsplit(element.proto.url).query)) for element in at.get("link_button")]
    assert links and all((link["large"], link["lang"]) == ("true", "en") for link in links)
    assert {link["hide"] for link in links} <= {"caption", "caption,predict"}
