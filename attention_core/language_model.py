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

    def encode(self, text: str, *, keep_end: bool = False) -> "Encoded":
        """The tokens of a text, the start in front, and its beginning as far as the model sees; or else its end."""
        ids = self.pieces.encode(text)
        room = self.model.config.context - 1
        kept = [self.pieces.ids[START], *(ids[-room:] if keep_end else ids[:room])]
        return Encoded(tuple(kept), tuple(self.pieces.tokens[i] for i in kept), max(0, len(ids) - room))

    def trace(self, ids: Collection[int], ablated: Collection[tuple[int, int]] = ()) -> ModelTrace:
        """Everything the model computes for these ids; `ablated` lists the (layer, head) pairs to set to zero."""
        with torch.inference_mode():
            return self.model(torch.tensor(ids), ablated)


@dataclass(frozen=True)
class Encoded:
    """A text as the model sees it. `cut` is how many tokens at its end, or its beginning, it does not see."""

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


def scores_after_layers(model: TinyTransformer, trace: ModelTrace, position: int) -> Float[Tensor, "steps vocabulary"]:
    """The scores that a token would give if it left the model early: after the embedding, then after each layer.

    The last norm and the unembedding are applied to the token as it is there, though only what leaves the last layer
    was trained for it. Known as the logit lens: nostalgebraist 2020.
    """
    steps = torch.stack([trace.layers[0].x[position], *(layer.output[position] for layer in trace.layers)])
    normed = steps if model.norm is None else model.norm(steps)
    return normed @ model.W_unembed + model.b_unembed
