"""A real language model as lessons ask it: what cuts a text into tokens, what reads them, and what a head is called."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from attention_core.model import ModelTrace
from attention_core.stored.tokenizing import Tokenizer
from attention_core.tokens import clean_text
from attention_core.transformer import Transformer

SMOLLM2 = "SmolLM2-135M-Instruct"  # the model that the lessons speak of
DEFAULT_TEXT = "The cat sat on the mat because it was very"
MAX_TOKENS = 12  # of a text, that the lessons show
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


@dataclass(frozen=True)
class CutText:
    """A text in tokens: the id of each in the model's vocabulary, and the part of the text that it stands for."""

    ids: tuple[int, ...]
    tokens: tuple[str, ...]

    def first(self, most: int) -> "CutText":
        """Its first `most` tokens."""
        return CutText(self.ids[:most], self.tokens[:most])


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
