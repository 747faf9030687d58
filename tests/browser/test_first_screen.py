"""What only a browser shows of the first screen: it follows pointer, clicks and the switch, and nothing moves."""

import pytest

from lessons.example.real_model import DEFAULT_TEXT
from lessons.screen import render
from lessons.start.overview.model_view import ModelChoices, expected, look_back, read_sentence
from tests.figures import EVERY, MODEL, PICTURE

FIGURE = ".st-key-model_view"
HEIGHT, UPRIGHT_HEIGHT = 690, 1114  # pixels of the picture; at least, where the sentence runs down
ROOMS = f"{FIGURE} {MODEL} [data-what]"
TEXTS = f"""name => {EVERY}(`{MODEL} .${{name}}`).map(text => text.textContent)"""
BOX = f"""() => (({{x, y, width, height}}) => [x, y, width, height])({EVERY}("{MODEL}")[0].getBoundingClientRect())"""
SMALLEST = f"""() => Math.min(...{EVERY}('{MODEL} text')
    .filter(text => text.textContent.trim()).map(text => parseFloat(getComputedStyle(text).fontSize)))"""
COVERED = """() => [...document.querySelectorAll('.st-key-model_look :is(button, input:not([type=checkbox]))')]
    .filter(one => {
        one.scrollIntoView({block: 'center'})
        const box = one.getBoundingClientRect()
        const met = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)
        return box.width && !(one.contains(met) || met?.contains(one) || met?.closest('[data-testid]')?.contains(one))
    }).map(one => one.outerHTML.slice(0, 200))"""
WORDS, N_HEADS = 10, 9


def opened(visit, url=None, query="", **context):
    tab = visit(**({"url": url} if url else {}), **context)
    tab.page.goto(f"{tab.url}/{query}")
    tab.page.wait_for_selector(f"{FIGURE} {MODEL} .ways path", state="attached")
    return tab.settled()


def short(share):
    return "< 1%" if share <= 0.005 else "> 99%" if share >= 0.995 else f"{share:.0%}"


def shares_become(tab, row):
    wanted = [short(share) for share in row.tolist()]
    tab.page.wait_for_function(f"wanted => String(({TEXTS})('share')) === String(wanted)", arg=wanted)


def middle(tab, room):
    place = tab.page.locator(f"{ROOMS} > rect").nth(room)
    while not (box := place.bounding_box()):  # just being drawn anew
        tab.page.wait_for_timeout(50)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def room_of(layer, head):
    return WORDS + layer * N_HEADS + head


def test_it_follows_the_pointer_a_click_and_the_switch_and_nothing_moves(visit, with_model, smollm2):
    def read(layer=13, head=8, asks=7, off=False):
        return read_sentence(smollm2, ModelChoices(DEFAULT_TEXT, layer, head, asks, off))

    tab = opened(visit, with_model)
    tab.page.wait_for_selector(f"{FIGURE} {MODEL} .job", state="attached")  # once all heads are measured
    shares_become(tab.settled(), read().row)
    still_there, box, sent = (
        tab.marked(f"{FIGURE} {PICTURE}"),
        tab.page.evaluate(BOX),
        len(tab.sent),
    )
    tab.page.mouse.move(*middle(tab, room_of(18, 6)))
    shares_become(tab, read(18, 6).row)
    tab.page.mouse.move(*middle(tab, 5))
    shares_become(tab, read(asks=5).row)
    assert len(tab.sent) == sent, "pointing asks no server"
    tab.page.mouse.click(*middle(tab, room_of(9, 4)))
    tab.page.wait_for_url("**look_head=9.4*")
    tab.settled().page.mouse.click(*middle(tab, 6))
    tab.page.wait_for_url("**look_asks=7*")
    tab.settled().page.mouse.move(5, 300)
    shares_become(tab, read(9, 4, 6).row)
    said = render(look_back(read(9, 4, 6)))
    assert tab.page.locator(".st-key-model_headline p").inner_text().replace("\u2060", "") == said
    tab.page.locator(".st-key-look_off label").click()
    tab.page.wait_for_url("**look_off=true*")
    changes = [f"{short(g.share)} → {short(g.without)}" for g in expected(read(9, 4, 6, off=True))]
    tab.page.wait_for_function(f"wanted => String(({TEXTS})('odds')) === String(wanted)", arg=changes)
    assert tab.page.evaluate(BOX) == pytest.approx(box, abs=0.5) and still_there()
    assert box[1] + box[3] <= 900 and tab.page.evaluate(SMALLEST) >= 13
    tab.page.set_viewport_size({"width": 390, "height": 844})
    tab.page.wait_for_function(f"() => ({BOX})()[3] >= {UPRIGHT_HEIGHT}")
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 390 and tab.page.evaluate(SMALLEST) >= 13
    assert tab.page.evaluate(COVERED) == [], "nothing lies over a control"


def test_without_the_model_its_places_keep_their_size_and_say_how_to_get_it(visit):
    tab = opened(visit)
    tab.page.get_by_role("button", name="Get the model (93 MB)").wait_for()
    assert tab.page.evaluate(BOX)[3] == pytest.approx(HEIGHT, abs=5)
    assert tab.page.locator(".st-key-look_text input").is_disabled()
    tab.page.mouse.click(*middle(tab, 1))
    tab.page.wait_for_url("**look_asks=2*")
    tab.page.get_by_role("heading", name="Where does a language model look from “cat”").wait_for()
    assert tab.page.evaluate(COVERED) == [], "nothing lies over a control"
