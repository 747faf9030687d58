"""Does attention know the order? Questions about an example, one of its heads, and the shuffle on the screen."""

import math

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from attention_core.measured.permutation import Permutation
from attention_core.text.embeddings import Rotary, rotate, sinusoidal_positions
from lessons.example.example import ExampleTrace
from lessons.model.positions.own_head import in_both_orders, in_own_order, rotary_of
from lessons.screen import Card, Fixed, Message, message
from lessons.shared.questions import (
    Asked,
    Kinds,
    asks_about,
    below,
    beyond_figure,
    multiple_choice,
    multiple_choice_of_numbers,
    numbers_asked,
    one_of,
    told,
    two_alike,
    two_of,
)

SAME, OTHER = 1e-5, 1e-2  # outputs that differ by less are told as the same, by more as others; between: no question
CLEARLY_OTHER = 0.02  # a score that differs by less might be taken for the same


def moved_row(order: Permutation, random: Generator) -> int:
    """A random row to which the shuffle moves another token. Raises NothingFits where it moves none."""
    return one_of(torch.tensor(order) != torch.arange(len(order)), random)


def token_in_a_row(trace: ExampleTrace, head: int, order: Permutation, random: Generator) -> Asked:
    """A permutation is read forwards: which token comes to a row."""
    row, names = moved_row(order, random), trace.names
    wrong = (row, order.index(row), *order)
    different = {names[order[row]].text: None}
    cards = []
    for position in wrong:
        if names[position].text not in different:
            different[names[position].text] = None
            reply = message("It is in row {row} now.", row=order.index(position) + 1)
            cards.append(Card(message("{token}", token=names[position]), reply))
    return multiple_choice(
        message("Which token is in row {row} after the shuffle?", row=row + 1),
        Card(
            message("{token}", token=names[order[row]]),
            message("The shuffle moves it here from row {row}.", row=order[row] + 1),
        ),
        *cards,
    )


def weight_after_a_shuffle(trace: ExampleTrace, head: int, order: Permutation, random: Generator) -> Asked:
    """A weight belongs to two tokens, not to two positions."""
    row, column = moved_row(order, random), moved_row(order, random)
    (i, j), weights = (order[row], order[column]), in_own_order(trace, head).result.head.weights
    if i == j:
        return None
    a, b = trace.names[i], trace.names[j]
    return asks_about(
        "weight of two tokens",
        (i, j),
        multiple_choice_of_numbers(
            message(
                "No mask, no positions. The shuffle moves {a} to row {row} and {b} to row {column}. Which weight "
                "is now in row {row}, column {column}, where {a} is the query and {b} the key?",
                a=a,
                b=b,
                row=row + 1,
                column=column + 1,
            ),
            *told(
                message("The weight has moved with its two tokens: it does not depend on their positions."),
                (float(weights[i, j]), message("the earlier weight between the two tokens")),
                (
                    float(weights[row, column]),
                    message("the weight that was in this cell before"),
                    message("That weight belonged to the tokens that stood there before."),
                ),
                (
                    float(weights[i, i]),
                    message("the weight of the query token on itself"),
                    message("That is the weight that the query puts on its own key."),
                ),
                (
                    float(weights[j, j]),
                    message("the weight of the key token on itself"),
                    message("That is the weight that the other token puts on its own key."),
                ),
                (
                    1 / len(weights),
                    message("without positions all keys get the same weight"),
                    message("Without positions the weights still come from queries and keys."),
                ),
            ),
        ),
    )


def row_after_a_shuffle(trace: ExampleTrace, head: int, order: Permutation, random: Generator) -> Asked:
    """What is added belongs to the position."""
    x, j, f = trace.x, moved_row(order, random), below(trace.x.shape[-1], random)
    i = order[j]
    a, b = trace.names[i], trace.names[j]
    added = sinusoidal_positions(*x.shape)
    return asks_about(
        "row at another place",
        (i, j, f),
        multiple_choice_of_numbers(
            message(
                "Sinusoidal positions are added to X. Then the shuffle moves {a} to the row where {b} was. "
                "What is feature {feature} of the input row of {a} now?",
                a=a,
                b=b,
                feature=f + 1,
            ),
            *told(
                message(
                    "Its own vector, plus that of the position where {b} was: positions do not move with tokens.", b=b
                ),
                (float(x[i, f] + added[j, f]), message("its own vector, plus that of its new position")),
                (
                    float(x[i, f] + added[i, f]),
                    message("its own vector, plus that of its old position"),
                    message("The position does not move along: its new place adds another vector."),
                ),
                (
                    float(x[i, f]),
                    message("its own vector, just as it is"),
                    message("The vector of its new position is added to it."),
                ),
                (
                    float(x[j, f] + added[j, f]),
                    message("the row that was at its new position"),
                    message("That row belongs to the token that stood there before."),
                ),
            ),
        ),
    )


@beyond_figure
def same_rotary_score(trace: ExampleTrace, head: int, order: Permutation, random: Generator) -> Asked:
    """A rotary score depends on the distance alone."""
    if trace.example.d_k % 2:
        return None
    (i, j), steps = two_of(len(trace.tokens), random), 1 + below(5, random)
    attention, a, b = trace.heads.select(head), trace.names[i], trace.names[j]
    rotary = rotary_of(trace)

    def score(key_position: int) -> float:
        return float(turned(attention.q[i], i + steps, rotary) @ turned(attention.k[j], key_position, rotary))

    same = score(j + steps)
    thoughts = {
        j: (message("the query moves, the key stays"), message("If the query alone moves, the distance changes.")),
        i + steps: (
            message("the key goes where the query is"),
            message("There the distance would be 0, and the two were apart."),
        ),
        j + 2 * steps: (
            message("the key moves twice as far as the query"),
            message("If the key moves further than the query, the distance changes."),
        ),
        i: (
            message("the key goes where the query was"),
            message("There the distance is as far as the query has moved, not what it was."),
        ),
        j + steps + 1: (
            message("the key moves one step further than the query"),
            message("One step further, and the distance is another one."),
        ),
    }
    wrong = {at: both for at, both in thoughts.items() if abs(score(at) - same) > CLEARLY_OTHER}
    reply = message("The distance is the same, and so is the angle between query and key.")
    thoughts = {j + steps: (message("the key moves as far as the query"), reply), **wrong}
    return numbers_asked(
        message(
            "Rotary positions, counted from 0: with {a} as the query at position {query} and {b} as the key at "
            "position {key}, the score before scaling is {score}. Now {a} is at position {moved}. Where must "
            "{b} be for the same score?",
            a=a,
            b=b,
            query=i,
            key=j,
            score=Fixed(same),
            moved=i + steps,
        ),
        tuple(
            Card(message("at position {position}", position=at), said, thought)
            for at, (thought, said) in thoughts.items()
        ),
        tuple(thoughts),
    )


def turned(vector: Float[Tensor, " d_k"], position: int, rotary: Rotary) -> Float[Tensor, " d_k"]:
    """A query or key as rotary positions turn it at this position."""
    return rotate(vector.expand(position + 1, -1), how=rotary)[position]


def same_token_at_two_positions(trace: ExampleTrace, head: int, order: Permutation, random: Generator) -> Asked:
    """Without positions the same token comes out the same; with them it does not."""
    first, second = two_alike((trace.x[:, None] == trace.x).all(dim=-1), random)
    kind = ("none", "sinusoidal")[below(2, random)]
    output = in_own_order(trace, head, kind).result.head.output
    gap = float((output[first] - output[second]).abs().max())
    if SAME < gap < OTHER:
        return None
    both = {"one": trace.names[first], "other": trace.names[second]}
    prompt = message(
        "No mask, {positions}. {one} and {other} have the same vector of X. How do their output rows compare?",
        positions=message("no positions") if kind == "none" else message("sinusoidal positions"),
        **both,
    )
    same = (
        message("The same vector makes the same query, and both see the same keys and values."),
        message("The two positions make no difference here."),
    )
    other = (
        message("The vectors of X are the same, but what was added to them is not."),
        message("Different positions were added to the same vector."),
    )
    reasons = message("the same vector gives the same output"), message("another position gives another output")
    return same_or_other(prompt, gap <= SAME, same, other, reasons)


def tokens_shuffled(trace: ExampleTrace, head: int, order: Permutation, random: Generator) -> Asked:
    """Without a mask only the rows move; the causal mask alone changes what a token sees."""
    row, causal = moved_row(order, random), below(2, random) == 1
    both = in_both_orders(trace, head, "none", order, causal=causal).result
    shuffled, own = both.shuffled.head.output, both.own.head.output
    gap = float((shuffled[row] - own[order[row]]).abs().max())
    if SAME < gap < OTHER:
        return None
    prompt = message(
        "{mask}, no positions. The shuffle moves {token} to row {row}. How does its output compare with before?",
        mask=message("Causal mask") if causal else message("No mask"),
        token=trace.names[order[row]],
        row=row + 1,
    )
    stays = float((shuffled - own).abs().max())
    still = Card(
        message("No row of the output changes."),
        message("The output rows move with their tokens."),
        message("attention does not know the order"),
    )
    same = (
        message("It sees the same keys as before, or keys that give the same mixture."),
        message("The shuffle brings it no new mixture of values."),
    )
    other = (
        message("The mask hides what comes later, and those are other tokens now."),
        message("Now other tokens come later and are hidden: the mask reveals the order."),
    )
    reasons = (
        message("it meets the same keys and values as before"),
        message("it meets other keys and values than before"),
    )
    return same_or_other(prompt, gap <= SAME, same, other, reasons, *([still] if stays > OTHER else []))


def same_or_other(
    prompt: Message,
    same: bool,
    if_same: tuple[Message, Message],
    if_other: tuple[Message, Message],
    reasons: tuple[Message, Message],
    *more: Card,
) -> Asked:
    """A choice between the same and other numbers; what is said to each depends on which is right."""
    says_same, says_other = if_same if same else if_other
    cards = (
        Card(message("Its numbers are the same."), says_same, reasons[0]),
        Card(message("Its numbers differ."), says_other, reasons[1]),
    )
    return multiple_choice(prompt, *(cards if same else reversed(cards)), *more)


def wave_at_a_position(trace: ExampleTrace, head: int, order: Permutation, random: Generator) -> Asked:
    """Positions count from 0, and what is added is a wave, not the position. Always possible."""
    position, f = below(len(trace.tokens), random), below(min(2, trace.x.shape[-1]), random)
    wave, other = (math.cos, math.sin) if f else (math.sin, math.cos)
    taken = (
        message("The sine belongs to the first feature.") if f else message("The cosine belongs to the second feature.")
    )
    sine = message("The first feature is the sine of the position, an angle in radians.")
    cosine = message("The second feature is the cosine of the position, an angle in radians.")
    name, other_name = (message("cosine"), message("sine")) if f else (message("sine"), message("cosine"))
    return asks_about(
        "wave",
        (position, f),
        multiple_choice_of_numbers(
            message(
                "Sinusoidal positions, counted from 0: which number is added to feature {feature} of {token}, at "
                "position {position}?",
                feature=f + 1,
                token=trace.names[position],
                position=position,
            ),
            *told(
                cosine if f else sine,
                (wave(position), message("the {wave} of its position", wave=name)),
                (other(position), message("the {wave} of its position", wave=other_name), taken),
                (
                    float(position),
                    message("the position itself"),
                    message("What is added is a wave of the position, not the position."),
                ),
                (
                    wave(position + 1),
                    message("the {wave} of its position, counted from 1", wave=name),
                    message("Positions are counted from 0 here, so this is one too far."),
                ),
                (
                    -wave(position),
                    message("the {wave} of its position, subtracted", wave=name),
                    message("The wave is added, not subtracted."),
                ),
                (
                    wave(math.radians(position)),
                    message("the {wave} of its position, in degrees", wave=name),
                    message("The angle is in radians, not in degrees."),
                ),
            ),
        ),
    )


QUESTIONS: Kinds = {
    "look": (token_in_a_row,),
    "predict": (
        tokens_shuffled,
        weight_after_a_shuffle,
        row_after_a_shuffle,
    ),
    "generalise": (
        same_token_at_two_positions,
        same_rotary_score,
        wave_at_a_position,
    ),
}
