"""GGUF, the file of llama.cpp: a header, settings by name, where each tensor lies, and the tensors.

https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import math
import struct
from dataclasses import dataclass
from mmap import mmap
from typing import Literal, overload

import numpy as np
from jaxtyping import Float

from attention_core.base.errors import TechnicalError
from attention_core.stored.blocks import KINDS, BlockKind, dequantise

VERSIONS = (2, 3)
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}  # as struct has
STRING, ARRAY = 8, 9
MOST_AXES = 4
Setting = int | float | bool | str | list


@dataclass(frozen=True, eq=False)
class StoredTensor:
    """A tensor of a file, whose numbers are still as stored there, from byte `begin` on."""

    name: str
    shape: tuple[int, ...]
    kind: BlockKind
    begin: int
    data: memoryview

    def numbers(self) -> Float[np.ndarray, "..."]:
        """Return all numbers, as 32 bits: a copy, which keeps nothing of the file."""
        blocks = np.frombuffer(self.data, np.uint8).reshape(-1, self.kind.n_bytes)
        return dequantise(self.kind, blocks).reshape(self.shape)


@dataclass(frozen=True, eq=False)
class GgufFile:
    """The contents of a file: its settings, and its tensors by name."""

    settings: dict[str, Setting]
    tensors: dict[str, StoredTensor]


def read_gguf(data: bytes | mmap) -> GgufFile:
    """Read the settings and tensors of a file without copying tensors: `data` may be a mapped file.

    Raises InputError for other files, for versions that came before 2023 or are not known yet, and for a file that is
    cut short.
    """
    at = Cursor(memoryview(data))
    if len(data) < 4 or bytes(data[:4]) != b"GGUF":
        raise TechnicalError("a GGUF file begins with GGUF, but this begins with {start}", start=str(bytes(data[:4])))
    at.here = 4
    version = at.number("I")
    if version not in VERSIONS:
        raise TechnicalError("a GGUF file is of version 2 or 3, but this says {version}", version=version)
    n_tensors, n_settings = at.number("Q"), at.number("Q")
    settings = {at.string(): at.value(at.number("I")) for _ in range(n_settings)}
    places = [at.tensor_place() for _ in range(n_tensors)]
    start = after_padding(at.here, settings.get("general.alignment", 32))
    return GgufFile(settings, {place[0]: tensor_at(data, start, *place) for place in places})


def after_padding(here: int, alignment: Setting) -> int:
    """Return where the tensors begin: at the next multiple of the alignment. Raises InputError for a wrong one."""
    if not isinstance(alignment, int) or alignment < 1:
        raise TechnicalError(
            "the alignment of a GGUF file is a whole number from 1 on, but got {it}", it=repr(alignment)
        )
    return math.ceil(here / alignment) * alignment


def tensor_at(
    data: bytes | mmap, start: int, name: str, shape: tuple[int, ...], kind: int, offset: int
) -> StoredTensor:
    """Return a tensor of this shape and kind, `offset` bytes after the start of the tensors.

    Raises InputError for an unknown kind, for rows that do not fill their blocks, and for a file that is cut short.
    """
    if kind not in KINDS:
        known = ", ".join(known.name for known in KINDS.values())
        raise TechnicalError(
            "the numbers of a tensor are stored as one of {known}, but those of {name} are of the kind {kind}",
            known=known,
            name=name,
            kind=kind,
        )
    block = KINDS[kind]
    if not shape or shape[-1] % block.n_numbers:
        raise TechnicalError(
            "rows of the kind {kind} have a multiple of {n} numbers, but {name} has the shape {shape}",
            kind=block.name,
            n=block.n_numbers,
            name=name,
            shape=str(shape),
        )
    begin, end = start + offset, start + offset + math.prod(shape) // block.n_numbers * block.n_bytes
    if end > len(data):
        raise cut_short(len(data), end, name)
    return StoredTensor(name, shape, block, begin, memoryview(data)[begin:end])


def cut_short(n_bytes: int, end: int, what: str) -> TechnicalError:
    """Return an InputError for a file that ends too early."""
    return TechnicalError(
        "{what} ends at byte {end}, but the file has {n_bytes} bytes: it is cut short; fetch it again",
        what=what,
        end=end,
        n_bytes=n_bytes,
    )


@dataclass(slots=True)
class Cursor:
    """A place in a file: everything that is read moves it on."""

    data: memoryview
    here: int = 0

    def take(self, n_bytes: int) -> memoryview:
        """Return the next bytes. Raises InputError where the file ends before them."""
        begin, self.here = self.here, self.here + n_bytes
        if self.here > len(self.data):
            raise cut_short(len(self.data), self.here, "the part before the tensors")
        return self.data[begin : self.here]

    @overload
    def number(self, code: Literal["I", "Q"]) -> int: ...
    @overload
    def number(self, code: str) -> int | float | bool: ...
    def number(self, code: str) -> int | float | bool:
        """Read the next number, of a type as `struct` writes it."""
        return struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))[0]

    def string(self) -> str:
        """Read the next text: its length, then its bytes."""
        return str(self.take(self.number("Q")), "utf-8", "replace")

    def value(self, kind: int) -> Setting:
        """Read the next value of a setting. A list begins with the kind and the number of its entries.

        Raises InputError for an unknown kind.
        """
        if kind == STRING:
            return self.string()
        if kind in NUMBERS:
            return self.number(NUMBERS[kind])
        if kind != ARRAY:
            raise TechnicalError("the value of a setting has a kind from 0 to 12, but got {kind}", kind=kind)
        kind, n = self.number("I"), self.number("Q")
        if kind == STRING:
            return [self.string() for _ in range(n)]
        if kind not in NUMBERS:
            raise TechnicalError("the entries of a list are texts or numbers, but got the kind {kind}", kind=kind)
        size = struct.calcsize("<" + NUMBERS[kind])
        return [number for (number,) in struct.iter_unpack("<" + NUMBERS[kind], self.take(n * size))]

    def tensor_place(self) -> tuple[str, tuple[int, ...], int, int]:
        """Read the next tensor's name, shape, kind and offset. Sizes are stored last axis first, MOST_AXES at most.

        Raises InputError for more axes.
        """
        name, n_axes = self.string(), self.number("I")
        if n_axes > MOST_AXES:
            raise TechnicalError(
                "a tensor has at most {most} axes, but {name} has {n}", most=MOST_AXES, name=name, n=n_axes
            )
        sizes = [self.number("Q") for _ in range(n_axes)]
        return name, tuple(reversed(sizes)), self.number("I"), self.number("Q")
