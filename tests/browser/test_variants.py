"""The page of variants in a browser: every choice is drawn, fits a phone, and what is typed stays in the link."""

from lessons.example.example import learnt_example, run_example
from lessons.screen import Table, format_value
from lessons.today.variants.lesson import VARIANT, Choices, screen
from tests.figures import CELL, PICTURE

FIGURE = f".st-key-variants_figure {PICTURE}"
LINK = "variants?example=pronouns"
TITLES = {
    "window": "in a window",
    "sink": "with a sink",
    "cap": "with a soft cap",
    "alibi": "with ALiBi",
    "rotary": "with rotary positions",
    "grouped": "with shared keys",
    "cross": "with cross-attention",
}


def drawn(tab, selector=FIGURE):
    tab.page.wait_for_selector(f"{selector} {CELL}")
    return tab.settled()


def charts_of(variant):
    """The figures of a variant but its table, by the keys that their charts stand under."""
    shown = screen(run_example(learnt_example("pronouns")), 0, Choices(variant))
    return [figure.key for figure in shown.figures if not isinstance(figure, Table)]


def test_each_choice_changes_the_figure_in_place_draws_what_follows_and_fits_a_phone(visit, whole):
    tab = drawn(visit().open(LINK))
    for variant in [*list(VARIANT.options)[1 :: 1 if whole else 2], "window"]:
        tab.page.get_by_role("radio", name=format_value(VARIANT.options[variant]), exact=True).click()
        for key in charts_of(variant):
            tab.page.wait_for_selector(f".st-key-{key} {PICTURE}")
        drawn(tab)
        figure = tab.page.locator(f".st-key-variants_figure {PICTURE}").first
        figure.get_by_text(TITLES[variant], exact=True).first.wait_for()
        assert tab.page.locator("[data-testid=stException]").count() == 0
        if whole or variant in ("alibi", "window"):
            tab.page.set_viewport_size({"width": 390, "height": 900})
            tab.page.wait_for_function("() => innerWidth === 390 && document.documentElement.scrollWidth <= 390")
            tab.page.set_viewport_size({"width": 1440, "height": 900})


def test_a_second_sentence_asks_and_stays_in_the_link(visit):
    tab = drawn(visit().open(f"{LINK}&variant=cross"))
    field = tab.page.get_by_label("A second sentence, which asks")
    field.fill("aunt saw zebra lamp")
    field.press("Enter")
    tab.page.get_by_text("asks (tokens: 3); its beginning is another, which is looked at (tokens: 7)").wait_for()
    tab.page.get_by_text("This model has never met “zebra”, so it is left out.").wait_for()
    tab.page.wait_for_url("**second=aunt**")
    tab.page.reload()
    drawn(tab).page.get_by_text("asks (tokens: 3); its beginning is another, which is looked at (tokens: 7)").wait_for()
    assert tab.page.get_by_label("A second sentence, which asks").input_value() == "aunt saw zebra lamp"
