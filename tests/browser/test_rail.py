"""The rail in a real browser: all lessons in one line, where one is, what is solved."""

from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import expect

from attention_ui.contents import CONTENTS

IN_SIGHT = """count => [...document.querySelectorAll('[data-testid=stTopNavLink]')].filter(one => {
    const box = one.getBoundingClientRect()
    return box.width && box.right <= innerWidth && getComputedStyle(one.closest('.rc-overflow-item')).opacity === '1'
}).length === count"""
CLIP = "name => getComputedStyle(name).clipPath"
COLOUR = "link => getComputedStyle(link).borderTopColor"


def link(tab, title):
    return tab.page.get_by_test_id("stTopNavLink").filter(has_text=title)


def test_all_lessons_stand_in_one_line_and_a_solved_one_is_marked(visit):
    tab = visit().open("softmax")
    tab.page.wait_for_selector("h1")
    tab.settled()
    links = tab.page.get_by_test_id("stTopNavLink")
    assert links.all_inner_texts() == [entry.name for entry in CONTENTS], "none is folded away"
    assert len({round(link.bounding_box()["y"]) for link in links.all()}) == 1
    assert tab.page.locator('[data-testid="stTopNavLink"][aria-current="page"]').inner_text() == "Softmax"

    link(tab, "Output").click()
    tab.page.wait_for_url("**/output**")
    tab.settled()
    plain = link(tab, "Softmax").evaluate(COLOUR)
    assert plain == link(tab, "Mask").evaluate(COLOUR) != link(tab, "Output").evaluate(COLOUR)
    tab.answer_rightly("output")
    link(tab, "Softmax").click()
    tab.page.wait_for_url("**/softmax**")
    tab.settled()
    solved = link(tab, "Output").evaluate(COLOUR)
    assert solved not in (plain, link(tab, "Softmax").evaluate(COLOUR))
    assert link(tab, "Mask").evaluate(COLOUR) == plain


def test_where_there_is_no_room_the_other_groups_are_bars_that_say_their_name_and_a_phone_says_where_one_is(visit):
    tab = visit().open("softmax")
    tab.page.wait_for_selector("h1")
    tab.settled()
    links, name = tab.page.get_by_test_id("stTopNavLink"), link(tab, "Generate").locator("p")
    for width in (1280, 1024):
        tab.page.set_viewport_size({"width": width, "height": 720})
        tab.page.mouse.move(5, 400)
        tab.page.wait_for_function(IN_SIGHT, arg=len(CONTENTS))
        here = round(link(tab, "Softmax").bounding_box()["y"])
        assert {round(one.bounding_box()["y"]) for one in links.all()} == {here}
        assert name.evaluate(CLIP) != "none" == link(tab, "Softmax").locator("p").evaluate(CLIP)
        assert (link(tab, "Mask").locator("p").evaluate(CLIP) == "none") == (width == 1280), "its group, where it fits"
        link(tab, "Generate").hover()
        assert name.evaluate(CLIP) == "none"
        assert link(tab, "Generate").bounding_box()["width"] >= 24
    tab.page.set_viewport_size({"width": 390, "height": 844})
    said = "wanted => getComputedStyle(document.querySelector('.stAppHeader'), '::after').content === wanted"
    tab.page.wait_for_function(said, arg=f'"7 of {len(CONTENTS)} · Softmax"')
    tab.page.wait_for_function("() => document.documentElement.scrollWidth <= 390")


CHOSEN = "example=pronouns&seed=7&trained_for=20&hide=caption&cover=false&large=true&lang=de"
HERE = """([place, pairs]) => location.pathname === '/' + place
    && new Set(pairs.map(String)).symmetricDifference(
        new Set([...new URLSearchParams(location.search)].map(String))).size === 0
    && [...new URLSearchParams(location.search)].length === pairs.length"""


def arrives(tab, place, said):
    """Wait for a page whose address says all this, each name once, and nothing else."""
    tab.page.wait_for_function(HERE, arg=[place, [list(pair) for pair in parse_qsl(said)]])
    tab.settled()


def to(tab, place):
    """The link of the rail to a page, in any language."""
    return tab.page.locator(f'[data-testid="stTopNavLink"][href$="/{place}"]')


def test_the_first_click_and_every_other_way_lead_to_the_same_visit(visit, start_server):
    tab = visit(url=start_server())  # which has only just started: what a link may say it does not know yet
    tab.page.goto(f"{tab.url}/softmax?{CHOSEN}")
    to(tab, "output").click()
    arrives(tab, "output", CHOSEN)
    expect(tab.page.locator(".st-key-seed input")).to_have_value("7")  # a moment after it stands there
    tab.page.locator(".st-key-lesson_before button").click()
    arrives(tab, "softmax", CHOSEN)
    tab.page.keyboard.press("Shift+ArrowRight")
    arrives(tab, "output", CHOSEN)
    tab.page.reload()
    arrives(tab, "output", CHOSEN)
    tab.page.go_back()
    tab.page.wait_for_url("**/softmax?**")
    assert ("example", "pronouns") in parse_qsl(urlsplit(tab.page.url).query)
    tab.page.get_by_test_id("stHeaderLogo").click()
    tab.page.wait_for_url(f"{tab.url}/?**")
    arrives(tab, "", CHOSEN)


def test_a_visit_that_begins_at_the_first_page_goes_on_with_the_lessons_own_example(visit):
    tab = visit()
    tab.page.goto(tab.url)
    to(tab, "softmax").click()
    arrives(tab, "softmax", "")
