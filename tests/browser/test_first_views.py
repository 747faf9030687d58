"""What stands in the first view of a lesson, on a laptop and on a phone; a projector has its own tests."""

from tests.figures import LETTERS, PICTURE
from tests.first_views import QUESTION_BESIDE, SCREENS, measure

WIDE, PHONE = ({"width": width, "height": height} for width, height in (SCREENS["wide"], SCREENS["phone"]))
LEAST_NUMBERS, IN_MANY = 16, 13  # pixels; in two matrices that are as large as these
WITH_MANY = ("scores", "mask")


def faults_of(wide, phone, least):
    """What is not as it should be of what was measured."""
    first, cards = wide["figure"], wide["cards"]
    yield "topic and point", not wide["topic"]["bottom"] <= wide["point"]["top"] + 4 <= first["top"] <= 220
    yield "the figure is seen whole", first["bottom"] > 905
    yield "figure and question fill the page", first["width"] < 0.65 * wide["column"]
    yield "question and cards stand beside the figure", not 140 < wide["question"]["top"] < 300
    yield "all cards are seen", cards["bottom"] > 900
    yield f"letters, {wide['letters']}", wide["letters"] < 13
    yield f"numbers, {wide['numbers']}", wide["numbers"] is not None and wide["numbers"] < least
    yield "on a phone, the figure begins on the first screen", phone["figure"]["top"] > 500
    yield "on a phone, cards are seen on two screens", phone["cards"]["bottom"] > 2 * PHONE["height"]
    yield "on a phone, letters", min(phone["letters"], phone["numbers"] or 12) < 12
    yield "nothing is wider than its screen", wide["sideways"] > 0 or phone["sideways"] > 0


def test_topic_point_figure_and_question_stand_in_the_first_view(visit, whole):
    first, *others = QUESTION_BESIDE[:: 1 if whole else 4]
    tab, found = visit(viewport=WIDE).open(f"{first}?example=lesson"), []  # what each lesson begins with
    for lesson in (first, *others):
        if lesson != first:
            tab.page.locator(f'[data-testid="stTopNavLink"][href$="/{lesson}"]').press("Enter")
            tab.page.wait_for_url(f"**/{lesson}*")
        tab.page.locator(f".st-key-{lesson}_card_A").wait_for()
        wide = measure(tab.page)
        tab.page.set_viewport_size(PHONE)
        phone = measure(tab.page)
        tab.page.set_viewport_size(WIDE)
        least = IN_MANY if lesson in WITH_MANY else LEAST_NUMBERS
        found += [f"{lesson}: {what}" for what, is_wrong in faults_of(wide, phone, least) if is_wrong]
    assert not found, "\n".join(found)


def test_a_film_is_seen_whole_and_its_question_begins_right_below(visit):
    tab = visit(viewport=WIDE).open("train")
    tab.page.wait_for_selector(f".st-key-run {PICTURE}")
    seen = measure(tab.page)
    assert seen["figure"]["bottom"] <= WIDE["height"]
    assert seen["question"]["top"] - seen["figure"]["bottom"] < 90, "the bar of its steps alone stands between"
    assert seen["letters"] >= 13
    names = tab.page.locator(f".st-key-run {LETTERS}").all_text_contents()
    assert not [name for name in names if "…" in name]
