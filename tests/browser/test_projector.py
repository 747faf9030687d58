"""On a projector: room for the figure, and words that the back row can read."""

from attention_ui.contents import CONTENTS
from tests.figures import CONTROLS, EVERY, FIGURE_BOX, LETTERS, PICTURE, SLIDER
from tests.first_views import QUESTION_BESIDE, measure

LEAST = 18  # pixels
LEAST_NUMBER, IN_MANY = 24, 19  # of numbers; in a matrix of 80 or more
WITH_MANY = ("scores", "mask")
LETTERS_OF_CARDS = (
    "() => Math.min(...[...document.querySelectorAll('[class*=_card_] button p:first-child')]"
    ".map(one => parseFloat(getComputedStyle(one).fontSize)))"
)
SMALLER = f"""least => [...document.querySelectorAll('.stMain :is(p, h1, h2, h3, label, kbd, summary, code, button)')]
    .filter(one => !one.closest('{FIGURE_BOX}, .katex') && one.offsetParent
        && [...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())
        && parseFloat(getComputedStyle(one).fontSize) < least)
    .map(one => one.textContent)"""


LETTERS_IN_FIGURES = f"""() => {EVERY}('{LETTERS}')
    .filter(one => one.textContent.trim() && one.getBoundingClientRect().width)
    .map(one => parseFloat(getComputedStyle(one).fontSize))"""
LINES_OF_TOPIC = """() => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector(".st-key-topic > * > .stMarkdown p"));
  const ends = [...range.getClientRects()].map((line) => Math.round(line.bottom));
  const topic = document.querySelector(".st-key-topic h1").getBoundingClientRect();
  return new Set(ends).size + (ends[0] > topic.bottom + 4);
}"""


def seen_whole(tab, selector):
    """True where all of this stands on the screen as it is opened."""
    boxes = [place.bounding_box() for place in tab.page.locator(selector).all()]
    return boxes and all(box["y"] >= 0 and box["y"] + box["height"] <= 720 for box in boxes)


def in_turn(visit, addresses):
    """Each of these pages on a projector, one after the other, by the links above them."""
    first, *others = addresses
    tab = visit(viewport={"width": 1280, "height": 720}).open(f"{first}?large=true&example=lesson".removeprefix("home"))
    tab.page.wait_for_selector("h1")
    yield first, tab.settled()
    for address in others:
        tab.page.locator(f'[data-testid="stTopNavLink"][href$="/{address}"]').press("Enter")
        tab.page.wait_for_url(f"**/{address}?*")
        yield address, tab.settled()


def test_letters_in_figures_are_large_and_question_and_answer_are_seen_without_scrolling(visit, whole):
    for page, tab in in_turn(visit, QUESTION_BESIDE[:: 1 if whole else 4]):
        cards = f"[class*=st-key-{page}_card_] button"
        tab.page.locator(cards).first.wait_for()
        tab.page.wait_for_selector(PICTURE)
        tab.settled()
        assert (
            seen_whole(tab, f"h1, .st-key-topic p, [class*=_quiz] h2, {cards}")
            and min(tab.page.evaluate(LETTERS_IN_FIGURES)) >= LEAST
        ), page
        assert tab.page.evaluate(LINES_OF_TOPIC) == 1, page
        numbers = measure(tab.page)["numbers"]
        assert numbers is None or numbers >= (IN_MANY if page in WITH_MANY else LEAST_NUMBER), page
        assert tab.page.evaluate(LETTERS_OF_CARDS) >= LEAST_NUMBER, page
        figure = tab.page.locator(PICTURE).first
        assert figure.bounding_box()["y"] < 460, f"{page}: the screen has room for it, too: controls stand below it"
        tab.page.locator(cards).first.click()
        tab.page.wait_for_selector(f"{cards}[kind=primary]")
        tab.settled()
        reply = "[class*=_quiz] [data-testid=stText] >> nth=-1"
        assert seen_whole(tab, f"h1, .st-key-topic p, [class*=_quiz] h2, {cards}") and seen_whole(tab, reply), page
        assert tab.page.locator(reply).inner_text().startswith(("Yes. ", "Not right. ")), page
        assert min(tab.page.evaluate(LETTERS_IN_FIGURES)) >= LEAST and tab.page.evaluate(SMALLER, LEAST) == [], page
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= 1280, page


def test_what_starts_a_run_or_writes_on_stands_beside_its_question_and_both_are_seen_before_and_after_the_answer(visit):
    tab = visit(viewport={"width": 1280, "height": 720})
    for page, presses, figure in (("train", "start", "run"), ("generate", "write_more", "distribution")):
        cards = f"[class*=st-key-{page}_card_] button"
        tab.open(f"{page}?large=true&task=previous&writer=sea").page.locator(cards).first.wait_for()
        tab.page.wait_for_selector(f".st-key-{figure} {PICTURE}")
        first_view = f"h1, .st-key-{presses} button, .st-key-{figure} {PICTURE}, [class*=_quiz] h2, {cards}"
        assert seen_whole(tab.settled(), first_view), page
        beside = tab.page.locator("[class*=_quiz] h2").bounding_box()
        picture = tab.page.locator(f".st-key-{figure} {PICTURE}").bounding_box()
        assert beside["x"] > picture["x"] + picture["width"] and beside["y"] < picture["y"], page
        assert min(tab.page.evaluate(LETTERS_IN_FIGURES)) >= LEAST, page
        tab.page.locator(cards).first.click()
        tab.page.wait_for_selector(f"{cards}[kind=primary]")
        assert seen_whole(tab.settled(), f"{first_view}, [class*=_quiz] [data-testid=stText] >> nth=-1"), page
        assert not [name for name in tab.page.locator(LETTERS).all_text_contents() if "…" in name], page


def test_a_film_shows_its_matrices_or_its_curves_and_stays_in_view_once_it_can_be_moved(visit):
    tab = visit(viewport={"width": 1280, "height": 720}).open("train?large=true&steps=20&task=previous")
    tab.page.locator(".st-key-start button").click()
    tab.page.locator(f".st-key-run {SLIDER}").wait_for()
    assert seen_whole(tab.settled(), f".st-key-run {PICTURE}, .st-key-run {CONTROLS}")
    tab.page.keyboard.press("ArrowDown")
    tab.page.wait_for_selector(f".st-key-progress {PICTURE}")
    assert seen_whole(tab.settled(), f".st-key-loss {PICTURE}, .st-key-progress {PICTURE}")
    assert not tab.page.locator(f".st-key-run {PICTURE}").count()
    tab.page.keyboard.press("ArrowDown")
    tab.page.wait_for_selector(f".st-key-run {PICTURE}")


def test_a_key_goes_on_to_the_next_part_of_a_figure_and_after_the_last_to_the_first(visit):
    tab = visit(viewport={"width": 1280, "height": 720}).open("dot_product?large=true&cover=false&example=meanings")
    titles = tab.page.locator(".st-key-stage caption span")
    tab.page.wait_for_selector(f".st-key-stage {PICTURE}")
    shown = []
    for part in ("1 / 2", "2 / 2", "1 / 2"):
        tab.page.get_by_text(part, exact=True).wait_for()
        tab.settled()
        shown.append(titles.all_inner_texts())
        box = tab.page.locator(f".st-key-stage {PICTURE}").bounding_box()
        assert box["y"] + box["height"] <= 720 and box["x"] + box["width"] <= 1280
        tab.page.keyboard.press("ArrowDown")
    assert shown[0] == ["query", "keys", "score"]
    assert shown[1] == ["weight", "values", "weight × value", "output"] and shown[2] == shown[0]


def test_nothing_is_too_small_for_the_back_row(visit, whole):
    others = [entry.address for entry in CONTENTS if entry.address not in QUESTION_BESIDE]
    for page, tab in in_turn(visit, others[:: 1 if whole else 4]):
        if page != "home":
            tab.page.wait_for_selector(".st-key-topic > * > .stMarkdown p")
            assert tab.page.evaluate(LINES_OF_TOPIC) == 1, page
        if page not in ("exercises", "take_home", "class_vote", "read"):
            tab.page.wait_for_selector(PICTURE)
            assert min(tab.page.evaluate(LETTERS_IN_FIGURES)) >= LEAST, page
        assert tab.page.evaluate(SMALLER, LEAST) == [], page
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= 1280, page


def test_the_sidebar_leaves_its_room_to_the_figure(visit):
    tab = visit(viewport={"width": 1280, "height": 720}).open("softmax?large=true")
    tab.page.wait_for_selector("h1")
    tab.settled()
    assert tab.page.locator(".stMain h1").first.bounding_box()["x"] < 100, "the sidebar is folded"
    tab.page.get_by_test_id("stExpandSidebarButton").click()
    tab.page.locator(".st-key-large label").click()
    tab.page.wait_for_url(lambda address: "large=true" not in address)
    tab.page.wait_for_function(f"least => ({SMALLER})(least).length", arg=LEAST)
