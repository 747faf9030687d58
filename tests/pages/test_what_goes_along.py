"""Where one comes from goes along: however one comes to a page, its address and its controls say what was chosen."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from visiting import ROOT, open_page, texts, visitor

from attention_ui.contents import CONTENTS
from attention_ui.link_rules import GOES_ALONG, LINK_RULES
from attention_ui.session import VisitLink, address_of
from lessons.screen import Number, OneToken

CHOSEN = {
    "example": "pronouns",
    "seed": "7",
    "trained_for": "20",
    "model_d_k": "3",
    "says_pronouns": "girl found lamp",
    "asks": "1",
    "causal": "false",
    "hide": "caption",
    "cover": "false",
    "large": "true",
    "lang": "en",
}
SOFTMAX = "one_head/softmax"
PLACES = [entry.address for entry in CONTENTS]


def go_on(at, entry, **sent):
    """Click in the rail. Streamlit's front end sends what the page one leaves has bound, at the first click or less."""
    at.query_params.clear()
    at.query_params.update(sent)
    at.switch_page(str(ROOT / "pages" / entry.file)).run()
    assert not at.exception, at.exception
    return at


def controls(at):
    """What the controls are set to that the link of these tests sets."""
    kinds = ("selectbox", "slider", "select_slider", "number_input", "text_input", "toggle", "radio")
    return {one.key: one.value for kind in kinds for one in at.sidebar.get(kind) if one.key in CHOSEN}


def test_every_page_of_a_visit_says_and_shows_what_was_chosen_on_the_first():
    at = visitor(SOFTMAX, **CHOSEN).run()
    chosen = controls(at)
    assert at.query_params == CHOSEN and chosen["seed"] == 7 and chosen["trained_for"] == 20
    for entry in CONTENTS[::-1]:
        go_on(at, entry)
        said = at.query_params
        assert {name: said.get(name) for name in CHOSEN} == CHOSEN, entry.address
        shown = controls(at)
        assert shown == {name: chosen[name] for name in shown}, entry.address


@pytest.mark.parametrize("sent", [{}, {"seed": "7", "cover": "false", "large": "true"}])
def test_what_only_one_page_says_is_there_again_when_one_comes_back(sent):
    [softmax] = [entry for entry in CONTENTS if entry.address == "softmax"]
    at = visitor("today/variants", **CHOSEN, variant="cap").run()
    [variants] = [entry for entry in CONTENTS if entry.address == "variants"]
    assert "variant" not in go_on(at, softmax, **sent).query_params, "another page has no use for it"
    assert go_on(at, variants, **sent).query_params == CHOSEN | {"variant": "cap"}


def test_what_is_set_back_is_forgotten():
    tokens, mask = (entry for entry in CONTENTS if entry.address in ("tokens", "mask"))
    at = open_page("one_head/tokens", causal="false")
    at.toggle(key="causal").set_value(True)
    at.query_params.pop("causal")  # as the browser does where a control is at its default
    at.run()
    for entry in (mask, tokens):
        assert "causal" not in go_on(at, entry).query_params and at.toggle(key="causal").value


def test_the_last_of_several_quick_changes_goes_along_though_the_address_sent_with_it_is_older():
    softmax, output = (entry for entry in CONTENTS if entry.address in ("softmax", "output"))
    at = open_page(SOFTMAX, temperature="1.2", seed="7")
    at.slider(key="temperature").set_value(1.3)
    at.number_input(key="seed").set_value(8).run()
    assert at.query_params["temperature"] == "1.2"
    said = go_on(at, output).query_params
    assert (said["temperature"], said["seed"]) == ("1.3", "8")
    go_on(at, softmax).slider(key="temperature").set_value(1.0).run()
    assert at.query_params["temperature"] == "1.3"
    assert "temperature" not in go_on(at, output).query_params


def test_a_button_that_opens_another_page_takes_everything_along():
    at = visitor(SOFTMAX, **CHOSEN).run()
    at.button(key="lesson_after").click().run()
    assert at.title and at.query_params == CHOSEN and controls(at)["seed"] == 7


@pytest.mark.parametrize("address", ["positions", "train", "backward", "generate", "take_home", "pytorch"])
def test_a_link_that_changes_inside_a_visit_is_repaired_like_the_first(address):
    numbers = [name for name, rule in LINK_RULES.items() if isinstance(rule, Number | OneToken)]
    [entry] = [entry for entry in CONTENTS if entry.address == address]
    for asked in ("9" * 4301, "1e309", "nan", "²"):
        at = go_on(open_page("code/exercises"), entry, **dict.fromkeys(numbers, asked))
        said = [line for line in texts(at) if line.startswith("The link says ")]
        assert all(any(line.startswith(f"The link says {name} = ") for line in said) for name in numbers)


# The addresses themselves.

NAMES = st.sampled_from(sorted(LINK_RULES))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
SAID = st.dictionaries(NAMES, TEXTS, max_size=6)


@given(place=st.sampled_from(PLACES), said=SAID)
def test_an_address_says_each_name_once_and_means_what_it_was_made_of(place, said):
    parts = urlsplit(address_of(place, said))
    assert parts.path == ("./" if place == "home" else f"./{place}")
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    assert len({name for name, _ in pairs}) == len(pairs) and dict(pairs) == said


@given(visited=st.lists(st.tuples(st.sampled_from(PLACES), SAID), max_size=5), place=st.sampled_from(PLACES))
def test_a_page_is_opened_with_the_last_word_on_each_name(visited, place):
    link, last, gone_from = VisitLink(), {}, {}
    for here, said in visited:
        for name in gone_from.get(here, set()) - said.keys():
            last.pop(name, None)
        link, last = link.after(here, said), last | said
        gone_from[here] = set(said)
    opened = link.on_page(place, GOES_ALONG)
    assert opened == {name: value for name, value in last.items() if name in GOES_ALONG | gone_from.get(place, set())}
