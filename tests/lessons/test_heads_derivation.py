"""Every number of several heads is told from X on, in lines that are right."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from printed_lines import wrong

from attention_core.learning.tasks import TASKS
from attention_core.learning.training import recommended
from lessons.example.example import Example, run_example
from lessons.model.heads.example import HeadsChosen, in_training, run_heads
from lessons.model.heads.lesson import Choices, screen
from lessons.screen import format_value, names, render

pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")

SIZES = st.sampled_from([(6, 3), (5, 1), (7, 7), (10, 2), (16, 4)])


@st.composite
def examples(draw):
    (d_model, n_heads), n = draw(SIZES), draw(st.sampled_from([1, 3, 5]))
    running = Example(
        source="sentence",
        text=" ".join("abcde"[:n]),
        seed=draw(st.integers(0, 99)),
        causal=draw(st.booleans()),
        scaling=draw(st.booleans()),
    )
    return running, HeadsChosen(
        d_model=d_model,
        n_heads=n_heads,
        bias=draw(st.booleans()),
        dropout=draw(st.sampled_from([0.0, 0.3, 0.9])),
    )


def follow(computation, path, index, value):
    """All lines that lead to a cell: each evaluates, and the last gives the number that is drawn."""
    steps = computation.follow(path).derive(*index)
    for step in steps:
        assert wrong(step.text, float(step.value)) is None, (render(step.meaning), step.text, step.value)
    assert steps[-1].value == pytest.approx(float(value), rel=1e-4, abs=1e-6)
    return [(render(step.meaning), step.text) for step in steps]


@given(examples(), st.data())
def test_the_whole_way_through_the_heads(drawn, data):
    computation = in_training(run_heads(*drawn))
    found = computation.result
    tensors = {key: getattr(found, key) for key in ("q", "k", "v", "concatenated", "output")}
    tensors |= {"heads.weights": found.heads.weights, "dropped.weights": found.dropped.weights}
    for path, tensor in tensors.items():
        index = [data.draw(st.integers(0, size - 1)) for size in tensor.shape]
        follow(computation, path, index, tensor[tuple(index)])


@pytest.mark.parametrize("bias", [True, False])
def test_an_output_is_told_from_what_every_head_found(bias):
    trace = run_heads(Example(), HeadsChosen(d_model=6, n_heads=3, bias=bias))
    *way, (says, line) = follow(trace.computation, "output", (2, 4), trace.output[2, 4])
    bias_said = ", plus the bias" * bias
    assert says == f"output of “starts”, feature 5: its concatenated row · its column of W_o{bias_said}"
    assert line.count("·") == 6
    projected = [says for says, _ in way if " · its column of W_" in says]
    assert projected and all(says.endswith(", plus the bias") == bias for says in projected)
    assert line.count(" + ") == 6 if bias else line.count(" + ") == 5
    found = [says for says, _ in way if "output of" in says]
    assert found == [f"head {h}: output of “starts”, feature {f}: weights · values" for h in (1, 2, 3) for f in (1, 2)]
    assert sum(says.startswith("value of “Your”, feature 1 of head ") for says, _ in way) == 3


def test_a_feature_of_all_heads_is_told_as_one_of_its_head_before_the_split_and_after():
    trace = run_heads(Example(), HeadsChosen(d_model=6, n_heads=3))
    (whole,) = trace.computation.follow("q").derive(4, 5)
    (part,) = trace.computation.follow("parts.q", computed=True).derive(2, 4, 1)
    assert whole == part and whole.value == pytest.approx(float(trace.q[4, 5]))
    assert render(whole.meaning) == "query of “one”, feature 2 of head 3: its row of X · its column of W_q"


def test_rotary_positions_turn_queries_and_keys_of_each_head():
    trace = run_example(Example(source="language", text=""))
    heads = run_heads(trace.example, HeadsChosen())
    assert heads.module.rotary is not None
    steps = follow(heads.computation, "heads.q", (1, 3, 2), heads.heads.q[1, 3, 2])
    assert steps[-1][0] == "head 2: query of “on”, feature 3: turned by its position"
    assert [says for says, _ in steps[:2]] == [
        f"query of “on”, feature {f} of head 2: its row of X · its column of W_q" for f in (3, 4)
    ]


def test_positions_that_are_added_stand_in_queries_and_keys_alone():
    own = recommended(TASKS["previous"], 4, steps=20, d_model=8, n_heads=2, d_k=3, d_v=5, positions="qk")
    trace = run_example(Example(source="mine", text="", own=own, seed=own.seed, updates=20))
    heads = run_heads(trace.example, HeadsChosen())
    assert heads.added is not None
    *added, (says, _) = follow(heads.computation, "q", (3, 1), heads.q[3, 1])
    name = format_value(names(heads.tokens)[3])
    assert [says for says, _ in added] == [f"x of {name} with its position, feature {f + 1}" for f in range(8)]
    assert ": (its row of X + its position) · its column of W_q" in says
    assert len(follow(heads.computation, "v", (3, 1), heads.v[3, 1])) == 1


@pytest.mark.parametrize("source", ["planted", "wide"])
def test_wide_heads_tell_the_largest_of_their_many_terms(source):
    trace = run_heads(Example(), HeadsChosen(source=source))
    says, line = follow(trace.computation, "output", (3, 5), trace.output[3, 5])[-1]
    assert ", feature 6: " in says and f"the other {trace.x.shape[-1] - 6}: " in line


def test_drawn_queries_and_keys_are_where_all_begins():
    trace = run_heads(Example(), HeadsChosen(source="drawn"))
    steps = follow(trace.computation, "heads.weights", (1, 3, 1), trace.heads.weights[1, 3, 1])
    assert steps[0][0].startswith("sentence 2: score of ") and not any("X" in says for says, _ in steps)


def test_the_largest_change_from_outside_a_slice_is_that_of_its_row():
    trace = run_example(Example())
    choices = Choices(HeadsChosen(d_model=6, n_heads=3), "slices")
    changes, outside, *_ = screen(trace, 0, choices).figures[0].matrices
    for head in range(3):
        others = [float(changes.values[head, f]) for f in range(6) if f // 2 != head]
        (step,) = outside.derive(head, 0)
        assert step.value == pytest.approx(max(others), rel=1e-6) and step.text.startswith("max(")
        assert wrong(step.text, float(step.value)) is None
