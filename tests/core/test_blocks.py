"""Numbers of few bits: every kind of block against a plain loop over its bits, and against the package `gguf`."""

import struct

import numpy as np
import pytest
from gguf import GGMLQuantizationType
from gguf.quants import dequantize

from attention_core.stored.blocks import KINDS, dequantise

BY_NAME = {kind.name: kind for kind in KINDS.values()}
N_BLOCKS = 5


def random_blocks(name, seed=0):
    """Blocks of random bits, whose scales are small finite numbers."""
    random, kind = np.random.default_rng(seed), BY_NAME[name]
    blocks = random.integers(0, 256, (N_BLOCKS, kind.n_bytes), dtype=np.uint8)
    for at in SCALES.get(name, ()):
        blocks[:, at : at + 2] = random.normal(size=(N_BLOCKS, 1)).astype("<f2").view(np.uint8)
    if name in ("F32", "F16"):
        blocks = random.normal(size=(N_BLOCKS, 1)).astype(f"<f{kind.n_bytes}").view(np.uint8)
    if name == "BF16":
        blocks[:, 1] &= 0x3F  # no infinity among them
    return blocks


SCALES = {
    "Q4_0": (0,),
    "Q4_1": (0, 2),
    "Q8_0": (0,),
    "Q5_0": (0,),
    "Q5_1": (0, 2),
    "Q2_K": (80, 82),
    "Q3_K": (108,),
    "Q4_K": (0, 2),
    "Q5_K": (0, 2),
    "Q6_K": (208,),
}


def half(block, at):
    return struct.unpack("<e", block[at : at + 2])[0]


def of_q8_0(block):
    return [half(block, 0) * struct.unpack("b", block[2 + i : 3 + i])[0] for i in range(32)]


def nibble(block, begin, i):
    """Number i of a group of 32: the first 16 are the low halves of 16 bytes, the others the high halves."""
    return block[begin + i] % 16 if i < 16 else block[begin + i - 16] // 16


def of_q4_0(block):
    return [half(block, 0) * (nibble(block, 2, i) - 8) for i in range(32)]


def of_q4_1(block):
    return [half(block, 0) * nibble(block, 4, i) + half(block, 2) for i in range(32)]


def scale_and_least(scales, group):
    """The 6-bit scale and minimum of one of 8 groups, as they are packed into 12 bytes."""
    if group < 4:
        return scales[group] % 64, scales[group + 4] % 64
    low, high = scales[group + 4], (scales[group - 4] // 64, scales[group] // 64)
    return low % 16 + 16 * high[0], low // 16 + 16 * high[1]


def of_q4_k(block):
    numbers = []
    for group in range(8):
        scale, least = scale_and_least(block[4:16], group)
        for i in range(32):
            byte = block[16 + 32 * (group // 2) + i]
            q = byte // 16 if group % 2 else byte % 16
            numbers.append(half(block, 0) * scale * q - half(block, 2) * least)
    return numbers


def of_q6_k(block):
    numbers = [0.0] * 256
    for part in range(2):
        low, high, scales = block[64 * part :], block[128 + 32 * part :], block[192 + 8 * part : 200 + 8 * part]
        for i in range(32):
            for quarter in range(4):
                four = low[i + 32 * (quarter % 2)]
                q = (four // 16 if quarter > 1 else four % 16) + 16 * (high[i] // 4**quarter % 4) - 32
                scale = struct.unpack("b", scales[2 * quarter + i // 16 :][:1])[0]
                numbers[128 * part + 32 * quarter + i] = half(block, 208) * scale * q
    return numbers


def of_bf16(block):
    return [struct.unpack("<f", b"\0\0" + block)[0]]


LOOPS = {
    "F32": lambda block: struct.unpack("<f", block),
    "F16": lambda block: struct.unpack("<e", block),
    "BF16": of_bf16,
    "Q8_0": of_q8_0,
    "Q4_0": of_q4_0,
    "Q4_1": of_q4_1,
    "Q4_K": of_q4_k,
    "Q6_K": of_q6_k,
}


@pytest.mark.parametrize("name", LOOPS)
def test_blocks_by_a_loop_over_their_bits(name):
    blocks, kind = random_blocks(name), BY_NAME[name]
    numbers = dequantise(kind, blocks)
    assert numbers.shape == (N_BLOCKS, kind.n_numbers) and numbers.dtype == np.float32
    by_loop = np.array([LOOPS[name](block.tobytes()) for block in blocks])
    assert np.allclose(numbers, by_loop, rtol=1e-5, atol=1e-6) and np.ptp(numbers) > 0


@pytest.mark.parametrize("name", BY_NAME)
def test_blocks_as_the_package_reads_them(name):
    blocks = random_blocks(name, seed=1)
    theirs = dequantize(blocks.reshape(-1), GGMLQuantizationType[name]).reshape(N_BLOCKS, -1)
    assert np.array_equal(dequantise(BY_NAME[name], blocks), theirs)


def test_sizes_are_the_packages():
    from gguf.constants import GGML_QUANT_SIZES

    for number, kind in KINDS.items():
        assert GGML_QUANT_SIZES[GGMLQuantizationType(number)] == (kind.n_numbers, kind.n_bytes)
        assert GGMLQuantizationType(number).name == kind.name
