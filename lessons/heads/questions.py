"""Questions of the lesson heads: why several heads?

Each is about the tensors of that lesson, not those of the running example, and one of its heads.
"""

import torch

from attention_core.weights import count_weights
from lessons.heads.example import HeadsTrace, SideBySide, divisors, home_of
from lessons.heads.slices_view import compute_reach
from lessons.kit.questions import (
    MOST_WRONG,
    Kinds,
    asks_about,
    below,
    beyond_figure,
    has_clear_lead,
    multiple_choice,
    multiple_choice_of_counts,
    multiple_choice_of_numbers,
    multiple_choice_of_things,
    multiple_choice_of_tokens,
    one_of,
    row_with_a_choice,
    shaped,
    shares_out,
    sizes,
)
from lessons.screen.format import names
from lessons.screen.message import Fixed, Integer, Message, message, plural
from lessons.screen.screen import Card, Question

NOTICEABLE = 1e-4  # a head that changes by less seems not to change


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
                message("It gives {weight}, and another head more.", weight=Fixed(float(weights[other]))),
            )
            for other in others[: MOST_WRONG - 1]
        ),
        Card(
            message("All give the same."),
            message("The tokens are the same, but each head has its own W_q and W_k."),
        ),
    )


def most_looked_at_in_head(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """One row of one head."""
    attention, tokens = trace.heads.select(head), names(trace.tokens)
    query = row_with_a_choice(attention, random)
    row, column = attention.weights[query], attention.weights[:, query]
    down = message("That is read down the column: it is the query that looks at {query} most.", query=tokens[query])
    return multiple_choice_of_tokens(
        message("In the enlarged map, on which key does {query} put its largest weight?", query=tokens[query]),
        tokens,
        row,
        message("Rows are queries: in its row, this key has the largest weight."),
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
def shape_after_split(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """Heads share the features, not the tokens, and none keeps them all."""
    n, h, d_head = sizes(3, random)
    d_model = h * d_head
    return multiple_choice_of_things(
        message(
            "Q of another sentence is {shape}, and it is split among {heads} heads. What is its shape then, heads × "
            "tokens × features?",
            heads=h,
            shape=shaped(n, d_model),
        ),
        (
            shaped(h, n, d_head),
            message("Every head has all tokens, and {d_model} ÷ {heads} features of each.", d_model=d_model, heads=h),
            message("each head gets all tokens and a part of the features"),
        ),
        (
            shaped(h, n, d_model),
            message(
                "No head gets the whole query: the {d_model} features are divided among the heads.", d_model=d_model
            ),
            message("each head gets all tokens and all features"),
        ),
        (
            shaped(n, h, d_head),
            message(
                "That is the shape before the axes are swapped. The axis of the heads must come first, so that "
                "each head has its own matrix."
            ),
            message("each token gets all heads and a part of the features"),
        ),
        (
            shaped(1, n, d_model),
            message("That would be a single head. Here there are {heads}.", heads=h),
            message("the heads stay together in one matrix"),
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
    about = {"other": other, "d_model": d_model}
    return multiple_choice(
        message(
            "This module has n_heads = {heads} and d_model = {d_model}. Build it with n_heads = {other} and the same "
            "d_model. How does the number of its parameters change?",
            heads=h,
            **about,
        ),
        Card(
            message("Not at all."),
            message("It stays {total}: the same projections are cut into more or fewer pieces.", total=total),
            message("the same weights, cut into other pieces"),
        ),
        Card(
            message("In proportion to the number of heads."),
            message(
                "Each head has a part of the projections, and with n_heads = {other} a part is {d_model} ÷ "
                "{other} features wide. Together they still hold {total} numbers.",
                total=total,
                **about,
            ),
            message("every head that is added brings its own weights"),
        ),
        Card(
            message("In proportion to the number of features in a head."),
            message(
                "The features per head change with the number of heads, but so does the number of parts: the "
                "total stays {total}.",
                total=total,
            ),
            message("wider heads need larger weights"),
        ),
    )


@beyond_figure
def cost_of_slices(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """A sliced head has smaller projections than one that reads all features."""
    h, d_head = sizes(2, random)
    d_model = h * d_head
    return asks_about(
        "sliced",
        (h, d_head),
        multiple_choice_of_counts(
            message(
                "Suppose each of {heads} heads read only its own {d_head} of {d_model} features. How many numbers "
                "would all W_q, W_k and W_v hold together, without bias?",
                heads=h,
                d_head=d_head,
                d_model=d_model,
            ),
            (
                3 * h * d_head**2,
                message(
                    "Each of the {heads} heads has 3 matrices of {d_head}\u00a0×\u00a0{d_head}.", heads=h, d_head=d_head
                ),
                message("three small matrices for each head"),
            ),
            (
                3 * d_model**2,
                message(
                    "Multi-head attention has that many: there, every head projects all features. Heads are not slices."
                ),
                message("three matrices that read all features"),
            ),
            (
                3 * d_head**2,
                message("That is one head. There are more."),
                message("three small matrices, the same for all heads"),
            ),
            (
                4 * h * d_head**2,
                message("Only W_q, W_k and W_v are asked for, not W_o."),
                message("three small matrices for each head, and W_o like them"),
            ),
            (
                h * d_head**2,
                message("That is only one of the three: queries, keys and values need one each."),
                message("one small matrix for each head"),
            ),
        ),
    )


def who_notices(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """Every head reads every feature of X; only a sliced one would not. None where a change is too small to tell."""
    if not isinstance(trace, HeadsTrace) or trace.n_heads == 1 or trace.x.shape[-1] % trace.n_heads:
        return None
    reach = compute_reach(trace).result
    place, sliced = below(len(reach.features), random), bool(below(2, random))
    feature = reach.features[place]
    own = home_of(feature, reach.d_head)[0]
    changed = (reach.sliced if sliced else reach.projected)[:, place]
    if float((changed[own : own + 1] if sliced else changed).min()) < NOTICEABLE:
        return None
    way = message("Each head projects all features of X.")
    if sliced:
        way = message(
            "Suppose each head read only its own slice of X, {d_head} of the {d_model} features.",
            d_head=reach.d_head,
            d_model=trace.x.shape[-1],
        )
    every, only, none = message("All heads."), message("One head only."), message("No head.")
    cards = (
        Card(
            every,
            message(
                "Each head projects feature {feature}. Queries, keys and values are split afterwards.",
                feature=feature + 1,
            ),
            message("a change in X reaches every head"),
        ),
        Card(
            only,
            message("That would be true if heads were slices of X. They are slices of Q, K and V."),
            message("a feature belongs to one head"),
        ),
        Card(
            none,
            message("The projections read this feature, so queries, keys and values change."),
            message("heads read Q, K and V, not X"),
        ),
    )
    if sliced:
        cards = (
            Card(
                only,
                message("Head {own}: the feature is in its slice. The others would never read it.", own=own + 1),
                message("a feature belongs to one head"),
            ),
            Card(
                every,
                message("That is what multi-head attention does, where every head projects all features."),
                message("a change in X reaches every head"),
            ),
            Card(
                none,
                message("One slice holds this feature, and its head reads it."),
                message("heads read Q, K and V, not X"),
            ),
        )
    return multiple_choice(
        message(
            "{way} Add 1 to feature {feature} of every row of X. Which heads change their output?",
            way=way,
            feature=feature + 1,
        ),
        *cards,
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
            message(
                "Features are not dealt out like cards, one to each head in turn. Each head takes neighbouring ones."
            ),
            message("the features are dealt out to the heads in turn"),
        ),
        (
            message("Feature {feature} of every head.", feature=feature + 1),
            message(
                "Then each head would have all {d_model} features. They are divided among the heads.",
                d_model=h * d_head,
            ),
            message("each head keeps all features under their numbers"),
        ),
        (
            feature_of(owner, place),
            message("That swaps head and feature."),
            message("a block is a feature, and its places are heads"),
        ),
    )


@beyond_figure
def row_after_dropout(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """What stays is divided by 1 − p, and the row sums to whatever that gives."""
    p, attention, tokens = trace.example.dropout, trace.heads.select(head), names(trace.tokens)
    query = row_with_a_choice(attention, random)
    if p == 0:
        return None
    key = one_of(attention.visible[query], random)
    weight, kept = float(attention.weights[query, key]), Fixed(1 - p)
    return asks_about(
        "row without",
        (query, key),
        multiple_choice_of_numbers(
            lambda shown: message(
                "In training, with dropout {p}, only the weight of {key}, {weight}, is dropped from the row of "
                "{query}. What does the row sum to then?",
                p=Fixed(p),
                key=tokens[key],
                weight=shown(weight),
                query=tokens[query],
            ),
            (
                (1 - weight) / (1 - p),
                message("What is left, 1 minus that weight, is divided by {kept}.", kept=kept),
                message("what is left, divided by the share that stays"),
            ),
            (
                1.0,
                message("The softmax came before the dropout. Nothing makes the weights sum to 1 again."),
                message("a row of weights is always one whole"),
            ),
            (
                1 - weight,
                message("Dropout also divides the weights that stay by {kept}.", kept=kept),
                message("what is left, just as it is"),
            ),
            (
                1 - p,
                message("That is the share of weights that stay on average, not the sum of this row."),
                message("the share that stays on average"),
            ),
            (
                1 / (1 - p),
                message("The weight itself is gone, so 1 minus that weight is left to divide."),
                message("one whole, divided by the share that stays"),
            ),
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
            message(
                "No head sees a query {d_model} wide. Its dot products have {d_head} terms.",
                d_model=h * d_head,
                d_head=d_head,
            ),
            message("the root of the features of all heads together"),
        ),
        (
            f"√{h}",
            message("The number of heads does not matter: they do not meet before their outputs are put side by side."),
            message("the root of the number of heads"),
        ),
        (
            f"{d_head}",
            message("That is how many features a head has. Divide by the square root."),
            message("the number of features of one head"),
        ),
    )


@beyond_figure
def shape_of_all_weights(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """Each head has a whole matrix of weights. Always possible."""
    h, n, d_head = sizes(3, random)
    if trace.module is not None:
        prompt = message(
            "A model has {heads} heads of {d_head} features, and there are {tokens} tokens. What is the shape "
            "of the tensor with all attention weights, heads first?",
            heads=h,
            d_head=d_head,
            tokens=n,
        )
        why = message("Each head has a weight for every pair of tokens.")
        alone = message("That is the matrix of a single head.")
        each = message("in each head")
    else:
        prompt = message(
            "There are {sentences} sentences of {tokens} tokens, each of {d_head} features. What is the shape "
            "of the tensor with all attention weights, sentences first?",
            sentences=h,
            d_head=d_head,
            tokens=n,
        )
        why, alone = (
            message("Each sentence has a weight for every pair of its tokens."),
            message("That is only one sentence."),
        )
        each = message("in each sentence")
    return multiple_choice_of_things(
        prompt,
        (shaped(h, n, n), why, message("a weight for each pair of tokens, {each}", each=each)),
        (
            shaped(h, n, d_head),
            message("That is the shape of the outputs. A weight belongs to a pair of tokens."),
            message("a weight for each feature of a token, {each}", each=each),
        ),
        (shaped(n, n), alone, message("a weight for each pair of tokens")),
        (
            shaped(h, d_head, d_head),
            message("Attention compares tokens, not features."),
            message("a weight for each pair of features, {each}", each=each),
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
    "predict": (
        who_notices,
        where_a_feature_lives,
    ),
    "generalise": (
        more_heads,
        divided_by,
        shape_after_split,
        cost_of_slices,
        shape_of_all_weights,
        row_after_dropout,
    ),
}
