"""What a reader is told of a trace: every line evaluates, and names what it was made of."""

import re
import sys

import numpy as np
import pytest
from printed_lines import wrong

from attention_core.base.traced import XP, Cells, Input, Traced, Written, given
from attention_core.one_head.attention import attend
from lessons.screen import message, render
from lessons.trace import story
from lessons.trace.story import (
    Names,
    lines_of,
    lines_together,
    name_arrays,
    sources_among,
    story_of,
    term_of,
    told_first,
)

sys.path.append("tests/core")
from traced_settings import SETTINGS, arrays_in

pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")

NAMES = Names({}, {})


def traced_arrays(name, seed):
    result = SETTINGS[name](seed, given)
    for i, part in enumerate(result):
        name_arrays(part, f"part {i}")
    return [array for array in arrays_in(result) if isinstance(array, Traced) and not isinstance(array.rule, Input)]


@pytest.mark.part(2)
@pytest.mark.parametrize("name", SETTINGS)
def test_every_line_of_every_cell_evaluates_to_its_value(name):
    every = traced_arrays(name, 3)
    arrays = {id(array): array for array in every[:: 1 + len(every) // 40]}  # of a whole model some of each kind
    waiting, told = list(arrays.values()), 0
    while waiting:
        array = waiting.pop()
        for line, value in zip(lines_of(array, NAMES), array.values.ravel().tolist(), strict=True):
            assert wrong(line.text, float(value)) is None, (name, array.name, line.text, value)
            told += 1
        for source in unnamed_behind(array):
            if id(source) not in arrays:
                arrays[id(source)] = source
                waiting.append(source)
    assert told > 30


@pytest.mark.parametrize("seed", range(12))
def test_lines_hold_for_numbers_of_every_size(seed):
    """Products, shares and sums down to 10^(−300), and differences of numbers that are equal but for rounding."""
    r = np.random.RandomState(seed)
    a, b = (given(10.0 ** r.randint(-40, 6) * r.randn(5, 7), name) for name in "ab")
    nearly, low = given(a.values * (1 + 1e-13 * r.randn(5, 7)), "nearly a"), given(-r.uniform(0, 700, (5, 7)), "low")
    sizes = XP.exp(low)
    shares = sizes / sizes.sum(-1)[:, None]
    for array in (a * b, a / b, a + b, a - nearly, (a - nearly) * b, a @ b.mT, sizes, sizes.sum(-1), shares):
        for line, value in zip(lines_of(array, NAMES), array.values.ravel().tolist(), strict=True):
            assert wrong(line.text, float(value)) is None, (line.text, value)


def test_a_tiny_result_follows_from_the_printed_digits():
    """e^(−31.48) is 2.130·10^(−14); two digits more give 2.135·10^(−14)."""
    sizes = XP.exp(given(np.array([[-31.4775]]), "score"))
    assert lines_of(sizes, NAMES)[0].text == "e^(−31.4775) ≈ 2.135·10^(−14)"
    assert wrong("e^(−31.48) ≈ 2.135·10^(−14)", sizes.values.item()) is not None


def unnamed_behind(array):
    """What lines send the reader to that has no name: it has lines of its own."""
    for at in range(array.values.size):
        for cells in told_first(term_of(Cells(array, np.asarray(at)))):
            if cells.array.name is None and not isinstance(cells.array.rule, Input):
                yield cells.array


@pytest.mark.parametrize("name", ["attend, all", "heads, rotary, kv heads, bias", "model", "long sums"])
def test_a_line_with_one_digit_changed_is_found(name):
    """Whether the test above can fail."""
    found, tried = 0, 0
    for array in traced_arrays(name, 3)[:20]:
        for line, value in zip(lines_of(array, NAMES), array.values.ravel().tolist(), strict=True):
            first = re.search(r"[1-9]", line.text)
            if first is None or "not a number" in line.text or value == 0:
                continue
            at = first.start()
            broken = line.text[:at] + str(int(line.text[at]) % 9 + 1) + line.text[at + 1 :]
            tried, found = tried + 1, found + (wrong(broken, float(value)) is not None)
    assert found > 0.9 * tried, (found, tried)


@pytest.mark.parametrize("name", ["attend, all", "heads, rotary, kv heads, bias", "long sums"])
def test_what_is_told_together_reads_as_what_is_told_alone(name):
    """Slices, transposed and whole, of arrays that lines tell together with others of their form."""
    whole = [array for array in traced_arrays(name, 3)[:6] if array.ndim > 1]
    several = [part for array in whole for part in (array[-1:], array.mT, array, array[:1])]
    assert lines_together(several, NAMES) == [lines_of(array, NAMES) for array in several]


def one_head(n=5, d_k=3):
    random = np.random.RandomState(11)
    x, W = given(random.randn(n, 7), "x", ("tokens", "d_model")), [given(random.randn(7, d_k), f"W_{r}") for r in "qkv"]
    may = given(np.tri(n, dtype=bool), "may_attend")
    trace = attend(*(x @ W_r for W_r in W), may, scale=given(Written(d_k**-0.5, f"1 ÷ √{d_k}"), "scale"))
    name_arrays(trace)
    return x, trace


def test_a_story_goes_from_the_inputs_to_the_number_and_tells_each_step_once():
    _, trace = one_head()
    names = Names({"output": message("output of {query}, feature {feature}")}, {"queries": "abcde"})
    story = story_of(trace.output, (1, 2), names)
    assert render(story[-1].meaning) == "output of b, feature 3" and story[-1].value == trace.output.values[1, 2]
    texts = [(render(line.meaning), line.text) for line in story]
    assert len(set(texts)) == len(texts)
    # q of the query (3), two keys (6), two scores, divided; largest, sum; two weights, two values, output
    assert len(story) == 3 + 6 + 2 + 2 + 1 + 1 + 2 + 2 + 1
    assert sum("÷ √3" in line.text for line in story) == 2


def test_of_a_hidden_weight_the_hidden_score_is_all_there_is_to_tell():
    _, trace = one_head()
    names = Names({"masked hidden": message("may not look"), "weights hidden": message("masked")}, {})
    told = story_of(trace.weights, (0, 3), names)
    assert [render(line.meaning) for line in told] == ["may not look", "masked"]


def test_a_story_takes_as_it_is_what_is_known_unless_it_is_about_it():
    _, trace = one_head()
    names = Names({}, {}, known=("weights", "v"))
    assert len(story_of(trace.output, (1, 2), names)) == 1
    assert len(story_of(trace.weights, (1, 0), names)) > 10


def test_a_sum_without_a_term_says_that_nothing_comes_and_what_is_added_up_is_one_sum():
    shares = XP.asarray(np.array([[0.0], [1.0]])) / XP.asarray(np.array(1.0))
    a, W = given(np.array([[0.3, 0.2], [0.5, 0.7]]), "a"), given(np.array([[2.0, -1.0], [0.5, 4.0]]), "W")
    counted = a * shares
    product = counted @ W
    whole = product + (a + W)
    product.name, whole.name = "product", "whole"
    names = Names({"product": message("something"), "product nothing": message("nothing")}, {})
    told = [(render(line.meaning), line.text) for line in lines_of(product, names)]
    assert told[0] == told[1] == ("nothing", "0") and told[2][0] == told[3][0] == "something"
    assert lines_of(whole, names)[2].text == "1.35 + 0.5 + 0.5 = 2.35"
    (line,) = [line for line in story_of(counted, (1, 0), names)]
    assert line.text == "0.5", "one of its constants is 1"


def test_pointing_lights_up_what_a_cell_was_made_of():
    x, trace = one_head()
    shown = {"x": x, "q": trace.q, "k": trace.k.mT, "scores": trace.scores, "weights": trace.weights, "v": trace.v}
    shown["row"] = trace.output[3:4]
    n = len(x)
    assert sources_among(shown, "q")[3 * 2 + 1] == (("x", 2, None),)
    assert sources_among(shown, "scores")[n * 3 + 1] == (("q", 3, None), ("k", None, 1))
    assert sources_among(shown, "row")[2] == (("weights", 3, None), ("v", None, 2))
    assert sources_among(shown, "x")[0] == ()


def test_only_what_is_on_the_screen_is_looked_for(monkeypatch):
    x, W, turn = (
        given(np.arange(1.0, n * m + 1).reshape(n, m), name)
        for n, m, name in ((3, 5, "x"), (5, 2, "W"), (2, 2, "turn"))
    )
    turned = (x @ W) @ turn
    grow, grown_of = story.grown, []
    monkeypatch.setattr(story, "grown", lambda cells, depth: grown_of.append(cells.array.shape) or grow(cells, depth))
    shown = {"turned": turned, "turn": turn}
    assert sources_among(shown, "turned")[2 * 2 + 1] == (("turn", None, 1),)
    assert grown_of == [(3, 2)], "x and W are elsewhere, so nobody asks for the products between"
    assert sources_among({**shown, "x": x}, "turned")[2 * 2 + 1] == (("x", 2, None), ("turn", None, 1))
    assert len(grown_of) > 2


def test_a_sentence_within_a_sentence_names_its_cell_too_and_an_axis_in_front_counts_heads():
    q = given(np.arange(12.0).reshape(2, 2, 3), "q")
    trace = attend(q, q, q, scale=1.0)
    name_arrays(trace)
    says = message("head {head}: {says}", says=message("score of {key} for {query}"))
    names = Names({"scores": says}, {"queries": "ab", "keys": "cd"})
    assert [render(line.meaning) for line in lines_of(trace.scores[1], names)][1] == "head 2: score of d for a"


def test_what_an_added_mask_hides_is_said_to_be_hidden():
    q = given(np.arange(4.0).reshape(2, 2), "q")
    trace = attend(q, q, q, given(np.where(np.tri(2, dtype=bool), 0.5, -np.inf), "biases"), scale=1.0)
    name_arrays(trace)
    names = Names({"masked": message("visible"), "masked hidden": message("hidden")}, {})
    said = [render(line.meaning) for line in lines_of(trace.masked, names)]
    assert said == ["visible", "hidden", "visible", "visible"]
