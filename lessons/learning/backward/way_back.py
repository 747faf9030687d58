"""One sentence forwards to its loss, and back: the chain rule, a line for each gradient."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from jaxtyping import Float, Int

from attention_core.base.arrays import Array
from attention_core.learning.backward import attend_backward, cross_entropy_backward
from attention_core.learning.losses import CrossEntropyTrace, cross_entropy
from attention_core.one_head.attention import AttentionTrace, Mask, Number
from attention_core.one_head.head import one_head
from lessons.screen import Message, Token, message
from lessons.trace.head import HEAD_SENTENCES
from lessons.trace.story import Names


@dataclass(frozen=True, eq=False)
class WayBack:
    """What a model of one head computes for a sentence, and under d_… the gradient of each matrix on the way."""

    attention: AttentionTrace
    after: Float[Array, "tokens d_model"]
    logits: Float[Array, "tokens vocabulary"]
    loss: CrossEntropyTrace
    d_logits: Float[Array, "tokens vocabulary"]
    d_after: Float[Array, "tokens d_model"]
    d_output: Float[Array, "tokens d_v"]
    d_weights: Float[Array, "queries keys"]
    d_scores: Float[Array, "queries keys"]
    d_q: Float[Array, "queries d_k"]
    d_k: Float[Array, "keys d_k"]
    d_v: Float[Array, "keys d_v"]
    d_W_q: Float[Array, "row column"]
    d_W_k: Float[Array, "row column"]
    d_W_v: Float[Array, "row column"]
    d_x: Float[Array, "tokens d_model"]


def go_back(
    x: Float[Array, "tokens d_model"],
    W_q: Float[Array, "d_model d_k"],
    W_k: Float[Array, "d_model d_k"],
    W_v: Float[Array, "d_model d_v"],
    W_o: Float[Array, "d_v d_model"],
    W_unembed: Float[Array, "d_model vocabulary"],
    b_unembed: Float[Array, " vocabulary"],
    targets: Int[Array, " tokens"],
    may_attend: Mask | None,
    scale: Number,
) -> WayBack:
    """From the tokens to the loss, and from the loss to every gradient; a target below 0 does not count."""
    attention = one_head(x, W_q, W_k, W_v, may_attend, scale)
    after = x + attention.output @ W_o
    logits = after @ W_unembed + b_unembed
    loss = cross_entropy(logits, targets)

    d_logits = cross_entropy_backward(loss)
    d_after = d_logits @ W_unembed.mT
    d_output = d_after @ W_o.mT
    d = attend_backward(attention, d_output, scale)
    d_W_q, d_W_k, d_W_v = x.mT @ d.d_q, x.mT @ d.d_k, x.mT @ d.d_v
    d_x = d_after + (d.d_q @ W_q.mT + d.d_k @ W_k.mT + d.d_v @ W_v.mT)
    return WayBack(
        *(attention, after, logits, loss, d_logits, d_after, d_output),
        *(d.d_weights, d.d_scores, d.d_q, d.d_k, d.d_v, d_W_q, d_W_k, d_W_v, d_x),
    )


OF_MAP = message(
    "{matrix}, row {row}, column {column}: summed over the tokens, feature {row} of x · feature {column} of {gradient}"
)
NOT_ASKED = message("the prediction at {token} does not count, so nothing comes back to its output")
QUERY_NOT_ASKED = message("the prediction at {query} does not count, so nothing comes back to its output")
NEVER_LOOKED_AT = message("no query that counts may look at {key}, so nothing comes back")
BACK_SENTENCES: Mapping[str, Message] = {
    **HEAD_SENTENCES,
    "after": message("{token} after the attention, feature {feature}: x + output · a column of W_o"),
    "logits": message(
        "logit of {word}: the vector at {token} after the attention, times a column of W_unembed, plus b"
    ),
    "max of logits": message("the largest logit"),
    "sum of logits": message("sum over all words"),
    "targets": message("wanted: 1 for the right word, 0 for the others"),
    "shares": message("how much each prediction counts: the loss is a mean"),
    "d_after": message("d_after of {token}, feature {feature}: d_logits · row {feature} of W_unembed"),
    "d_after nothing": NOT_ASKED,
    "d_output": message("d_output of {token}, feature {feature}: d_after · row {feature} of W_o"),
    "d_output nothing": NOT_ASKED,
    "d_weights": message("d_weight of {key} for {query}: d_output · value of {key}"),
    "d_weights hidden": message("{key} is masked for {query}: its weight is 0 whatever happens"),
    "d_weights nothing": QUERY_NOT_ASKED,
    "sum of weights": message("mean of the d_weights of {query}, weighted by its weights"),
    "d_scores hidden": message("{key} is masked for {query}: weight 0, so its score has gradient 0"),
    "d_q": message("d_q of {query}, feature {feature}: d_scores · keys"),
    "d_q nothing": QUERY_NOT_ASKED,
    "d_k": message("d_k of {key}, feature {feature}: summed over the queries, d_score · query"),
    "d_k nothing": NEVER_LOOKED_AT,
    "d_v": message("d_v of {key}, feature {feature}: summed over the queries, weight · d_output"),
    "d_v nothing": NEVER_LOOKED_AT,
    **{f"d_W_{role}": OF_MAP._replace(arguments={"matrix": f"d_W_{role}", "gradient": f"d_{role}"}) for role in "qkv"},
    **{f"sum of d_{role}": message("what comes through {role}", role=role) for role in "qkv"},
    "d_x": message("d_x of {token}, feature {feature}: d_after over the shortcut, and what comes through q, k, v"),
}
FORWARDS = (*(field.name for field in fields(AttentionTrace)), "after", "logits", "probabilities")


def names_on_the_way(
    tokens: Sequence[Token], words: Sequence[Token], n_asked: int, divisor: str | None, **sentences: Message
) -> Names:
    """What a reader calls the numbers of a sentence at `n_asked` of whose positions the prediction counts.

    The `divisor` of its scores is as it is written; None where there is none. A story of a gradient takes as known what
    was computed on the way forwards.
    """
    probability = message("probability of {word}: its part of the sum over all {count} words", count=len(words))
    d_logit = message("d_logit of {word}: its probability, minus 1 for the right word")
    if n_asked > 1:
        d_logit = message(
            "d_logit of {word} at {token}: its probability, minus 1 for the right word; the loss is a mean over "
            "{count} positions",
            count=n_asked,
        )
    d_score = message("d_score of {key} for {query}: weight · (d_weight − mean)")
    if divisor is not None:
        d_score = message("d_score of {key} for {query}: weight · (d_weight − mean), ÷ {divisor}", divisor=divisor)
    own = {"probabilities": probability, "d_logits": d_logit, "d_scores": d_score}
    things = {**dict.fromkeys(("tokens", "queries", "keys"), tokens), "vocabulary": words}
    return Names({**BACK_SENTENCES, **own, **sentences}, things, FORWARDS)
