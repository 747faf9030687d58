"""Other languages in a real browser: the menu, the browser's own language, room for words, letters that exist."""

import contextlib
import re

import pytest
from playwright.sync_api import TimeoutError

from attention_ui.contents import CONTENTS
from tests.figures import CONTROL, EVERY, FIGURE_BOX, LETTERS, TABLES
from words import FIRST, LANGUAGES, speaking, tag_of

CODES = [code for code in LANGUAGES if code != FIRST]
# Each page in one language, each language on several pages; `python docs/contact_sheet.py` shows all in all.
ROUND = [(entry.address, CODES[place % len(CODES)]) for place, entry in enumerate(CONTENTS)]
CHARACTERS = {"zh": "词元权重查询", "ja": "トークンの重み概要"}
PHONE = {"viewport": {"width": 390, "height": 844}}

# What is cut off: a text that leaves the screen, or its own box, and that nothing lets one scroll to.
CUT_OFF = f"""() => {{
  const scrolls = (e) => e && (/auto|scroll/.test(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
  const own = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  const found = [];
  for (const e of document.querySelectorAll("[data-testid='stMain'] *")) {{
    if (!own(e) || e.closest("svg, .katex, [data-testid='stCode'], iframe") || !e.checkVisibility()) continue;
    const box = e.getBoundingClientRect(), look = getComputedStyle(e);
    if (box.width < 2 || box.height < 2 || look.clipPath !== "none" || scrolls(e)) continue;
    const leaves = box.right > innerWidth + 1 || box.left < -1;
    const clipped = look.overflowX !== "visible" && e.scrollWidth > e.clientWidth + 1;
    if (leaves || clipped) found.push(e.textContent.trim().slice(0, 80));
  }}
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page scrolls sideways");
  for (const e of document.querySelectorAll(".katex-display, {FIGURE_BOX}"))  // what scrolls shows that it does
    if (e.scrollWidth > e.clientWidth + 1 && !getComputedStyle(e).backgroundImage.includes("gradient"))
      found.push(`no sign that there is more of ${{e.textContent.slice(0, 40)}}`);
  for (const e of document.querySelectorAll("{CONTROL}"))
    if (e.getBoundingClientRect().right > e.closest("{FIGURE_BOX}").getBoundingClientRect().right + 1)
      found.push(`${{e.closest("label").textContent}} leaves its figure`);
  for (const e of document.querySelectorAll("[data-testid='stSidebar'][aria-expanded='true'] p"))
    if (e.getBoundingClientRect().left < 0) found.push(`${{e.textContent}} leaves the sidebar`);
  for (const e of {EVERY}("{TABLES} :is(caption, .number, small)")) {{
    const box = e.getBoundingClientRect(), figure = e.closest("{TABLES}").getBoundingClientRect();
    if ((box.right > figure.right + 2 || box.bottom > figure.bottom + 2) && !e.closest(".matrix").scrollLeftMax)
      found.push(`${{e.textContent}} leaves its figure`);
  }}
  return found;
}}"""

# The names of the rail that are not seen whole.
UNNAMED = """() => [...document.querySelectorAll("[data-testid=stTopNavLink]")].filter((link) => {
  const name = link.querySelector("p"), box = name.getBoundingClientRect();
  return getComputedStyle(name).clipPath !== "none" || box.right > innerWidth || box.width < name.scrollWidth - 1
    || getComputedStyle(link.closest(".rc-overflow-item")).opacity !== "1";
}).map((link) => link.textContent)"""

# Letters that no font has are all drawn as the same box.
MISSING = """(letters) => {
  const draw = (letter, font) => {
    const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
    [canvas.width, canvas.height] = [60, 60];
    pen.font = `40px ${font}`;
    pen.fillText(letter, 5, 45);
    return canvas.toDataURL();
  };
  const fonts = new Set(EVERY("LETTERS, h1, p").map((e) => getComputedStyle(e).fontFamily));
  return [...fonts].flatMap((font) => {
    const box = draw("\\u{10ffff}", font);
    return letters.filter((letter) => draw(letter, font) === box).map((letter) => `${letter} in ${font}`);
  });
}""".replace("LETTERS", LETTERS).replace("EVERY", EVERY)


# What was cut off when the page had last rested for a moment; null before: a panel may open after its window widens.
CUT_OFF_AT_REST = f"""() => {{
  const found = JSON.stringify(({CUT_OFF})());
  const wide = document.querySelector("[data-testid='stMainBlockContainer']").clientWidth;
  const seen = [found, wide].join();
  if (seen !== window.looked?.seen) window.looked = {{ seen, since: performance.now() }};
  return performance.now() - window.looked.since > 300 ? found : null;
}}"""


def assert_nothing_is_cut_off(someone):
    with contextlib.suppress(TimeoutError):
        someone.settled().page.wait_for_function(f"() => ({CUT_OFF_AT_REST})() === '[]'", timeout=5000)
    assert someone.page.evaluate("window.looked.seen").startswith("[],")


@pytest.mark.part(5)
@pytest.mark.parametrize(("address", "code"), ROUND)
def test_nothing_is_cut_off_on_a_phone_and_a_laptop_names_all_lessons(visit, address, code):
    with speaking(code):
        someone = visit(**PHONE)
        someone.open(f"{'' if address == 'home' else address}?lang={tag_of(code)}")
        someone.settled()
    assert someone.page.evaluate("document.documentElement.lang") == tag_of(code)
    assert_nothing_is_cut_off(someone)
    assert someone.page.evaluate(MISSING, list(CHARACTERS.get(code, ""))) == []
    someone.page.set_viewport_size({"width": 1440, "height": 900})
    someone.page.wait_for_function(f"() => !({UNNAMED})().length")
    assert_nothing_is_cut_off(someone)


@pytest.mark.parametrize("path", ["?lang=de", "mask?lang=ja"])
def test_figures_keep_their_room_before_their_letters_have_come(visit, path):
    someone = visit(**PHONE)
    someone.page.route("**/*.woff2", lambda asked: asked.fulfill(body=b""))
    someone.open(path)
    someone.settled()
    assert_nothing_is_cut_off(someone)
    someone.page.set_viewport_size({"width": 1440, "height": 900})
    someone.page.wait_for_function(f"() => !({UNNAMED})().length")
    assert_nothing_is_cut_off(someone)


def test_the_menu_opens_the_same_screen_in_another_language(visit):
    someone = visit()
    someone.open("softmax?seed=3&temperature=0.5")
    someone.settled()
    menu = someone.page.locator(".lab-languages")
    menu.locator("summary").focus()
    someone.page.keyboard.press("Enter")
    with someone.page.expect_navigation():
        menu.get_by_role("link", name="Deutsch").click()
    someone.settled()
    assert someone.page.evaluate("document.documentElement.lang") == "de"
    assert "seed=3" in someone.page.url and "temperature=0.5" in someone.page.url
    assert someone.page.title().startswith("Softmax · ")
    someone.page.get_by_text("Andere Frage").wait_for()
    someone.page.reload()
    someone.page.get_by_text("Andere Frage").wait_for()


def test_the_browsers_language_decides_and_a_link_does_not_bring_the_teachers(visit):
    someone = visit(locale="fr-FR")
    someone.open("mask?mask=window&width=2")
    someone.settled()
    assert someone.page.evaluate("document.documentElement.lang") == "fr"
    assert "lang=" not in someone.page.url and "mask=window" in someone.page.url
    assert re.search(r"fenêtre", someone.page.locator(".stMain").inner_text())
