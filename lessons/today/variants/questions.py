"""What do today's models change? Questions about a head with one thing changed; each kind belongs to one variant."""

import math

from torch import Generator

from attention_core.measured.head_measures import total_variation
from lessons.screen import Card, Fixed, ListOf, Message, Percent, Token, message, plural
from lessons.shared.questions import (
    CLEAR_LEAD,
    Asked,
    Kinds,
    NothingFits,
    asks_about,
    below,
    multiple_choice,
    multiple_choice_of_counts,
    multiple_choice_of_numbers,
    multiple_choice_of_tokens,
    one_of,
    shaped,
    told,
)
from lessons.today.variants.compute import Variant, VariedHead
from lessons.today.variants.counts import numbers_kept, tokens_kept

CLEAR_WEIGHT = 0.05  # what changes by less makes no question


def only(varied: VariedHead, *kinds: Variant) -> None:
    """Raises NothingFits where another variant is chosen, or where this one is impossible."""
    if varied.kind not in kinds or varied.impossible is not None:
        raise NothingFits


def still_differ(varied: VariedHead, random: Generator) -> Asked:
    """Shared keys and values; queries of one's own, and so weights and outputs."""
    only(varied, "grouped")
    one, other, *_ = varied.group
    first, second = (varied.computation.result.changed.select(place) for place in (0, 1))
    moved = float(total_variation(first.weights, second.weights).mean())
    if min((first.q - second.q).abs().max(), moved, (first.output - second.output).abs().max()) < CLEAR_LEAD:
        return None  # with one token, or one word said again and again, heads that share cannot differ
    both = ListOf((varied.trace.called(one), varied.trace.called(other)))
    same = message("They are the same {count} numbers, and the cache keeps them once.", count=first.k.numel())
    weights = message(
        "Other queries meet the same keys, so the weights differ: {share} of the weight lies elsewhere.",
        share=Percent(moved),
    )
    return multiple_choice(
        message("Heads {both} share keys and values. Which of these can no longer differ between them?", both=both),
        Card(message("Their keys."), same),
        Card(message("Their queries."), message("Each head still has a W_q of its own, so the queries differ.")),
        Card(message("Their weights."), weights),
        Card(message("Their outputs."), message("They mix the same values by other weights, so the outputs differ.")),
    )


def out_of_window(varied: VariedHead, random: Generator) -> Asked:
    """Too far away is hidden, unless it is the first token."""
    only(varied, "window")
    hidden = varied.plain.visible & ~varied.changed.visible
    query = one_of(hidden.any(dim=-1), random)
    key, names, reach = one_of(hidden[query], random), varied.trace.names, int(varied.amount)
    at_the_edge = (place for place in (query - reach, query + reach) if 0 < place < len(names))
    first = Card(
        message("{token}", token=names[0]),
        message("The first token is global: all see it."),
    )
    return multiple_choice(
        message("Compare the two matrices. Which key does {query} no longer see in the window?", query=names[query]),
        Card(
            message("{token}", token=names[key]),
            message("It is {apart} steps away, and the window reaches {reach}.", apart=abs(query - key), reach=reach),
        ),
        *([first] if query > reach else []),
        *(
            Card(
                message("{token}", token=names[place]),
                message("{token} is at the edge of the window: near enough.", token=names[place]),
            )
            for place in at_the_edge
            if bool(varied.changed.visible[query, place])
        ),
        Card(message("{token}", token=names[query]), message("A query sees its own key in every window.")),
    )


def loses_most(varied: VariedHead, random: Generator) -> Asked:
    """Where the scores of a row change, its weight goes elsewhere."""
    only(varied, "sink", "cap", "alibi", "rotary")
    visible, lost = varied.plain.visible, varied.plain.weights - varied.changed.weights
    seen_to_lose = (lost.where(visible, -1.0) >= 2 * CLEAR_LEAD).any(dim=-1)
    of_several = seen_to_lose & (visible.sum(dim=-1) > 2)
    query = one_of(of_several if bool(of_several.any()) else seen_to_lose, random)
    keys = [place for place, seen in enumerate(visible[query].tolist()) if seen]
    names, losses = [varied.trace.names[key] for key in keys], lost[query, keys]
    return multiple_choice_of_tokens(
        message(
            "Compare the row of {query} in both matrices. Which key loses the most weight?",
            query=varied.trace.names[query],
        ),
        names,
        losses,
        message("It loses {lost}; no other key loses as much.", lost=Fixed(float(losses.max()))),
        [],
        lambda p: what_becomes(names[p], float(losses[p])),
    )


def what_becomes(key: Token, lost: float) -> Message:
    """How much weight a key loses, or gains, where another loses more."""
    if abs(lost) < CLEAR_LEAD / 2:
        return message("{token} keeps its weight, or nearly so.", token=key)
    if lost < 0:
        return message("{token} gains {gained}, some of what others lose.", token=key, gained=Fixed(-lost))
    return message("{token} loses {lost}; another key loses more.", token=key, lost=Fixed(lost))


def most_in_row(varied: VariedHead, random: Generator) -> Asked:
    """Where nothing is hidden and little moves, the weights can still be read."""
    query = one_of(varied.changed.visible.sum(dim=-1) > 1, random)
    keys = [place for place, seen in enumerate(varied.changed.visible[query].tolist()) if seen]
    asks, row = varied.cut + query, varied.changed.weights[query, keys]
    names, unchanged = [varied.trace.names[key] for key in keys], int(varied.plain.weights[asks].argmax())
    return multiple_choice_of_tokens(
        message("In the second matrix, which key gets the largest weight of {query}?", query=varied.trace.names[asks]),
        names,
        row,
        message("It gets {weight}: no other key in this row has more.", weight=Fixed(float(row.max()))),
        [(keys.index(unchanged), message("In the first matrix it gets the largest weight of this row."))]
        if unchanged in keys
        else [],
        lambda p: message("{token} gets {weight}; another key gets more.", token=names[p], weight=Fixed(float(row[p]))),
    )


def weight_with_sink(varied: VariedHead, random: Generator) -> Asked:
    """A sink makes all weights of a row smaller by one factor."""
    only(varied, "sink")
    worth_asking = varied.plain.visible & (varied.plain.weights > CLEAR_WEIGHT)
    query = one_of(worth_asking.any(dim=-1), random)
    key = one_of(worth_asking[query], random)
    before, after = float(varied.plain.weights[query, key]), float(varied.changed.weights[query, key])
    collected, n_keys = float(varied.computation.result.collected[query]), int(varied.plain.visible[query].sum())
    names = varied.trace.names
    return asks_about(
        "weights",
        (query, key),
        multiple_choice_of_numbers(
            lambda shown: message(
                "Without a sink, {query} puts {before} on {key}. A sink collects {share} of this query's "
                "weight. What is left on {key}?",
                query=names[query],
                key=names[key],
                before=shown(before),
                share=shown(collected),
            ),
            *told(
                message("Every weight of the row shrinks by the same factor: 1 minus the share of the sink."),
                (after, message("the weight, less its share of what the sink takes")),
                (
                    before,
                    message("its score stays the same, and so does its weight"),
                    message("Its score stays, but the sink joins the sum that it is divided by."),
                ),
                (
                    before - collected / n_keys,
                    message("the weight, less an equal part of what the sink takes"),
                    message("The sink takes in proportion: more from a larger weight."),
                ),
                (
                    before - collected,
                    message("the weight, less all that the sink takes"),
                    message("The sink takes from every key of the row, not from this one alone."),
                ),
                (
                    before / (1 + collected),
                    message("the weight, divided by 1 plus the share"),
                    message("The share is a part of the whole already: 1 minus it is left."),
                ),
                (
                    before * collected,
                    message("the weight, times the share of the sink"),
                    message("That is what the sink takes from this key, not what is left."),
                ),
            ),
        ),
    )


def capped_score(varied: VariedHead, random: Generator) -> Asked:
    """The cap bends, it does not cut."""
    only(varied, "cap")
    bent = varied.plain.visible & ((varied.plain.scaled - varied.changed.masked).abs() > CLEAR_WEIGHT)
    query = one_of(bent.any(dim=-1), random)
    key = one_of(bent[query], random)
    scaled, cap = float(varied.plain.scaled[query, key]), varied.amount
    names = varied.trace.names
    return asks_about(
        "masked",
        (query, key),
        multiple_choice_of_numbers(
            message(
                "The scaled score of {key} for {query} is {score}. What does a soft cap of {cap} make of it?",
                key=names[key],
                query=names[query],
                score=Fixed(scaled, 4),
                cap=Fixed(cap, 1),
            ),
            *told(
                message("The cap times tanh of the score over the cap: every score is bent, and none reaches the cap."),
                (float(varied.changed.masked[query, key]), message("bent: the cap times tanh(score / cap)")),
                (
                    max(-cap, min(cap, scaled)),
                    message("clipped at the cap"),
                    message("A hard cap clips. A soft one bends all scores."),
                ),
                (
                    math.tanh(scaled),
                    message("bent: tanh of the score"),
                    message("The score is divided by the cap first, and the result is multiplied by it."),
                ),
                (
                    scaled / cap,
                    message("made smaller: the score over the cap"),
                    message("That is only what tanh is taken of."),
                ),
                (
                    math.copysign(cap, scaled),
                    message("pushed out to the cap, with the sign of the score"),
                    message("No score reaches the cap, because tanh stays below 1."),
                ),
                (
                    cap * scaled,
                    message("the score, times the cap"),
                    message("That would have no limit, and a cap is one."),
                ),
            ),
        ),
    )


def biased_score(varied: VariedHead, random: Generator) -> Asked:
    """A slope for each step of distance."""
    only(varied, "alibi")
    n = len(varied.plain.q)
    query = one_of(varied.plain.visible.sum(dim=-1) > 1, random)
    others = varied.plain.visible[query].clone()
    others[query] = False
    key = one_of(others, random)
    scaled, slope, steps = float(varied.plain.scaled[query, key]), varied.slope, abs(query - key)
    names = varied.trace.names
    return asks_about(
        "masked",
        (query, key),
        multiple_choice_of_numbers(
            message(
                "The scaled score of {key} for {query} is {score}, and their distance is {steps}. The slope of "
                "ALiBi is {slope}. What is the score with its bias?",
                key=names[key],
                query=names[query],
                score=Fixed(scaled, 4),
                steps=steps,
                slope=Fixed(slope, 4),
            ),
            *told(
                message("The slope is subtracted once for each step between the two: neighbours are one step apart."),
                (float(varied.changed.masked[query, key]), message("the slope subtracted once for each step")),
                (
                    scaled + slope * steps,
                    message("the slope added once for each step"),
                    message("The bias makes distant keys weaker, so it is subtracted."),
                ),
                (
                    scaled - slope * (steps + 1),
                    message("the slope subtracted for each step, and once more"),
                    message("That is one step too many: neighbours are one step apart, not two."),
                ),
                (
                    scaled - slope * (n + 1),
                    message("the slope subtracted for each token, and once more"),
                    message("The distance counts, not the length of the sentence."),
                ),
                (
                    scaled * (1 - slope),
                    message("the slope subtracted as a share of the score"),
                    message("The bias depends on the distance, not on the score."),
                ),
                (scaled, message("the score, just as it is"), message("Only a key at distance 0 keeps its score.")),
            ),
        ),
    )


def shape_of_cross(varied: VariedHead, random: Generator) -> Asked:
    """Rows ask, columns answer, also where they are different sentences."""
    only(varied, "cross")
    n, cut = len(varied.plain.q), varied.cut
    reply = message("Each token that asks has a row, each token of the other sentence a column.")
    return multiple_choice(
        message(
            "One sentence asks (tokens: {asking}) and another answers (tokens: {answering}). What shape do the weights "
            "have?",
            asking=n - cut,
            answering=cut,
        ),
        Card(shaped(n - cut, cut), reply, message("rows for those that ask, columns for those that answer")),
        Card(
            shaped(cut, n - cut),
            message("That is turned around: those that ask are the rows."),
            message("rows for those that answer, columns for those that ask"),
        ),
        Card(
            shaped(n, n),
            message("Only one sentence asks, and only the other answers."),
            message("rows and columns for all tokens"),
        ),
        Card(
            shaped(n - cut, n),
            message("The tokens that ask are not among the keys."),
            message("rows for those that ask, columns for all tokens"),
        ),
        Card(
            shaped(cut, cut),
            message("The tokens that answer ask nothing, so they have no rows."),
            message("rows and columns for those that answer"),
        ),
    )


def kept_numbers(varied: VariedHead, random: Generator) -> Asked:
    """What the cache keeps: a key and a value for each token, in each set. Always possible."""
    n = 20 * (1 + below(9, random))
    d_k, d_v = varied.plain.q.shape[-1], varied.plain.v.shape[-1]
    n_heads, kv_heads = varied.trace.example.n_heads, varied.kv_heads
    kept = tokens_kept(varied, n, True)
    return asks_about(
        "cached",
        (n,),
        multiple_choice_of_counts(
            message(
                "With d_k = {d_k}, d_v = {d_v}, n_heads = {heads} and {sets}, how many numbers does the cache keep "
                "(tokens: {kept})?",
                heads=n_heads,
                sets=plural("1 set of keys and values", "{count} sets of keys and values", kv_heads),
                d_k=d_k,
                d_v=d_v,
                kept=kept,
            ),
            *told(
                message("A key and a value for each token, once for each set. Queries and weights are not kept."),
                (numbers_kept(varied, n), message("keys and values, once for each set")),
                (
                    kept * kv_heads * d_k,
                    message("keys only, once for each set"),
                    message("The values are kept as well."),
                ),
                (
                    kept * kv_heads * (2 * d_k + d_v),
                    message("queries, keys and values, once for each set"),
                    message("Queries are used once and not kept."),
                ),
                (
                    kept * (kept + d_k + d_v) * kv_heads,
                    message("keys, values and weights, once for each set"),
                    message("Weights are computed anew for each query."),
                ),
                (
                    kept * n_heads * kv_heads * (d_k + d_v),
                    message("keys and values of every head, for each set"),
                    message("A set is kept once, whichever heads use it."),
                ),
                (
                    kv_heads * (d_k + d_v),
                    message("keys and values of a single token"),
                    message("That is one token, and each token that is kept needs as much."),
                ),
            ),
        ),
    )


QUESTIONS: Kinds = {
    "look": (
        still_differ,
        out_of_window,
        loses_most,
        most_in_row,
    ),
    "predict": (
        weight_with_sink,
        capped_score,
        biased_score,
    ),
    "generalise": (
        shape_of_cross,
        kept_numbers,
    ),
}
