"""A real model as its one file has it: what a notebook opens, far from this app."""

import mmap
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from attention_core.model import ModelTrace
from attention_core.stored.gguf_file import read_gguf
from attention_core.stored.gguf_llama import gguf_weights
from attention_core.stored.tokenizing import Tokenizer, gguf_tokenizer
from attention_core.transformer import Transformer, build_transformer

MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"  # of the model that the lessons speak of


@dataclass(eq=False)
class OpenedModel:
    """A model that is loaded."""

    name: str
    transformer: Transformer
    tokenizer: Tokenizer

    def trace(self, ids: Sequence[int], ablated: Collection[tuple[int, int]] = ()) -> ModelTrace:
        """Everything the model computes for these ids, with the (layer, head) pairs in `ablated` set to zero."""
        with torch.inference_mode():
            return self.transformer(torch.tensor(ids), ablated)

    def read(self, ids: Sequence[int], ablated: Collection[tuple[int, int]] = ()) -> ModelTrace:
        """The same."""
        return self.trace(ids, ablated)


def open_gguf(file: str) -> OpenedModel:
    """The model of a GGUF file and what cuts texts into its tokens. Raises InputError for what cannot be read."""
    with Path(file).open("rb") as opened:
        content = read_gguf(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
    config, weights = gguf_weights(content)
    return OpenedModel(file, build_transformer(config, dict(weights)), gguf_tokenizer(content.settings))
