"""Numbers of few bits, back to floating-point numbers: blocks of whole numbers that share a scale, as in GGUF.

    Q8_0    number = scale · q                 32 numbers of 8 bits
    Q4_0    number = scale · (q − 8)           32 numbers of 4 bits
    Q4_1    number = scale · q + least         32 numbers of 4 bits

The other kinds are read by the package `gguf`, which is imported only for them.
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, UInt8

from attention_core.base.errors import TechnicalError

Blocks = UInt8[np.ndarray, "blocks bytes"]
Numbers = Float[np.ndarray, "blocks numbers"]


@dataclass(frozen=True)
class BlockKind:
    """How many numbers a block holds, how many bytes it takes, and what reads it; None means the package `gguf`."""

    name: str
    n_numbers: int
    n_bytes: int
    read: Callable[[Blocks], Numbers] | None = None


def dequantise(kind: BlockKind, blocks: Blocks) -> Numbers:
    """Return the numbers of all blocks, as 32 bits. Raises InputError where the package `gguf` is missing for them."""
    return by_package(kind, blocks) if kind.read is None else kind.read(blocks)


def float32(blocks: Blocks) -> Numbers:
    """Return numbers of 32 bits as they are."""
    return blocks.view("<f4").astype(np.float32)


def float16(blocks: Blocks) -> Numbers:
    """Return numbers of 16 bits, widened to 32."""
    return blocks.view("<f2").astype(np.float32)


def bfloat16(blocks: Blocks) -> Numbers:
    """Return numbers of which only the upper half of their 32 bits is stored."""
    return (blocks.view("<u2").astype(np.uint32) << 16).view(np.float32)


def q8_0(blocks: Blocks) -> Numbers:
    """Compute scale · q."""
    return scale_at(0, blocks) * blocks[:, 2:].view(np.int8)


def q4_0(blocks: Blocks) -> Numbers:
    """Compute scale · (q − 8)."""
    return scale_at(0, blocks) * (halves(blocks[:, 2:]).astype(np.float32) - 8)


def q4_1(blocks: Blocks) -> Numbers:
    """Compute scale · q + least."""
    return scale_at(0, blocks) * halves(blocks[:, 4:]) + scale_at(2, blocks)


def scale_at(byte: int, blocks: Blocks) -> Float[np.ndarray, "blocks 1"]:
    """Return the 16-bit number that begins at `byte` of each block."""
    return float16(np.ascontiguousarray(blocks[:, byte : byte + 2]))


def halves(blocks: Blocks) -> UInt8[np.ndarray, "blocks numbers"]:
    """Split each byte into two numbers of 4 bits: first the lower halves of a block's bytes, then the upper ones."""
    return np.concat([blocks & 15, blocks >> 4], axis=1)


def by_package(kind: BlockKind, blocks: Blocks) -> Numbers:
    """Return the numbers as `gguf` reads them. Raises InputError where the package is not installed."""
    try:
        from gguf.constants import GGMLQuantizationType
        from gguf.quants import dequantize
    except ImportError:
        raise TechnicalError(
            "blocks of the kind {kind} are read by the package gguf, which is not installed; pip install gguf",
            kind=kind.name,
        ) from None
    return dequantize(blocks, GGMLQuantizationType[kind.name])


KINDS = {
    0: BlockKind("F32", 1, 4, float32),
    1: BlockKind("F16", 1, 2, float16),
    2: BlockKind("Q4_0", 32, 18, q4_0),
    3: BlockKind("Q4_1", 32, 20, q4_1),
    6: BlockKind("Q5_0", 32, 22),
    7: BlockKind("Q5_1", 32, 24),
    8: BlockKind("Q8_0", 32, 34, q8_0),
    10: BlockKind("Q2_K", 256, 84),
    11: BlockKind("Q3_K", 256, 110),
    12: BlockKind("Q4_K", 256, 144),
    13: BlockKind("Q5_K", 256, 176),
    14: BlockKind("Q6_K", 256, 210),
    30: BlockKind("BF16", 1, 2, bfloat16),
}
