"""A model whose weights stay in few bits, as in the file; each is widened while the model computes with it.

It computes with exactly the numbers of `gguf_model`, several times slower, in a tenth of the memory: a layer at a time
is read from the file, and nothing of the file stays mapped.
"""

import mmap
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_core.model.family import build_transformer
from attention_core.model.transformer import Transformer
from attention_core.stored.blocks import BlockKind, dequantise
from attention_core.stored.gguf_file import Setting, StoredTensor, read_gguf
from attention_core.stored.gguf_llama import as_here, gguf_tensors
from attention_core.stored.naming import is_map


@dataclass(frozen=True, eq=False)
class FewBits:
    """A weight that stays in a file, which must not change; its numbers are made whenever they are used.

    The file has the rows of the weight one after the other, from byte `begin` on. If the weight is `turned`, the rows
    of the file are its columns.
    """

    file: Path
    begin: int
    kind: BlockKind
    stored: tuple[int, int]
    turned: bool = False
    dtype = np.dtype(np.float16)  # at most that many bits, fewer than a model computes with: see `widened`

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the weight as it is used."""
        rows, columns = self.stored
        return (columns, rows) if self.turned else (rows, columns)

    @property
    def mT(self) -> "FewBits":
        """The transposed weight."""
        return replace(self, turned=not self.turned)

    def widen(self) -> Float[Tensor, "rows columns"]:
        """Return all numbers, as 32 bits."""
        rows = self.rows(0, self.stored[0])
        return rows.mT if self.turned else rows

    def rows(self, first: int, end: int) -> Float[Tensor, "rows columns"]:
        """Return the rows `first` to `end` − 1 of the file, as 32 bits."""
        row_bytes = self.stored[1] // self.kind.n_numbers * self.kind.n_bytes
        with self.file.open("rb") as file:
            file.seek(self.begin + first * row_bytes)
            data = file.read((end - first) * row_bytes)
        blocks = np.frombuffer(data, np.uint8).reshape(-1, self.kind.n_bytes)
        return torch.from_numpy(dequantise(self.kind, blocks).reshape(end - first, self.stored[1]))

    def __getitem__(self, ids: Int[Tensor, "*batch"] | list[int] | int | slice) -> Float[Tensor, "*batch columns"]:
        """Return rows of a table, which is not turned: those of ids, of one id, or of a slice."""
        if isinstance(ids, slice):
            first, end, _ = ids.indices(self.stored[0])
            return self.rows(first, end)
        ids = torch.as_tensor(ids)
        rows = [self.rows(i, i + 1) for i in ids.flatten().tolist()]
        return torch.cat(rows).reshape(*ids.shape, self.stored[1])


def few_bits_model(path: Path) -> tuple[Transformer, dict[str, Setting]]:
    """Return the model of a GGUF file, and the settings of the file. Raises InputError as `gguf_model` does."""
    with path.open("rb") as opened:
        file = read_gguf(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
    config, tensors = gguf_tensors(file)
    weights = {name: as_kept(name, tensor, path) for name, tensor in tensors.items()}
    return build_transformer(config, weights), file.settings


def as_kept(name: str, tensor: StoredTensor, path: Path) -> Tensor | FewBits:
    """Return a matrix in its few bits, and a vector, such as the gain of a norm, as 32-bit numbers."""
    if len(tensor.shape) == 1:
        return as_here(name, tensor, torch.float32)
    rows, columns = tensor.shape
    return FewBits(path, tensor.begin, tensor.kind, (rows, columns), turned=is_map(name))
