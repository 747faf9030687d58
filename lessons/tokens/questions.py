"""What goes in? Questions about an example, of which only the tokens and the rows of X matter."""

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from lessons.example.example import ExampleTrace
from lessons.kit.questions import Asked, among, below, beyond_figure, shaped, sizes, two_alike, two_of
from lessons.screen.message import Number, say
from lessons.screen.screen import Card


@beyond_figure
def shape_of_x(example: ExampleTrace, random: Generator) -> Asked:
    """Rows are tokens, columns are features."""
    n, d, fewer = sizes(3, random)
    different = min(n, fewer)
    return among(
        say("Another sentence has {tokens} tokens, {different} of them different, and every vector has {numbers} "
            "numbers. What is the shape of X, rows × columns?", tokens=n, different=different, numbers=d),
        Card(shaped(n, d), say("A row for each token, a column for each feature."),
                           say("rows for tokens, columns for features")),
        Card(shaped(d, n), say("That is X transposed. Tokens are rows, features are columns."),
                           say("rows for features, columns for tokens")),
        Card(shaped(different, d),
             say("That counts different tokens. A token that comes twice has two rows in X."),
             say("rows for different tokens, columns for features")),
        Card(shaped(n, n), say("That has a number for each pair of tokens, as scores do. X has one for each feature."),
                           say("rows for tokens, columns for tokens")),
        Card(shaped(1, d), say("One row for all tokens would mix them up. Each token keeps a row of its own."),
                           say("one row for the sentence, columns for features")),
    )  # fmt: skip


def two_rows(example: ExampleTrace, random: Generator) -> Asked:
    """The position of a token is not in its vector: rows are the same where tokens are."""
    ids = torch.tensor(example.ids)
    one, other = sorted(two_alike(ids[:, None] == ids, random)) if below(2, random) else two_of(len(ids), random)
    alike = example.ids[one] == example.ids[other]
    x_one, x_other = example.fetched[one], example.fetched[other]
    if torch.equal(x_one, x_other) != alike:
        return None
    names = example.names
    prompt = say("How do the rows of {one} and {other} in X compare?", one=names[one], other=names[other])
    first, second = (Number(float(example.fetched[position, 0])) for position in (one, other))
    same, differ = say("They hold the same numbers."), say("They hold different numbers.")
    if alike:
        return among(
            prompt,
            Card(same, say("A row is looked up by the token alone; its position is not in it. Both rows start with "
                           "{first}.", first=first), say("a row is looked up by its token")),
            Card(differ, say("The same token has the same row wherever it stands. Positions come in only if added."),
                         say("a row is looked up by token and position")),
            Card(say("The later one holds larger numbers only."),
                 say("Nothing is added up on the way: a row is looked up, not counted."),
                 say("it gathers what came before")))  # fmt: skip
    return among(
        prompt,
        Card(
            differ,
            say(
                "Different tokens have different ids, and so different rows of the table: one starts with "
                "{first}, the other with {second}.",
                first=first,
                second=second,
            ), say("each token has a row of its own"),
        ),
        Card(same, say("Only the same token fetches the same row. These two are different tokens."),
                   say("untrained rows are alike")),
        *([Card(say("They differ in a single number."),
                say("No number of a row says the position, and each of these is from a row of its own."),
                say("one of the features counts the position"))] if int((x_one != x_other).sum()) > 1 else []),
    )  # fmt: skip


@beyond_figure
def tokens_swapped(example: ExampleTrace, random: Generator) -> Asked:
    """Swapping tokens swaps rows and changes no number."""
    pair = two_of(len(example.tokens), random)
    if torch.equal(example.fetched[pair[0]], example.fetched[pair[1]]):
        return None
    a, b = (example.names[position] for position in pair)
    rows = {"first": min(pair) + 1, "second": max(pair) + 1}
    columns = Card(say("Columns {first} and {second} swap.", **rows),
                   say("Columns are features, and every token has all of them. Tokens are rows."),
                   say("a token is a column"))  # fmt: skip
    return among(
        say("{one} and {other} swap positions, and each takes its vector along. What happens to X?", one=a, other=b),
        Card(say("Rows {first} and {second} swap.", **rows),
             say("The vectors move with their tokens, and no number in them changes."),
             say("a row belongs to its token")),
        Card(say("Rows {first} and {second} get new numbers.", **rows),
             say("Order is not built into the vectors: a token has its vector wherever it stands."),
             say("a row depends on its position")),
        *([] if columns_swap_as_well(example.fetched, *sorted(pair)) else [columns]),
        Card(say("Nothing changes."), say("The rows of X stand in the order of the sentence, so two of them move."),
                                      say("X does not know the order")),
    )  # fmt: skip


def columns_swap_as_well(x: Float[Tensor, "tokens d_model"], first: int, second: int) -> bool:
    """Whether swapping two rows of X gives what swapping the two columns gives, as where each row has a single 1."""
    n, d = x.shape
    if second >= d:
        return False
    rows, columns = (torch.arange(size) for size in (n, d))
    rows[[first, second]], columns[[first, second]] = rows[[second, first]], columns[[second, first]]
    return torch.equal(x[rows], x[:, columns])


@beyond_figure
def token_once_more(example: ExampleTrace, random: Generator) -> Asked:
    """A token that comes again brings the row it has. Always possible."""
    position = below(len(example.tokens), random)
    token = example.names[position]
    return among(
        say("Each row of X is looked up in a table by its token. Suppose {token} appears once more, at the end of the "
            "sentence. Which row does X get?", token=token),
        Card(say("The row that {token} has already.", token=token),
             say("The same token, so the same row again: it starts with {number}.",
                 number=Number(float(example.fetched[position, 0]))), say("the table has one row for this token")),
        Card(say("A row with numbers of its own."),
             say("A row depends on the token alone. The same token has the same row at every position."),
             say("another position, another row")),
        Card(say("No row at all."),
             say("X has a row for each position in the sentence, also where a token repeats."),
             say("X has one row for each different token")))  # fmt: skip


QUESTIONS = (shape_of_x, two_rows, tokens_swapped, token_once_more)
