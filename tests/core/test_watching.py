import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.masks import causal_mask
from attention_core.model import ModelConfig
from attention_core.randomness import generator
from attention_core.sampling import continue_text
from attention_core.tasks import CharacterTask
from attention_core.training import Tape, TrainingRun, TrainingSettings, model_with
from attention_core.watching import SAMPLE_CHARACTERS, heads_caption, loss_caption, probe_tokens, watch

TASK = CharacterTask("hello world", 5)


def view_at(step=3, **choices):
    config = ModelConfig(**{"vocabulary": 8, "context": 7, "d_model": 6, "n_heads": 3, "n_layers": 2} | choices)
    tape = Tape(TrainingSettings(task=TASK, model=config, steps=5, seed=17))
    run = TrainingRun(tape)
    for _ in range(step):
        run.step_once()
    return run.look()


VIEW = view_at()


def test_what_is_watched_is_the_attention_of_the_model_on_screen():
    watched = watch(VIEW, "hello", 1.0)
    model = model_with(VIEW.settings.model, VIEW.snapshot.weights)
    trace = model(torch.tensor([3, 2, 4, 4, 5]))
    assert watched.step == 3 and watched.tokens == tuple("hello") and watched.notes == ()
    assert len(watched.layers) == 2
    for seen, expected in zip(watched.layers, trace.layers, strict=True):
        assert seen.weights.shape == (3, 5, 5)
        torch.testing.assert_close(seen.weights, expected.attention.heads.weights)


def test_the_sample_begins_like_the_training_text_and_depends_on_the_seed_of_the_run_alone():
    before = torch.random.get_rng_state()
    one, other_probe = watch(VIEW, "hello", 0.7), watch(VIEW, "world", 0.7)
    model = model_with(VIEW.settings.model, VIEW.snapshot.weights)
    ids = continue_text(model, [3], SAMPLE_CHARACTERS, temperature=0.7, generator=generator(17, "sample"))
    assert one.sample == "".join(TASK.vocabulary.decode(ids)) == other_probe.sample
    assert one.sample.startswith("h") and len(one.sample) == SAMPLE_CHARACTERS + 1
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(
    ("probe", "tokens", "note"),
    [
        ("hello", "hello", None),
        ("", "hello", None),
        ("hexlyo", "helo", "never met x y "),
        ("hello world", "o world", "last 7"),
        ("xyz", "hello", "beginning of the training text"),
        ("he\u202e\ud800llo", "hello", "2 invisible characters were left out"),
    ],
)
def test_only_what_the_model_knows_and_can_see_is_looked_at_and_the_notes_say_so(probe, tokens, note):
    shown, notes = probe_tokens(VIEW, probe)
    assert "".join(shown) == tokens
    assert (note is None and not notes) or any(note in n for n in notes)


@given(probe=st.text(st.characters(exclude_categories=()), max_size=30))
def test_every_probe_can_be_watched(probe):
    tokens, notes = probe_tokens(VIEW, probe)
    assert 1 <= len(tokens) <= 7
    assert set(tokens) <= set(TASK.vocabulary.tokens)
    "".join(notes).encode("utf-8")


@given(loss=st.floats(0, 5))
def test_the_sentence_on_the_loss_is_true(loss):
    baselines = TASK.baselines()
    caption = loss_caption(loss, baselines)
    stated = {b.name: b.loss for b in baselines if b.name in caption}
    assert caption.startswith(f"The loss is {loss:.2f}")
    for relation, holds in (
        ("as good as", lambda b: abs(loss - b) <= 0.005),
        ("better than", lambda b: loss < b),
        ("worse than", lambda b: loss > b),
        ("not yet as good as", lambda b: loss > b),
    ):
        for named in re.findall(rf"(?<!yet ){relation} ([^,(]+) \((\d\.\d\d)\)", caption):
            assert holds(stated[named[0]]) and f"{stated[named[0]]:.2f}" == named[1]
    assert stated


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("probe", ["hello", "hold", "wo", "llll"])
def test_the_sentence_on_the_heads_is_true(probe, causal):
    watched = watch(view_at(causal=causal), probe, 1.0)
    n = len(probe)
    choosing = causal_mask(n).sum(dim=-1) > 1 if causal else torch.ones(n, dtype=torch.bool)
    strongest = max(float(trace.weights[:, choosing].max()) for trace in watched.layers)
    caption = heads_caption(watched)
    (who, place), (whom, other) = re.findall(r"“(.)”(?: \((\d+)\))?", caption)
    i, j = (int(p) - 1 if p else probe.index(t) for t, p in ((who, place), (whom, other)))
    layer, head = (int(number) - 1 for number in re.search(r"layer (\d+), head (\d+)", caption).groups())
    assert (probe[i], probe[j]) == (who, whom)
    assert float(watched.layers[layer].weights[head, i, j]) == strongest
    assert abs(int(re.search(r"(\d+) %", caption)[1]) / 100 - strongest) <= 0.0051


def test_a_single_token_has_nothing_to_choose():
    assert "nothing to choose" in heads_caption(watch(VIEW, "h", 1.0))
