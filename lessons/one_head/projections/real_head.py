"""A head of many features: all its numbers as strips, and how one of its scores adds up, feature by feature."""

import math
from dataclasses import dataclass

from jaxtyping import Float

from attention_core.base.arrays import Array
from attention_core.one_head.attention import dot_product_scores
from attention_core.one_head.head import project
from attention_core.one_head.turning import FEATURES
from lessons.example.example import ExampleTrace, whose_weights
from lessons.screen import (
    Amount,
    ByFeature,
    Colour,
    FeatureTerm,
    Figure,
    Fixed,
    KeyByFeature,
    Message,
    Strip,
    Strips,
    Table,
    message,
    plural,
)
from lessons.shared.adding_up import amounts
from lessons.shared.questions import shaped
from lessons.trace.computation import Computation
from lessons.trace.head import head_inputs, head_names

BELOW_LIMIT = 0.99  # of the numbers of a matrix are drawn whole
ROUND = (1, 1.5, 2, 3, 4, 5, 6, 8, 10, 20)  # times a power of ten
PRODUCT_SENTENCES = {"products": message("query · key of {key}, feature {feature}")}


@dataclass(frozen=True, eq=False)
class HeadByFeature:
    """The vectors of one head; of one query with each key the products of their features; all scores, then scaled."""

    q: Float[Array, "queries d_k"]
    k: Float[Array, "keys d_k"]
    v: Float[Array, "keys d_v"]
    products: Float[Array, "keys d_k"]
    scores: Float[Array, "queries keys"]
    scaled: Float[Array, "queries keys"]


def multiply_by_feature(x, W_q, W_k, W_v, scale, query, **others) -> HeadByFeature:
    """Each feature of one query times that of each key. Added up they are its scores."""
    q, k, v = project(x, W_q, W_k, W_v, **others)
    scores = dot_product_scores(q, k)
    return HeadByFeature(q, k, v, q[query] * k, scores, scores * scale)


def compute_by_feature(trace: ExampleTrace, head: int, query: int) -> Computation:
    """That computation for the head and the query."""
    inputs = head_inputs(trace, head, query=query)
    del inputs["may_attend"]
    return Computation(multiply_by_feature, inputs, head_names(trace, **PRODUCT_SENTENCES))


def head_figures(trace: ExampleTrace, computation: Computation, head: int, query: int, key: int) -> list[Figure]:
    """Strips of X, Q, K and V; the query with each key it may look at; and the features that are not shown."""
    visible = trace.heads.visible[head][query].tolist()
    keys = [place for place, seen in enumerate(visible) if seen]
    key = key if key in keys else keys[-1]
    found = computation.result
    strips = strips_figure(trace, found, query, key)
    shown = features_of(trace, found.products[keys])
    pairs = by_feature_figure(trace, found, query, keys, key, shown)
    return [strips, pairs, *rest_table(trace, found, query, key, pairs)]


# All numbers, as strips.

Lit = tuple[int, Colour]  # a strip that is lit, and in which colour


def strips_figure(trace: ExampleTrace, found: HeadByFeature, query: int, key: int) -> Strips:
    """X, and what the head makes of it."""
    asks: Lit = (query, "q")
    meets: Lit = (key, "k")
    passes: Lit = (key, "v")
    return Strips(
        key="strips_figure",
        name=message("X, Q, K and V, a thin bar for each number"),
        notice=(notice_strips(trace, found),),
        weights=whose_weights(trace),
        tokens=trace.names,
        strips=(
            strip("x", "X", trace.x, "ink", asks, meets, given=True),
            strip("q", "Q", found.q, "q", asks),
            strip("k", "K", found.k, "k", meets),
            strip("v", "V", found.v, "v", passes),
        ),
        query=query,
        meets=key,
    )


def strip(key: str, name: str, values: Array, colour: Colour, *lit: Lit, given: bool = False) -> Strip:
    """A matrix as strips."""
    return Strip(
        key=key,
        name=name,
        shape=shaped(*values.shape),
        values=values,
        limit=limit_of(values),
        colour=colour,
        given=given,
        lit=lit,
    )


def limit_of(values: Array) -> float:
    """Where bars are cut: at a round number beyond most numbers, so that a few huge ones do not hide them."""
    sizes = abs(values).flatten()
    most = float(sizes.quantile(BELOW_LIMIT)) or float(sizes.max()) or 1.0
    power = math.floor(math.log10(most))
    return next(limit for limit in (float(f"{step}e{power}") for step in ROUND) if limit >= most)


def notice_strips(trace: ExampleTrace, found: HeadByFeature) -> Message:
    """How many numbers become how many."""
    return message(
        "Each token's {d_model} numbers become the {d_k} of its query, the {d_k} of its key and the "
        "{d_v} of its value. Every bar has the same width; it points up if its number is positive, down "
        "if negative.",
        d_model=trace.x.shape[-1],
        d_k=found.q.shape[-1],
        d_v=found.v.shape[-1],
    )


# One query and each key, feature by feature.


def features_of(trace: ExampleTrace, products: Array) -> list[int]:
    """The features that are shown, from 0: of a turned head the first, else those with the largest products."""
    n_features = products.shape[-1]
    if n_features <= FEATURES or trace.turn is not None:
        return list(range(min(n_features, FEATURES)))
    return sorted(abs(products).sum(axis=0).argsort().tolist()[-FEATURES:])


def by_feature_figure(
    trace: ExampleTrace, found: HeadByFeature, query: int, keys: list[int], key: int, shown: list[int]
) -> ByFeature:
    """The products of the query with the visible keys, and those of one key added up."""
    rows = tuple(key_by_feature(trace, found, one, shown) for one in keys)
    row = rows[keys.index(key)]
    terms = [
        FeatureTerm(feature + 1, float(found.q[query, feature]), float(found.k[key, feature]), product)
        for feature, product in zip(shown, row.parts, strict=False)
    ]
    d_k = found.q.shape[-1]
    scaled = float(found.scaled[query, key]) if trace.example.scaling else None
    return ByFeature(
        key="by_feature_figure",
        name=message("The query with each key, feature by feature"),
        notice=(notice_sum(trace, query, key, row, d_k, scaled),),
        weights=whose_weights(trace),
        query=trace.names[query],
        shown=tuple(feature + 1 for feature in shown),
        others=d_k - len(shown),
        keys=rows,
        chosen=keys.index(key),
        terms=tuple(sorted(terms, key=lambda term: -abs(term.product.value))),
        divisor=d_k,
        scaled=scaled,
        picks="meets",
    )


def key_by_feature(trace: ExampleTrace, found: HeadByFeature, key: int, shown: list[int]) -> KeyByFeature:
    """What each feature adds to the score of a key, the others together."""
    products = found.products[key].tolist()
    others = [product for feature, product in enumerate(products) if feature not in shown]
    parts = amounts([*(products[feature] for feature in shown), *([math.fsum(others)] if others else [])])
    score = Amount(math.fsum(products), sum(part.hundredths for part in parts))
    return KeyByFeature(trace.names[key], parts, score)


def notice_sum(trace: ExampleTrace, query: int, key: int, row: KeyByFeature, d_k: int, scaled: float | None) -> Message:
    """What the score is made of, in numbers that add up."""
    pair = {"query": trace.names[query], "key": trace.names[key], "score": written(row.score)}
    if scaled is None:
        return plural(
            "The query of {query} and the key of {key}: {count} product is the score, {score}.",
            "The query of {query} and the key of {key}: {count} products add up to the score, {score}.",
            d_k,
            **pair,
        )
    return plural(
        "The query of {query} and the key of {key}: {count} product is the score, {score}; divided by √{count} it is "
        "{scaled}.",
        "The query of {query} and the key of {key}: {count} products add up to the score, {score}; divided by "
        "√{count} it is {scaled}.",
        d_k,
        **pair,
        scaled=Fixed(scaled),
    )


def written(amount: Amount) -> Fixed:
    """The number as it is written."""
    return Fixed(amount.hundredths / 100)


def rest_table(trace: ExampleTrace, found: HeadByFeature, query: int, key: int, pairs: ByFeature) -> list[Table]:
    """The features that are not shown, one by one, the largest products first; nothing where all are shown."""
    if not pairs.others:
        return []
    left = [feature for feature in range(pairs.divisor) if feature + 1 not in pairs.shown]
    products = found.products[key].tolist()
    left.sort(key=lambda feature: -abs(products[feature]))
    whole = pairs.keys[pairs.chosen].parts[-1]
    parts = amounts([products[feature] for feature in left], whole.hundredths)
    rows = [
        (str(feature + 1), Fixed(float(found.q[query, feature])), Fixed(float(found.k[key, feature])), written(part))
        for feature, part in zip(left, parts, strict=True)
    ]
    return [
        Table(
            key="rest_table",
            name=plural("The other feature", "The other {count} features, one by one", len(left)),
            columns=(message("feature"), message("query"), message("key"), message("product")),
            cells=(*rows, (message("sum"), "", "", written(whole))),
            folded=True,
            width=520,
        )
    ]
