"""The figures of the lesson on the language model: arcs, all heads, one head in numbers, predictions, scores."""

import math
from collections.abc import Iterator

from attention_core.head_patterns import MeasuredPattern
from attention_core.language_model import language_model, measured_model
from lessons.example.language_model_text import PATTERN_NAMES, Reading, all_heads, name_of_head, shown, texts_measured
from lessons.kit.head_maps import head_name
from lessons.kit.matrices import KEYS, QUERIES, token_axis
from lessons.screen.arithmetic import power, root, sum_of, sum_of_products, term
from lessons.screen.message import Argument, Number, Sentence, Share, Token, say
from lessons.screen.screen import Arcs, HeadMap, HeadMaps, Matrices, Matrix, Part, Parts, Step, Table

MOST_EXPECTED, MOST_AFTER_LAYERS = 8, 3  # tokens
MOST_IN_NUMBERS = 12  # tokens
LEAST_ARC, LEAST_CELL = 0.05, 0.02  # smaller weights are not drawn


def arcs(reading: Reading, notice: tuple[Sentence, ...], trained: Sentence) -> Arcs:
    """The chosen head on the text."""
    layer, head = reading.asked.layer, reading.asked.head
    return Arcs(key="read_arcs", name=say("Where one head looks"), notice=notice, weights=trained,
                tokens=reading.names, shares=reading.weights[layer, head], head=head_name(layer, head),
                chosen=reading.query, hint=say("Point at a word to see its arcs alone. Weights under {limit} are not "
                                               "drawn.", limit=Number(LEAST_ARC)), least=LEAST_ARC)  # fmt: skip


def maps(reading: Reading, notice: tuple[Sentence, ...]) -> HeadMaps:
    """All heads, each under the name that it has earned, with its score on this text."""

    def one(layer: int, head: int) -> HeadMap:
        return HeadMap(name=say("{layer}.{head} {name}", layer=layer + 1, head=head + 1,
                                name=name_of_head(layer, head)),
                       score=score_here(reading, layer, head), shares=reading.weights[layer, head],
                       chosen=(layer, head) == (reading.asked.layer, reading.asked.head))  # fmt: skip

    hint = say("Rows are queries, columns are keys; point at a cell to read its weight. Those under {limit} are not "
               "drawn.", limit=Number(LEAST_CELL))  # fmt: skip
    return HeadMaps(key="read_maps", name=say("Every head on this text"), notice=notice, tokens=reading.names,
                    heading=say("All its heads"), least=LEAST_CELL, hint=hint,
                    in_a_row=reading.weights.shape[1],
                    maps=tuple(one(*place) for place in all_heads()))  # fmt: skip


def score_here(reading: Reading, layer: int, head: int) -> Sentence | None:
    """The score of a named head on this text beside that of an even one."""
    name = measured_model().heads.name_of(layer, head)
    if name is None:
        return None
    score = reading.scores[name]
    if score.n == 0:
        return say("nothing for it here")
    return say("here {weight}, evenly {even}", weight=Number(float(score.heads[layer, head])), even=Number(score.even))


def scores_table(reading: Reading) -> Table:
    """The score of every head for its own pattern, on this text and on what its name was earned by."""
    kept = measured_model().heads
    columns = (say("layer.head"), say("name"), say("measured"), say("on this text"), say("spread evenly"),
               say("queries"), say("earned on"), say("weight there"), say("spread evenly there"),
               say("untrained heads, at most"), say("queries there"))  # fmt: skip

    def row(layer: int, head: int) -> tuple[Argument, ...]:
        naming = {name: pattern.heads[layer][head] - pattern.even for name, pattern in kept.naming.items()}
        pattern = kept.name_of(layer, head) or max(naming, key=naming.__getitem__)
        here, there = reading.scores[pattern], kept.confirming[pattern]
        return (f"{layer + 1}.{head + 1}", name_of_head(layer, head), PATTERN_NAMES[pattern],
                *(here_or_not(value, here.n) for value in (float(here.heads[layer, head]), here.even)), here.n,
                texts_measured(pattern), Number(there.heads[layer][head]), *baselines(there), there.n)  # fmt: skip

    return Table(key="read_scores", name=say("How each name was earned: the score of every head"), columns=columns,
                 cells=tuple(row(*place) for place in all_heads()),
                 folded=True)  # fmt: skip


def here_or_not(value: float, n: int) -> Argument:
    """A mean over n queries, or nothing where there is none."""
    return Number(value) if n else "–"


def baselines(measured: MeasuredPattern) -> tuple[Number, Number]:
    """What an even head and the best untrained head get."""
    return Number(measured.even), Number(measured.untrained)


# One head in numbers.


def weights_figure(reading: Reading) -> Matrices:
    """The weights of the chosen head; each can be followed to its query and key."""
    layer, head = reading.asked.layer, reading.asked.head
    tokens = tuple(name.text for name in reading.names)
    matrix = Matrix(key="read_weights", title=say("weights of {head}", head=head_name(layer, head)),
                    values=reading.weights[layer, head], rows=token_axis(tokens, QUERIES),
                    columns=token_axis(tokens, KEYS), scale="weight", colour="weight",
                    visible=reading.whole.layers[layer].attention.heads.visible[head],
                    **way_to_weight(reading, layer, head))  # fmt: skip
    return Matrices(key="read_one_head", name=say("One head in numbers"), heading=say("One head in numbers"),
                    bands=((matrix,),), first=matrix.key, numbered=None if len(tokens) <= MOST_IN_NUMBERS else False,
                    hint=say("Rows are queries, columns are keys. Click a cell to follow its number."))  # fmt: skip


def way_to_weight(reading: Reading, layer: int, head: int) -> dict:
    """From query and key to the score, scaled, and to its share in the row."""
    trace, names = reading.whole.layers[layer].attention.heads.select(head), reading.names
    q, k, scores, scaled, weights = (part.tolist() for part in (trace.q, trace.k, trace.scores, trace.scaled,
                                                                trace.weights))  # fmt: skip
    d_k = len(q[0])

    def step(i: int, j: int) -> Step:
        pair = {"query": names[i], "key": names[j]}
        if j > i:
            return Step(say("weight that {query} puts on {key}: masked", **pair), term(0), 0.0)
        total = sum(math.exp(scaled[i][m]) for m in range(i + 1))
        return Step(say("weight that {query} puts on {key}", **pair),
                    power(scaled[i][j]) / total, weights[i][j])  # fmt: skip

    def before(i: int, j: int) -> Iterator[Step]:
        if j > i:
            return
        pair = {"query": names[i], "key": names[j]}
        yield Step(say("score of {key} for {query}: query · key, both turned by their positions", **pair),
                   sum_of_products(q[i], k[j]), scores[i][j])  # fmt: skip
        yield Step(say("scaled score of {key} for {query}", **pair), term(scores[i][j]) / root(d_k), scaled[i][j])
        yield Step(say("sum of e to the scaled scores of all keys that {query} sees", query=names[i]),
                   sum_of(power(scaled[i][m]) for m in range(i + 1)),
                   sum(math.exp(scaled[i][m]) for m in range(i + 1)))  # fmt: skip

    return {"step": step, "before": before}


# What comes next.


def predictions(reading: Reading, notice: tuple[Sentence, ...]) -> Parts:
    """The likeliest next tokens, with the whole model and, where it is asked for, without the head."""
    scores = (reading.whole.logits, reading.less) if reading.asked.off else (reading.whole.logits,)
    rows = [of_all[reading.query].softmax(dim=-1) for of_all in scores]
    ranked = rows[0].argsort(descending=True, stable=True)[:MOST_EXPECTED].tolist()
    follows = following(reading)
    if follows is not None and follows not in ranked:
        ranked.append(follows)
    titles = [say("the whole model")]
    if reading.asked.off:
        titles.append(say("without {head}", head=head_name(reading.asked.layer, reading.asked.head)))
    return Parts(key="read_next", name=say("The next token"), heading=say("What comes next?"), notice=notice,
                 rows=tuple(titles), parts=tuple(
                     candidate(token, [float(row[token]) for row in rows], token == follows) for token in ranked),
                 width=660)  # fmt: skip


def following(reading: Reading) -> int | None:
    """The token that does follow in the text, or None at its end."""
    ids = reading.encoded.ids
    return ids[reading.query + 1] if reading.query + 1 < len(ids) else None


def candidate(token: int, shares: list[float], follows: bool) -> Part:
    """A token that could come next."""
    name = shown(language_model().pieces.tokens[token])
    said = tuple(say("{token}: {share}", token=Token(name, token), share=Number(share, 3)) for share in shares)
    return Part(name=name, shares=tuple(shares), says=said, chosen=follows,
                remark=say("stands in your text") if follows else None)  # fmt: skip


def layers_table(reading: Reading) -> Table:
    """What the model would expect if the token left it early: after the embedding, and after each layer."""
    cells = []
    for step, scores in enumerate(reading.early.softmax(dim=-1)):
        where = say("after layer {layer}", layer=step) if step else say("after the embedding")
        shares, tokens = scores.topk(MOST_AFTER_LAYERS)
        cells.append((where, *(
            say("{token} {share}", token=Token(shown(language_model().pieces.tokens[token]), token), share=Share(share))
            for token, share in zip(tokens.tolist(), shares.tolist(), strict=True))))  # fmt: skip
    return Table(key="read_layers", name=say("After each layer"),
                 heading=say("What would it say if it stopped earlier?"),
                 notice=(say("The last norm and the map to the vocabulary, applied to {query} after each layer; only "
                             "what leaves the last one was trained for them.", query=reading.names[reading.query]),),
                 columns=(say("left after"), say("first"), say("second"), say("third")),
                 cells=tuple(cells))  # fmt: skip
