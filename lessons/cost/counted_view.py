"""What one layer of attention costs, counted: which step takes how much, and from where on the square counts."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from lessons.cost.formulas import (
    FORMULAS,
    GROWS_SQUARED,
    CostStep,
    LayerSizes,
    arithmetic_of,
    counts_of,
    multiplications,
    named_formula,
    squared_from,
)
from lessons.cost.published_models import PUBLISHED, PublishedModel
from lessons.example.example import ExampleTrace
from lessons.screen.format import spoken
from lessons.screen.message import Count, Number, Sentence, Share, say
from lessons.screen.screen import Curves, Facts, Figure, Line, Part, Parts, Table

COST_STEPS: dict[CostStep, Sentence] = {
    "projections": say("Q, K and V"),
    "scores": say("scores Q Kᵀ"),
    "softmax": say("scale and softmax"),
    "mix": say("weights · V"),
    "join": say("output · W_o"),
}
OF_MULTIPLICATIONS, OF_MOVED = say("multiplications"), say("numbers moved")
GIBIBYTE, BILLION = 2**30, 10**9
POINTS_BEYOND = 4  # doublings that the curves go on beyond all that is marked


def sizes_of_example(example: ExampleTrace) -> LayerSizes:
    """A layer as wide as the running example, with its tokens."""
    own, (tokens, d_model) = example.example, example.x.shape
    return LayerSizes(
        tokens=tokens, d_model=d_model, n_heads=own.n_heads, n_kv_heads=own.n_heads, d_k=own.d_k, d_v=own.d_v
    )


def counted_figures(sizes: LayerSizes, model: PublishedModel | None) -> Iterator[Figure]:
    """Four numbers, how they are shared out among the steps, how they grow, how each comes about, and known caches."""
    counts = counts_of(sizes)
    yield Parts(
        key="cost_parts", name=say("What each step takes of all multiplications and of all numbers moved"),
        rows=(OF_MULTIPLICATIONS, OF_MOVED), parts=tuple(map(part_of_step(sizes), COST_STEPS)), width=760,
        notice=tuple(notice_counted(sizes, model)))  # fmt: skip
    yield Facts(
        key="cost_facts", name=say("What the layer costs"),
        facts=(
            (say("multiplications"), in_short(sum(counts["multiplications"].values()))),
            (say("numbers moved"), in_short(sum(counts["numbers moved"].values()))),
            (say("parameters"), in_short(counts["kept"]["parameters"])),
            (say("numbers in the cache"), in_short(counts["kept"]["cache"]))))  # fmt: skip
    yield growth_curves(sizes)
    yield from count_tables(sizes)
    yield cache_table()


def in_short(count: int) -> Count | Sentence:
    """A number in large type: of very many, the billions."""
    return Count(count) if count < BILLION else say("{number} billion", number=Number(count / BILLION))


def part_of_step(sizes: LayerSizes) -> Callable[[CostStep], Part]:
    """From a step to its shares of the multiplications and of the numbers moved."""
    counts = counts_of(sizes)
    of = [counts[name] for name in ("multiplications", "numbers moved")]

    def part(step: CostStep) -> Part:
        says = tuple(
            say("{step}: {count} of {all}, {share}", step=COST_STEPS[step], count=Count(numbers[step]),
                all=Count(sum(numbers.values())), share=Share(numbers[step] / sum(numbers.values())))
            for numbers in of)  # fmt: skip
        shares = tuple(numbers[step] / sum(numbers.values()) for numbers in of)
        return Part(name=spoken(COST_STEPS[step]), shares=shares, says=says)

    return part


def notice_counted(sizes: LayerSizes, model: PublishedModel | None) -> Iterator[Sentence]:
    """What grows with the square of the tokens, how much of the whole that is here, and from where on it is more."""
    counts = multiplications(sizes)
    share = sum(counts[step] for step in GROWS_SQUARED) / sum(counts.values())
    yield say(
        "Scores, softmax and weights · V grow with the square of the number of tokens, n²; the rest grows with n. At "
        "n = {tokens}, what grows with n² takes {share} of the multiplications.",
        tokens=Count(sizes.tokens), share=Share(share))  # fmt: skip
    yield say("It is the greater part from n = {tokens} on.", tokens=Count(squared_from(sizes)))
    if model is None:
        return
    if squared_from(sizes) > model.context:
        yield say("That is more than the {context} tokens that {model} was trained to read at once.",
                  model=model.name, context=Count(model.context))  # fmt: skip
    if sizes.tokens > model.context:
        yield say("{model} was trained to read at most {context} tokens at once; the count goes on all the same.",
                  model=model.name, context=Count(model.context))  # fmt: skip
    if model.window is not None and sizes.tokens > model.window:
        yield say("{model} looks back over a window of {window} tokens and keeps no older ones. This counts a layer "
                  "without the window: all pairs, and a cache of all {tokens} tokens.",
                  model=model.name, window=Count(model.window), tokens=Count(sizes.tokens))  # fmt: skip


def growth_curves(sizes: LayerSizes) -> Curves:
    """Multiplications over the number of tokens: those that grow with it, and those that grow with its square."""
    equal = squared_from(sizes)
    last = max(sizes.tokens, equal).bit_length() + POINTS_BEYOND
    n = tuple(2**power for power in range(last + 1))
    several = [multiplications(replace(sizes, tokens=tokens)) for tokens in n]
    squared = [sum(counts[step] for step in GROWS_SQUARED) for counts in several]
    rest = [sum(counts.values()) - all_squared for counts, all_squared in zip(several, squared, strict=True)]
    return Curves(
        key="cost_growth", name=say("Multiplications over the number of tokens"),
        heading=say("Where n² begins to matter"), x=say("tokens n"), y=say("multiplications of one layer"),
        lines=(Line(key="squared", name=say("grows with n²"), x=n, y=squared),
               Line(key="rest", name=say("grows with n"), x=n, y=rest, colour="muted", style="dashed")),
        marks=((say("here, n = {tokens}", tokens=Count(sizes.tokens)), sizes.tokens),
               (say("n² is more from {tokens} on", tokens=Count(equal)), equal)),
        logarithmic=True, logarithmic_y=True, y_domain=(1, 10 ** (len(str(max(squared))) + 1)), width=760, height=300,
        notice=tuple(notice_doubled(sizes)))  # fmt: skip


def notice_doubled(sizes: LayerSizes) -> Iterator[Sentence]:
    """Twice as many tokens: between twice and four times the work."""
    now, twice = (sum(multiplications(replace(sizes, tokens=n)).values()) for n in (sizes.tokens, 2 * sizes.tokens))
    yield say("With twice as many tokens, {twice}, the layer takes {times} times as many multiplications.",
              twice=Count(2 * sizes.tokens), times=Number(twice / now))  # fmt: skip


def count_tables(sizes: LayerSizes) -> Iterator[Table]:
    """How each number comes about: its formula, and the same with the sizes."""
    counts = counts_of(sizes)
    names = COST_STEPS | {"parameters": say("parameters"), "cache": say("numbers in the cache")}
    columns = say("formula"), say("with these sizes"), say("number")

    def cells(*several: str) -> tuple[tuple, ...]:
        return tuple(
            (names[step], named_formula(of, step), arithmetic_of(of, step, sizes), Count(counts[of][step]))
            for of in several for step in FORMULAS[of])  # fmt: skip

    yield Table(
        key="cost_products", name=say("How each number of multiplications comes about"),
        heading=say("How each number comes about"), columns=(say("multiplications"), *columns),
        cells=cells("multiplications"))  # fmt: skip
    yield Table(
        key="cost_moved", name=say("How each number that is moved or kept comes about"),
        columns=(say("numbers moved; numbers kept"), *columns), cells=cells("numbers moved", "kept"),
        notice=(say("n tokens of d_model features; h query heads, g key/value heads; d_k features of a query or key, "
                    "d_v of a value. Each step reads all that it needs once and writes its result once. A division "
                    "counts as a multiplication; the softmax takes h·n·n exponentials besides."),))  # fmt: skip


def cache_table() -> Table:
    """What published models keep of each token, and of a full context."""
    return Table(
        key="cost_caches", name=say("The cache of published models"), heading=say("The cache of published models"),
        columns=(say("model"), say("bytes of each token: 2 · layers · key/value heads · features · 2"),
                 say("tokens kept"), say("a full cache, GiB"), say("where it is written")),
        cells=tuple(
            (model.name, say("2·{layers}·{heads}·{features}·2 = {bytes}", layers=model.layers, heads=model.n_kv_heads,
                             features=model.d_head, bytes=Count(model.bytes_of_token)),
             Count(model.most_kept), Number(model.bytes_of_cache / GIBIBYTE, 3), model.source)
            for model in PUBLISHED.values()),
        notice=(say("A key and a value of every layer, in numbers of 16 bits, for one sequence. Fewer key/value heads "
                    "make it smaller; Mistral 7B looks back over a window and keeps no older token. In every other "
                    "layer of GPT-3 a query looks at a band of tokens only; how wide it is was not published, so all "
                    "tokens count here."),))  # fmt: skip
