"""What was measured on the machine at hand, as curves on logarithmic axes with the slope of each."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

from attention_core.costs import multiplications
from attention_core.timings import (
    ATTENTION_WAYS,
    USUAL_SIZES,
    WRITER,
    WRITING_WAYS,
    Over,
    Timing,
    Way,
    fitted_slope,
    parted_from,
    slope_of,
)
from lessons.cost.counted_view import sizes_of_example
from lessons.cost.sliding_window import Slide, sliding_figure
from lessons.example.example import ExampleTrace
from lessons.screen.message import Fixed, Integer, Message, message
from lessons.screen.screen import Colour, Curves, Line, Table
from lessons.trace.computation import Computation

MILLISECOND, MEBIBYTE = 1e-3, 2**20
PARTED = 1.5  # times as long
WAY_NAMES: dict[Way, Message] = {
    "written": message("written out"),
    "blocks": message("in blocks"),
    "fused": message("PyTorch’s own"),
    "anew": message("all tokens read again"),
    "kept": message("keys and values kept"),
}
WAY_LOOKS: dict[Way, tuple[Colour, Literal["line", "dashed", "dots"]]] = {
    "written": ("ink", "line"),
    "blocks": ("ink", "dashed"),
    "fused": ("muted", "line"),
    "anew": ("ink", "line"),
    "kept": ("muted", "line"),
}
OVER_NAMES: dict[Over, Message] = {
    "tokens": message("tokens n"),
    "d_k": message("d_k"),
    "heads": message("heads"),
    "text": message("tokens of the text so far"),
}
Measure = tuple[Message, Callable[[Timing], float]]
TIME: Measure = (message("milliseconds of a call"), lambda timing: timing.seconds / MILLISECOND)
MEMORY: Measure = (message("MiB of tensors held at once"), lambda timing: timing.most_bytes / MEBIBYTE)


def measured_figures(timings: Sequence[Timing], slide: Slide | None = None) -> Iterator[Curves | Table]:
    """Time and memory over the number of tokens, time over the other sizes, of a token that is written; what keys kept
    beyond the window remember.
    """
    if not timings:
        return
    yield measured_curve(
        timings, "tokens", TIME, message("Against the number of tokens"), tuple(notice_measured_ways(timings))
    )
    yield measured_curve(timings, "tokens", MEMORY)
    yield measured_curve(timings, "d_k", TIME, message("Against the features and the heads"), (said_of_sizes(),))
    yield measured_curve(timings, "heads", TIME)
    yield slopes_table(timings)
    yield measured_curve(timings, "text", TIME, message("Writing one more token"), tuple(notice_writing(timings)))
    yield sliding_figure(slide)


def measured_curve(
    timings: Sequence[Timing],
    over: Over,
    measure: Measure,
    heading: Message | None = None,
    notice: tuple[Message, ...] = (),
) -> Curves:
    """One measure over one size, a line for each way."""
    title, number = measure
    ways = WRITING_WAYS if over == "text" else tuple(ATTENTION_WAYS)
    lines = tuple(
        Line(
            key=way,
            name=WAY_NAMES[way],
            colour=WAY_LOOKS[way][0],
            style=WAY_LOOKS[way][1],
            points=True,
            x=[timing.size for timing in several],
            y=[number(timing) for timing in several],
        )
        for way in ways
        if (several := of_way(timings, over, way))
    )
    return Curves(
        key=f"cost_{over}_{'time' if measure is TIME else 'memory'}",
        name=message("Cost of a call against size"),
        heading=heading,
        lines=lines,
        x=OVER_NAMES[over],
        y=title,
        above=True,
        logarithmic=True,
        logarithmic_y=True,
        beside=heading is None,
        notice=notice,
        width=480,
        height=280,
    )


def of_way(timings: Sequence[Timing], over: Over, way: Way) -> list[Timing]:
    """The timings of one way over one size, in order."""
    return sorted((one for one in timings if (one.over, one.way) == (over, way)), key=lambda one: one.size)


def slopes_table(timings: Sequence[Timing]) -> Table:
    """To which power of each size the numbers of each way grow in the end."""
    columns: list[tuple[Over, Any]] = [("tokens", TIME), ("tokens", MEMORY), ("d_k", TIME), ("heads", TIME)]
    return Table(
        key="cost_slopes",
        name=message("The slopes of these lines"),
        heading=message("The slope of each line"),
        width=760,
        columns=(
            message("slope"),
            message("time against n"),
            message("memory against n"),
            message("time against d_k"),
            message("time against heads"),
        ),
        cells=tuple(
            (name, *(slope_said(slope_of(of_way(timings, over, way), number)) for over, (_, number) in columns))
            for way, name in WAY_NAMES.items()
            if way in ATTENTION_WAYS
        ),
        notice=(
            message(
                "Slope 1: twice as much for twice the size; slope 2: four times as much. Memory that PyTorch’s own "
                "function holds only for a moment is not measured."
            ),
        ),
    )


def slope_said(slope: float | None) -> Fixed | str:
    """A slope with one decimal, where there is one."""
    return "–" if slope is None else Fixed(slope, 1)


def notice_measured_ways(timings: Sequence[Timing]) -> Iterator[Message]:
    """What the ways take at the largest size that all of them reached."""
    several: dict[Way, list[Timing]] = {way: of_way(timings, "tokens", way) for way in ATTENTION_WAYS}
    common = set.intersection(*({one.size for one in of} for of in several.values()))
    for way, of in several.items() if common else ():
        one = next(one for one in of if one.size == max(common))
        yield message(
            "At n = {tokens}, {way}: {time} ms and {memory} MiB.",
            tokens=Integer(one.tokens),
            way=WAY_NAMES[way],
            time=Fixed(one.seconds / MILLISECOND),
            memory=Fixed(one.most_bytes / MEBIBYTE),
        )


def said_of_sizes() -> Message:
    """What stays as it is while one size grows."""
    return message(
        "Sizes that are not varied stay at n = {tokens}, d_k = {d_k} and {heads} head, float32, without a mask.",
        tokens=Integer(USUAL_SIZES["tokens"]),
        d_k=USUAL_SIZES["d_k"],
        heads=USUAL_SIZES["heads"],
    )


def notice_writing(timings: Sequence[Timing]) -> Iterator[Message]:
    """Where the curves part, and how far they are apart in the end."""
    anew, kept = (of_way(timings, "text", way) for way in WRITING_WAYS)
    yield message(
        "A model with {layers} layers, {features} features and random weights writes one more token.",
        layers=WRITER.n_layers,
        features=WRITER.d_model,
    )
    common = {one.size for one in anew} & {one.size for one in kept}
    if not common:
        return
    last = max(common)
    long, short = (next(one for one in of if one.size == last) for of in (anew, kept))
    yield message(
        "After {tokens} tokens, reading all again takes {anew} ms; reading only the newest, with the cache, {kept} ms.",
        tokens=Integer(last),
        anew=Fixed(long.seconds / MILLISECOND),
        kept=Fixed(short.seconds / MILLISECOND),
    )
    parted = parted_from(anew, kept, PARTED)
    if parted is not None:
        yield message(
            "From {tokens} tokens on, reading all again takes {times} times as long as with the cache, or longer.",
            tokens=Integer(parted),
            times=Fixed(PARTED, 1),
        )


def said_of_machine(timings: Sequence[Timing], machine: str) -> Message:
    """Where the numbers come from; before there are any, how one gets them."""
    if not timings:
        return message(
            "Nobody has measured on this machine yet. It takes about a minute, in the background; everybody "
            "sees the result."
        )
    return message(
        "Measured on {machine}: the shortest of several calls, since other programs make a call longer.",
        machine=machine,
    )


def compute_slope(example: ExampleTrace, timings: Sequence[Timing]) -> Computation:
    """The slope of the time written out; before anybody measured, that of the counted multiplications of the scores."""
    several = of_way(timings, "tokens", "written")
    tokens, numbers = [one.size for one in several], [one.seconds for one in several]
    if len(several) < 2:
        sizes, tokens = sizes_of_example(example), [8, 16, 32]
        numbers = [float(multiplications(replace(sizes, tokens=n)).scores) for n in tokens]
    return Computation(fitted_slope, {"sizes": tokens, "numbers": numbers})
