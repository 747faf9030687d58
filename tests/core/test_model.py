import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import cross_entropy

from attention_core.base.randomness import generator
from attention_core.learning.tasks import CharacterTask, CopyTask
from attention_core.learning.tasks.text import notebook_model
from attention_core.learning.training import TrainingSettings, recommended, train
from attention_core.model.small_model import MAX_CONTEXT, MAX_D_MODEL, MAX_LAYERS, ModelConfig, draw_model, model_with
from attention_core.model.weights import count_weights, weights_of
from attention_core.one_head.attention import attend
from attention_core.one_head.masks import causal_mask, full_mask

VOCABULARY, CONTEXT = 13, 7


def small(**choices):
    return ModelConfig(**{"vocabulary": VOCABULARY, "context": CONTEXT, "d_model": 6, "n_heads": 3} | choices)


def build(config, seed=3):
    return draw_model(config, generator(seed))


def some_ids(*shape, seed=4, vocabulary=VOCABULARY):
    return torch.randint(vocabulary, shape, generator=generator(seed))


def written_out(model, ids):
    """The logits once more, step by step for a single sentence, with `attend` and the weights of the model."""
    config = model.config
    x = torch.stack([model.token_table[i] for i in ids.tolist()])
    if config.positions == "learned":
        x = x + model.position_table[: len(ids)]
    mask = causal_mask(len(ids)) if config.causal else full_mask(len(ids))
    d_head = config.d_model // config.n_heads
    for layer in model.layers:
        normed = normalised(x, layer.norm) if config.layer_norm else x
        parts = []
        for h in range(config.n_heads):
            own = slice(h * d_head, (h + 1) * d_head)
            if config.heads == "projected":
                maps = (layer.attention.W_q, layer.attention.W_k, layer.attention.W_v)
                q, k, v = (normed @ W[:, own] for W in maps)
            else:
                q, k, v = (normed[:, own] @ W for W in layer.attention.W_qkv[h].split(d_head, dim=-1))
            sink = float(layer.attention.sink[h]) if config.sink else None
            parts.append(attend(q, k, v, mask, scale=None if config.scaling else 1.0, sink=sink).output)
        attended = torch.cat(parts, dim=-1) @ layer.attention.W_o
        attended = attended if layer.attention.b_o is None else attended + layer.attention.b_o
        x = x + attended if config.residual else attended
        if config.mlp:
            mlp, thought = layer.mlp, normalised(x, layer.mlp_norm) if config.layer_norm else x
            thought = (thought @ mlp.W_up + mlp.b_up).clamp(min=0) @ mlp.W_down + mlp.b_down
            x = x + thought if config.residual else thought
    return (normalised(x, model.norm) if config.layer_norm else x) @ model.W_unembed + model.b_unembed


def normalised(x, norm):
    """PyTorch's own layer norm."""
    return nn.functional.layer_norm(x, x.shape[-1:], norm.gain, norm.shift)


@given(
    heads=st.sampled_from(["projected", "sliced"]),
    positions=st.sampled_from(["learned", "none"]),
    causal=st.booleans(),
    scaling=st.booleans(),
    residual=st.booleans(),
    layer_norm=st.booleans(),
    mlp=st.booleans(),
    sink=st.booleans(),
    n_layers=st.integers(1, 2),
    n_tokens=st.integers(1, CONTEXT),
)
def test_every_model_is_the_steps_of_the_lessons_one_after_the_other(n_tokens, **choices):
    model = build(small(**choices))
    ids = some_ids(n_tokens)
    torch.testing.assert_close(model(ids).logits, written_out(model, ids))


@pytest.mark.parametrize("heads", ["projected", "sliced"])
def test_sinks_are_off_unless_asked_for_and_cost_one_weight_a_head_and_layer(heads):
    without, with_sinks = (build(small(heads=heads, n_layers=2, sink=sink)) for sink in (False, True))
    assert without.layers[1].attention.sink is None
    assert [layer.attention.sink.tolist() for layer in with_sinks.layers] == [[0.0] * 3] * 2
    assert count_weights(with_sinks) == count_weights(without) + 2 * 3
    torch.testing.assert_close(with_sinks.W_unembed, without.W_unembed, rtol=0, atol=0)
    weights = with_sinks(some_ids(5)).layers[0].attention.heads.weights
    assert (weights.sum(dim=-1) < 0.99).all()


@pytest.mark.parametrize("engine", ["numpy", "autograd"])
def test_each_head_learns_the_score_of_its_sink(engine):
    *_, last = train(recommended(CopyTask(), 1, sink=True, n_heads=2, steps=5, engine=engine))
    (layer,) = model_with(recommended(CopyTask(), sink=True, n_heads=2).model, torch.tensor(last.weights)).layers
    assert layer.attention.sink.shape == (2,) and (layer.attention.sink != 0).all()


def test_the_trace_hands_each_layer_s_output_to_the_next():
    trace = build(small(n_layers=3, layer_norm=True, mlp=True))(some_ids(2, 5))
    assert len(trace.layers) == 3
    for before, after in pairwise(trace.layers):
        assert after.x is before.output
    assert trace.logits.shape == (2, 5, VOCABULARY)
    assert trace.layers[0].attention.heads.weights.shape == (2, 3, 5, 5)


def test_each_sentence_of_a_batch_is_computed_on_its_own():
    model, ids = build(small(mlp=True)), some_ids(3, 5)
    logits = model(ids).logits
    for row in range(3):
        torch.testing.assert_close(logits[row], model(ids[row]).logits)


@given(changed=st.integers(1, CONTEXT - 1), n_layers=st.integers(1, 3), heads=st.sampled_from(["projected", "sliced"]))
def test_in_a_causal_model_a_later_token_changes_no_earlier_logit(changed, n_layers, heads):
    model, ids = build(small(n_layers=n_layers, heads=heads, mlp=True, layer_norm=True)), some_ids(CONTEXT)
    other = ids.clone()
    other[changed:] = (ids[changed:] + 1) % VOCABULARY
    before, after = model(ids).logits, model(other).logits
    torch.testing.assert_close(before[:changed], after[:changed])
    assert not torch.allclose(before[changed], after[changed])
    torch.testing.assert_close(before[:changed], model(ids[:changed]).logits)


def test_without_the_causal_mask_a_later_token_does_change_earlier_logits():
    model, ids = build(small(causal=False)), some_ids(CONTEXT)
    other = ids.clone()
    other[-1] = (ids[-1] + 1) % VOCABULARY
    assert not torch.allclose(model(ids).logits[0], model(other).logits[0])


@pytest.mark.parametrize("heads", ["projected", "sliced"])
def test_without_positions_and_mask_permuted_tokens_give_permuted_logits(heads):
    model = build(small(positions="none", causal=False, heads=heads, n_layers=2, mlp=True, layer_norm=True))
    ids, order = some_ids(CONTEXT), torch.randperm(CONTEXT, generator=generator(5))
    torch.testing.assert_close(model(ids[order]).logits, model(ids).logits[order])


def test_positions_tell_permuted_tokens_apart():
    model = build(small(causal=False))
    ids = some_ids(CONTEXT)
    assert not torch.allclose(model(ids.flip(0)).logits, model(ids).logits.flip(0))


@pytest.mark.parametrize("n_tokens", [0, CONTEXT + 1])
def test_more_tokens_than_the_model_can_see_are_an_error(n_tokens):
    with pytest.raises(ValueError, match=f"sees 1 to {CONTEXT} tokens at once, but got {n_tokens}"):
        build(small())(torch.zeros(n_tokens, dtype=torch.long))


def test_the_same_seed_builds_the_same_model_and_leaves_the_global_random_state_alone():
    before = torch.random.get_rng_state()
    one, same, other = build(small(mlp=True)), build(small(mlp=True)), build(small(mlp=True), seed=4)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.equal(weights_of(one), weights_of(same))
    assert not torch.equal(one.token_table, other.token_table)


def test_the_embedding_has_the_spread_that_was_asked_for():
    one, tenth = (build(small(embedding_std=std)) for std in (1.0, 0.1))
    torch.testing.assert_close(tenth.token_table, one.token_table * 0.1)
    torch.testing.assert_close(tenth.position_table, one.position_table * 0.1)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"context": 0}, f"context goes from 1 to {MAX_CONTEXT}, but got 0"),
        ({"context": MAX_CONTEXT + 1}, f"context goes from 1 to {MAX_CONTEXT}, but got {MAX_CONTEXT + 1}"),
        ({"d_model": 0}, f"d_model goes from 1 to {MAX_D_MODEL}, but got 0"),
        ({"d_model": MAX_D_MODEL + 1}, f"d_model goes from 1 to {MAX_D_MODEL}, but got {MAX_D_MODEL + 1}"),
        ({"n_layers": 0}, f"n_layers goes from 1 to {MAX_LAYERS}, but got 0"),
        ({"n_layers": MAX_LAYERS + 1}, f"n_layers goes from 1 to {MAX_LAYERS}, but got {MAX_LAYERS + 1}"),
        ({"vocabulary": 1}, "at least 2 different tokens to choose from, but got 1"),
        ({"n_heads": 4}, "works with 1, 2, 3, 6 heads, but n_heads is 4"),
        ({"n_heads": 0}, "works with 1, 2, 3, 6 heads, but n_heads is 0"),
        ({"embedding_std": math.inf}, "embedding_std"),
        ({"embedding_std": -1.0}, "embedding_std"),
    ],
    ids=str,
)
def test_what_cannot_be_built_is_an_error_that_says_what_can(choices, message):
    with pytest.raises(ValueError, match=message):
        small(**choices)


@pytest.mark.parametrize(
    "choices", [{"context": MAX_CONTEXT}, {"d_model": MAX_D_MODEL, "n_heads": 1}, {"n_layers": MAX_LAYERS}], ids=str
)
def test_the_largest_sizes_can_be_built(choices):
    config = small(**choices)
    assert build(config)(some_ids(config.context)).logits.isfinite().all()


# The notebook's model


class NotebookHead(nn.Module):
    """One head of the notebook: its maps go from its slice to its slice."""

    def __init__(self, size):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(size, size, bias=False) for _ in range(3))

    def forward(self, part):
        n, size = part.shape[-2:]
        scores = self.query(part) @ self.key(part).transpose(1, 2) / math.sqrt(size)
        hidden = torch.ones(n, n).triu(1).bool()
        return scores.masked_fill(hidden, float("-inf")).softmax(dim=-1) @ self.value(part)


class NotebookModel(nn.Module):
    """The notebook's language model: embeddings, sliced heads, a map, and a map to the vocabulary."""

    def __init__(self, vocabulary, places, size, n_heads):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, size)
        self.places = nn.Embedding(places, size)
        self.heads = nn.ModuleList(NotebookHead(size // n_heads) for _ in range(n_heads))
        self.mix = nn.Linear(size, size)
        self.output = nn.Linear(size, vocabulary)

    def forward(self, ids):
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
        parts = x.chunk(len(self.heads), dim=-1)
        return self.output(self.mix(torch.cat([head(part) for head, part in zip(self.heads, parts, strict=True)], -1)))


def notebook_losses(seed, steps):
    """The loop of the notebook; every random number comes from one stream, as there."""
    letters = sorted(set("hello world"))
    data = torch.tensor([letters.index(letter) for letter in "hello world"])
    losses = []
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = NotebookModel(len(letters), 8, 16, 2)
        optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
        for _ in range(steps):
            starts = torch.randint(0, len(data) - 8, (4,))
            x = torch.stack([data[i : i + 8] for i in starts])
            y = torch.stack([data[i + 1 : i + 9] for i in starts])
            loss = cross_entropy(model(x).view(-1, len(letters)), y.view(-1))
            losses.append(loss.item())
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return losses


@pytest.mark.parametrize("seed", [0, 1337])
def test_the_notebook_s_training_gives_the_notebook_s_losses(seed):
    settings = TrainingSettings(
        task=CharacterTask("hello world"), model=notebook_model(8), learning_rate=1e-3, steps=30, seed=seed
    )
    ours = [step.loss for step in train(settings)]
    theirs = notebook_losses(seed, 31)
    assert theirs[0] > theirs[-1]
    assert ours == pytest.approx(theirs, abs=1e-5)


def test_the_notebook_s_model_has_the_notebook_s_parameters():
    model = build(notebook_model(8))
    with torch.random.fork_rng():
        theirs = NotebookModel(8, 8, 16, 2)
    assert count_weights(model) == sum(p.numel() for p in theirs.parameters()) == 1048
