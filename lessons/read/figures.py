"""The figures of the lesson on the language model: arcs, all heads, one head in numbers, predictions, scores."""

import math
from collections.abc import Iterator

from attention_core.attention import attend
from attention_core.head_patterns import MeasuredPattern
from attention_core.language_model import language_model, measured_model
from attention_core.traced import Written
from lessons.example.language_model_text import PATTERN_NAMES, Reading, all_heads, name_of_head, shown, texts_measured
from lessons.kit.head_maps import head_name
from lessons.kit.matrices import KEYS, QUERIES, token_axis, traced_matrix
from lessons.screen.message import Argument, Fixed, Message, Percent, Token, message
from lessons.screen.screen import Arcs, HeadMap, HeadMaps, Matrices, Part, Parts, Step, Table
from lessons.trace.computation import Computation
from lessons.trace.head import HEAD_SENTENCES
from lessons.trace.story import Names

MOST_EXPECTED, MOST_AFTER_LAYERS = 8, 3  # tokens
MOST_IN_NUMBERS = 12  # tokens
LEAST_ARC, LEAST_CELL = 0.05, 0.02  # smaller weights are not drawn


def arcs(reading: Reading, notice: tuple[Message, ...], trained: Message) -> Arcs:
    """The chosen head on the text."""
    layer, head = reading.asked.layer, reading.asked.head
    return Arcs(
        key="read_arcs",
        name=message("Where one head looks"),
        notice=notice,
        weights=trained,
        tokens=reading.names,
        shares=reading.weights[layer, head],
        head=head_name(layer, head),
        chosen=reading.query,
        hint=message(
            "Point at a word to see only its arcs. Weights under {limit} are not drawn.", limit=Fixed(LEAST_ARC)
        ),
        least=LEAST_ARC,
    )


def maps(reading: Reading, notice: tuple[Message, ...]) -> HeadMaps:
    """All heads, each under the name that it has earned, with its score on this text."""

    def one(layer: int, head: int) -> HeadMap:
        return HeadMap(
            name=message("{layer}.{head} {name}", layer=layer + 1, head=head + 1, name=name_of_head(layer, head)),
            score=score_here(reading, layer, head),
            shares=reading.weights[layer, head],
            chosen=(layer, head) == (reading.asked.layer, reading.asked.head),
        )

    hint = message(
        "Rows are queries, columns are keys; point at a cell to read its weight. Those under {limit} are not drawn.",
        limit=Fixed(LEAST_CELL),
    )
    return HeadMaps(
        key="read_maps",
        name=message("Every head on this text"),
        notice=notice,
        tokens=reading.names,
        heading=message("All its heads"),
        least=LEAST_CELL,
        hint=hint,
        in_a_row=reading.weights.shape[1],
        maps=tuple(one(*place) for place in all_heads()),
    )


def score_here(reading: Reading, layer: int, head: int) -> Message | None:
    """The score of a named head on this text beside that of an even one."""
    name = measured_model().heads.name_of(layer, head)
    if name is None:
        return None
    score = reading.scores[name]
    if score.n == 0:
        return message("no case of it here")
    return message(
        "here {weight}, evenly {even}", weight=Fixed(float(score.heads[layer, head])), even=Fixed(score.even)
    )


def scores_table(reading: Reading) -> Table:
    """The score of every head for its own pattern, on this text and on what its name was earned by."""
    kept = measured_model().heads
    columns = (
        message("layer.head"),
        message("name"),
        message("measured"),
        message("on this text"),
        message("spread evenly"),
        message("queries"),
        message("measured on"),
        message("weight there"),
        message("spread evenly there"),
        message("untrained heads, at most"),
        message("queries there"),
    )

    def row(layer: int, head: int) -> tuple[Argument, ...]:
        naming = {name: pattern.heads[layer][head] - pattern.even for name, pattern in kept.naming.items()}
        pattern = kept.name_of(layer, head) or max(naming, key=naming.__getitem__)
        here, there = reading.scores[pattern], kept.confirming[pattern]
        return (
            f"{layer + 1}.{head + 1}",
            name_of_head(layer, head),
            PATTERN_NAMES[pattern],
            *(here_or_not(value, here.n) for value in (float(here.heads[layer, head]), here.even)),
            here.n,
            texts_measured(pattern),
            Fixed(there.heads[layer][head]),
            *baselines(there),
            there.n,
        )

    return Table(
        key="read_scores",
        name=message("Where each name comes from: the score of every head"),
        columns=columns,
        cells=tuple(row(*place) for place in all_heads()),
        folded=True,
    )


def here_or_not(value: float, n: int) -> Argument:
    """A mean over n queries, or nothing where there is none."""
    return Fixed(value) if n else "–"


def baselines(measured: MeasuredPattern) -> tuple[Fixed, Fixed]:
    """What an even head and the best untrained head get."""
    return Fixed(measured.even), Fixed(measured.untrained)


# One head in numbers.


SENTENCES = {
    **HEAD_SENTENCES,
    "scores": message("score of {key} for {query}: query · key, both turned by their positions"),
}


def compute_asked_head(reading: Reading) -> Computation:
    """The attention of the chosen head, from its queries, keys and values on."""
    trace = reading.whole.layers[reading.asked.layer].attention.heads.select(reading.asked.head)
    d_k = trace.q.shape[-1]
    inputs = {
        "q": trace.q,
        "k": trace.k,
        "v": trace.v,
        "may_attend": trace.visible,
        "scale": Written(1 / math.sqrt(d_k), f"1 ÷ √{d_k}"),
    }
    things = dict.fromkeys(("queries", "keys"), reading.names)
    return Computation(attend, inputs, Names(SENTENCES, things, known=("scaled",)))  # of many keys, a story tells one


def weights_figure(reading: Reading, head: Computation) -> Matrices:
    """The weights of the chosen head; each can be followed to its query and key."""
    tokens = tuple(name.text for name in reading.names)
    title = message("weights of {head}", head=head_name(reading.asked.layer, reading.asked.head))
    matrix = traced_matrix(
        head,
        "weights",
        title,
        tokens,
        key="read_weights",
        rows=token_axis(tokens, QUERIES),
        columns=token_axis(tokens, KEYS),
        visible=head.result.visible,
        before=lambda i, j: way_to_weight(head, i, j),
    )
    return Matrices(
        key="read_one_head",
        name=message("One head in numbers"),
        heading=message("One head in numbers"),
        bands=((matrix,),),
        first=matrix.key,
        numbered=None if len(tokens) <= MOST_IN_NUMBERS else False,
        hint=message("Rows are queries, columns are keys. Click a cell to follow its number."),
    )


def way_to_weight(head: Computation, query: int, key: int) -> Iterator[Step]:
    """From query and key to the score, scaled, and to its share in the row; what is hidden has no score."""
    if head.result.visible[query, key]:
        yield from head.follow("scaled").derive(query, key)
    yield from head.follow("weights").derive(query, key)[:-1]


# What comes next.


def predictions(reading: Reading, notice: tuple[Message, ...]) -> Parts:
    """The likeliest next tokens, with the whole model and, where it is asked for, without the head."""
    scores = (reading.whole.logits, reading.less) if reading.asked.off else (reading.whole.logits,)
    rows = [of_all[reading.query].softmax(dim=-1) for of_all in scores]
    ranked = rows[0].argsort(descending=True, stable=True)[:MOST_EXPECTED].tolist()
    follows = following(reading)
    if follows is not None and follows not in ranked:
        ranked.append(follows)
    titles = [message("the whole model")]
    if reading.asked.off:
        titles.append(message("without {head}", head=head_name(reading.asked.layer, reading.asked.head)))
    return Parts(
        key="read_next",
        name=message("The next token"),
        heading=message("What comes next?"),
        notice=notice,
        rows=tuple(titles),
        parts=tuple(candidate(token, [float(row[token]) for row in rows], token == follows) for token in ranked),
        width=660,
    )


def following(reading: Reading) -> int | None:
    """The token that does follow in the text, or None at its end."""
    ids = reading.encoded.ids
    return ids[reading.query + 1] if reading.query + 1 < len(ids) else None


def candidate(token: int, shares: list[float], follows: bool) -> Part:
    """A token that could come next."""
    name = shown(language_model().pieces.tokens[token])
    said = tuple(message("{token}: {share}", token=Token(name, token), share=Fixed(share, 3)) for share in shares)
    return Part(
        name=name,
        shares=tuple(shares),
        says=said,
        chosen=follows,
        remark=message("next in your text") if follows else None,
    )


def layers_table(reading: Reading) -> Table:
    """What the model would expect if the token left it early: after the embedding, and after each layer."""
    cells = []
    for step, scores in enumerate(reading.early.softmax(dim=-1)):
        where = message("after layer {layer}", layer=step) if step else message("after the embedding")
        shares, tokens = scores.topk(MOST_AFTER_LAYERS)
        cells.append(
            (
                where,
                *(
                    message(
                        "{token} {share}",
                        token=Token(shown(language_model().pieces.tokens[token]), token),
                        share=Percent(share),
                    )
                    for token, share in zip(tokens.tolist(), shares.tolist(), strict=True)
                ),
            )
        )
    return Table(
        key="read_layers",
        name=message("After each layer"),
        heading=message("What would it say if it stopped earlier?"),
        notice=(
            message(
                "The last norm and the map to the vocabulary, applied to {query} after each layer; they were "
                "trained only on the output of the last one.",
                query=reading.names[reading.query],
            ),
        ),
        columns=(message("left after"), message("first"), message("second"), message("third")),
        cells=tuple(cells),
    )
