"""What attention costs on the machine at hand: what is measured, how, and what becomes of it when sizes grow."""

import math
import statistics
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from attention_core.attention import attend
from attention_core.cache import present, read_newest
from attention_core.model import ModelConfig, TinyTransformer
from attention_core.online_softmax import attend_in_blocks
from attention_core.randomness import generator

Over = Literal["tokens", "d_k", "heads", "text"]
Way = Literal["written", "blocks", "fused", "anew", "kept"]
REPEATS, MEASURED_BLOCK, MEASURED_SEED = 7, 64, 42
MOST_SECONDS, GROWTH = 0.08, 4  # of one call, for which pages wait; times as long, at twice the size
FITTED = 4  # of the largest sizes: at small ones a call takes what it takes to call
GRID: dict[Over, tuple[int, ...]] = {
    "tokens": (16, 32, 64, 128, 256, 512, 1024, 2048),
    "d_k": (8, 16, 32, 64, 128, 256, 512),
    "heads": (1, 2, 4, 8, 16),
    "text": (4, 8, 16, 32, 64, 128, 255),
}
USUAL_SIZES = {"tokens": 256, "d_k": 64, "heads": 1}


@dataclass(frozen=True)
class Timing:
    """One thing that was measured: seconds of a call, the shortest of several, and the bytes of tensors held at once.

    What else runs on the machine can only make a call longer.

    `over` is the size that was varied: of attention, or how long the text is already to which a model adds a token.
    """

    over: Over
    way: Way
    tokens: int
    d_k: int
    heads: int
    seconds: float
    most_bytes: int

    @property
    def size(self) -> int:
        """The size that was varied."""
        return self.tokens if self.over == "text" else getattr(self, self.over)


def written_out(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Step by step, with all scores and all weights in memory."""
    return attend(q, k, v).output


def in_blocks(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention whose softmax reads the keys block by block."""
    for step in attend_in_blocks(q, k, v, block=MEASURED_BLOCK):
        last = step
    return last.output


def fused(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """PyTorch's own, in one piece."""
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)


ATTENTION_WAYS: dict[Way, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "written": written_out,
    "blocks": in_blocks,
    "fused": fused,
}
WRITING_WAYS: tuple[Way, ...] = ("anew", "kept")
MOST_TIMINGS = sum(len(sizes) * (2 if over == "text" else 3) for over, sizes in GRID.items())


def measurements(clock: Callable[[], float], grid: dict[Over, tuple[int, ...]] = GRID) -> Iterator[Timing | None]:
    """Everything, one call after the other: None after a call, and a `Timing` when a size is done.

    Between two calls others may have their turn. Where twice the size could take longer than `MOST_SECONDS`, a way is
    measured no further.
    """
    for over, sizes in grid.items():
        for way in WRITING_WAYS if over == "text" else ATTENTION_WAYS:
            for size in sizes:
                call, about = next_token_call(way, size) if over == "text" else attention_call(over, way, size)
                seconds = []
                for _ in range(REPEATS + 1):
                    begin = clock()
                    call()
                    seconds.append(clock() - begin)
                    yield None
                shortest = min(seconds[1:])  # the first call warms up
                timing = Timing(over, way, **about, seconds=shortest, most_bytes=most_held(call))
                yield timing
                if timing.seconds * GROWTH > MOST_SECONDS:
                    break


def attention_call(over: Over, way: Way, size: int) -> tuple[Callable[[], Tensor], dict[str, int]]:
    """Attention on random vectors of these sizes."""
    sizes = USUAL_SIZES | {over: size}
    random, shape = generator(MEASURED_SEED), (1, sizes["heads"], sizes["tokens"], sizes["d_k"])
    q, k, v = (torch.randn(shape, generator=random) for _ in range(3))
    return lambda: ATTENTION_WAYS[way](q, k, v), sizes


WRITER = ModelConfig(vocabulary=64, context=256, d_model=64, n_layers=2, n_heads=4, positions="rotary")


def next_token_call(way: Way, size: int) -> tuple[Callable[[], object], dict[str, int]]:
    """One token more after a text of so many: every token read anew, or the newest alone beside what was kept."""
    random = generator(MEASURED_SEED)
    model = TinyTransformer.draw(WRITER, random)
    ids = torch.randint(WRITER.vocabulary, (size + 1,), generator=random)
    past = present(read_newest(model, ids[:-1])) if way == "kept" else ()
    return lambda: read_newest(model, ids, past), {
        "tokens": size,
        "d_k": WRITER.query_features,
        "heads": WRITER.n_heads,
    }


class TensorsHeld(TorchFunctionMode):
    """Counts the bytes of the tensors that PyTorch's functions make, while they are held."""

    def __init__(self) -> None:
        super().__init__()
        self.now, self.most, self.holders = 0, 0, {}

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        known = {one.untyped_storage().data_ptr() for one in args if isinstance(one, Tensor)} - self.holders.keys()
        for made in result if isinstance(result, tuple | list) else (result,):
            if isinstance(made, Tensor) and made.untyped_storage().data_ptr() not in known:
                self.hold(made)
        return result

    def hold(self, made: Tensor) -> None:
        """A tensor counts once, however many look at it, until nobody does."""
        place, size = made.untyped_storage().data_ptr(), made.untyped_storage().nbytes()
        self.now += 0 if place in self.holders else size
        self.holders[place] = self.holders.get(place, 0) + 1
        self.most = max(self.most, self.now)
        weakref.finalize(made, self.release, place, size)

    def release(self, place: int, size: int) -> None:
        """One that looked at it is gone."""
        self.holders[place] -= 1
        if not self.holders[place]:
            del self.holders[place]
            self.now -= size


def most_held(call: Callable[[], object]) -> int:
    """The most bytes of tensors that a call holds at once beyond what it is given.

    What one of PyTorch's functions holds inside for a moment does not count: nobody outside sees it.
    """
    with TensorsHeld() as held:
        call()
    return held.most


def fitted_slope(sizes: Sequence[int], numbers: Sequence[float]) -> float:
    """The slope of the line that fits best on logarithmic axes: numbers grow about as size to that power."""
    x, y = ([math.log(one) for one in several] for several in (sizes, numbers))
    middle, height = statistics.mean(x), statistics.mean(y)
    rise = sum((one - middle) * (other - height) for one, other in zip(x, y, strict=True))
    return rise / sum((one - middle) ** 2 for one in x)


def slope_of(timings: Sequence[Timing], number: Callable[[Timing], float]) -> float | None:
    """The slope over the largest sizes; None where there are too few."""
    several = sorted(timings, key=lambda timing: timing.size)[-FITTED:]
    if len(several) < 2:
        return None
    return fitted_slope([timing.size for timing in several], [number(timing) for timing in several])


def parted_from(anew: Sequence[Timing], kept: Sequence[Timing], times: float) -> int | None:
    """The least measured length from which on reading anew takes so many times as long; None where there is none."""
    seconds = {timing.size: timing.seconds for timing in kept}
    found = None
    for timing in sorted((one for one in anew if one.size in seconds), key=lambda one: -one.size):
        if timing.seconds < times * seconds[timing.size]:
            break
        found = timing.size
    return found
