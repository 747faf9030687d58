"""What goes in? Questions about an example, of which only the tokens and the rows of X matter."""

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from lessons.example.example import ExampleTrace
from lessons.screen import Card, Fixed, message
from lessons.shared.questions import (
    Asked,
    Kinds,
    below,
    beyond_figure,
    multiple_choice,
    shaped,
    sizes,
    two_alike,
    two_of,
)


def where_its_vector_is(trace: ExampleTrace, random: Generator) -> Asked:
    """A row of X, at the token's place in the sentence, not at its id."""
    position = below(len(trace.tokens), random)
    token, place, id = trace.names[position], position + 1, trace.ids[position]
    by_id = Card(
        message("Row {row} of X.", row=id),
        message("{id} is its id, its row in the table.", id=id),
        message("its id gives the row"),
    )
    return multiple_choice(
        message("Where in X is the vector of {token}?", token=token),
        Card(
            message("Row {row} of X.", row=place),
            message("The tokens are the rows of X, in the order of the sentence."),
            message("its place in the sentence gives the row"),
        ),
        *([by_id] if trace.tokens[id - 1 : id] != trace.tokens[position:place] else []),
        Card(
            message("Column {column} of X.", column=place),
            message("A column is one feature of all tokens."),
            message("each token has a column"),
        ),
        Card(
            message("Row {row}, column {column}.", row=place, column=place),
            message("That is one number. A vector is a row."),
            message("each token has one number"),
        ),
    )


@beyond_figure
def shape_of_x(trace: ExampleTrace, random: Generator) -> Asked:
    """Rows are tokens, columns are features."""
    n, d, fewer = sizes(3, random)
    different = min(n, fewer)
    reply = message("A row for each token, even one that appears twice; a column for each feature.")
    return multiple_choice(
        message(
            "Another sentence has {tokens} tokens, {different} of them distinct, and every vector has "
            "{numbers} numbers. What is the shape of X, rows × columns?",
            tokens=n,
            different=different,
            numbers=d,
        ),
        Card(shaped(n, d), reply, message("rows for tokens, columns for features")),
        Card(
            shaped(d, n),
            message("That is Xᵀ: in X, the tokens are the rows."),
            message("rows for features, columns for tokens"),
        ),
        Card(
            shaped(different, d),
            message("A token that appears twice has two rows in X."),
            message("rows for different tokens, columns for features"),
        ),
        Card(
            shaped(n, n),
            message("X has a column for each feature, not for each token."),
            message("rows for tokens, columns for tokens"),
        ),
        Card(
            shaped(1, d),
            message("Each token keeps a row of its own: nothing is merged yet."),
            message("one row for the sentence, columns for features"),
        ),
    )


def two_rows(trace: ExampleTrace, random: Generator) -> Asked:
    """The position of a token is not in its vector: rows are the same where tokens are."""
    ids = torch.tensor(trace.ids)
    one, other = sorted(two_alike(ids[:, None] == ids, random)) if below(2, random) else two_of(len(ids), random)
    alike = trace.ids[one] == trace.ids[other]
    x_one, x_other = trace.fetched[one], trace.fetched[other]
    if torch.equal(x_one, x_other) != alike:
        return None
    names = trace.names
    prompt = message("How do the rows of {one} and {other} in X compare?", one=names[one], other=names[other])
    same, differ = message("They hold the same numbers."), message("They hold different numbers.")
    if alike:
        reply = message("A row is looked up by its token; the position is not in it.")
        return multiple_choice(
            prompt,
            Card(same, reply, message("a row is looked up by its token")),
            Card(
                differ,
                message("Only the token is looked up, not its position."),
                message("a row is looked up by token and position"),
            ),
            Card(
                message("The later one holds only larger numbers."),
                message("Nothing is gathered yet: each row is looked up on its own."),
                message("it gathers what came before"),
            ),
        )
    reply = message(
        "Different tokens have different rows of the table: one starts with {first}, the other with {second}.",
        first=Fixed(float(x_one[0])),
        second=Fixed(float(x_other[0])),
    )
    single = Card(
        message("They differ in a single number."),
        message("No feature counts the position, and more than one number differs."),
        message("one of the features counts the position"),
    )
    return multiple_choice(
        prompt,
        Card(differ, reply, message("each token has its own row")),
        Card(
            same, message("Each token has a row of its own, and these two differ."), message("untrained rows are alike")
        ),
        *([single] if int((x_one != x_other).sum()) > 1 else []),
    )


@beyond_figure
def tokens_swapped(trace: ExampleTrace, random: Generator) -> Asked:
    """Swapping tokens swaps rows and changes no number."""
    pair = two_of(len(trace.tokens), random)
    if torch.equal(trace.fetched[pair[0]], trace.fetched[pair[1]]):
        return None
    a, b = (trace.names[position] for position in pair)
    rows = {"first": min(pair) + 1, "second": max(pair) + 1}
    reply = message("The vectors move with their tokens, and no number in them changes.")
    columns = Card(
        message("Columns {first} and {second} swap.", **rows),
        message("Columns are features, and they stay where they are."),
        message("a token is a column"),
    )
    return multiple_choice(
        message(
            "{one} and {other} swap positions, and each takes its vector along. What happens to X?", one=a, other=b
        ),
        Card(message("Rows {first} and {second} swap.", **rows), reply, message("a row belongs to its token")),
        Card(
            message("Rows {first} and {second} get numbers that X did not hold before.", **rows),
            message("A row depends on its token alone, so no new number appears."),
            message("a row depends on its position"),
        ),
        *([] if columns_swap_as_well(trace.fetched, *sorted(pair)) else [columns]),
        Card(
            message("Nothing changes."),
            message("The rows of X stand in the order of the tokens, so they move with them."),
            message("X does not know the order"),
        ),
    )


def columns_swap_as_well(x: Float[Tensor, "tokens d_model"], first: int, second: int) -> bool:
    """Whether swapping two rows of X gives what swapping the two columns gives, as where each row has a single 1."""
    n, d = x.shape
    if second >= d:
        return False
    rows, columns = (torch.arange(size) for size in (n, d))
    rows[[first, second]], columns[[first, second]] = rows[[second, first]], columns[[second, first]]
    return torch.equal(x[rows], x[:, columns])


@beyond_figure
def token_once_more(trace: ExampleTrace, random: Generator) -> Asked:
    """A token that comes again brings the row it has. Always possible."""
    position = below(len(trace.tokens), random)
    token = trace.names[position]
    reply = message(
        "The same token gets the same row again: it starts with {number}.",
        number=Fixed(float(trace.fetched[position, 0])),
    )
    return multiple_choice(
        message("Suppose {token} appears once more, at the end of the sentence. Which row does X get?", token=token),
        Card(
            message("The row that {token} already has.", token=token),
            reply,
            message("the table has one row for this token"),
        ),
        Card(
            message("A row with its own numbers."),
            message("The table is asked for the token alone, wherever it stands."),
            message("another position, another row"),
        ),
        Card(
            message("No row at all."),
            message("X has a row for each token, also for one that comes again."),
            message("X has one row for each different token"),
        ),
    )


QUESTIONS: Kinds = {
    "look": (where_its_vector_is,),
    "predict": (
        two_rows,
        tokens_swapped,
        token_once_more,
    ),
    "generalise": (shape_of_x,),
}
