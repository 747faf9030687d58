"""What each kind of figure that our scripts draw keeps to, with made-up data on an empty page: it says what it is,
shows a visitor's text as it is, draws new data in the same place, and is as wide as there is room.
"""

import json

import pytest
import torch
from playwright.sync_api import expect

from attention_ui.figures.matrices.tables import tables_of
from attention_ui.figures.sentence.arcs import arcs_of
from attention_ui.figures.sentence.model_view import view_of
from attention_ui.figures.sentence.ribbons import ribbons_of
from attention_ui.figures.shares.flow import flow_of
from attention_ui.figures.shares.head_maps import maps_of
from attention_ui.streamlit_insides import IN_BROWSER, name_of_part
from lessons.example.example import Example, run_example
from lessons.screen import Arcs, HeadMap, HeadMaps, ModelView, Token, message
from lessons.start.overview import matrices_view, sentence_view
from lessons.teachers.class_vote.lesson import Flow

HOSTILE = "<b>{key}$&</b>"
TOKENS = tuple(Token(text, place) for place, text in enumerate([HOSTILE, "a", "cat"]))
SHARES = torch.tensor([[1.0, 0.0, 0.0], [0.25, 0.75, 0.0], [0.5, 0.25, 0.25]])
NAME = message("A picture")
TRACE = run_example(Example(source="sentence", text=f"{HOSTILE} a cat"))
FEWER = run_example(Example(source="sentence", text="a cat"))


def model(tokens, query):
    shares = SHARES[: len(tokens), : len(tokens)]
    return ModelView(
        key="k",
        name=NAME,
        n_layers=1,
        n_heads=2,
        tokens=tokens,
        spaced=(False, True, True)[: len(tokens)],
        query=query,
        chosen=(0, 1),
        off=False,
        of_head=shares,
        of_query=shares[None, [query, query]],
        guesses=(),
        jobs=(),
        heads=(),
        about_head=(),
    )


DATA = {
    "arcs": arcs_of(Arcs(key="k", name=NAME, tokens=TOKENS, shares=SHARES, head=NAME, chosen=2, hint=NAME, least=0.05)),
    "maps": maps_of(
        HeadMaps(
            key="k",
            name=NAME,
            tokens=TOKENS,
            maps=(HeadMap(name=message(HOSTILE), score=None, shares=SHARES),) * 5,
            in_a_row=3,
            hint=NAME,
            least=0.05,
        )
    ),
    "flow": flow_of(Flow(key="k", name=NAME, cards=(message(HOSTILE), NAME), moved=((1, 4), (2, 3)), right=1)),
    "matrices": tables_of(matrices_view.screen(TRACE, 0, matrices_view.Choices()).figures[0]),
    "ribbons": ribbons_of(sentence_view.screen(TRACE, 0, sentence_view.Choices()).figures[0]),
    "model": view_of(model(TOKENS, 2)),
}
SHORTER = {
    "ribbons": ribbons_of(sentence_view.screen(FEWER, 0, sentence_view.Choices()).figures[0]),
    "model": view_of(model(TOKENS[:2], 1)),
}
DRAW = """async ([address, data, room]) => {
    const {default: draw} = await import(`${address}/figure.js`)
    const style = document.createElement('link')
    const box = document.createElement('div')
    Object.assign(style, {rel: 'stylesheet', href: `${address}/figure.css`})
    box.id = 'room'
    box.style.width = `${room}px`
    document.body.replaceChildren(box)
    const parentElement = box.attachShadow({mode: 'open'})
    parentElement.append(style)
    const told = window.told = []
    window.draw = data => draw({data, parentElement, setStateValue: (...what) => told.push(what),
                                setTriggerValue: (...what) => told.push(what)})
    window.draw(data)
}"""


@pytest.fixture
def drawn(visit):
    """Draws data of a kind on an empty page of the app's own origin."""
    someone = visit()

    def draw(kind, room=900, **more):
        address = f"{someone.url}/_stcore/bidi-components/{name_of_part(IN_BROWSER / 'figures')}"
        data = {"kind": kind, "written": json.dumps(DATA[kind]), "alt": "alt", "least": 0, "hinted": True} | more
        someone.page.goto(f"{someone.url}/_stcore/health")
        someone.page.evaluate(DRAW, [address, data, room])
        someone.page.locator("#room section").first.wait_for()
        return someone.page

    return draw


@pytest.mark.parametrize("kind", DATA)
def test_it_says_what_it_is_and_a_visitors_text_is_no_markup(drawn, kind):
    page = drawn(kind)
    section = page.locator("#room section")
    assert section.get_attribute("aria-label")
    text = section.evaluate("one => one.textContent")
    assert HOSTILE[:5] in text or kind == "flow", "cards are named by letters"
    assert section.locator("b").count() == 0


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("room", [358, 900])
def test_it_is_as_wide_as_there_is_room_and_follows_it(drawn, kind, room):
    page = drawn(kind, room)
    fits = "() => (room => room.scrollWidth <= 1.01 * room.clientWidth)(document.querySelector('#room'))"
    page.wait_for_function(fits)  # to a hundredth: the letters here are not ours
    page.evaluate("() => (document.querySelector('#room').style.width = '600px')")
    page.wait_for_function(fits)


@pytest.mark.parametrize("kind", DATA)
def test_new_data_are_drawn_in_the_same_place(drawn, kind):
    page = drawn(kind)
    page.evaluate("() => (document.querySelector('#room').shadowRoot.querySelector('section').mine = true)")
    other = DATA[kind] | {"name": "Another one"}
    data = {"kind": kind, "written": json.dumps(other), "alt": "other", "least": 0, "hinted": True}
    page.evaluate("data => window.draw(data)", data)
    section = page.locator("#room section")
    expect(section).to_have_attribute("aria-label", "Another one")
    assert section.evaluate("one => one.mine") is True


@pytest.mark.parametrize("kind", SHORTER)
def test_a_shorter_sentence_takes_its_place_while_one_points_at_its_last_word(drawn, kind):
    page = drawn(kind)
    page.locator(".word").nth(2).hover()
    data = {"kind": kind, "written": json.dumps(SHORTER[kind]), "alt": "", "large": False}
    page.evaluate("data => window.draw(data)", data)
    expect(page.locator(".word")).to_have_count(2)
    page.locator(".word").nth(1).hover()
    told = page.locator("title").all_text_contents()
    assert any(told) and not any("{" in one.replace(HOSTILE, "") for one in told)


def test_arcs_are_as_thick_as_weights_and_pointing_says_the_largest(drawn):
    page = drawn("arcs")
    thick = page.locator(".arc").evaluate_all("all => all.map(one => Number(one.getAttribute('stroke-width')))")
    assert thick == pytest.approx([0.6 + 5 * 0.25, 0.6 + 5 * 0.5, 0.6 + 5 * 0.25])
    expect(page.locator(".own.word")).to_have_attribute("aria-label", "“cat”")
    page.locator(".word").nth(1).hover()
    expect(page.locator("output")).to_have_text("“a” → “a” 0.75, “<b>{key}$&</b>” 0.25")
    page.locator(".word").nth(2).focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".word").nth(1)).to_be_focused()


def test_squares_of_maps_are_as_large_as_weights(drawn):
    page = drawn("maps")
    sides = page.locator("rect.weight").evaluate_all("all => all.map(one => Number(one.getAttribute('width')))")
    cell = page.locator("rect.frame").first.evaluate("one => Number(one.getAttribute('width'))") / 3
    assert [(side / cell) ** 2 for side in sides[:6]] == pytest.approx([1, 0.25, 0.75, 0.5, 0.25, 0.25], abs=2e-3)


def test_a_square_says_its_weight_as_the_language_writes_it(drawn):
    written = json.dumps(DATA["maps"]).replace('"0.75"', '"0,75"')
    page = drawn("maps", written=written)
    page.locator("rect.weight").nth(2).hover()
    expect(page.locator("output")).to_have_text(f"{HOSTILE}: “a” → “a” 0,75")


def test_bands_of_votes_are_as_wide_as_those_who_went_there_and_stand_without_a_gap(drawn):
    page = drawn("flow")
    wide = page.locator(".band").evaluate_all(
        "all => all.map(one => Number(/v([\\d.]+)/.exec(one.getAttribute('d'))[1]))"
    )
    assert [one / sum(wide) for one in wide] == pytest.approx([0.1, 0.4, 0.2, 0.3])
    cards = page.locator("rect").evaluate_all("all => all.map(one => Number(one.getAttribute('height')))")
    assert [one / sum(wide) for one in cards] == pytest.approx([0.5, 0.5, 0.3, 0.7], abs=1e-4)
    page.locator(".band").nth(1).dispatch_event("pointerover")  # where another lies over its middle
    expect(page.locator("output")).to_have_text("4 went from A to B.")


@pytest.mark.parametrize("kind", ["ribbons", "model"])
def test_a_word_is_chosen_by_a_click_and_by_a_key(drawn, kind):
    page = drawn(kind)
    page.locator(".word").nth(1).click()
    page.locator(".word").nth(2).focus()
    page.keyboard.press("Enter")
    chosen = [["asked", 1], ["asked", 2]] if kind == "ribbons" else [["chosen", ["word", 1]], ["chosen", ["word", 2]]]
    assert page.evaluate("() => window.told") == chosen
