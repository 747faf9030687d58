"""Nothing in view moves: the figure keeps its place and size, and what answers stands where the question was."""

import pytest
from playwright.sync_api import TimeoutError

from attention_ui.contents import CONTENTS
from tests.chromium import SETTLED
from tests.figures import CELL, CHECK_BOX, EVERY, PICTURE, SLIDER

SIZES = {"laptop": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}
# The pages that ask something. Read asks of the real model, which tests hide.
ASKED = [entry.address for entry in CONTENTS if entry.section not in ("start", "practice") and entry.address != "read"]
# Where the first picture in a part of the page stands on it, wherever one has scrolled to, once it has stood a while.
STANDS = (
    """selector => {
    const settled = SETTLED, main = document.querySelector('.stMain')
    const [picture] = EVERY('PICTURE', document.querySelector(selector) ?? undefined)
    if (!settled() || !picture) return null
    const box = picture.getBoundingClientRect(), at = selector + location.pathname + innerWidth
    const now = [box.left, box.top + main.scrollTop, box.width, box.height]
    if (window.stood?.at !== at || window.stood.box.some((side, i) => Math.abs(side - now[i]) > 0.5))
        window.stood = {box: now, at, since: performance.now()}
    return performance.now() - window.stood.since > 200 ? now : null
}""".replace("SETTLED", SETTLED)
    .replace("EVERY", EVERY)
    .replace("PICTURE", PICTURE)
)
FOLLOWED = ".st-key-trace_open"  # a menu of the numbers that can be followed
SCROLLED = "document.querySelector('.stMain').scrollTop"
IN_VIEW = """found => {
    const box = found.getBoundingClientRect(), head = document.querySelector('.stAppHeader').getBoundingClientRect()
    return box.height > 0 && box.top >= head.bottom - 1 && box.bottom <= innerHeight + 1
}"""


def stands(tab, part=".stMain"):
    """Left, top, width and height of the first picture in this part of the page."""
    tab.page.evaluate("window.stood = null")
    return tab.page.wait_for_function(STANDS, arg=part, polling=50).json_value()


def is_seen(tab, selector):
    """Whether it comes into view; on a busy machine what follows a click is drawn in several steps."""
    try:
        tab.page.wait_for_function(
            f"selector => {{ const found = document.querySelector(selector); return found && ({IN_VIEW})(found) }}",
            arg=selector,
            timeout=5000,
        )
    except TimeoutError:
        return False
    return True


def same(box):
    """The same place and size: half of a pixel may be lost in rounding."""
    return pytest.approx(box, abs=1)


@pytest.fixture
def faults():
    """What moved or was out of sight, all of it together: one page tells nothing of the others."""
    found = []
    yield found
    assert not found, "\n".join(found)


def test_neither_an_answer_nor_a_click_into_a_figure_moves_the_first(visit, faults, whole):
    tab = visit().open("tokens?cover=true")
    for place, address in enumerate(ASKED if whole else ASKED[:4]):
        if place:
            tab.settled().page.locator(f'[data-testid="stTopNavLink"][href$="/{address}"]').press("Enter")
        tab.page.wait_for_url(f"**/{address}?*" if place == 0 else f"**/{address}*")
        tab.page.locator(f".st-key-{address}_card_A").wait_for()
        before = {}
        for name, size in SIZES.items():
            tab.page.set_viewport_size(size)
            before[name] = stands(tab)
        faults += [f"{address}, phone: {fault}" for fault in moved_by_an_answer(tab, address, "A", before["phone"])]
        tab.page.set_viewport_size(SIZES["laptop"])
        if whole or place % 2:
            faults += [f"{address}, laptop: {fault}" for fault in moved_by_answers(tab, address, before["laptop"])]
        if whole or not place % 2:
            faults += [f"{address}: {fault}" for fault in moved_by_clicks(tab, before["laptop"])]


def verdict(tab):
    return "right" if tab.page.locator("[class*=st-key-cards_right]").count() else "wrong"


def moved_by_answers(tab, address, before):
    """The first card was pressed: press others until a wrong and the right one have been pressed."""
    first = verdict(tab)
    if stands(tab) != same(before) and (now := stands(tab)) != same(before):  # the window has just become wide again
        yield f"the {first} answer moved the figure from {before} to {now}"
    for letter in "BCD":
        yield from moved_by_an_answer(tab, address, letter, before)
        if verdict(tab) != first:
            return


def moved_by_an_answer(tab, address, letter, before):
    tab.page.locator(f".st-key-{address}_card_{letter} button").click()
    tab.page.locator(f".st-key-{address}_card_{letter} button[kind=primary]").wait_for()
    if (after := stands(tab)) != same(before):
        yield f"the {verdict(tab)} answer moved the figure from {before} to {after}"
    if not is_seen(tab, "[class*=_quiz] [data-testid=stText]:not([class*=covered] *)"):
        yield f"what is said of the {verdict(tab)} answer is out of sight"


def moved_by_clicks(tab, before):
    """Click a number of each figure whose numbers can be followed."""
    for place in range(1 + tab.page.locator("[class*=st-key-with_panel_]").count()):
        part = f".st-key-with_panel_{place}" if place else ".st-key-stage"
        cells = tab.page.locator(f"{part} {CELL}")
        if not cells.count() or not (place or tab.page.locator(FOLLOWED).count()):
            continue
        cell = cells.nth(cells.count() // 2)
        cell.scroll_into_view_if_needed()
        clicked, scrolled = stands(tab, part), tab.page.evaluate(SCROLLED)
        cell.click(force=True)
        tab.page.locator(f".st-key-clicked_{place}").wait_for()
        if stands(tab) != same(before):
            yield f"a click into figure {place} moved the first"
        if stands(tab, part) != same(clicked):
            yield f"a click into figure {place} moved it"
        if tab.page.evaluate(SCROLLED) != scrolled:
            yield f"a click into figure {place} scrolled the page"
        if not is_seen(tab, f".st-key-clicked_{place} [data-testid=stCode]"):
            yield f"what a click into figure {place} tells is out of sight"


def test_the_end_of_training_and_a_head_left_out_move_nothing(visit):
    tab = visit().open("train?task=previous&steps=40")
    before = stands(tab)
    tab.page.get_by_role("button", name="Start", exact=True).click()
    moment = tab.page.locator(f".st-key-run {SLIDER}")
    moment.wait_for()
    assert stands(tab) == same(before)
    assert moment.input_value() == moment.get_attribute("max"), "it stands where the training ended"
    assert not tab.page.locator(f".st-key-run {CHECK_BOX}").is_checked()
    tab.page.locator(".st-key-left_out button").first.click()
    effect = tab.page.get_by_text("Without layer 1, head 1 the evaluation loss")
    effect.wait_for()
    assert stands(tab) == same(before) and effect.evaluate(IN_VIEW)


def test_what_the_keyboard_goes_back_to_stands_clear_of_the_bar_at_the_top(visit):
    tab = visit().open("cost").settled()
    another = tab.page.locator(".st-key-cost_another button")
    another.evaluate("button => document.querySelector('.stMain').scrollBy(0, button.getBoundingClientRect().top - 10)")
    assert another.bounding_box()["y"] == pytest.approx(10, abs=1) and not another.evaluate(IN_VIEW)
    another.focus()
    tab.page.wait_for_function(f"() => ({IN_VIEW})(document.activeElement)", timeout=5000)
