from functools import cache

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.base.randomness import generator
from attention_core.learning.tasks import CharacterTask
from attention_core.learning.tasks.text import notebook_model
from attention_core.learning.training import TrainingSettings
from attention_core.measured.observe import SAMPLE_CHARACTERS, observe_texts
from attention_core.model.generation import MAX_NEW_TOKENS, generate, regenerate_last
from attention_core.model.sampling import Sampling, continue_text
from attention_core.model.small_model import ModelConfig, draw_model, model_with
from lessons.model.generate.seen_in_training import never_an_input
from runs.recording import Recording

HELLO = CharacterTask("hello world")


@cache
def trained(steps=200):
    """The notebook's model, its settings and its recording."""
    model = notebook_model(len(HELLO.vocabulary))
    settings = TrainingSettings(task=HELLO, model=model, learning_rate=0.001, steps=steps, seed=1337)
    recording = Recording(settings)
    recording.record(steps)
    return settings, recording, model_with(settings.model, recording.snapshot(steps).weights)


def untrained(n_layers=2, n_heads=3):
    config = ModelConfig(vocabulary=8, context=5, d_model=6, n_layers=n_layers, n_heads=n_heads)
    return draw_model(config, generator(3))


def text_of(written):
    return "".join(new.token for new in written)


@given(
    start=st.lists(st.sampled_from(HELLO.vocabulary.tokens), min_size=1, max_size=9),
    length=st.integers(0, 13),
    seed=st.integers(0, 999),
    temperature=st.sampled_from([0.0, 0.7, 2.0]),
)
def test_it_writes_what_continue_text_writes(start, length, seed, temperature):
    model, sampling = untrained(), Sampling(temperature=temperature)
    ids = continue_text(
        model, HELLO.vocabulary.encode(start), length, temperature=temperature, generator=generator(seed, "sample")
    )
    written = generate(model, HELLO.vocabulary, start, length, sampling, seed)
    assert HELLO.vocabulary.encode([*start, *text_of(written)]) == ids.tolist()


def test_it_writes_what_the_training_page_shows():
    settings, recording, model = trained()
    view = view_of(recording, settings)
    written = generate(model, HELLO.vocabulary, ("h",), SAMPLE_CHARACTERS, Sampling(temperature=0.9), settings.seed)
    assert observe_texts(view.settings, [view.snapshot], "h", 0.9)[0].sample == "h" + text_of(written)


def view_of(recording, settings):
    from runs.run import TrainingRun

    run = TrainingRun(recording)
    run.train()
    return run.look()


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(temperature=1.6, top_k=4, top_p=0.8)])
def test_every_token_keeps_the_window_it_was_drawn_after_and_every_heads_look_at_it(sampling):
    model, start = untrained(), tuple("wor")
    written = generate(model, HELLO.vocabulary, start, 11, sampling, 17)
    text = [*start, *text_of(written)]
    for step, new in enumerate(written):
        assert new.position == 3 + step and text[new.position] == new.token
        assert new.window == tuple(text[new.first : new.position])
        assert len(new.window) == min(new.position, 5)
        trace = model(torch.tensor(HELLO.vocabulary.encode(new.window)))
        torch.testing.assert_close(new.draw.logits, trace.logits[-1].double().detach())
        assert len(new.attention) == 2
        for looks, layer in zip(new.attention, trace.layers, strict=True):
            assert looks.shape == (3, len(new.window))
            torch.testing.assert_close(looks, layer.attention.heads.weights[:, -1].detach())
            torch.testing.assert_close(looks.sum(-1), torch.ones(3))
        assert HELLO.vocabulary.tokens[new.draw.token] == new.token


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(temperature=1.6, top_k=4, top_p=0.8)])
def test_a_token_that_is_written_again_is_the_same_with_all_that_led_to_it(sampling):
    model, start = untrained(), tuple("wor")
    written = generate(model, HELLO.vocabulary, start, 11, sampling, 17)
    for n, new in enumerate(written, 1):
        text = [*start, *text_of(written[:n])]
        again = regenerate_last(model, HELLO.vocabulary, text, n, sampling, 17)
        assert (again.token, again.window) == (new.token, new.window)
        assert (again.position, again.first) == (new.position, new.first)
        assert again.draw.uniform == new.draw.uniform and torch.equal(again.draw.final, new.draw.final)
        assert torch.equal(again.draw.logits, new.draw.logits)
        assert all(torch.equal(*looks) for looks in zip(again.attention, new.attention, strict=True))


def test_what_the_last_token_looks_at_holds_no_other_rows():
    new = generate(untrained(), HELLO.vocabulary, tuple("world"), 1, Sampling(), 0)[0]
    assert [looks.untyped_storage().nbytes() for looks in new.attention] == [3 * 5 * 4] * 2


def test_a_longer_text_begins_with_the_shorter_and_the_seed_decides():
    model = untrained()
    short, long, other = (
        text_of(generate(model, HELLO.vocabulary, ("h",), n, Sampling(), s)) for n, s in ((10, 1), (40, 1), (40, 2))
    )
    assert long.startswith(short) and other != long


def test_greedy_text_needs_no_seed():
    texts = {
        text_of(generate(untrained(), HELLO.vocabulary, ("h",), 20, Sampling(temperature=0.0), s)) for s in range(5)
    }
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("start", "length", "said"),
    [
        ((), 3, "at least one token"),
        (("h",), -1, "0 to 200 tokens, but got -1"),
        (("h",), MAX_NEW_TOKENS + 1, "but got 201"),
        (("h", "z"), 3, "not in the vocabulary of 8: 'z'"),
    ],
)
def test_what_cannot_be_written_is_explained(start, length, said):
    with pytest.raises(ValueError, match=said):
        generate(untrained(), HELLO.vocabulary, start, length, Sampling(), 0)


def test_a_broken_model_is_an_error_and_not_a_text():
    model = untrained()
    with torch.no_grad():
        model.W_unembed.fill_(float("nan"))
    with pytest.raises(ValueError, match="not finite: 8 of 8"):
        generate(model, HELLO.vocabulary, ("h",), 3, Sampling(), 0)


# The notebook: three windows of “hello world”, so d is never read.


def test_the_notebooks_model_never_reads_a_d_and_its_row_never_gets_a_gradient():
    assert never_an_input(HELLO) == ("d",)
    assert never_an_input(CharacterTask("hello world hello world")) == ()
    assert never_an_input(CharacterTask("abcdefghij", 8)) == ("j",)
    settings, _, trained_model = trained()
    before = draw_model(settings.model, generator(settings.seed)).token_table
    after, row = torch.from_numpy(trained_model.token_table), HELLO.vocabulary.encode(["d"])[0]
    decay = (1 - settings.learning_rate * settings.weight_decay) ** settings.steps
    rounded = settings.steps * torch.finfo(torch.float32).eps  # at every step, always to the same side
    torch.testing.assert_close(after[row], before[row] * decay, rtol=rounded, atol=0)
    others = [i for i in range(8) if i != row]
    assert ((after[others] - before[others] * decay).abs().amax(dim=-1) > 0.01).all()
