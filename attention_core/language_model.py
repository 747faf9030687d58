"""A small language model, trained on novels and stories by `training`, with the weights that ship in `pretrained`."""

import functools
import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Float
from safetensors import safe_open
from torch import Tensor

from attention_core.attention import AttentionTrace
from attention_core.head_patterns import MeasuredHeads, MeasuredPattern, PronounScore
from attention_core.model import ModelConfig, ModelTrace, TinyTransformer
from attention_core.pieces import START, UNKNOWN, Pieces
from attention_core.weights import blank, named_weights, with_weights

PRETRAINED = Path(__file__).parent / "pretrained"


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """A trained model and the pieces it reads."""

    model: TinyTransformer
    pieces: Pieces

    def encode(self, text: str) -> "Encoded":
        """The tokens of a text, the start in front, cut where the model sees no further."""
        ids = self.pieces.encode(text)
        room = self.model.config.context - 1
        kept = [self.pieces.ids[START], *ids[:room]]
        return Encoded(tuple(kept), tuple(self.pieces.tokens[i] for i in kept), max(0, len(ids) - room))

    def trace(self, ids: Collection[int], ablated: Collection[tuple[int, int]] = ()) -> ModelTrace:
        """Everything the model computes for these ids; `ablated` lists the (layer, head) pairs to set to zero."""
        with torch.inference_mode():
            return self.model(torch.tensor(ids), ablated)


@dataclass(frozen=True)
class Encoded:
    """A text as the model sees it. `cut` is how many tokens at its end it does not see."""

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    cut: int

    @property
    def unknown(self) -> int:
        """How many characters the model has never seen."""
        return self.tokens.count(UNKNOWN)


@functools.lru_cache(maxsize=1)
def language_model() -> LanguageModel:
    """The model that ships, read once: all visitors of a process share it."""
    merges = json.loads((PRETRAINED / "pieces.json").read_text(encoding="utf-8"))
    return LanguageModel(read_model(PRETRAINED / "weights.safetensors"), Pieces(tuple((a, b) for a, b in merges)))


def read_model(path: Path) -> TinyTransformer:
    """The model of a file that `training` wrote: weights of any precision, its sizes beside them, read as 32 bits."""
    with safe_open(path, "pt") as kept, torch.inference_mode(False):
        config = ModelConfig(**json.loads(kept.metadata()["config"]))
        arrays = (kept.get_tensor(name).float() for name, _ in named_weights(blank(config)))
        return with_weights(blank(config), arrays, torch.zeros(()))


@dataclass(frozen=True, eq=False)
class MeasuredModel:
    """What was measured of the model that ships, on texts that training did not see.

    `right` is the share of next tokens of novels that it predicts, of `n`.
    """

    heads: MeasuredHeads
    pronoun: PronounScore
    seed: int
    steps: int
    right: float
    n: int


@functools.lru_cache(maxsize=1)
def measured_model() -> MeasuredModel:
    """The measurements that ship with the model."""
    kept = json.loads((PRETRAINED / "scores.json").read_text(encoding="utf-8"))
    sets = ({name: MeasuredPattern(**score) for name, score in kept[key].items()} for key in ("naming", "confirming"))
    pronoun, predicted = kept["pronoun"], kept["predictions"]["novels, second set"]
    return MeasuredModel(
        heads=MeasuredHeads(*sets),
        pronoun=PronounScore(torch.tensor(pronoun["matching"]), torch.tensor(pronoun["other"]), pronoun["n"]),
        seed=int(kept["about"]["seed"]),
        steps=int(kept["about"]["step"]),
        right=predicted["right"],
        n=predicted["n"],
    )


@dataclass(frozen=True, eq=False)
class HeadInput:
    """One head of the language model on a text: what enters it, its maps, and what it computes.

    `x` has gone through the embedding, the layers below and the layer norm: q = x @ W_q, then turned by its position
    (`trace.q`, `trace.k` are turned already: see `embeddings.rotate`); v = x @ W_v. The model has no other positions.
    """

    tokens: tuple[str, ...]
    x: Float[Tensor, "tokens d_model"]
    W_q: Float[Tensor, "d_model d_k"]
    W_k: Float[Tensor, "d_model d_k"]
    W_v: Float[Tensor, "d_model d_v"]
    trace: AttentionTrace


def head_input(text: str, layer: int, head: int) -> HeadInput:
    """One head of the model that ships on a text; layers and heads count from 0.

    Raises ValueError when there is no such head.
    """
    reader = language_model()
    config = reader.model.config
    if not (0 <= layer < config.n_layers and 0 <= head < config.n_heads):
        last = f"layers go from 0 to {config.n_layers - 1} and heads from 0 to {config.n_heads - 1}"
        raise ValueError(f"{last}, but got {layer}, {head}")
    encoded = reader.encode(text)
    block = reader.trace(encoded.ids).layers[layer]
    attention = reader.model.layers[layer].attention
    own = [W.chunk(config.n_heads, dim=-1)[head] for W in (attention.W_q, attention.W_k, attention.W_v)]
    return HeadInput(encoded.tokens, block.normed, *own, block.attention.heads.select(head))


def scores_after_layers(model: TinyTransformer, trace: ModelTrace, position: int) -> Float[Tensor, "steps vocabulary"]:
    """The scores that a token would give if it left the model early: after the embedding, then after each layer.

    The last norm and the unembedding are applied to the token as it is there, though only what leaves the last layer
    was trained for it. Known as the logit lens: nostalgebraist 2020.
    """
    steps = torch.stack([trace.layers[0].x[position], *(layer.output[position] for layer in trace.layers)])
    normed = steps if model.norm is None else model.norm(steps)
    return normed @ model.W_unembed + model.b_unembed
