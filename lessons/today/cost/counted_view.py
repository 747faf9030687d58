"""What one layer of attention costs, counted: which step takes how much, and from where on the square counts."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from attention_core.base.traced import Written, given
from attention_core.measured.costs import (
    GROWS_SQUARED,
    CostStep,
    LayerSizes,
    StepCounts,
    cached_numbers,
    count_layer,
    layer_parameters,
    multiplications,
    numbers_moved,
    squared_from,
)
from lessons.example.example import ExampleTrace, unedited
from lessons.screen import Curves, Facts, Figure, Fixed, Integer, Line, Message, Part, Parts, Percent, Table, message
from lessons.today.cost.published_models import PUBLISHED, PublishedModel
from lessons.trace.story import whole_arithmetic

COST_STEPS: dict[CostStep, Message] = {
    "projections": message("Q, K and V"),
    "scores": message("scores Q Kᵀ"),
    "softmax": message("scale and softmax"),
    "mix": message("weights · V"),
    "join": message("output · W_o"),
}
OF_MULTIPLICATIONS, OF_MOVED = message("multiplications"), message("numbers moved")
SHORT_NAMES = {"tokens": "n", "d_model": "d_model", "n_heads": "h", "n_kv_heads": "g", "d_k": "d_k", "d_v": "d_v"}
GIBIBYTE, BILLION = 2**30, 10**9
POINTS_BEYOND = 4  # doublings that the curves go on beyond all that is marked


def sizes_of_example(trace: ExampleTrace) -> LayerSizes:
    """A layer as wide as the running example, with its tokens. Heads share what they share before any edit."""
    own, (tokens, d_model) = trace.example, trace.x.shape
    return LayerSizes(
        tokens=tokens,
        d_model=d_model,
        n_heads=own.n_heads,
        n_kv_heads=unedited(trace).kv_heads,
        d_k=own.d_k,
        d_v=own.d_v,
    )


def counted_figures(sizes: LayerSizes, model: PublishedModel | None) -> Iterator[Figure]:
    """Four numbers, how they are shared out among the steps, how they grow, how each comes about, and known caches."""
    counts = count_layer(sizes)
    yield Parts(
        key="cost_parts",
        name=message("Each step's share of all multiplications and of all numbers moved"),
        rows=(OF_MULTIPLICATIONS, OF_MOVED),
        parts=tuple(map(part_of_step(sizes), COST_STEPS)),
        width=720,
        notice=tuple(notice_counted(sizes, model)),
    )
    yield Facts(
        key="cost_facts",
        name=message("What the layer costs"),
        facts=(
            (message("multiplications"), in_short(sum(counts.multiplications))),
            (message("numbers moved"), in_short(sum(counts.moved))),
            (message("parameters"), in_short(counts.parameters)),
            (message("numbers in the cache"), in_short(counts.cache)),
        ),
    )
    yield growth_curves(sizes)
    yield from count_tables(sizes)
    yield cache_table()


def in_short(count: int) -> Integer | Message:
    """A number in large type: of very many, the billions."""
    return Integer(count) if count < BILLION else message("{number} billion", number=Fixed(count / BILLION))


def part_of_step(sizes: LayerSizes) -> Callable[[CostStep], Part]:
    """From a step to its shares of the multiplications and of the numbers moved."""
    counts = count_layer(sizes)

    def part(step: CostStep) -> Part:
        of = [(getattr(numbers, step), sum(numbers)) for numbers in (counts.multiplications, counts.moved)]
        says = tuple(
            message(
                "{step}: {count} of {all}, {share}",
                step=COST_STEPS[step],
                count=Integer(count),
                all=Integer(everything),
                share=Percent(count / everything),
            )
            for count, everything in of
        )
        return Part(name=COST_STEPS[step], shares=tuple(count / everything for count, everything in of), says=says)

    return part


def notice_counted(sizes: LayerSizes, model: PublishedModel | None) -> Iterator[Message]:
    """What grows with the square of the tokens, how much of the whole that is here, and from where on it is more."""
    share = squared_part(sizes) / sum(multiplications(sizes))
    yield message(
        "Scores, softmax and weights · V grow with n²; the rest grows with n. At n = {tokens}, the part "
        "that grows with n² takes {share} of the multiplications.",
        tokens=Integer(sizes.tokens),
        share=Percent(share),
    )
    yield message("From n = {tokens} on, it is the greater part.", tokens=Integer(squared_from(sizes)))
    if model is None:
        return
    if sizes.tokens > model.context:
        yield message(
            "{model} was trained to read at most {context} tokens at once; the count continues beyond that.",
            model=model.name,
            context=Integer(model.context),
        )
    if model.window is not None and sizes.tokens > model.window:
        yield message(
            "{model} keeps only a window of {window} tokens; this counts a layer without it.",
            model=model.name,
            window=Integer(model.window),
        )


def squared_part(sizes: LayerSizes) -> int:
    """The multiplications that grow with the square of the number of tokens."""
    counts = multiplications(sizes)
    return sum(getattr(counts, step) for step in GROWS_SQUARED)


def growth_curves(sizes: LayerSizes) -> Curves:
    """Multiplications over the number of tokens: those that grow with it, and those that grow with its square."""
    equal = squared_from(sizes)
    last = max(sizes.tokens, equal).bit_length() + POINTS_BEYOND
    n = tuple(2**power for power in range(last + 1))
    several = [replace(sizes, tokens=tokens) for tokens in n]
    squared = list(map(squared_part, several))
    rest = [sum(multiplications(one)) - part for one, part in zip(several, squared, strict=True)]
    return Curves(
        key="cost_growth",
        name=message("Multiplications against the number of tokens"),
        heading=message("Where n² begins to matter"),
        x=message("tokens n"),
        y=message("multiplications of one layer"),
        lines=(
            Line(key="squared", name=message("grows with n²"), x=n, y=squared),
            Line(key="rest", name=message("grows with n"), x=n, y=rest, colour="muted", style="dashed"),
        ),
        marks=(
            (message("here, n = {tokens}", tokens=Integer(sizes.tokens)), sizes.tokens),
            (message("n² is larger from {tokens} on", tokens=Integer(equal)), equal),
        ),
        logarithmic=True,
        logarithmic_y=True,
        y_domain=(1, 10 ** (len(str(max(squared))) + 1)),
        width=760,
        height=300,
        notice=tuple(notice_doubled(sizes)),
    )


def notice_doubled(sizes: LayerSizes) -> Iterator[Message]:
    """Twice as many tokens: between twice and four times the work."""
    now, twice = (sum(multiplications(replace(sizes, tokens=n))) for n in (sizes.tokens, 2 * sizes.tokens))
    yield message(
        "With twice as many tokens, {twice}, there are four times as many scores, and the layer takes {times} times as "
        "many multiplications.",
        twice=Integer(2 * sizes.tokens),
        times=Fixed(twice / now),
    )


def count_tables(sizes: LayerSizes) -> Iterator[Table]:
    """How each number comes about: its formula, and the same with the sizes."""
    columns = message("formula"), message("with these sizes"), message("number")
    letters, digits = (written_as(sizes, texts) for texts in (SHORT_NAMES, asdict(sizes)))

    def row(name: Message, count: Callable[[LayerSizes], Any]) -> tuple:
        return name, whole_arithmetic(count(letters)), whole_arithmetic(count(digits)), Integer(count(sizes))

    def rows(count: Callable[[LayerSizes], StepCounts]) -> tuple[tuple, ...]:
        return tuple(row(name, lambda s, step=step: getattr(count(s), step)) for step, name in COST_STEPS.items())

    yield Table(
        key="cost_products",
        name=message("How each number of multiplications is computed"),
        heading=message("How each number is computed"),
        columns=(message("multiplications"), *columns),
        cells=rows(multiplications),
    )
    yield Table(
        key="cost_moved",
        name=message("How the numbers moved and kept are counted"),
        columns=(message("numbers moved; numbers kept"), *columns),
        cells=(
            *rows(numbers_moved),
            row(message("parameters"), layer_parameters),
            row(message("numbers in the cache"), cached_numbers),
        ),
        notice=(
            message(
                "n tokens, h query heads, g key/value heads. Each step reads what it needs once and writes its "
                "result once. A division counts as a multiplication, an exponential does not count."
            ),
        ),
    )


def written_as(sizes: LayerSizes, texts: Mapping[str, Any]) -> LayerSizes:
    """The sizes as numbers that remember what is done with them, each written in its own way."""
    several = asdict(sizes).items()
    return LayerSizes(**{name: given(Written(float(size), str(texts[name])), name) for name, size in several})


def cache_table() -> Table:
    """What published models keep of each token, and of a full context."""
    return Table(
        key="cost_caches",
        name=message("The cache of published models"),
        heading=message("The cache of published models"),
        columns=(
            message("model"),
            message("bytes of each token"),
            message("tokens kept"),
            message("a full cache, GiB"),
            message("source"),
        ),
        cells=tuple(
            (
                model.name,
                message(
                    "2·{layers}·{heads}·{features}·2 = {bytes}",
                    layers=model.layers,
                    heads=model.n_kv_heads,
                    features=model.d_head,
                    bytes=Integer(model.bytes_of_token),
                ),
                Integer(model.most_kept),
                Fixed(model.bytes_of_cache / GIBIBYTE, 3),
                model.source,
            )
            for model in PUBLISHED.values()
        ),
        notice=(
            message("A token takes 2 · layers · key/value heads · features · 2 bytes."),
            message(
                "This counts a key and a value of every layer, in 16-bit numbers, for one sequence. Mistral 7B "
                "keeps no token older than its window; the layers of GPT-3 that see only a band of tokens are "
                "counted as if they saw all."
            ),
        ),
    )
