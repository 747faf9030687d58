"""Timings that nobody measured: powers of the sizes."""

from attention_core.timings import Timing


def seconds_of(over, way, size):
    """Made up: powers of the size, of which each way has its own."""
    return {
        "written": 2e-7 * size**2,
        "blocks": 3e-6 * size**1.5,
        "fused": 1e-5 * size,
        "anew": 1e-4 * (4 + size),
        "kept": 9e-4 if over == "text" else 0,
    }[way]


def made_up(sizes):
    ways = {over: ("anew", "kept") if over == "text" else ("written", "blocks", "fused") for over in sizes}
    return tuple(
        Timing(
            over,
            way,
            **({"tokens": 256, "d_k": 64, "heads": 1} | {"tokens" if over == "text" else over: size}),
            seconds=seconds_of(over, way, size),
            most_bytes=int(2**20 * seconds_of(over, way, size) * 1e4) + 1,
        )
        for over in sizes
        for way in ways[over]
        for size in sizes[over]
    )


FULL = {"tokens": (16, 32, 64, 128, 256), "d_k": (8, 16), "heads": (1, 2, 4), "text": (2, 4, 8, 16)}
