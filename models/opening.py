"""A model by its files: opened once a process, and what it computes of a text shared by all who ask for that text.

A folder of the hub is mapped as it lies there. The few-bit numbers of a GGUF file are widened once, into a file that is
mapped: see `store`.
"""

import mmap
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field

from jaxtyping import Float

from attention_core.arrays import Array
from attention_core.heads import KeyValues
from attention_core.model import ModelTrace
from attention_core.stored.tokenizing import Tokenizer, gguf_tokenizer, hub_tokenizer
from attention_core.transformer import Transformer, build_transformer, config_of, weight_shapes
from models.folders import ModelFiles
from models.shared import Once, n_bytes_of
from models.small import is_small
from models.store import ModelContents, stored_file, stored_model

MOST_MODELS = 3
PASS_BYTES, WRITING_BYTES = 160_000_000, 64_000_000  # of each model
SMALL_BYTES = 24_000_000  # that then are kept of passes, and as many of writing


def at_most(n_bytes: int) -> int:
    """How much may be kept of what a model has computed."""
    return SMALL_BYTES if is_small() else n_bytes


@dataclass(frozen=True, eq=False)
class NewestToken:
    """What is known at the end of a text: scores for the next token, and how the last one attends in each layer.

    `present` are the keys and values of all its tokens: with them the text that is one token longer takes one row.
    """

    logits: Float[Array, " vocabulary"]
    weights: tuple[Float[Array, "heads keys"], ...]
    present: tuple[KeyValues, ...]


@dataclass(frozen=True, eq=False)
class SharedModel:
    """A model that is open in this process, and the tokenizer that makes ids of texts for it.

    All methods may be called by any thread.
    """

    files: ModelFiles
    transformer: Transformer
    tokenizer: Tokenizer
    passes: Once[ModelTrace] = field(default_factory=lambda: Once(at_most(PASS_BYTES), n_bytes_of))
    newest: Once[NewestToken] = field(default_factory=lambda: Once(at_most(WRITING_BYTES), n_bytes_of))

    @property
    def name(self) -> str:
        """What it is called."""
        return self.files.name

    def trace(self, ids: Sequence[int], ablated: Collection[tuple[int, int]] = ()) -> ModelTrace:
        """Everything the model computes for these ids; `ablated` lists the (layer, head) pairs to set to zero."""
        return self.passes.get((tuple(ids), frozenset(ablated)), lambda: self._read(ids, ablated))

    def newest_token(self, ids: Sequence[int]) -> NewestToken:
        """What follows a text. One token after a text that was asked for just now, only that token is read."""
        return self.newest.get(tuple(ids), lambda: self._read_newest(tuple(ids)))

    def _read(
        self, ids: Sequence[int], ablated: Collection[tuple[int, int]] = (), past: Sequence[KeyValues] = ()
    ) -> ModelTrace:
        import torch

        with torch.inference_mode():
            return self.transformer(torch.tensor(ids), ablated, past)

    def _read_newest(self, ids: tuple[int, ...]) -> NewestToken:
        before = self.newest.kept(ids[:-1])
        trace = self._read(ids[-1:], past=before.present) if before else self._read(ids)
        attention = [layer.attention for layer in trace.layers]
        weights = tuple(heads.heads.weights[:, -1].clone() for heads in attention)
        return NewestToken(trace.logits[-1].clone(), weights, tuple(heads.present for heads in attention))


MODELS: Once[SharedModel] = Once(MOST_MODELS, lambda _: 1)


def shared_model(files: ModelFiles) -> SharedModel:
    """The model of these files, opened once a process; files that have changed since are opened anew.

    Raises InputError for what cannot be read, and DiskError where it cannot be converted.
    """
    return MODELS.get(stored_file(files), lambda: SharedModel(files, *open_model(files)))


def opened_model(files: ModelFiles) -> SharedModel | None:
    """The same, if this process has opened it."""
    return MODELS.kept(stored_file(files))


def open_model(files: ModelFiles) -> tuple[Transformer, Tokenizer]:
    """The model, its weights mapped, and its tokenizer."""
    from attention_core.stored.hub_folder import hub_model  # with torch, which the first page does without

    if files.kind == "hub":
        return hub_model(files.path), hub_tokenizer(files.path)
    if is_small():
        from attention_core.stored.few_bits import few_bits_model

        model, settings = few_bits_model(files.path)
        return model, gguf_tokenizer(settings)
    from tokenizers import Tokenizer

    kept = stored_model(files, gguf_contents)
    model = build_transformer(config_of(kept.about["config"]), kept.weights)
    return model, Tokenizer.from_str(kept.about["tokenizer"])


def gguf_contents(files: ModelFiles) -> ModelContents:
    """What a GGUF file has for the store: the weights come one after the other, widened to 32 bits."""
    from attention_core.stored.gguf_file import read_gguf
    from attention_core.stored.gguf_llama import gguf_weights

    with files.path.open("rb") as file:
        content = read_gguf(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    config, weights = gguf_weights(content)
    about = {"config": asdict(config), "tokenizer": gguf_tokenizer(content.settings).to_str()}
    return ModelContents(about, weight_shapes(config), weights)
