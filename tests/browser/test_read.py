"""What only a browser shows of the lesson on the language model: pointing at a word shows its arcs alone."""

from attention_ui.figures.sentence.arcs import top_keys
from lessons.example.language_model_text import ReadChoices, first_head_named, read
from lessons.read.lesson import read_screen

OPAQUE = """() => [...document.querySelectorAll('.st-key-read_arcs svg .mark-symbol path')]
    .filter(arc => Number(arc.getAttribute('opacity') ?? 1) > 0.5).length"""


def arcs_of(figure, query):
    """How many weights of a query are drawn, its own among them."""
    return sum(weight >= figure.least for weight in figure.shares[query, : query + 1].tolist())


def test_pointing_at_a_word_shows_its_arcs_alone_without_asking_the_server(visit):
    layer, head = first_head_named("previous token")
    choices = ReadChoices(layer=layer, head=head)
    figure, last = read_screen(choices).figures[0], len(read(choices).names) - 1
    tab = visit().open("read")
    tab.page.wait_for_selector(".st-key-read_arcs svg .mark-symbol path")
    tab.settled()
    assert tab.page.evaluate(OPAQUE) == arcs_of(figure, last)
    before = len(tab.sent)
    tab.page.locator(".st-key-read_arcs svg").get_by_label(top_keys(figure, figure.shares[8].tolist(), 8)).first.hover()
    tab.page.wait_for_function(f"() => ({OPAQUE})() === {arcs_of(figure, 8)}")
    assert len(tab.sent) == before


def test_a_sentence_of_forty_words_does_not_scroll_a_phone_sideways(visit):
    text = "+".join(["the+old+man+saw+a+dog+in+the+house+and"] * 4)
    settings = {"viewport": {"width": 390, "height": 844}}
    tab = visit(**settings).open(f"read?read=own&read_text={text}")
    tab.page.wait_for_selector(".st-key-read_maps svg .mark-rect path")
    tab.settled()
    assert tab.page.evaluate("() => document.scrollingElement.scrollWidth") <= 390
