"""Many heads on the text at once: those of a layer, or all of them, each as a small map."""

from typing import Any

from jaxtyping import Float
from torch import Tensor

from attention_core.one_head.heads import Heads
from lessons.example.real_model import head_name
from lessons.model.read.reading import Reading
from lessons.screen import Code, Fixed, HeadMap, HeadMaps, Message, Percent, argmax_ties, message, percent

LEAST_CELL = 0.02  # smaller weights are not drawn
MOST_CELLS = 4000  # in one figure: a browser takes long to draw more
IN_A_ROW = {"layer": 5, "all": 18}
MOST_IN_SMALL_MAPS = 20  # tokens; maps of more are twice as large


def many_heads_screen(reading: Reading) -> dict[str, Any]:
    """The maps."""
    return {"figures": (maps(reading),), "code": Code((Heads.__call__,))}


def maps(reading: Reading) -> HeadMaps:
    """A map for each head, those of one layer with what they do."""
    which, weights = reading.asked.maps, reading.weights
    layers = [reading.asked.layer] if which == "layer" else range(len(weights))
    least = least_drawn(weights[list(layers)].flatten().sort(descending=True).values.tolist())
    limit = message(
        "Rows are queries, columns are keys; point at a cell to read its weight. Weights under {limit} are not drawn.",
        limit=Fixed(least),
    )

    def one(layer: int, head: int) -> HeadMap:
        shares = weights[layer, head]
        return HeadMap(
            name=message("{head}", head=head_name(layer, head)),
            score=score_of(reading, layer, head) if which == "layer" else None,
            shares=shares,
            chosen=(layer, head) == reading.place,
        )

    return HeadMaps(
        key="read_maps_figure",
        name=message("Many heads on one text"),
        notice=most_to_one_token(reading) if which == "layer" else (resting(reading),),
        tokens=reading.names,
        least=least,
        hint=limit,
        in_a_row=IN_A_ROW[which] if which == "layer" or len(reading.names) <= MOST_IN_SMALL_MAPS else weights.shape[1],
        maps=tuple(one(layer, head) for layer in layers for head in range(weights.shape[1])),
    )


def score_of(reading: Reading, layer: int, head: int) -> Message:
    """The name that a head has earned; where nobody measured that, what it gives to the first token here."""
    if reading.jobs is not None:
        return reading.jobs.job_of(layer, head).name
    weight = float(to_first_token(reading.weights[layer, head]).mean())
    return message("to the first token: {weight}", weight=Fixed(weight))


def least_drawn(falling: list[float]) -> float:
    """The least weight that is drawn, so that not too many are: in hundredths."""
    most = falling[min(MOST_CELLS, len(falling) - 1)]
    return max(LEAST_CELL, int(most * 100 + 1) / 100 if len(falling) > MOST_CELLS else LEAST_CELL)


def to_first_token(shares: Float[Tensor, "*heads queries keys"]) -> Float[Tensor, "*heads queries"]:
    """The weights on the first token of all queries after it; of a single token its own."""
    return shares[..., 1:, 0] if shares.shape[-1] > 1 else shares[..., 0]


def most_to_one_token(reading: Reading) -> tuple[Message, ...]:
    """Which head of the layer gives the most to one token, from the word that asks, unless several tie."""
    rows = reading.weights[reading.asked.layer][:, reading.query, : reading.query + 1]
    most = argmax_ties(rows, percent)
    if len(most) > 1:
        return ()
    ((head, key),) = most
    return (
        message(
            "In this layer, head {head} puts the most weight on one token from {query}: {weight} on {key}.",
            head=head_name(reading.asked.layer, head),
            query=reading.names[reading.query],
            weight=Percent(float(rows.max())),
            key=reading.names[key],
        ),
    )


def resting(reading: Reading) -> Message:
    """How many of all heads give the first token more than half."""
    share = to_first_token(reading.weights).mean(dim=-1)
    return message(
        "Heads that give the first token more than half of their weight on this text: {count} of {all}.",
        count=int((share > 0.5).sum()),
        all=share.numel(),
    )
