"""A model by its files: opened once a process, and what it computes of a text shared by all who ask for that text.

A folder of the hub is mapped as it lies there. The few-bit numbers of a GGUF file are widened once, into a file that is
mapped: see `store`. NumPy computes with these: a row times a matrix takes it two thirds of the time that torch needs,
and a process that only reads imports no torch. Lessons get the same memory as tensors of torch.
"""

import functools
import mmap
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from attention_core.base.arrays import Array, namespace
from attention_core.model.family import build_transformer, config_of, weight_shapes
from attention_core.model.transformer import ModelTrace, Transformer
from attention_core.one_head.heads import KeyValues
from attention_core.stored.tokenizing import Tokenizer, gguf_tokenizer, hub_tokenizer
from models.folders import ModelFiles
from models.shared import UNUSED_SECONDS, Once, n_bytes_of
from models.small import is_small
from models.store import ModelContents, StoredModel, open_stored, stored_file, stored_model

MOST_MODELS = 3
PASS_BYTES, WRITING_BYTES = 160_000_000, 64_000_000  # of each model
READ_AT_ONCE = 16  # tokens of a beginning: all that is computed of 64 takes 80 MB
SMALL_BYTES = 24_000_000  # that then are kept of passes, and as many of writing
READING = threading.Lock()


def while_reading() -> AbstractContextManager[object]:
    """Around a pass. On a small host there is one at a time: what six compute beside each other takes 200 MB."""
    return READING if is_small() else nullcontext()


def at_most(n_bytes: int) -> int:
    """How much may be kept of what a model has computed."""
    return SMALL_BYTES if is_small() else n_bytes


Compute = Callable[..., Any]  # a function and what it is given


def pass_beside() -> Compute | None:
    """What makes a pass in another process, for who asks just now; None where this one makes it.

    Who has such a process puts another function in the place of this one.
    """
    return None


@dataclass(frozen=True, eq=False)
class NewestToken:
    """What is known at the end of a text: scores for the next token, and how the last one attends in each layer.

    `present` are the keys and values of all its tokens, where they are kept here: with them the text that is one token
    longer takes one row. They are of the library that the model computes with.
    """

    logits: Float[Array, " vocabulary"]
    weights: tuple[Float[Array, "heads keys"], ...]
    present: tuple[KeyValues, ...] = ()


@dataclass(frozen=True, eq=False)
class Pass:
    """What a model has computed of some ids, in the library that it computes with, and the same as torch's tensors."""

    arrays: ModelTrace

    @cached_property
    def tensors(self) -> ModelTrace:
        """The same memory as torch's tensors."""
        return in_torch(self.arrays)


@dataclass(frozen=True, eq=False)
class SharedModel:
    """A model that is open in this process, and the tokenizer that makes ids of texts for it.

    `kept` has the weights as they are kept: mapped by NumPy, or by torch, or in few bits. All methods may be called by
    any thread.
    """

    files: ModelFiles
    kept: Transformer
    tokenizer: Tokenizer
    mapped: Path | None = None  # the file of the weights, where any process can map it
    passes: Once[Pass] = field(default_factory=lambda: Once(at_most(PASS_BYTES), n_bytes_of, UNUSED_SECONDS))
    newest: Once[NewestToken] = field(default_factory=lambda: Once(at_most(WRITING_BYTES), n_bytes_of, UNUSED_SECONDS))

    @property
    def name(self) -> str:
        """What it is called."""
        return self.files.name

    @cached_property
    def n_tokens(self) -> int:
        """How many rows the embedding needs: the largest id of its tokenizer, counted from 0, and one."""
        return 1 + max(self.tokenizer.get_vocab().values(), default=-1)

    @cached_property
    def transformer(self) -> Transformer:
        """The model with its weights as torch's tensors, on the same memory."""
        return in_torch(self.kept)

    def read(self, ids: Sequence[int], ablated: Collection[tuple[int, int]] = ()) -> ModelTrace:
        """Everything the model computes for these ids; `ablated` lists the (layer, head) pairs to set to zero.

        The arrays are NumPy's, or torch's where the weights are.
        """
        return self._pass(ids, ablated).arrays

    def has_read(self, ids: Sequence[int]) -> bool:
        """Whether what it computes for these ids is kept."""
        return self.passes.kept((tuple(ids), frozenset())) is not None

    def trace(self, ids: Sequence[int], ablated: Collection[tuple[int, int]] = ()) -> ModelTrace:
        """The same with torch's tensors."""
        return self._pass(ids, ablated).tensors

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
        import torch  # only where lessons ask for tensors

        with while_reading(), torch.inference_mode():
            return self.transformer(torch.tensor(ids), ablated, patched=patched, scored=scored)

    def newest_token(self, ids: Sequence[int]) -> NewestToken:
        """What follows a text. One token after a text that was asked for just now, only that token is read."""
        return self.newest.get(tuple(ids), lambda: self._read_newest(tuple(ids)))

    def _pass(self, ids: Sequence[int], ablated: Collection[tuple[int, int]]) -> Pass:
        return self.passes.get((tuple(ids), frozenset(ablated)), lambda: Pass(self._read_all(ids, ablated)))

    def _read_all(self, ids: Sequence[int], ablated: Collection[tuple[int, int]]) -> ModelTrace:
        return self._beside(read_mapped, ids, tuple(ablated)) or read_ids(self.kept, ids, ablated)

    def _read_newest(self, ids: tuple[int, ...]) -> NewestToken:
        newest = self._beside(read_newest_mapped, ids)
        if newest is None:
            newest = read_newest(self.kept, ids, self.newest.kept(ids[:-1]))
        return replace(newest, logits=in_torch(newest.logits), weights=in_torch(newest.weights))

    def _beside(self, function: Callable[..., Any], ids: Sequence[int], *others: object) -> Any:
        """What the function makes of the mapped file in another process; None where none makes passes just now."""
        compute = pass_beside()
        if compute is None or self.mapped is None:
            return None
        try:
            return compute(function, self.mapped, tuple(ids), *others)
        except FileNotFoundError:  # its files are others since, and were converted anew; here it is still mapped
            return None


def in_torch(value: Any) -> Any:
    """The same with torch's tensors in the place of NumPy's arrays, on the same memory: see `torch.from_numpy`.

    It looks into tuples and dataclasses. Other values stay as they are, a part without arrays is the same object.
    """
    if isinstance(value, np.ndarray):
        import torch  # only where lessons ask for tensors

        return torch.from_numpy(value)
    if isinstance(value, tuple):
        parts = [in_torch(part) for part in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if not is_dataclass(value):
        return value
    parts = {each.name: getattr(value, each.name) for each in fields(value)}
    changed = {name: new for name, part in parts.items() if (new := in_torch(part)) is not part}
    return replace(value, **changed) if changed else value


MODELS: Once[SharedModel] = Once(MOST_MODELS, lambda _: 1)


def shared_model(files: ModelFiles) -> SharedModel:
    """The model of these files, opened once a process; files that have changed since are opened anew.

    Raises InputError for what cannot be read, and DiskError where it cannot be converted.
    """
    return MODELS.get(stored_file(files), lambda: open_model(files))


def opened_model(files: ModelFiles) -> SharedModel | None:
    """The same, if this process has opened it."""
    return MODELS.kept(stored_file(files))


def open_model(files: ModelFiles) -> SharedModel:
    """The model, its weights mapped, and its tokenizer."""
    if files.kind == "hub":
        from attention_core.stored.hub_folder import hub_model  # with torch, which the first page does without

        return SharedModel(files, hub_model(files.path), hub_tokenizer(files.path))
    if is_small():
        from attention_core.stored.few_bits import few_bits_model  # with torch, as above

        model, settings = few_bits_model(files.path)
        return SharedModel(files, model, gguf_tokenizer(settings))
    from tokenizers import Tokenizer

    kept = stored_model(files, gguf_contents)
    return SharedModel(files, transformer_of(kept), Tokenizer.from_str(kept.about["tokenizer"]), kept.file)


def transformer_of(kept: StoredModel) -> Transformer:
    """The model whose weights are mapped."""
    return build_transformer(config_of(kept.about["config"]), kept.weights)


@functools.lru_cache(maxsize=MOST_MODELS)
def mapped_transformer(file: Path) -> Transformer:
    """The model of a file that is there, without its tokenizer."""
    kept = open_stored(file)
    if kept is None:
        raise FileNotFoundError(file)
    return transformer_of(kept)


def read_ids(
    model: Transformer,
    ids: Sequence[int],
    ablated: Collection[tuple[int, int]] = (),
    past: Sequence[KeyValues] = (),
    scored: slice = slice(None),
) -> ModelTrace:
    """Everything a model computes for these ids, of the arrays that its weights are."""
    xp = namespace(model.layers[0].norm.gain)
    with while_reading(), nullcontext() if xp is np else xp.inference_mode():
        return model(xp.asarray(ids), ablated, past, scored=scored)


def read_newest(model: Transformer, ids: tuple[int, ...], before: NewestToken | None = None) -> NewestToken:
    """What follows a text, from what was known `before` its last token where that is kept.

    Else it is read READ_AT_ONCE tokens at a time: of those before, only keys and values are kept.
    """
    past = before.present if before else ()
    for begin in range(len(ids) - 1 if past else 0, len(ids), READ_AT_ONCE):
        part = ids[begin : begin + READ_AT_ONCE]
        is_last = begin + READ_AT_ONCE >= len(ids)
        trace = read_ids(model, part, past=past, scored=slice(-1, None) if is_last else slice(0))
        past = tuple(layer.attention.present for layer in trace.layers)
    weights = tuple(copied(layer.attention.heads.weights[:, -1]) for layer in trace.layers)
    return NewestToken(copied(trace.logits[-1]), weights, past)


def copied(array: Array) -> Array:
    """A copy of an array in memory of its own: a view would keep the whole array that it is a part of."""
    return array.copy() if isinstance(array, np.ndarray) else array.clone()


def read_mapped(file: Path, ids: tuple[int, ...], ablated: Collection[tuple[int, int]]) -> ModelTrace:
    """Everything the model of a mapped file computes for these ids, of NumPy's arrays."""
    return read_ids(mapped_transformer(file), ids, ablated)


NEWEST: Once[NewestToken] = Once(WRITING_BYTES, n_bytes_of)  # of the models of mapped files, by file and ids


def read_newest_mapped(file: Path, ids: tuple[int, ...]) -> NewestToken:
    """What follows a text by the model of a mapped file. Keys and values are kept where it is computed."""
    before = NEWEST.kept((file, ids[:-1]))
    newest = NEWEST.get((file, ids), lambda: read_newest(mapped_transformer(file), ids, before))
    return replace(newest, present=())


def gguf_contents(files: ModelFiles) -> ModelContents:
    """What a GGUF file has for the store: the weights come one after the other, widened to 32 bits."""
    from attention_core.stored.gguf_file import read_gguf  # once a machine: afterwards the store is mapped
    from attention_core.stored.gguf_llama import gguf_weights

    with files.path.open("rb") as file:
        content = read_gguf(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    config, weights = gguf_weights(content)
    about = {"config": asdict(config), "tokenizer": gguf_tokenizer(content.settings).to_str()}
    return ModelContents(about, weight_shapes(config), weights)
