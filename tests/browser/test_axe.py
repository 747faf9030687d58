"""Every page can be used: WCAG 2.2, A and AA, as far as axe-core can tell, wide and narrow, light and dark, drawer shut
and open; and before and after an answer, at every width, nothing lies over what can be pressed.
"""

import pytest
from axe_playwright_python.sync_playwright import Axe

from attention_ui.contents import CONTENTS
from tests.browser.within_reach import WIDTHS, out_of_reach
from tests.figures import CHART_CLASS

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], "resultTypes": ["violations"]}
# What is not ours to mend: the rule, and what its element says of itself.
NOT_OURS = (
    # Vega gives the group around its marks a role and no name; each mark inside has a name.
    ("svg-img-alt", 'aria-roledescription="'),
    # Streamlit lets no element be given a tabindex; browsers of today put what scrolls among the stops of Tab.
    ("scrollable-region-focusable", f'class="{CHART_CLASS}'),
    ("scrollable-region-focusable", 'class="katex-display'),
    ("scrollable-region-focusable", "<pre class="),
)
# Waits are functions: the app's own policy lets no text become code, and a wait looks again inside the page.
LOOKING = """([width, scheme]) => {
    const app = document.querySelector('.stApp')
    return app.clientWidth === width && getComputedStyle(app).colorScheme === scheme
}"""
# What follows scrolling, such as the shadow over a table, runs as long as it is there.
FADED = """() => document.getAnimations().every(fading => fading.timeline !== document.timeline
    || fading.playState !== 'running' || fading.effect.getComputedTiming().endTime === Infinity)"""
CARD = "[class*=st-key-cards_] button"
# What a screen reader says of each control, where that is markup rather than words.
READ_AS_MARKUP = """() => [...document.querySelectorAll('[aria-label]')].map(one => one.getAttribute('aria-label'))
    .filter(name => /[$\\\\]|\\*\\*|`|:[a-z]+\\[/.test(name))"""
# Two looks at a page, which differ in everything; pages take turns, so that all looks are met.
LOOKS = (((1440, "light"), (390, "dark")), ((390, "light"), (1440, "dark")))  # with the drawer shut, then open


def violations(tab, width, scheme):
    tab.page.set_viewport_size({"width": width, "height": 900})
    tab.page.emulate_media(color_scheme=scheme)
    tab.page.wait_for_function(LOOKING, arg=[width, scheme])
    tab.settled()
    tab.page.wait_for_function(FADED)  # colours fade from one scheme to the other
    for violation in Axe().run(tab.page, options=RULES).response["violations"]:
        for node in violation["nodes"]:
            if not any(violation["id"] == rule and part in node["html"] for rule, part in NOT_OURS):
                yield f"{width} {scheme} {violation['id']}: {node['html'][:200]} {node['failureSummary']}"


@pytest.mark.part(8)
@pytest.mark.parametrize(("place", "address"), [*enumerate([*(entry.address for entry in CONTENTS), "?picture=model"])])
def test_nothing_on_a_page_keeps_anybody_out(visit, place, address, whole):
    shut, opened = LOOKS[place // 8 % len(LOOKS)]
    tab = visit(color_scheme="light", reduced_motion="reduce").open("" if address == "home" else address)
    tab.page.wait_for_selector("h1")
    tab.settled()
    found = [*out_of_reach(tab.page), *violations(tab, *shut)]
    if tab.page.locator(CARD).count():
        tab.page.locator(CARD).first.click()
        tab.page.locator(f"{CARD}[kind=primary]").wait_for()
        tab.settled()
        found += out_of_reach(tab.page, reversed(WIDTHS if whole else WIDTHS[::2]))
    # By the keyboard: right after scrolling, Chromium may hand a click to a frame that stood there before.
    tab.page.locator(".st-key-drawer button", has_text="The code that ran").press("Space")
    tab.page.locator(".st-key-drawer_open code").first.wait_for()
    found += violations(tab, *opened)
    found += tab.page.evaluate(READ_AS_MARKUP)
    assert not found, "\n".join(found)
