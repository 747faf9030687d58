"""What comes out? Questions about an example, one of its heads, and the query on the screen (i)."""

from jaxtyping import Float
from torch import Generator, Tensor

from attention_core.one_head.attention import attend
from lessons.example.example import ExampleTrace
from lessons.screen import Card, Fixed, message
from lessons.shared.questions import (
    CLEAR_LEAD,
    Asked,
    Kinds,
    another_than,
    asks_about,
    below,
    beyond_figure,
    check_choice,
    multiple_choice,
    multiple_choice_of_numbers,
    multiple_choice_of_tokens,
    shaped,
    sizes,
    weights_if,
)


def output_cell(trace: ExampleTrace, head: int, i: int, random: Generator) -> Asked:
    """A mix by the weights of the row."""
    attention = trace.heads.select(head)
    check_choice(attention, i)
    feature, weights = below(attention.v.shape[-1], random), attention.weights
    values, winner = attention.v[:, feature], int(weights[i].argmax())
    free = weights_if(trace, head, causal=False)[i]
    why = message("Multiply each value by its weight in the row and add up.")
    return asks_about(
        "output",
        (i, feature),
        multiple_choice_of_numbers(
            message("What is feature {feature} of the output of {query}?", feature=feature + 1, query=trace.names[i]),
            (float(weights[i] @ values), why, message("the values, mixed by the weights of its row")),
            (
                float(values[winner]),
                message("That is only the value of {key}. The others are mixed in too.", key=trace.names[winner]),
                message("the winner takes all, and its value comes out"),
            ),
            (
                float(weights[:, i] @ values),
                message("The weights of a query are in its row, not down its column."),
                message("the values, mixed by the weights of its column"),
            ),
            (
                float(free @ values),
                message("Keys that the mask hides add nothing to the mix."),
                message("the values, mixed as if there were no mask"),
            ),
            (
                float(values[attention.visible[i]].mean()),
                message("Each value counts by its own weight, not all alike."),
                message("the visible values, mixed evenly"),
            ),
            (
                float(values[i]),
                message("The values of other keys are mixed in as well."),
                message("its own value, unchanged"),
            ),
        ),
    )


@beyond_figure
def shape_of_output(trace: ExampleTrace, head: int, i: int, random: Generator) -> Asked:
    """A row for each query, with the features of a value."""
    n, d_v = sizes(2, random)
    reply = message("Each query has a row with as many features as a value.")
    return multiple_choice(
        message(
            "In another model the weights of one head are {weights} and V is {values}. What is the shape of "
            "the output?",
            weights=shaped(n, n),
            values=shaped(n, d_v),
        ),
        Card(shaped(n, d_v), reply, message("for each query, as many features as a value")),
        Card(
            shaped(n, n),
            message("That is the shape of the weights, before they meet the values."),
            message("for each query, as many numbers as there are keys"),
        ),
        Card(
            shaped(1, d_v),
            message("Each query gets a mix of its own."),
            message("for the whole sentence, one mix of values"),
        ),
        Card(
            shaped(d_v, n),
            message("That is turned around: in the output, queries are rows."),
            message("for each feature of a value, all queries"),
        ),
    )


def largest_contribution(trace: ExampleTrace, head: int, i: int, random: Generator) -> Asked:
    """A big weight is not a big influence."""
    attention, names = trace.heads.select(head), trace.names
    check_choice(attention, i)
    lengths = attention.v.norm(dim=-1)
    parts = attention.weights[i] * lengths
    heaviest, longest = int(attention.weights[i].argmax()), int(lengths.argmax())
    return multiple_choice_of_tokens(
        message(
            "The output of {query} adds up weight × value over all keys. Which of these terms is the longest vector?",
            query=names[i],
        ),
        names,
        parts,
        message("The length of a term is the weight times the length of the value."),
        [
            (
                heaviest,
                message("No other key has more weight, but the value of this one is shorter."),
            ),
            (longest, message("No other value is longer, but the weight of this one in the row is too small.")),
        ],
        lambda p: message(
            "The term of {key} has length {length}; another is longer.", key=names[p], length=Fixed(float(parts[p]))
        ),
    )


@beyond_figure
def tokens_swapped_in_head(trace: ExampleTrace, head: int, i: int, random: Generator) -> Asked:
    """Without a mask, attention does not know the order; the causal mask brings some in."""
    j = another_than(i, len(trace.tokens), random)
    before, after, causal = trace.heads.select(head).output, swapped(trace, head, i, j), trace.example.causal
    change, to_other = (float((after[j] - before[position]).abs().max()) for position in (i, j))
    if to_other < CLEAR_LEAD or (change < CLEAR_LEAD if causal else change > 1e-3):
        return None
    token, other = trace.names[i], trace.names[j]
    keeps = message("It keeps its numbers.")
    changes = message("It changes, but not to the numbers of {token}.", token=other)
    why = message("The same queries meet the same keys and mix the same values: only the rows move.")
    mistake = message("Without a mask it meets all keys, wherever it stands, so nothing changes for it.")
    if causal:
        why = message("At its new position it may look at other tokens: the mask makes the order matter.")
        mistake = message("The mask does not leave it the same keys at its new position.")
    meets = message("it meets the same keys and values as before")
    misses = message("it meets other keys and values than before")
    cards = (Card(changes, why, misses), Card(keeps, mistake, meets))
    if not causal:
        cards = (Card(keeps, why, meets), Card(changes, mistake, misses))
    return multiple_choice(
        message(
            "With {mask}, {one} and {other} swap positions, each with its query, key and value. What happens to the "
            "output of {one}?",
            mask=message("a causal mask") if causal else message("no mask"),
            one=token,
            other=other,
        ),
        *cards,
        Card(
            message("It takes on the numbers of {token}.", token=other),
            message("It brings its own query along, so its output is not that of {token}.", token=other),
            message("an output belongs to its position"),
        ),
    )


def swapped(trace: ExampleTrace, head: int, i: int, j: int) -> Float[Tensor, "tokens d_v"]:
    """The output of this head when two tokens swap positions."""
    attention = trace.heads.select(head)
    order = list(range(len(trace.tokens)))
    order[i], order[j] = j, i
    mask = trace.example.may_attend(len(order))
    return attend(attention.q[order], attention.k[order], attention.v[order], mask, scale=trace.scale).output


@beyond_figure
def longer_values(trace: ExampleTrace, head: int, i: int, random: Generator) -> Asked:
    """The output follows the values in step; the weights do not know them. None where it is zero."""
    if float(trace.heads.select(head).output[i].abs().max()) < CLEAR_LEAD:
        return None
    token, times = trace.names[i], 2 + below(8, random)
    return multiple_choice(
        message(
            "Every value is multiplied by {times}; queries and keys stay the same. What happens to the "
            "output of {query}?",
            times=times,
            query=token,
        ),
        Card(
            message("It becomes {times} times as large.", times=times),
            message("The weights stay the same, so the mix grows as its values do."),
            message("the weights stay the same, and the values grow"),
        ),
        Card(
            message("It does not change."),
            message("The weights sum to 1, but the values are larger."),
            message("the weights still sum to 1"),
        ),
        Card(
            message("It becomes {times} times as large.", times=times**2),
            message("Weights come only from queries and keys."),
            message("the values grow, and the weights grow with them"),
        ),
    )


QUESTIONS: Kinds = {
    "look": (largest_contribution,),
    "predict": (
        output_cell,
        tokens_swapped_in_head,
    ),
    "generalise": (
        longer_values,
        shape_of_output,
    ),
}
