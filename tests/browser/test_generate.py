"""What only a browser shows of writing: steps and play in place, keys, a file that goes out and comes back."""

import pytest

from tests.figures import PICTURE, TOOLTIP

TEXT = ".stCode code"
FIGURES = f".st-key-distribution {PICTURE}, .st-key-looks {PICTURE}"


def opened(tab, query=""):
    tab.open(f"generate?{query}").page.wait_for_selector(f".st-key-looks {PICTURE}")
    tab.page.wait_for_selector(f".st-key-distribution {PICTURE}")
    return tab.settled()


def text(tab):
    return tab.page.locator(TEXT).first.text_content()


def wait_for_text(tab, condition):
    tab.page.wait_for_function(
        f"() => {{ const text = document.querySelector('{TEXT}')?.textContent ?? ''; return {condition}; }}"
    )


def test_it_steps_and_plays_in_place_with_keys_and_the_link_follows(visit):
    tab = opened(visit(), "length=3&temp=0.5")
    in_place = tab.marked(FIGURES)
    first = text(tab)
    tab.page.locator("body").press("ArrowRight")
    wait_for_text(tab, f"text.length === {len(first) + 1}")
    tab.settled()
    assert "length=4" in tab.page.url and text(tab).startswith(first)
    tab.page.locator("body").press("ArrowLeft")
    wait_for_text(tab, f"text.length === {len(first)}")
    tab.settled()
    tab.page.locator("body").press("p")
    wait_for_text(tab, f"text.length > {len(first) + 2}")
    tab.page.get_by_role("button", name="Pause").click()
    tab.page.get_by_role("button", name="Play").wait_for()
    tab.settled()
    played = text(tab)
    assert played.startswith(first) and f"length={len(played) - 1}" in tab.page.url
    assert in_place() and tab.page.locator(FIGURES).count() == 2
    tab.page.reload()
    wait_for_text(tab, f"text === {played!r}")


def test_the_distribution_is_above_the_fold_and_pointing_at_a_bar_says_its_numbers_without_asking_the_server(visit):
    tab = opened(visit(), "cover=false")
    tab.page.wait_for_timeout(500)
    sent = len(tab.sent)
    tab.page.locator(".st-key-distribution [aria-label^='“o”: score']").first.hover()
    tab.page.locator(TOOLTIP).get_by_text("from the model").wait_for()
    assert len(tab.sent) == sent
    boxes = [tab.page.locator(f".st-key-{figure} {PICTURE}").bounding_box() for figure in ("distribution", "looks")]
    assert boxes[0]["y"] + boxes[0]["height"] <= 900, "the distribution is seen whole"
    assert boxes[1]["y"] < 900, "and where the heads looked begins below it"
    for scheme, width in (("light", 1440), ("dark", 390)):
        tab.page.emulate_media(color_scheme=scheme)
        tab.page.set_viewport_size({"width": width, "height": 900})
        tab.settled().page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)


def test_typing_a_start_presses_no_keys_of_the_page(visit):
    tab = opened(visit(), "writer=sea&length=5")
    begin = tab.page.get_by_label("Begin with")
    begin.click()
    begin.press_sequentially("b y b")
    begin.press("Enter")
    wait_for_text(tab, "text.startsWith('b y b')")
    tab.settled()
    assert len(text(tab)) == 5 + 5
    assert tab.page.get_by_role("button", name="Play").is_visible()


@pytest.mark.slow
def test_a_model_that_was_downloaded_can_be_brought_back(visit, tmp_path):
    tab = opened(visit(), "writer=sea&length=30")
    written = text(tab)
    tab.page.get_by_text("Save this model, or upload one").click()
    with tab.page.expect_download() as model:
        tab.page.get_by_role("button", name="Download the model").click()
    with tab.page.expect_download() as history:
        tab.page.get_by_role("button", name="Download the history").click()
    file = tmp_path / "model.safetensors"
    model.value.save_as(file)
    assert (
        history.value.path().read_text(encoding="utf-8-sig").startswith("step,loss,held-out loss,held-out accuracy\n0,")
    )
    other = opened(visit(), "length=30")
    assert text(other) != written
    other.page.get_by_text("Save this model, or upload one").click()
    other.page.locator("input[type=file]").set_input_files(file)
    wait_for_text(other, f"text === {written!r}")
    (tmp_path / "broken.safetensors").write_bytes(file.read_bytes()[:-1])
    other.settled()
    other.page.locator("input[type=file]").set_input_files(tmp_path / "broken.safetensors")
    other.page.get_by_text("This file cannot be used").wait_for()
    assert text(other) == written


def test_a_long_text_of_a_real_model_appears_as_it_is_written_and_a_press_between_is_answered(visit, with_model):
    tab = visit(url=with_model).open("generate?writer=language&length=100&draw_seed=31")
    tab.page.get_by_text("still writing").wait_for()
    first = text(tab)
    wait_for_text(tab, f"text.length > {len(first)}")
    grown = text(tab)  # the first may have been a single token
    tab.page.get_by_role("button", name="Begin again").click()
    wait_for_text(tab, f"text.length < {len(grown)}")
    assert "length=1" in tab.settled().page.url and tab.page.get_by_text("still writing").count() == 0
    begun, another = text(tab).strip("␣"), tab.page.get_by_role("button", name="Another question")
    tab.page.goto(f"{with_model}/generate?writer=language&length=100&draw_seed=31")
    wait_for_text(tab, f"text.length > {3 * len(first)} && text.startsWith({begun!r})")
    another.wait_for(timeout=180_000)  # it is written anew, beside all other tests
    assert "length=100" in tab.settled().page.url and tab.page.get_by_text("still writing").count() == 0
