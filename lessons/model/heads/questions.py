"""Questions of the lesson heads: why several heads?

Each is about the tensors of that lesson, not those of the running example, and one of its heads.
"""

import torch

from attention_core.model.weights import count_weights
from lessons.model.heads.example import HeadsTrace, SideBySide, divisors, home_of
from lessons.screen import Card, Fixed, Integer, Message, Question, message, names, plural
from lessons.shared.questions import (
    MOST_WRONG,
    Kinds,
    below,
    beyond_figure,
    has_clear_lead,
    multiple_choice,
    multiple_choice_of_things,
    multiple_choice_of_tokens,
    one_of,
    row_with_a_choice,
    shares_out,
    sizes,
)


def head_that_gives_most(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """The same query and the same key have another weight in each head. None with a single head."""
    if trace.module is None or trace.n_heads == 1:
        return None
    query = below(len(trace.tokens), random)
    key = one_of(trace.heads.select(0).visible[query], random)
    weights, tokens = trace.heads.weights[:, query, key], names(trace.tokens)
    if not has_clear_lead(weights) or not bool(shares_out(trace.heads.weights[:, query]).all()):
        return None
    best, *others = weights.argsort(descending=True).tolist()
    return multiple_choice(
        message("Which head gives {key} the most weight from {query}?", query=tokens[query], key=tokens[key]),
        Card(
            message("Head {head}.", head=best + 1),
            message("It gives {weight}: each head has its own W_q and W_k.", weight=Fixed(float(weights[best]))),
        ),
        *(
            Card(
                message("Head {head}.", head=other + 1),
                message(
                    "Head {head} gives {weight}; another head gives more.",
                    head=other + 1,
                    weight=Fixed(float(weights[other])),
                ),
            )
            for other in others[: MOST_WRONG - 1]
        ),
        Card(
            message("All give the same."),
            message("Each head has its own W_q and W_k."),
        ),
    )


def most_looked_at_in_head(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """One row of one head."""
    attention, tokens = trace.heads.select(head), names(trace.tokens)
    query = row_with_a_choice(attention, random)
    row, column = attention.weights[query], attention.weights[:, query]
    down = message("That reads down the column, but the rows are the queries.")
    return multiple_choice_of_tokens(
        message("In the enlarged map, on which key does {query} put its largest weight?", query=tokens[query]),
        tokens,
        row,
        message("In its row, this key has the largest weight."),
        [
            *([(int(column.argmax()), down)] if has_clear_lead(column) else []),
        ],
        lambda key: message(
            "{key} gets {weight} from {query}; another key gets more.",
            key=tokens[key],
            query=tokens[query],
            weight=Fixed(float(row[key])),
        ),
    )


@beyond_figure
def more_heads(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """The number of heads is not in the number of parameters."""
    if not isinstance(trace, HeadsTrace) or not trace.usual_sizes:
        return None
    h, d_model = trace.n_heads, trace.x.shape[-1]
    others = [other for other in divisors(d_model) if other != h]
    if not others:
        return None
    other, total = others[below(len(others), random)], Integer(count_weights(trace.module))
    reply = message("It stays {total}: the same projections are cut into more or fewer pieces.", total=total)
    return multiple_choice(
        message(
            "This module has n_heads = {heads} and d_model = {d_model}. With n_heads = {other} and the same "
            "d_model, how does the number of its parameters change?",
            heads=h,
            other=other,
            d_model=d_model,
        ),
        Card(message("Not at all."), reply, message("the same weights, cut into other pieces")),
        Card(
            message("In proportion to the number of heads."),
            message("A head that is added takes its features from the others: d_model stays."),
            message("every head that is added brings its own weights"),
        ),
        Card(
            message("In proportion to the number of features in a head."),
            message("Wider heads are fewer. Together they have d_model features again."),
            message("wider heads need larger weights"),
        ),
    )


def where_a_feature_lives(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """Heads own neighbouring features. None with a single head."""
    if trace.module is None or trace.n_heads == 1:
        return None
    h, d_head = trace.n_heads, trace.d_head
    feature = below(h * d_head, random)
    owner, place = home_of(feature, d_head)
    return multiple_choice_of_things(
        message(
            "Q has {d_model} features and is split among {heads} heads. Where is feature {feature}, counted from 1?",
            d_model=h * d_head,
            heads=h,
            feature=feature + 1,
        ),
        (
            feature_of(place, owner),
            plural("Each head has one feature.", "Each head has {count} neighbouring features.", d_head),
            message("each head gets a block of neighbouring features"),
        ),
        (
            feature_of(feature // h, feature % h),
            message("Features are not dealt out in turn: each head takes neighbouring ones."),
            message("the features are dealt out to the heads in turn"),
        ),
        (
            message("Feature {feature} of every head.", feature=feature + 1),
            message("The features are divided among the heads."),
            message("each head keeps all features, numbered as before"),
        ),
        (
            feature_of(owner, place),
            message("That swaps head and feature."),
            message("each block is one feature, with a place for each head"),
        ),
    )


@beyond_figure
def divided_by(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """A head divides by the root of its own width."""
    h, d_head = sizes(2, random)
    about = {"heads": h, "d_model": h * d_head}
    return multiple_choice_of_things(
        message(
            "In another model d_model is {d_model}, and there are {heads} heads. By what does each head divide its "
            "scores?",
            **about,
        ),
        (
            f"√{d_head}",
            message("The query of one head has {d_model} ÷ {heads} features: that is d_k.", **about),
            message("the root of the features of one head"),
        ),
        (
            f"√{h * d_head}",
            message("That is √d_model, but the query of one head has only a part of these features."),
            message("the root of the features of all heads together"),
        ),
        (
            f"√{h}",
            message("A score adds up the features of one head, however many heads there are."),
            message("the root of the number of heads"),
        ),
        (
            f"{d_head}",
            message("The standard deviation of the scores grows with the root of that, so the root divides."),
            message("the number of features of one head"),
        ),
    )


def feature_of(feature: int, head: int) -> Message:
    """A feature of a head, both counted from 0, as a card shows it."""
    return message("Feature {feature} of head {head}.", feature=feature + 1, head=head + 1)


QUESTIONS: Kinds = {
    "look": (
        head_that_gives_most,
        most_looked_at_in_head,
    ),
    "predict": (where_a_feature_lives,),
    "generalise": (
        more_heads,
        divided_by,
    ),
}
