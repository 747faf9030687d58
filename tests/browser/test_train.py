"""What only a browser shows of training: that it moves, in place, and goes on elsewhere."""

import pytest

SAME = (
    "() => [...document.querySelectorAll('.st-key-heads svg.marks, .st-key-loss svg.marks')].map(s => s.dataset.mine)"
)


def updates(tab):
    return int(tab.page.get_by_test_id("stProgress").inner_text().split()[0])


def opened(tab, query=""):
    tab.open(f"train?{query}").page.wait_for_selector(".st-key-heads svg.marks")
    tab.page.wait_for_selector(".st-key-loss svg.marks")
    return tab.settled()


def press(tab, name):
    tab.page.get_by_role("button", name=name, exact=True).click()


def wait_for_updates(tab, more_than):
    tab.page.wait_for_function(
        f"() => parseInt(document.querySelector('[data-testid=stProgress]').innerText) > {more_than}"
    )


def standing(tab):
    """The number of updates once it has stopped moving: what the server said last may still be on its way."""
    before = None
    while (now := updates(tab)) != before:
        before = now
        tab.page.wait_for_timeout(400)
    return now


def test_it_starts_moves_pauses_steps_and_resets_in_place(visit):
    tab = opened(visit(), "steps=5000")
    tab.page.evaluate("document.querySelectorAll('svg.marks').forEach(svg => svg.dataset.mine = 'yes')")
    heads = tab.page.locator(".st-key-heads svg.marks").inner_html()
    sample = tab.page.locator("code").first.inner_text()
    press(tab, "Start")
    wait_for_updates(tab, 60)
    assert tab.page.locator(".st-key-heads svg.marks").inner_html() != heads
    assert tab.page.locator("code").first.inner_text() != sample
    press(tab, "Pause")
    tab.page.get_by_role("button", name="Go on", exact=True).wait_for()
    tab.settled()
    stood = standing(tab)
    press(tab, "One step")
    wait_for_updates(tab, stood)
    assert standing(tab) == stood + 1
    assert tab.page.evaluate(SAME) == ["yes", "yes"], "charts must move in place, not be replaced"
    press(tab, "Reset")
    tab.page.wait_for_function("() => document.querySelector('[data-testid=stProgress]').innerText.startsWith('0 ')")


def test_it_goes_on_while_one_looks_at_another_page(visit):
    tab = opened(visit(), "steps=5000")
    press(tab, "Start")
    wait_for_updates(tab, 0)
    tab.page.get_by_role("button", name="← PyTorch").wait_for()
    tab.settled()
    tab.page.keyboard.press("Shift+ArrowLeft")
    tab.page.wait_for_url("**/pytorch*")
    chip = tab.page.get_by_text("Your model:")
    chip.wait_for()
    first = int(chip.inner_text().split()[2])
    tab.page.wait_for_function(
        f"() => parseInt(document.querySelector('[data-testid=stProgress]')?.innerText.split(' ')[2]) > {first + 20}"
    )
    press(tab, "Stop training")
    chip.wait_for(state="detached")


def test_a_second_tab_trains_its_own_model(visit):
    first, second = opened(visit(), "steps=5000&train_seed=1"), opened(visit(), "steps=5000&train_seed=2")
    press(first, "Start")
    wait_for_updates(first, 10)
    assert updates(second) == 0
    press(second, "One step")
    wait_for_updates(second, 0)
    assert updates(second) == 1
    wait_for_updates(first, updates(first))
    press(first, "Pause")


def test_a_cold_deep_link_opens_the_training_page(visit, start_server):
    tab = opened(visit(url=start_server()), "learn=abcabcabcabc&train_heads=4")
    assert tab.page.get_by_label("Text to learn").input_value() == "abcabcabcabc"
    tab.page.get_by_text("layer 1, head 4").first.wait_for(state="attached")
    assert tab.page.get_by_role("dialog").count() == 0


def test_impossible_settings_are_explained_where_one_types(visit):
    tab = opened(visit())
    text = tab.page.get_by_label("Text to learn")
    text.fill("aaaaaaaaaaaaaa")
    text.press("Enter")
    tab.page.get_by_text("repeats a single character").wait_for()
    assert tab.page.get_by_role("button", name="Start", exact=True).is_disabled()
    assert tab.page.locator(".st-key-heads svg.marks").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_the_page_never_scrolls_sideways(visit, scheme, width, height):
    tab = opened(visit(viewport={"width": width, "height": height}, color_scheme=scheme))
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    if width > 1000:
        for figure in ("heads", "loss"):
            box = tab.page.locator(f".st-key-{figure} svg.marks").bounding_box()
            assert box["y"] + box["height"] <= height, "the figures are above the fold"


def test_the_history_of_a_run_can_be_kept(visit):
    tab = opened(visit(), "task=copy&pace=as fast as it can")
    press(tab, "One step")
    wait_for_updates(tab, 0)
    tab.settled()
    tab.page.get_by_text("Keep the model").click()
    with tab.page.expect_download() as history:
        tab.page.get_by_role("button", name="Download the history").click()
    head, *steps = history.value.path().read_text().splitlines()
    assert head == "step,loss,held-out loss,held-out accuracy"
    assert [line.split(",")[0] for line in steps] == ["0", "1"]


MOMENT = "() => document.querySelector('.st-key-replay svg.marks').textContent.match(/After (\\d+) updates?/)[1]"


def test_the_slider_of_the_replay_moves_through_time_without_asking_the_server(visit):
    tab = opened(visit(), "task=copy&pace=as fast as it can")
    press(tab, "Start")
    wait_for_updates(tab, 199)
    tab.settled()
    tab.page.get_by_text("Scrub through the run").click()
    tab.page.wait_for_selector(".st-key-replay svg.marks")
    tab.settled()
    before, sent = tab.page.locator(".st-key-replay svg.marks").inner_html(), len(tab.sent)
    assert tab.page.evaluate(MOMENT) == "200"
    slider = tab.page.locator(".st-key-replay input[type=range]")
    slider.focus()
    tab.page.keyboard.press("Home")
    tab.page.wait_for_function(f"() => ({MOMENT})() === '0'")
    assert tab.page.locator(".st-key-replay svg.marks").inner_html() != before
    tab.page.keyboard.press("ArrowRight")
    tab.page.wait_for_function(f"() => ({MOMENT})() > 0")
    assert len(tab.sent) == sent


def test_both_runs_of_a_question_move_side_by_side(visit):
    tab = opened(visit(), "pace=as fast as it can")
    tab.page.get_by_text("Compare two runs").click()
    press(tab, "Train both")
    tab.page.get_by_text("Only the first has learnt it.").wait_for(timeout=60_000)  # on a busy machine
    for key in ("lossfirst", "loss", "headsfirst", "heads"):
        assert tab.page.locator(f".st-key-{key} svg.marks").count() == 1
    assert "task=Reverse" in tab.page.url
    assert "train_positions=none" in tab.page.url
