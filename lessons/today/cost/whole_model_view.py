"""What a real language model has: the parameters of each of its parts, and what its cache keeps, from its sizes."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from attention_core.measured.costs import LayerSizes, cached_numbers, multiplications
from attention_core.model.family import TransformerConfig, layer_shapes, weight_shapes
from lessons.example.example import ExampleTrace
from lessons.example.real_layer import LayerOfRealModel
from lessons.screen import Fixed, Integer, Message, Percent, Table, message, plural
from lessons.today.cost.published_models import PublishedModel

PARTS = {  # a bias counts with its map
    "embedding": message("embedding"),
    **{name: message("{matrix}", matrix=name) for name in ("W_q", "W_k", "W_v", "W_o")},
    "mlp": message("MLP"),
    "norms": message("norms"),
}
TOGETHER = message("total")


def whole_model_figures(trace: ExampleTrace, sizes: LayerSizes, model: PublishedModel | None) -> Iterator[Table]:
    """A table of the parameters of the example's own model, where that is a real one and no other model is counted."""
    if model is None and isinstance(trace.trained, LayerOfRealModel):
        yield parameter_table(trace.trained.config, sizes, trace.trained.name)


def parameter_table(config: TransformerConfig, sizes: LayerSizes, name: str) -> Table:
    """How many parameters each part has, in one layer and in the whole model."""
    layer, whole = count_parts(layer_shapes(config)), count_parts(weight_shapes(config))
    rows = tuple(
        (says, Integer(layer[part]), Integer(whole[part]), Percent(whole[part] / whole.total()))
        for part, says in PARTS.items()
    )
    return Table(
        key="cost_whole",
        name=message("The parameters of {model}", model=name),
        heading=message("All of {model}", model=name),
        columns=(
            message("parameters"),
            message("in a layer"),
            plural("whole model, {count} layer", "whole model, {count} layers", config.n_layers),
            message("share"),
        ),
        cells=(*rows, (TOGETHER, Integer(layer.total()), Integer(whole.total()), Percent(1.0))),
        width=620,
        notice=tuple(notice_whole(config, sizes, name)),
    )


def count_parts(shapes: dict[str, tuple[int, ...]]) -> Counter[str]:
    """How many numbers the weights of each part have, by the part."""
    counts = Counter()
    for name, shape in shapes.items():
        counts[part_of_model(name)] += math.prod(shape)
    return counts


def part_of_model(name: str) -> str:
    """Which of the `PARTS` a weight belongs to, by its name, such as "layers.0.attention.W_q"."""
    *places, weight = name.split(".")
    kind, _, own = weight.partition("_")
    if kind in ("W", "b") and "attention" in places:
        return f"W_{own}"
    if kind in ("W", "b") and "mlp" in places:
        return "mlp"
    return "embedding" if weight.endswith(("table", "unembed")) else "norms"


def notice_whole(config: TransformerConfig, sizes: LayerSizes, name: str) -> Iterator[Message]:
    """What the embedding is used for, what the MLP multiplies, and what the cache keeps, shared or not."""
    if config.unembedding == "tied":
        yield message(
            "The embedding is used twice: at the end, {model} also multiplies by it to score {count} tokens.",
            model=name,
            count=Integer(config.vocabulary),
        )
    maps = [math.prod(shape) for part, shape in layer_shapes(config).items() if part.startswith("mlp.W")]
    yield plural(
        "For the {count} token here, the attention of a layer takes {attention} multiplications, and its MLP {mlp}.",
        "For the {count} tokens here, the attention of a layer takes {attention} multiplications, and its MLP {mlp}.",
        sizes.tokens,
        attention=Integer(sum(multiplications(sizes))),
        mlp=Integer(sizes.tokens * sum(maps)),
    )
    yield notice_cache(config, sizes)


def notice_cache(config: TransformerConfig, sizes: LayerSizes) -> Message:
    """What is kept of each token in all layers, as the heads share and as if none did."""
    one = replace(sizes, tokens=1)
    kept, alone = (
        config.n_layers * cached_numbers(replace(one, n_kv_heads=heads)) for heads in (config.kv_heads, config.n_heads)
    )
    said = {"kept": Integer(kept), "layers": config.n_layers, "sets": config.kv_heads, "heads": config.n_heads}
    if kept == alone:
        return message(
            "For each token, the cache keeps {kept} numbers: a key and a value of each head in each layer "
            "(n_heads = {heads}, n_layers = {layers}).",
            **{name: said[name] for name in ("kept", "heads", "layers")},
        )
    return message(
        "For each token, the cache keeps {kept} numbers: a key and a value for {sets} of {heads} heads "
        "in each layer (n_layers = {layers}). Without sharing, it would keep {alone}: {times} times as many.",
        alone=Integer(alone),
        times=Fixed(alone / kept, 0 if alone % kept == 0 else 1),
        **said,
    )
