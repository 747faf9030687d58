"""What a variant changes in the number of weights and in what a cache keeps."""

from lessons.screen.message import Integer, Message, message, plural
from lessons.screen.screen import Table
from lessons.variants.changed_head import VariedHead

LONG_TEXT = 4096  # tokens

VARIANT_NAMES: dict[str, Message] = {
    "window": message("window and a global token"),
    "sink": message("sink"),
    "cap": message("soft cap"),
    "alibi": message("ALiBi"),
    "rotary": message("rotary"),
    "grouped": message("grouped queries"),
    "cross": message("cross-attention"),
}


def weights_in(varied: VariedHead, changed: bool) -> int:
    """How many numbers W_q, W_k and W_v of all heads have, and the sinks."""
    d_model, d_k, d_v = varied.example.x.shape[-1], varied.plain.q.shape[-1], varied.plain.v.shape[-1]
    n_heads = varied.example.example.n_heads
    kv_heads = varied.kv_heads if changed else n_heads
    sinks = n_heads if changed and varied.kind == "sink" else 0
    return d_model * (n_heads * d_k + kv_heads * (d_k + d_v)) + sinks


def tokens_kept(varied: VariedHead, n_tokens: int, changed: bool) -> int:
    """Of how many tokens keys and values must be kept for the newest of so many, itself among them."""
    if changed and varied.kind == "window":
        return min(n_tokens, int(varied.amount) + 2)  # itself and the first token besides
    if changed and varied.cut:
        return varied.cut
    return n_tokens


def numbers_kept(varied: VariedHead, n_tokens: int, changed: bool) -> int:
    """How many numbers a cache keeps after so many tokens: a key and a value for each head that has its own."""
    d_k, d_v = varied.plain.q.shape[-1], varied.plain.v.shape[-1]
    kv_heads = varied.kv_heads if changed else varied.example.example.n_heads
    return tokens_kept(varied, n_tokens, changed) * kv_heads * (d_k + d_v)


def costs_table(varied: VariedHead) -> Table:
    """A row for the head as it is and one for the variant."""
    n = len(varied.plain.q)
    rows = tuple(
        (
            name,
            Integer(weights_in(varied, changed)),
            Integer(numbers_kept(varied, n, changed)),
            Integer(numbers_kept(varied, LONG_TEXT, changed)),
        )
        for name, changed in ((message("as it is"), False), (VARIANT_NAMES[varied.kind], True))
    )
    return Table(
        key="variant_costs",
        name=message("Parameters and cache"),
        width=560,
        cells=rows,
        notice=(
            message(
                "Parameters are the numbers of W_q, W_k and W_v, and the sinks; the cache keeps keys and values "
                "of all heads of this layer for the tokens to come."
            ),
        ),
        columns=(
            message("all heads of the layer"),
            message("parameters"),
            plural("cached after {count} token", "cached after {count} tokens", n),
            message("after {count}", count=Integer(LONG_TEXT)),
        ),
    )
