"""A real language model as lessons ask it: what cuts a text into tokens, what reads them, and what a head is called."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from jaxtyping import Float

from attention_core.base.arrays import Array
from attention_core.model.transformer import ModelTrace, Transformer
from attention_core.stored.tokenizing import Tokenizer
from attention_core.text.tokens import clean_text

SMOLLM2 = "SmolLM2-135M-Instruct"  # the model that the lessons speak of
DEFAULT_TEXT = "The cat sat on the mat because it was very"
MAX_TOKENS = 12  # of a text, that the lessons show
MOST_GIVEN_UP = 5  # tokens of a text that is cut, for a whole word at its end
DEFAULT_LAYER, DEFAULT_HEAD = 13, 8  # both counted from 0: of all heads the one that looks from "it" to a noun most


@runtime_checkable
class RealModel(Protocol):
    """A model that is loaded, as the pages hand it to a lesson; None stands for one that is not on this machine."""

    name: str
    transformer: Transformer
    tokenizer: Tokenizer

    def trace(self, ids: Sequence[int], ablated: Collection[tuple[int, int]] = ()) -> ModelTrace:
        """Everything the model computes for these ids, with the (layer, head) pairs in `ablated` set to zero.

        Equal questions are computed once. The arrays are tensors of torch.
        """
        ...

    def read(self, ids: Sequence[int], ablated: Collection[tuple[int, int]] = ()) -> ModelTrace:
        """The same in the library that the model computes with, which may be NumPy."""
        ...

    def compute(
        self,
        ids: Sequence[int] | Sequence[Sequence[int]],
        ablated: Collection[tuple[int, int]] = (),
        patched: Mapping[tuple[int, int], Float[Array, "tokens d_head"]] | None = None,
        scored: slice = slice(None),
    ) -> ModelTrace:
        """Everything the model computes for the ids of a text, or of several that are equally long; nothing is kept.

        The (layer, head) pairs in `ablated` are set to zero, and those in `patched` have other outputs. Only the
        positions in `scored` get logits. The arrays are tensors of torch.
        """
        ...


@dataclass(frozen=True)
class CutText:
    """A text in tokens: the id of each in the model's vocabulary, and the part of the text that it stands for."""

    ids: tuple[int, ...]
    tokens: tuple[str, ...]

    def first(self, most: int) -> "CutText":
        """Its first `most` tokens, or some fewer, so that it ends with a whole word, or at least a whole character."""
        return self if len(self.ids) <= most else self[: self.place_to_cut(most, -1)]

    def last(self, most: int) -> "CutText":
        """Its last `most` tokens, or some fewer, so that it begins with a whole word, or at least a whole character."""
        return self if len(self.ids) <= most else self[self.place_to_cut(len(self.ids) - most, 1) :]

    def place_to_cut(self, at: int, step: int) -> int:
        """Where a cut near `at` parts two words: the nearest such place in one direction, within a few tokens; or else
        the nearest that parts two characters.
        """
        places = range(at, at + step * (MOST_GIVEN_UP + 1), step)
        inside = [place for place in places if 0 < place < len(self.ids)]
        words = (place for place in inside if self.tokens[place][:1].isspace())
        return next(words, next((place for place in inside if self.tokens[place]), at))

    def __getitem__(self, part: slice) -> "CutText":
        return CutText(self.ids[part], self.tokens[part])


def cut_text(model: RealModel, text: str) -> CutText:
    """A text as the model's own tokenizer cuts it, after `clean_text`.

    A space in front belongs to the token behind it. A character of several tokens stands at the first of them, and the
    others are empty: so the tokens, one after the other, are the text.
    """
    text = clean_text(text).text
    encoding = model.tokenizer.encode(text, add_special_tokens=False)
    parts, end = [], 0
    for begin, stop in encoding.offsets:
        parts.append(text[max(begin, end) : stop])
        end = max(end, stop)
    return CutText(tuple(encoding.ids), tuple(parts))


def head_name(layer: int, head: int) -> str:
    """How a head is called everywhere: layer 13, head 8 is 13.8, both counted from 0."""
    return f"{layer}.{head}"
