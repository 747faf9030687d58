"""A query and each key, feature by feature: the tables of their products, and of one score as it adds up."""

from collections.abc import Iterator

import pyarrow as pa

from attention_ui.figures.features.strips import INT, WORDS
from lessons.screen import (
    Amount,
    ByFeature,
    FeatureTerm,
    Fixed,
    message,
    number,
    plural,
    render,
    translate,
    visible_text,
)

SHARE = pa.float32()


def written_amount(amount: Amount) -> str:
    """An amount with two decimals, which add up."""
    return number(amount.hundredths / 100)


def reach(figure: ByFeature) -> tuple[float, float]:
    """From where to where the bars of the products go, with 0 between."""
    values = [part.value for key in figure.keys for part in key.parts]
    low, high = min(0.0, *values), max(0.0, *values)
    return (low, high) if high > low else (0.0, 1.0)


def keys_of_pairs(figure: ByFeature) -> pa.Table:
    """The keys, one below the other."""
    rows = [
        (place, visible_text(key.key.text), "k" if place == figure.chosen else "ink", place == figure.chosen, False)
        for place, key in enumerate(figure.keys)
    ]
    return as_table(rows, i=INT, word=pa.string(), tone=WORDS, chosen=pa.bool_(), told=pa.bool_())


def scores_of_pairs(figure: ByFeature) -> pa.Table:
    """Their scores."""
    rows = [(place, written_amount(key.score), place == figure.chosen, True) for place, key in enumerate(figure.keys)]
    return as_table(rows, i=INT, said=pa.string(), chosen=pa.bool_(), told=pa.bool_())


def columns_of_pairs(figure: ByFeature) -> pa.Table:
    """The features that are shown, then all others together."""
    names = [*map(str, figure.shown), *([others_name(figure)] if figure.others else [])]
    return as_table(
        [(place, name, False) for place, name in enumerate(names)], c=INT, name=pa.string(), told=pa.bool_()
    )


def others_name(figure: ByFeature) -> str:
    """What all features that are not shown are called, in two short lines."""
    return translate("other\n{count}", count=figure.others)


def products_of_pairs(figure: ByFeature) -> pa.Table:
    """Each product: where its bar begins and ends, in parts of the way from the least to the largest."""
    low, high = reach(figure)
    rows = [
        (
            place,
            column,
            (min(part.value, 0.0) - low) / (high - low),
            (max(part.value, 0.0) - low) / (high - low),
            says_of_product(figure, place, column),
            column == len(figure.shown),
            True,
        )
        for place, key in enumerate(figure.keys)
        for column, part in enumerate(key.parts)
    ]
    return as_table(rows, i=INT, c=INT, begin=SHARE, end=SHARE, say=pa.string(), others=pa.bool_(), told=pa.bool_())


def says_of_product(figure: ByFeature, place: int, column: int) -> str:
    """What pointing at a product says."""
    key = figure.keys[place]
    said = {"key": key.key, "product": Fixed(key.parts[column].hundredths / 100)}
    if column == len(figure.shown):
        return render(
            plural(
                "{key}: the other feature adds {product}",
                "{key}: the other {count} features add {product}",
                figure.others,
                **said,
            )
        )
    return render(message("{key}: feature {feature} adds {product}", feature=figure.shown[column], **said))


def terms_of_pair(figure: ByFeature) -> pa.Table:
    """The chosen score as it adds up: its terms, what the others add, the sum, and what scaling makes of it.

    A bar goes from what was there to what is there then, in parts of the way from the least to the largest.
    """
    drawn = list(bars_of_pair(figure))
    ends = [end for *_, begin, end in drawn for end in (begin, end)]
    low, high = min(0.0, *ends), max(0.0, *ends)
    whole = high - low or 1.0
    rows = [
        (place, kind, name, query, key, said, (begin - low) / whole, (end - low) / whole, end >= begin, True)
        for place, (kind, name, query, key, said, begin, end) in enumerate(drawn)
    ]
    words = dict.fromkeys(("name", "query", "key", "said"), pa.string())
    places = {"begin": SHARE, "end": SHARE, "up": pa.bool_(), "told": pa.bool_()}
    return as_table(rows, t=INT, kind=WORDS, **words, **places)


def bars_of_pair(figure: ByFeature) -> Iterator[tuple[str, str, str, str, str, float, float]]:
    """Kind, name, the number of the query and of the key, what comes out, and the two ends of the bar."""
    key, upto = figure.keys[figure.chosen], 0.0
    for term in figure.terms:
        yield "term", *term_said(term), upto, upto + term.product.value
        upto += term.product.value
    if figure.others:
        yield "others", others_name(figure), "", "", written_amount(key.parts[-1]), upto, key.score.value
    yield "score", translate("score"), "", "", written_amount(key.score), 0.0, key.score.value
    if figure.scaled is not None:
        yield "scaled", f"÷ √{figure.divisor}", "", "", number(figure.scaled), 0.0, figure.scaled


def term_said(term: FeatureTerm) -> tuple[str, str, str, str]:
    """A feature, its two numbers and their product, as they are written."""
    return str(term.feature), number(term.of_query), number(term.of_key), written_amount(term.product)


def texts_of_pairs(figure: ByFeature) -> pa.Table:
    """One row of the words that stand in the picture."""
    query, key = figure.query, figure.keys[figure.chosen].key
    texts = {
        "title": translate("{query} · each key, by feature", query=query),
        "pair": translate("{query} · {key}, added up", query=query, key=key),
        "feature": translate("feature"),
        "of_query": translate("query of\n{token}", token=query),
        "of_key": translate("× key of\n{token}", token=key),
        "products": translate("products,\nadded up"),
        "q": translate("query"),
        "k": translate("× key"),
        "product": translate("product"),
        "score": translate("score"),
    }
    return pa.table({name: [text] for name, text in texts.items()} | {"told": [False]})


def as_table(rows: list[tuple], **kinds: pa.DataType) -> pa.Table:
    """Rows as a table with these columns."""
    columns = zip(*rows, strict=True) if rows else [()] * len(kinds)
    return pa.table({name: pa.array(column, kinds[name]) for name, column in zip(kinds, columns, strict=True)})


def tables_of_pairs(figure: ByFeature) -> dict[str, pa.Table]:
    """All of them."""
    return {
        "keys": keys_of_pairs(figure),
        "scores": scores_of_pairs(figure),
        "columns": columns_of_pairs(figure),
        "products": products_of_pairs(figure),
        "terms": terms_of_pair(figure),
        "texts": texts_of_pairs(figure),
    }


def pairs_numbers(figure: ByFeature) -> pa.Table:
    """What each feature adds, for a spreadsheet: keys by their positions, from 1; features as they are counted."""
    names = [*map(str, figure.shown), *(["others"] if figure.others else [])]
    rows = [
        (key.key.position + 1, name, part.value)
        for key in figure.keys
        for name, part in zip(names, key.parts, strict=True)
    ]
    return as_table(rows, key=INT, feature=pa.string(), product=SHARE)
