"""What only a browser shows of training: progress that moves, a film that plays, and what goes on elsewhere."""

import time

import pytest
from playwright.sync_api import expect

from tests.figures import CHECK_BOX, EVERY, LETTERS, MENU, PICTURE, SLIDER, TABLE_CELL
from tests.figures import FILM as MOVING

FILM = f".st-key-run {MOVING}"
SLOW = "steps=5000&layers=3&features=32&batch=64"  # some seconds a quarter
SHORT = "task=Copy the first&steps=200"
SEEN = f"""() => {{
    const [film] = {EVERY}('{MOVING}', document.querySelector('.st-key-run'));
    const shares = [...film.querySelectorAll('{TABLE_CELL}')].map(cell => cell.style.getPropertyValue('--share'));
    return {{heads: shares.join(), mark: film.querySelector('.now').textContent,
            sentence: film.querySelector('.said').textContent}};
}}"""
MOMENT = f"() => {EVERY}('input[type=range]', document.querySelector('.st-key-run'))[0].valueAsNumber"
PLAYS = f"() => {EVERY}('{CHECK_BOX}', document.querySelector('.st-key-run'))[0].checked"


def updates(tab):
    return int(tab.page.get_by_test_id("stProgress").inner_text().split()[0])


def opened(tab, query=""):
    tab.open(f"train?{query}").page.wait_for_selector(FILM)
    return tab.settled()


def press(tab, name):
    tab.page.get_by_role("button", name=name, exact=True).click()


def wait_for_updates(tab, more_than):
    tab.page.wait_for_function(
        f"() => parseInt(document.querySelector('[data-testid=stProgress]').innerText) > {more_than}"
    )


def standing(tab):
    """The number of updates once it has stopped moving: what the server said last may still be on its way."""
    seen = [updates(tab)]
    while len(seen) < 4 or len({*seen[-4:]}) > 1:
        tab.page.wait_for_timeout(400)
        seen.append(updates(tab))
    return seen[-1]


def said_moment(tab):
    """The number of updates that the film speaks of."""
    return int(tab.page.evaluate(SEEN)["sentence"].split()[1])


def part(tab, kind, key="run"):
    """One of the things that move a film: its checkbox, its slider, or the choice of its pace."""
    return tab.page.locator(f".st-key-{key} {kind}")


def played(tab, query=SHORT):
    """A run that was trained to its end, with its film, which stands there."""
    opened(tab, query)
    press(tab, "Start")
    part(tab, SLIDER).wait_for()
    tab.settled()
    wait_for_end(tab)
    return tab


def wait_for_end(tab):
    last = int(part(tab, SLIDER).get_attribute("max"))
    tab.page.wait_for_function(f"() => ({MOMENT})() === {last}")
    tab.page.wait_for_function(f"() => !({PLAYS})()")


def test_it_starts_moves_pauses_steps_and_resets(visit):
    tab = opened(visit(), SLOW)
    in_place = tab.marked(FILM)
    untrained, sample = tab.page.evaluate(SEEN), tab.page.locator("code").first.inner_text()
    press(tab, "Start")
    wait_for_updates(tab, 20)
    now = tab.page.evaluate(SEEN)
    assert now["heads"] != untrained["heads"]
    drawn = said_moment(tab)
    assert 1 <= drawn < 1250
    wait_for_updates(tab, drawn)  # progress goes on while the picture of the beginning stands
    assert in_place()
    assert part(tab, SLIDER).count() == 0, "the present moment alone"
    press(tab, "Pause")
    tab.page.get_by_role("button", name="Go on", exact=True).wait_for()
    tab.settled()
    part(tab, SLIDER).wait_for()
    stood = standing(tab)
    assert not part(tab, CHECK_BOX).is_checked() and said_moment(tab) > 1
    assert tab.page.locator("code").first.inner_text() != sample
    press(tab, "One step")
    wait_for_updates(tab, stood)
    assert standing(tab) == stood + 1
    press(tab, "Reset")
    tab.page.wait_for_function("() => document.querySelector('[data-testid=stProgress]').innerText.startsWith('0 ')")
    part(tab, SLIDER).wait_for(state="detached")
    tab.settled()
    assert tab.page.evaluate(SEEN) == untrained


@pytest.mark.slow
def test_the_picture_is_drawn_anew_after_a_quarter(visit):
    tab = opened(visit(), SLOW)
    press(tab, "Start")
    tab.page.wait_for_function(f"() => parseInt(({SEEN})().sentence.split(' ')[1]) >= 1250", timeout=60_000)
    assert part(tab, SLIDER).count() == 0 and updates(tab) < 5000, "it is trained still"
    press(tab, "Pause")
    tab.settled()


@pytest.mark.slow
def test_it_goes_on_while_one_looks_at_another_page(visit):
    tab = opened(visit(), SLOW)
    press(tab, "Start")
    wait_for_updates(tab, 0)
    tab.page.get_by_role("button", name="← Read").wait_for()
    tab.settled()
    tab.page.keyboard.press("Shift+ArrowLeft")
    tab.page.wait_for_url("**/read*")
    chip = tab.page.get_by_text("Your model:")
    chip.wait_for()
    first = int(chip.inner_text().split()[2])
    tab.page.wait_for_function(
        f"() => parseInt(document.querySelector('[data-testid=stProgress]')?.innerText.split(' ')[2]) > {first + 20}"
    )
    press(tab, "Stop training")
    chip.wait_for(state="detached")


@pytest.mark.slow
def test_a_second_tab_trains_its_own_model(visit):
    first, second = opened(visit(), f"{SLOW}&train_seed=1"), opened(visit(), f"{SLOW}&train_seed=2")
    press(first, "Start")
    wait_for_updates(first, 10)
    assert updates(second) == 0
    press(second, "One step")
    wait_for_updates(second, 0)
    assert updates(second) == 1
    wait_for_updates(first, updates(first))
    press(first, "Pause")
    first.settled()


@pytest.mark.slow
def test_the_film_waits_at_its_end_and_played_it_stops_there(visit):
    tab = played(visit())
    last = int(part(tab, SLIDER).get_attribute("max"))
    assert said_moment(tab) == 200
    sent = len(tab.sent)
    part(tab, MENU).select_option("20")
    part(tab, CHECK_BOX).check()
    seen = {tab.page.evaluate(MOMENT)}
    while part(tab, CHECK_BOX).is_checked():
        seen.add(tab.page.evaluate(MOMENT))
        tab.page.wait_for_timeout(50)
    assert len(seen) > 5, "it passes through its moments"
    assert tab.page.evaluate(MOMENT) == last and said_moment(tab) == 200
    tab.page.wait_for_timeout(500)
    assert tab.page.evaluate(MOMENT) == last, "and stands there"
    assert len(tab.sent) == sent, "nothing asks the server"


@pytest.mark.slow
def test_playing_again_begins_anew(visit):
    tab = played(visit())
    sent = len(tab.sent)
    part(tab, CHECK_BOX).check()
    tab.page.wait_for_function(f"() => {{ const at = ({MOMENT})(); return at > 0 && at < 10 }}")
    assert said_moment(tab) < 200
    part(tab, MENU).select_option("40")
    wait_for_end(tab)
    assert said_moment(tab) == 200
    assert len(tab.sent) == sent


@pytest.mark.slow
def test_the_pace_decides_how_fast_it_plays(visit):
    tab = played(visit())
    sent, last = len(tab.sent), tab.page.evaluate(MOMENT)
    part(tab, MENU).select_option("2")
    part(tab, CHECK_BOX).check()
    tab.page.wait_for_timeout(2000)
    assert 1 <= tab.page.evaluate(MOMENT) <= 5
    began = time.perf_counter()
    part(tab, MENU).select_option("40")
    wait_for_end(tab)
    assert time.perf_counter() - began < (last - 5) / 2, "sooner than two moments a second would be there"
    assert len(tab.sent) == sent


@pytest.mark.slow
def test_a_film_can_be_halted_and_goes_on_from_there(visit):
    tab = played(visit())
    part(tab, MENU).select_option("5")
    part(tab, CHECK_BOX).check()
    tab.page.wait_for_function(f"() => {{ const at = ({MOMENT})(); return at > 2 && at < 20 }}")
    part(tab, CHECK_BOX).uncheck()
    tab.page.wait_for_timeout(300)
    here = tab.page.evaluate(MOMENT)
    tab.page.wait_for_timeout(800)
    assert tab.page.evaluate(MOMENT) == here
    part(tab, CHECK_BOX).check()
    tab.page.wait_for_function(f"() => ({MOMENT})() > {here}")


def test_the_slider_moves_the_heads_the_mark_and_the_sentence_without_asking_the_server(visit):
    tab = played(visit())
    end, sent = tab.page.evaluate(SEEN), len(tab.sent)
    box = part(tab, SLIDER).bounding_box()
    middle = box["y"] + box["height"] / 2
    tab.page.mouse.move(box["x"] + box["width"] - 8, middle)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + box["width"] / 2, middle, steps=5)
    tab.page.mouse.up()
    halfway = tab.page.evaluate(MOMENT)
    assert 0 < halfway < int(part(tab, SLIDER).get_attribute("max"))
    tab.page.wait_for_function(f"() => ({SEEN})().sentence !== {end['sentence']!r}")
    between = tab.page.evaluate(SEEN)
    tab.page.keyboard.press("Home")
    tab.page.wait_for_function(f"() => ({SEEN})().sentence.startsWith('After 0 ')")
    beginning = tab.page.evaluate(SEEN)
    for what in ("heads", "sentence"):
        assert len({seen[what] for seen in (beginning, between, end)}) == 3, what
    tab.page.keyboard.press("ArrowRight")
    tab.page.wait_for_function(f"() => !({SEEN})().sentence.startsWith('After 0 ')")
    tab.page.keyboard.press("End")
    tab.page.wait_for_function(f"() => ({SEEN})().sentence.startsWith('After 200 ')")
    assert tab.page.evaluate(SEEN) == end
    assert len(tab.sent) == sent


def test_one_goes_to_the_moment_at_which_a_head_formed_and_a_click_leaves_a_head_out(visit):
    tab = played(visit(), "task=previous&steps=120")
    sent, last = len(tab.sent), tab.page.evaluate(MOMENT)
    jump = part(tab, MENU).nth(1)
    step = int(jump.locator("option").nth(1).inner_text().split(":")[0])
    assert 0 < step < 120 and jump.locator("option").nth(1).inner_text().endswith("previous-token head")
    jump.select_option(index=1)
    tab.page.wait_for_function(f"() => ({MOMENT})() < {last}")
    assert said_moment(tab) == step
    assert "previous-token head formed" in tab.page.locator(FILM).text_content()
    part(tab, SLIDER).focus()
    tab.page.keyboard.press("End")
    tab.page.wait_for_function(f"() => ({MOMENT})() === {last}")
    assert len(tab.sent) == sent, "nothing asks the server"
    left_out_and_brought_back(tab)


def left_out_and_brought_back(tab):
    """By clicks on the map of a head and on its title."""
    title = tab.page.locator(f"{FILM} caption").first
    number = tab.page.locator(f"{FILM} {TABLE_CELL}").nth(7)
    without = tab.page.locator(f".st-key-loss {LETTERS}", has_text="without")
    for clicked in (title, number, number, title):
        out = ": left out" in title.inner_text()
        clicked.click()
        without.first.wait_for(state="detached" if out else "visible")
        expect(title.locator("span")).to_have_text("layer 1, head 1" + ("" if out else ": left out"))
        pressed = tab.page.locator(".st-key-left_out [data-selected=true]")
        pressed.wait_for(state="detached" if out else "visible")
        tab.settled()


@pytest.mark.slow
def test_a_head_is_left_out_and_brought_back_with_the_keyboard(visit):
    tab = played(visit(), "task=previous&steps=120")
    button = tab.page.locator(".st-key-left_out button", has_text="layer 1, head 1")
    without = tab.page.locator(f".st-key-loss {LETTERS}", has_text="without")
    button.focus()
    tab.page.keyboard.press("Enter")
    without.wait_for()
    assert without.text_content().startswith("without layer 1, head 1: ")
    tab.settled()
    assert tab.page.evaluate(MOMENT) == int(part(tab, SLIDER).get_attribute("max")), "it plays nothing"
    button.focus()
    tab.page.keyboard.press("Enter")
    without.wait_for(state="detached")


@pytest.mark.slow
def test_the_picture_keeps_its_size_while_the_film_moves(visit):
    """However long its sentences are: nothing jumps, and nothing is cut."""
    tab = played(visit(), "train_heads=1&window=2&steps=200")
    slider, sizes = part(tab, SLIDER), set()
    slider.focus()
    for key in ("Home", "ArrowRight", "ArrowRight", "End"):
        tab.page.keyboard.press(key)
        tab.page.wait_for_timeout(150)
        box = tab.page.locator(FILM).bounding_box()
        parts = tab.page.locator(f"{FILM} :is(p, caption, label)").evaluate_all(
            "found => found.map(one => one.getBoundingClientRect().right)"
        )
        assert max(parts) <= box["x"] + box["width"] + 1
        sizes.add((box["width"], box["height"]))
    assert len(sizes) == 1


@pytest.mark.slow
def test_a_cold_deep_link_opens_the_training_page(visit, start_server):
    tab = opened(visit(url=start_server()), "learn=abcabcabcabc&train_heads=4")
    assert tab.page.get_by_label("Text to learn").input_value() == "abcabcabcabc"
    tab.page.get_by_text("layer 1, head 4").first.wait_for(state="attached")
    assert tab.page.get_by_role("dialog").count() == 0


@pytest.mark.slow
def test_impossible_settings_are_explained_where_one_types(visit):
    tab = opened(visit(), "task=characters")
    text = tab.page.get_by_label("Text to learn")
    text.fill("aaaaaaaaaaaaaa")
    text.press("Enter")
    tab.page.get_by_text("repeats a single character").wait_for()
    assert tab.page.get_by_role("button", name="Start", exact=True).is_disabled()
    assert tab.page.locator(FILM).count() == 1


@pytest.mark.part(4)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_the_page_never_scrolls_sideways(visit, scheme, width, height):
    tab = opened(visit(viewport={"width": width, "height": height}, color_scheme=scheme), "steps=40")

    def never_sideways():
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width

    never_sideways()
    if width > 1000:
        for figure in (FILM, f".st-key-loss {PICTURE}"):
            box = tab.page.locator(figure).bounding_box()
            assert box["y"] + box["height"] <= height, "the figures are above the fold"
    press(tab, "Start")
    part(tab, SLIDER).wait_for()
    never_sideways()
    said = tab.page.locator(f"{FILM} .said", has_text="After 40 training steps").bounding_box()
    assert said["x"] + said["width"] <= width, "what is said of the moment is seen whole"
    if width > 1000:
        start = tab.page.get_by_role("button", name="Reset", exact=True).bounding_box()
        film = tab.page.locator(FILM).bounding_box()
        assert film["y"] + film["height"] - start["y"] <= height - 60, "the buttons stay while one looks at the film"
        assert film["width"] <= tab.page.locator(".st-key-run").bounding_box()["width"]


@pytest.mark.slow
def test_the_history_of_a_run_can_be_kept(visit):
    tab = opened(visit(), "task=copy")
    press(tab, "One step")
    wait_for_updates(tab, 0)
    tab.settled()
    tab.page.get_by_text("Save the model").click()
    with tab.page.expect_download() as history:
        tab.page.get_by_role("button", name="Download the history").click()
    head, *steps = history.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert head == "step,loss,held-out loss,held-out accuracy"
    assert [line.split(",")[0] for line in steps] == ["0", "1"]


@pytest.mark.slow
def test_both_runs_of_a_question_stand_side_by_side(visit):
    tab = opened(visit())
    tab.page.get_by_text("Compare two runs").click()
    tab.page.get_by_role("button", name="Train both", exact=True).wait_for()
    tab.settled()
    press(tab, "Train both")
    tab.page.get_by_text("Only the first has learned it.").wait_for(timeout=60_000)  # on a busy machine
    for key in ("runfirst", "run"):
        part(tab, SLIDER, key).wait_for()
        film, room = (tab.page.locator(f".st-key-{key}{what}").bounding_box() for what in (f" {MOVING}", ""))
        assert film["width"] <= room["width"], "each film has room in its half"
        assert tab.page.locator(f".st-key-{key} {MOVING}").count() == 1
    assert "task=reverse" in tab.page.url
    assert "train_positions=none" in tab.page.url
