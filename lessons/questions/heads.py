"""Questions of the lesson heads: why several heads?

Each is about the tensors of that lesson, not those of the running example, and one of its heads.
"""

import torch

from attention_core.weights import count_weights
from lessons.formatting import names
from lessons.heads_example import HeadsTrace, SideBySide, divisors, home_of
from lessons.heads_slices import reach_of_heads
from lessons.questions.base import among, among_numbers, among_things, below, one_of, row_with_a_choice
from lessons.screen import Card, Question
from lessons.sentence import Count, Number, Sentence, say, say_count

NOTICEABLE = 1e-4  # a head that changes by less seems not to change


def shape_after_split(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """Heads share the features, not the tokens, and none keeps them all."""
    if not isinstance(trace, HeadsTrace):
        return None
    (n, d_model), h, d_head = trace.q.shape, trace.n_heads, trace.d_head
    return among_things(
        say_count(
            "Q is {shape}, and it is split for one head. What is its shape then, heads × tokens × features?",
            "Q is {shape}, and it is split among {count} heads. What is its shape then, heads × tokens × features?",
            h, shape=spaced(n, d_model)),
        (spaced(h, n, d_head), say("Every head has all tokens, and {d_model} ÷ {heads} features of each.",
                                   d_model=d_model, heads=h)),
        (spaced(h, n, d_model), say("No head gets the whole query: the {d_model} features are shared out.",
                                    d_model=d_model)),
        (spaced(n, h, d_head), say("These are the right numbers before the axes are swapped; the axis of the heads "
                                   "must come first, so that each head has a matrix of its own.")),
        (spaced(1, n, d_model), say("That would be a single head. Here there are {heads}.", heads=h)))  # fmt: skip


def more_heads(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """The number of heads is not in the number of parameters."""
    if not isinstance(trace, HeadsTrace):
        return None
    h, d_model = trace.n_heads, trace.x.shape[-1]
    others = [other for other in divisors(d_model) if other != h]
    if not others:
        return None
    other = others[below(len(others), random)]
    total = count_weights(trace.module)
    return among_things(
        say("How many parameters would this module have with n_heads = {other} instead of {heads}, and d_model = "
            "{d_model} as now?", other=other, heads=h, d_model=d_model),
        (Count(total), say("As many as now: the same projections are cut into more or fewer pieces.")),
        (Count(total * other // h),
         say("Each head has a part of the projections, and with {other} heads a part is {d_model} ÷ {other} features "
             "wide. Together they are what they were.", other=other, d_model=d_model)),
        (Count(total * h // other), say("The features of a head change with the number of heads, but so does the "
                                        "number of parts: it evens out.")))  # fmt: skip


def cost_of_slices(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """A sliced head has smaller projections than one that reads all features."""
    if not isinstance(trace, HeadsTrace) or trace.n_heads == 1:
        return None
    h, d_head, d_model = trace.n_heads, trace.d_head, trace.x.shape[-1]
    return among_things(
        say("Suppose each of the {heads} heads read only its own {d_head} of the {d_model} features. How many numbers "
            "would all W_q, W_k and W_v hold together, without bias?", heads=h, d_head=d_head, d_model=d_model),
        (Count(3 * h * d_head**2),
         say("Each of the {heads} heads has 3 matrices of {d_head} × {d_head}.", heads=h, d_head=d_head)),
        (Count(3 * d_model**2), say("That is what multi-head attention has: there, every head projects all features. "
                                    "Heads are not slices.")),
        (Count(3 * d_head**2), say("That is one head. There are more.")))  # fmt: skip


def who_notices(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """Every head reads every feature of X; only a sliced one would not. None where a change is too small to tell."""
    if not isinstance(trace, HeadsTrace) or trace.n_heads == 1:
        return None
    reach = reach_of_heads(trace)
    place, sliced = below(len(reach.features), random), bool(below(2, random))
    feature = reach.features[place]
    own = home_of(feature, trace.d_head)[0]
    changed = (reach.sliced if sliced else reach.projected)[:, place]
    if float((changed[own : own + 1] if sliced else changed).min()) < NOTICEABLE:
        return None
    every, only, none = say("All heads."), say("Head {own} only.", own=own + 1), say("No head.")
    if sliced:
        return among(
            say("Suppose each head read only its own slice of X, {d_head} of the {d_model} features. Add 1 to feature "
                "{feature} of every row of X. Which heads give another output?",
                d_head=trace.d_head, d_model=trace.x.shape[-1], feature=feature + 1),
            Card(only, say("The feature lies in the slice of that head. The others would never read it.")),
            Card(every, say("That is what multi-head attention does, where every head projects all features.")),
            Card(none, say("One slice holds this feature, and its head reads it.")))  # fmt: skip
    return among(
        say("Add 1 to feature {feature} of every row of X. Which heads give another output?", feature=feature + 1),
        Card(every, say("Each head projects all features of X. Queries, keys and values are split afterwards.")),
        Card(only, say("That would be so if heads were slices of X. They are slices of Q, K and V.")),
        Card(none, say("The projections read this feature, so queries, keys and values change.")),
    )


def where_a_feature_lives(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """Heads own neighbouring features. None with a single head."""
    if not isinstance(trace, HeadsTrace) or trace.n_heads == 1:
        return None
    h, d_head = trace.n_heads, trace.d_head
    feature = below(h * d_head, random)
    owner, place = home_of(feature, d_head)
    return among_things(
        say("Q has {d_model} features and is split among {heads} heads. Where is feature {feature}, counted from 1?",
            d_model=h * d_head, heads=h, feature=feature + 1),
        (feature_of(place, owner),
         say_count("Each head has one feature.", "Each head has {count} neighbouring features.", d_head)),
        (feature_of(feature // h, feature % h),
         say("That deals them out like cards, one to each head in turn. Heads own neighbours.")),
        (say("Feature {feature} of every head.", feature=feature + 1),
         say("Then each head would have all {d_model}. The features are shared out.", d_model=h * d_head)),
        (feature_of(owner, place), say("That has head and feature the wrong way round.")))  # fmt: skip


def row_after_dropout(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """What stays is divided by 1 − p, and the row sums to whatever that gives."""
    p, attention, tokens = trace.example.dropout, trace.heads.select(head), names(trace.tokens)
    query = row_with_a_choice(attention, random)
    if p == 0:
        return None
    key = one_of(attention.visible[query], random)
    weight, kept = float(attention.weights[query, key]), Number(1 - p)
    return among_numbers(
        lambda shown: say(
            "In training, with dropout {p}, only the weight of {key}, {weight}, is dropped from the row of {query}. "
            "What does the row sum to then?", p=Number(p), key=tokens[key], weight=shown(weight), query=tokens[query]),
        ((1 - weight) / (1 - p), say("What is left, 1 minus that weight, is divided by {kept}.", kept=kept)),
        (1.0, say("The softmax came before the dropout. Nothing makes the weights sum to 1 again.")),
        (1 - weight, say("That forgets that dropout divides the weights that stay by {kept}.", kept=kept)),
        (1 - p, say("That is the share of weights that stay on average, not the sum of this row.")))  # fmt: skip


def divided_by(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """A head divides by the root of its own width. None where the scaling is off."""
    if not isinstance(trace, HeadsTrace) or not trace.example.scaling or trace.n_heads == 1:
        return None
    sizes = {"heads": trace.n_heads, "d_model": trace.x.shape[-1]}
    return among_things(
        say("d_model is {d_model}, and there are {heads} heads. By what does each head divide its scores?", **sizes),
        (f"√{trace.d_head}", say("The query of one head has {d_model} ÷ {heads} features: that is d_k.", **sizes)),
        (f"√{sizes['d_model']}", say("No head sees a query {d_model} wide. Its dot products have {d_head} terms.",
                                     d_model=sizes["d_model"], d_head=trace.d_head)),
        (f"√{trace.n_heads}", say("The heads do not meet before their outputs are put side by side.")),
        (f"√{len(trace.tokens)}", say("The number of tokens does not make a dot product longer.")))  # fmt: skip


def shape_of_all_weights(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """Each head has a whole matrix of weights. Always possible."""
    h, n, d_head = trace.n_heads, len(trace.tokens), trace.d_head
    tokens = say_count("{count} token", "{count} tokens", n)
    if isinstance(trace, HeadsTrace):
        prompt = say_count(
            "There is one head, and there are {tokens}. What is the shape of the tensor with all attention weights?",
            "There are {count} heads and {tokens}. What is the shape of the tensor with all attention weights, heads "
            "first?", h, tokens=tokens)  # fmt: skip
        why = say("Each head has a weight for every pair of tokens.")
        alone = say("That is the matrix of a single head.")
    else:
        prompt = say("There are {sentences} sentences of {tokens} each. What is the shape of the tensor with all "
                     "attention weights, sentences first?", sentences=h, tokens=tokens)  # fmt: skip
        why, alone = say("Each sentence has a weight for every pair of its tokens."), say("That is one sentence alone.")
    return among_things(
        prompt, (spaced(h, n, n), why),
        (spaced(h, n, d_head), say("That is the shape of the outputs. A weight belongs to a pair of tokens.")),
        (spaced(n, n), alone),
        (spaced(h, d_head, d_head), say("That compares features. Attention compares tokens.")))  # fmt: skip


def spaced(*axes: int) -> str:
    """A shape, as a card shows it."""
    return " × ".join(map(str, axes))


def feature_of(feature: int, head: int) -> Sentence:
    """A feature of a head, both counted from 0, as a card shows it."""
    return say("Feature {feature} of head {head}.", feature=feature + 1, head=head + 1)


QUESTIONS = (shape_after_split, more_heads, cost_of_slices, who_notices, where_a_feature_lives, row_after_dropout,
             divided_by, shape_of_all_weights)  # fmt: skip
