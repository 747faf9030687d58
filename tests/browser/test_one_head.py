"""What only a browser shows of the lessons on one head: what moves without the server, what a click opens."""

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from attention_ui.link_rules import LINK_RULES
from lessons.example.example import Example, first_query, run_example
from lessons.one_head.dot_product.lesson import attend_without_weights
from lessons.one_head.softmax.lesson import softmax_row
from lessons.screen import format_value
from tests.figures import CELL, CHART, FIGURE_BOX, LETTERS, LINE, PICTURE, layer, lit

LINES = "() => [...document.querySelectorAll('[class*=st-key-derivation] code')].map(c => c.textContent)"


def figure(tab, key):
    tab.page.wait_for_selector(f".st-key-{key} {CELL}")
    return tab.settled()


def svg(tab, key):
    return tab.page.locator(f".st-key-{key} {PICTURE}")


def numbers(tab, key):
    """The numbers in the cells of a figure, matrix by matrix."""
    said = tab.page.locator(f".st-key-{key} {CELL}").all_text_contents()
    return [float(text.replace("−", "-")) for text in said if re.fullmatch(r"−?\d+(\.\d+)?", text)]


def wanted(temperature):
    """Every number of the row at a temperature, as a cell shows it."""
    trace = run_example(Example())
    row = softmax_row(trace.heads.select(0), first_query(trace), temperature)
    return [float(f"{float(x):.2f}") for step in ("scores", "shifted", "powers", "weights") for x in getattr(row, step)]


def same(tab, temperature):
    expected = wanted(temperature)
    return numbers(tab, "softmax_figure")[: len(expected)] == pytest.approx(expected, abs=0.011)


def test_the_temperature_moves_every_number_in_place(visit):
    tab = figure(visit().open("softmax?temperature=0.5"), "softmax_figure")
    assert same(tab, 0.5)
    in_place = tab.marked(f".st-key-softmax_figure {PICTURE}")
    picture = svg(tab, "softmax_figure")
    before = picture.text_content()
    tab.page.locator(".st-key-temperature input").focus()
    tab.page.keyboard.press("ArrowRight")
    tab.page.wait_for_url("**temperature=0.6**")  # which the browser writes before the server has answered
    expect(picture).not_to_have_text(before)
    tab.settled().page.wait_for_timeout(500)
    assert same(tab, 0.6)
    assert in_place()
    svg(tab, "softmax_figure").locator(CELL).nth(-1).click()
    tab.page.locator(".st-key-trace_all_1 label").click()
    tab.page.wait_for_function(f"() => ({LINES})().length > 3")
    tab.settled()
    lines = tab.page.evaluate(LINES)
    assert any(" ÷ 0.6" in re.split(" [=≈] ", line)[0] for line in lines)


@pytest.mark.part(5)
@pytest.mark.parametrize(
    ("page", "key"),
    [(page, f"{page}_figure") for page in ("dot_product", "scores", "mask", "softmax", "output")],
)
def test_pointing_at_a_sum_lights_its_parts_and_a_click_opens_the_trace_of_a_number(visit, page, key):
    tab = figure(visit().open(page), key)
    cells = svg(tab, key).locator(CELL)
    if page in ("dot_product", "output"):
        before = len(tab.sent)
        cells.nth(-1).hover()
        tab.page.wait_for_timeout(300)
        assert len(lit(tab.page, f".st-key-{key}")) == 7, "six parts and their sum"
        assert len(tab.sent) == before
    chosen = cells.nth(cells.count() // 2)
    chosen.hover()
    said = tab.page.locator(f".st-key-{key} output").inner_text()
    chosen.click()
    tab.page.wait_for_function(f"() => ({LINES})().length > 0")
    tab.settled()
    value = re.search(r"(−?[\d.]+|masked)( %)?$", said)[1].replace("−", "-")
    last = tab.page.evaluate(LINES)[-1].replace("≈", "=").split(" = ")[-1].replace("−", "-")
    if value == "masked":
        assert last in ("-∞", "0")
    elif said.endswith("%"):
        assert round(100 * float(last)) == int(value)
    else:
        assert float(last) == pytest.approx(float(value), abs=0.0051)


def test_ticks_become_the_code_of_the_mask_and_the_link(visit):
    tab = figure(visit().open("mask?mask=hand"), "mask_figure")
    canvas = tab.page.locator("[data-testid=stDataFrame] canvas").first
    box = canvas.bounding_box()
    tab.page.mouse.click(box["x"] + box["width"] - 22, box["y"] + 35 + 12)
    tab.page.wait_for_url("**drawn=21-30-38-3c-3e-3f**")
    expect(tab.page.locator(".st-key-drawn input")).to_have_value("21-30-38-3c-3e-3f")


def test_a_figure_leaves_as_a_picture_and_as_a_table(visit):
    tab = figure(visit().open("dot_product?view=all"), "dot_product_figure")
    assert tab.page.get_by_role("button", name="Picture as SVG").count() == 0, "the drawer is closed"
    tab.page.locator(".st-key-drawer").get_by_text("Numbers and pictures").click()
    box = tab.page.locator(".st-key-drawer_open")
    with tab.page.expect_download() as arriving:
        box.get_by_role("button", name="Picture as SVG").click()
    drawn = Path(arriving.value.path()).read_text(encoding="utf-8")
    assert arriving.value.suggested_filename == "dot_product_figure.svg"
    on_screen = svg(tab, "dot_product_figure").locator(CELL).all_text_contents()
    assert on_screen == re.findall(r">(−?\d+\.\d\d)</text>", drawn)
    with tab.page.expect_download() as arriving:
        box.get_by_role("button", name="Numbers as CSV").click()
    lines = list(csv.DictReader(Path(arriving.value.path()).read_text(encoding="utf-8-sig").splitlines()))
    weights = attend_without_weights(run_example(Example()).x).weights
    read = {(int(line["row"]), int(line["column"])): line["value"] for line in lines if line["matrix"] == "weights"}
    assert len(read) == 36
    assert float(read[2, 3]) == pytest.approx(float(weights[1, 2]), rel=1e-5)


CHOSEN = ".st-key-{} [aria-checked=true], .st-key-{} [aria-selected=true], .st-key-{} [kind=segmented_controlActive]"


@pytest.mark.part(2)
@pytest.mark.parametrize(("page", "key", "n_views"), [("dot_product", "view", 3), ("output", "of", 3)])
def test_arrow_keys_go_from_view_to_view_and_leave_a_slider_its_own(visit, page, key, n_views):
    tab = figure(visit().open(page), f"{page}_figure")
    views = [format_value(view) for view in LINK_RULES[key].options.values()]
    assert len(views) == n_views

    def shows(view):
        tab.page.locator(CHOSEN.replace("{}", key)).get_by_text(view, exact=True).wait_for()
        tab.settled()

    shows(views[0])
    for press, place in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowRight", 0), ("ArrowLeft", 2)):
        tab.page.keyboard.press(press)
        shows(views[place])
    box = svg(tab, f"{page}_figure").bounding_box()
    assert box["y"] + box["height"] < 900, "the figure stays above the fold"
    if page == "dot_product":  # which has no slider
        return
    tab.page.locator(".st-key-d_v input").focus()
    tab.page.keyboard.press("ArrowRight")
    tab.page.wait_for_url("**d_v=3**")
    tab.settled().page.wait_for_timeout(500)
    shows(views[2])


def test_what_a_link_hides_is_not_seen_and_still_counts(visit):
    tab = figure(visit().open("dot_product?hide=seed,d_v&d_v=5"), "dot_product_figure")
    assert not tab.page.locator(".st-key-seed").is_visible() and not tab.page.locator(".st-key-d_v").is_visible()
    assert tab.page.locator(".st-key-example").is_visible()
    tab.page.keyboard.press("Shift+ArrowRight")
    tab = figure(tab, "projections_figure")
    tab.page.get_by_role("radio", name=format_value(LINK_RULES["role"].options["v"])).click()
    tab.page.get_by_text("6×5", exact=True).wait_for()
    assert not tab.page.locator(".st-key-d_v").is_visible()


def test_a_cover_goes_along_to_the_next_lesson_and_an_answer_lifts_it(visit):
    tab = figure_covered(visit().open("mask?cover=true").think_first("mask"), "mask_figure")
    tab.page.keyboard.press("Shift+ArrowRight")
    tab.page.wait_for_url("**/softmax*")
    figure_covered(tab.think_first("softmax"), "softmax_figure")
    assert tab.page.locator(".st-key-cover input").is_checked()
    tab.page.locator(".st-key-softmax_card_B button").click()
    assert same(figure(tab, "softmax_figure"), 1.0)
    figure_covered(tab.think_first("softmax"), "softmax_figure")
    tab.page.locator(".st-key-cover").get_by_text("Cover the numbers").click()
    assert same(figure(tab, "softmax_figure"), 1.0)


def figure_covered(tab, key):
    """Wait until the figure is there without its numbers."""
    tab.page.get_by_text("The numbers appear once you have chosen an answer.").first.wait_for()
    tab.page.wait_for_selector(f".st-key-{key} {PICTURE}")
    tab.settled().page.wait_for_timeout(300)
    assert not numbers(tab, key)
    return tab


TWELVE = "example=sentence&text=the very curious orange cat quietly watched the small yellow bird yesterday"


@pytest.mark.part(5)
@pytest.mark.parametrize(
    "path",
    [
        "tokens?",
        "dot_product?",
        "dot_product?view=equal&",
        "projections?",
        "mask?",
        "softmax?",
        "output?",
        "output?of=parts&",
    ],
)
def test_the_figure_of_the_longest_sentence_stays_above_the_fold(visit, path):
    """All steps at once are four matrices of twelve rows: with letters one can read they are higher than a screen."""
    lesson = path.split("?")[0]
    key = "softmax_sharing" if lesson == "softmax" else f"{lesson}_figure"  # its matrices stand below its picture
    tab = figure(visit().open(path + TWELVE), key)
    box = svg(tab, key).bounding_box()
    assert box["y"] > 0 and box["y"] + box["height"] <= 900
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_curves_that_wait_for_an_answer_are_drawn_without_a_warning_also_where_there_is_hardly_room(visit):
    """A warning of Vega in the console fails every visit; a phone has room for the names at their ends."""
    tab = visit(viewport={"width": 390, "height": 844}).open("scores?cover=true").think_first("scores")
    for _ in ("covered", "shown"):
        tab.page.wait_for_function(f"() => document.querySelectorAll('{FIGURE_BOX} {CHART}').length === 4")
        wide = f"[...document.querySelectorAll('{FIGURE_BOX}')].map(box => [box.scrollWidth, box.clientWidth])"
        assert all(needed <= room for needed, room in tab.settled().page.evaluate(wide))
        if tab.page.locator(".st-key-covered").count():
            tab.page.get_by_text("Show them now").click()
            tab.page.wait_for_selector(f".st-key-curve_jacobian {LINE}[d*=L]")
            tab.page.locator(".st-key-covered").first.wait_for(state="detached")


CUT_OR_SMALL = """() => {
    const cut = one => {
        const [box, frame] = [one.getBoundingClientRect(), one.ownerSVGElement.getBoundingClientRect()]
        return box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1
    }
    const small = one => parseFloat(getComputedStyle(one).fontSize) < 13
    return [...document.querySelectorAll(':is(.st-key-strips_figure, .st-key-by_feature_figure) LETTERS')]
        .filter(one => one.textContent && (cut(one) || small(one))).map(one => one.textContent)
}""".replace("LETTERS", LETTERS)


def test_a_click_on_a_key_of_the_real_head_shows_how_its_score_adds_up_wide_and_narrow(visit):
    tab = visit().open("projections?example=language&role=head&cover=false&says_language=")
    key = ".st-key-by_feature_figure"
    tab.page.wait_for_selector(f"{key} {layer('sums')} text")
    tab.page.locator(f"{key} {layer('touch')} path").nth(9 * 5 + 2).click()
    tab.page.wait_for_url("**meets=6**")
    expect(tab.page.locator(f"{key} {layer('pair')} text")).to_contain_text("mat")
    said = tab.page.locator(f"{key} {layer('sums')} text").all_text_contents()
    *parts, score = [round(100 * float(text.replace("−", "-"))) for text in said[:-1]]
    assert len(parts) == 9 and sum(parts) == score
    for width in (1440, 390):
        tab.page.set_viewport_size({"width": width, "height": 900})
        tab.page.wait_for_timeout(500)
        assert tab.page.evaluate(CUT_OR_SMALL) == [], width
        assert tab.page.evaluate("document.documentElement.scrollWidth") == width
    down = tab.page.locator(f"{key} {layer('products_down')} text").all_text_contents()
    assert down == said, "the same numbers, a line each"
