"""Questions of the lesson heads: why several heads?

They are about the tensors of that lesson, `SideBySide`, not those of the running example.
"""

from collections.abc import Callable

import torch

from lessons.captions import name, plural
from lessons.formatting import number
from lessons.heads_example import (
    HeadsTrace,
    SideBySide,
    divisors,
    home_of,
    reach_of_heads,
    shown_features,
)
from lessons.many_heads_captions import thousands
from lessons.questions.old_base import Choice, Question, among, among_numbers, below, one_of

HeadsMaker = Callable[[SideBySide, int, torch.Generator], Question | None]


def shape_after_split(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """Heads share the features, not the tokens, and none keeps them all."""
    if not isinstance(trace, HeadsTrace):
        return None
    (n, d_model), h, d_head = trace.q.shape, trace.n_heads, trace.d_head
    return among(
        f"Q is {n} × {d_model}, and it is split among {h} {plural('head', h)}. "
        "What is the shape then, heads × tokens × features?",
        Choice(f"{h} × {n} × {d_head}", f"Each head has all tokens and {d_model} ÷ {h} features of each."),
        Choice(f"{h} × {n} × {d_model}", f"No head gets the whole query: the {d_model} features are shared out."),
        Choice(
            f"{n} × {h} × {d_head}",
            "Those are the right numbers before the axes are swapped; the axis of the heads must come first, "
            "so that each head has a matrix of its own.",
        ),
        Choice(f"1 × {n} × {d_model}", f"That would be a single head. Here there {'is' if h == 1 else 'are'} {h}."),
    )


def more_heads(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """The number of heads is not in the number of parameters."""
    if not isinstance(trace, HeadsTrace):
        return None
    h, d_model = trace.n_heads, trace.x.shape[-1]
    others = [other for other in divisors(d_model) if other != h]
    if not others:
        return None
    other = others[below(len(others), random)]
    total = sum(parameter.numel() for parameter in trace.module.parameters())
    return among(
        f"With {h} {plural('head', h)} this module has {thousands(total)} parameters. "
        f"How many has it with {other} {plural('head', other)}, for the same d_model?",
        Choice(thousands(total), "The same maps are cut into more or fewer pieces. Nothing is added."),
        Choice(
            thousands(total * other // h),
            f"Each head has a part of the maps, and the part is smaller with more heads: {d_model} ÷ {other} features.",
        ),
        Choice(thousands(total * h // other), "Fewer features for each head, but as many more heads: it evens out."),
    )


def cost_of_slices(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """A sliced head has smaller maps than one that projects."""
    if not isinstance(trace, HeadsTrace) or trace.n_heads == 1:
        return None
    h, d_head, d_model = trace.n_heads, trace.d_head, trace.x.shape[-1]
    return among(
        f"Suppose each of the {h} heads read only its own {d_head} of the {d_model} features. "
        "How many numbers would all W_q, W_k and W_v hold together, without bias?",
        Choice(
            thousands(3 * h * d_head**2),
            f"3 maps for each of {h} heads, each from {d_head} {plural('feature', d_head)} to {d_head}.",
        ),
        Choice(
            thousands(3 * d_model**2),
            "That is what multi-head attention has: there, every head projects all features. Heads are not slices.",
        ),
        Choice(thousands(3 * d_head**2), "That is one head. There are more."),
    )


def who_notices(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """Every head reads every feature of X. None where a head changes too little to tell."""
    if not isinstance(trace, HeadsTrace) or trace.n_heads == 1:
        return None
    features = shown_features(trace.x.shape[-1], trace.n_heads)
    place = below(len(features), random)
    if float(reach_of_heads(trace).projected[:, place].min()) < 1e-4:
        return None
    own = home_of(features[place], trace.d_head)[0] + 1
    return among(
        f"Add 1 to feature {features[place] + 1} of every row of X. Which heads give another output?",
        Choice("All heads.", "Each head projects all features of X. Queries, keys and values are split afterwards."),
        Choice(f"Head {own} only.", "That would be so if heads were slices of X. They are slices of Q, K and V."),
        Choice("No head.", "The projections read this feature, so queries, keys and values change."),
    )


def where_a_feature_lives(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """Heads own neighbouring features. None with a single head."""
    if not isinstance(trace, HeadsTrace) or trace.n_heads == 1:
        return None
    h, d_head = trace.n_heads, trace.d_head
    feature = below(h * d_head, random)
    owner, place = home_of(feature, d_head)
    return among(
        f"Q has {h * d_head} features and is split among {h} heads. Where is feature {feature + 1}, counted from 1?",
        Choice(f"Feature {place + 1} of head {owner + 1}.", f"Each head has {d_head} neighbouring features."),
        Choice(
            f"Feature {feature // h + 1} of head {feature % h + 1}.",
            "That deals them out like cards, one to each head in turn. Heads own neighbours.",
        ),
        Choice(
            f"Feature {feature + 1} of every head.",
            f"Then each head would have all {h * d_head}. The features are shared out.",
        ),
        Choice(f"Feature {owner + 1} of head {place + 1}.", "That has head and feature the wrong way round."),
    )


def row_after_dropout(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """What stays is divided by 1 − p, and the row sums to what it happens to."""
    p, attention = trace.example.dropout, trace.heads.select(head)
    i = one_of(attention.visible.sum(dim=-1) > 1, random)
    if p == 0 or i is None:
        return None
    j = one_of(attention.visible[i], random)
    weight = float(attention.weights[i, j])
    return among_numbers(
        lambda shown: (
            f"In training, with dropout {number(p)}, only the weight of {name(trace.tokens, j)}, {shown(weight)}, "
            f"is dropped from the row of {name(trace.tokens, i)}. What does the row sum to then?"
        ),
        ((1 - weight) / (1 - p), f"What is left, divided by {number(1 - p)}."),
        (1.0, "Softmax came before. After it, dropout takes a weight away and nobody shares out the whole again."),
        (1 - weight, f"That forgets that dropout divides the weights that stay by {number(1 - p)}."),
        (1 - p, "That is the share of weights that stay on average, not the sum of this row."),
    )


def divided_by(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """A head divides by the root of its own width. None where the scaling is off."""
    if not isinstance(trace, HeadsTrace) or not trace.example.scaling or trace.n_heads == 1:
        return None
    h, d_head, d_model = trace.n_heads, trace.d_head, trace.x.shape[-1]
    return among(
        f"d_model is {d_model}, and there are {h} heads. By what does each head divide its scores?",
        Choice(f"√{d_head}", f"A query of one head has {d_head} {plural('feature', d_head)}: d_k is d_model ÷ heads."),
        Choice(f"√{d_model}", f"No head sees a query {d_model} wide. Its dot products have {d_head} terms."),
        Choice(f"√{h}", "The heads do not meet before their outputs are put side by side."),
        Choice(f"√{len(trace.tokens)}", "The number of tokens does not make a dot product longer."),
    )


def shape_of_all_weights(trace: SideBySide, head: int, random: torch.Generator) -> Question | None:
    """Each head has a whole map. Always possible."""
    h, n, d_head = trace.n_heads, len(trace.tokens), trace.d_head
    noun = trace.noun
    return among(
        f"There {'is' if h == 1 else 'are'} {h} {plural(noun, h)}, and {n} {plural('token', n)}"
        f"{' in each' if noun == 'sentence' else ''}. "
        f"What is the shape of the tensor with all attention weights, {noun}s first?",
        Choice(f"{h} × {n} × {n}", f"Each {noun} has a weight of its own for every pair of tokens."),
        Choice(f"{h} × {n} × {d_head}", "That is the shape of the outputs. A weight belongs to a pair of tokens."),
        Choice(f"{n} × {n}", f"That is the map of one {noun}, without the axis of the {noun}s."),
        Choice(f"{h} × {d_head} × {d_head}", "That compares features. Attention compares tokens."),
    )


QUESTIONS: tuple[HeadsMaker, ...] = (
    shape_after_split,
    more_heads,
    cost_of_slices,
    who_notices,
    where_a_feature_lives,
    row_after_dropout,
    divided_by,
    shape_of_all_weights,
)
