"""Can tokens attend without learned parameters? Questions about an example, of which only the rows of X matter."""

from torch import Generator

from lessons.example.example import ExampleTrace, first_query
from lessons.screen import Card, Fixed, message
from lessons.shared.questions import (
    CLEAR_LEAD,
    Asked,
    Kinds,
    asks_about,
    below,
    beyond_figure,
    multiple_choice,
    multiple_choice_of_numbers,
    multiple_choice_of_tokens,
    one_of,
    two_of,
)


def largest_dot_product(trace: ExampleTrace, random: Generator) -> Asked:
    """A long vector can win over the token itself."""
    names = trace.names
    i = first_query(trace)  # whose row the page shows at first
    others = [p for p in range(len(names)) if p != i]
    row, lengths = (trace.x @ trace.x[i])[others], trace.x.norm(dim=-1)[others].round(decimals=4)
    names = [trace.names[p] for p in others]
    if not others or float(row.max()) < CLEAR_LEAD:
        return None  # where all others point away from it, the answer would be the one that does so least
    return multiple_choice_of_tokens(
        message("Which other token has the largest dot product with {query}?", query=trace.names[i]),
        names,
        row,
        message("Its vector points in a similar direction, or it is long, or both."),
        [
            (
                int(lengths.argmax()),
                message("None of the other tokens has a longer vector, but the direction counts as well."),
            ),
        ],
        lambda p: message(
            "The dot product of {query} and {key} is {score}; another is larger.",
            query=trace.names[i],
            key=names[p],
            score=Fixed(float(row[p])),
        ),
    )


def sign_of_a_dot_product(trace: ExampleTrace, random: Generator) -> Asked:
    """The sign says whether two vectors point more the same way or more opposite ways."""
    i, j = two_of(len(trace.names), random)
    score = float(trace.x[i] @ trace.x[j])
    if abs(score) < CLEAR_LEAD:
        return None
    said = {"score": Fixed(score)}
    if score > 0:
        with_says = message("Their dot product is {score}, above 0: the products of like signs win.", **said)
        against_says = message("Then their dot product would be below 0, and it is {score}.", **said)
    else:
        with_says = message("Then their dot product would be above 0, and it is {score}.", **said)
        against_says = message("Their dot product is {score}, below 0: the products of unlike signs win.", **said)
    with_it = Card(
        message("More in the same direction."),
        with_says,
        message("where one has a large number, so has the other"),
    )
    against = Card(
        message("More in opposite directions."),
        against_says,
        message("where one has a large number, the other's is below 0"),
    )
    right, wrong = (with_it, against) if score > 0 else (against, with_it)
    return multiple_choice(
        message(
            "Do the vectors of {one} and {other} point more in the same direction or more in opposite ones?",
            one=trace.names[i],
            other=trace.names[j],
        ),
        right,
        wrong,
        Card(
            message("Exactly at a right angle."),
            message("Then their dot product would be 0, and it is {score}.", score=Fixed(score)),
            message("the products of their numbers cancel out"),
        ),
    )


def dot_product_cell(trace: ExampleTrace, random: Generator) -> Asked:
    """Multiply in pairs, then add."""
    i, j = two_of(len(trace.names), random) if len(trace.names) > 1 else (0, 0)
    a, b = trace.x[i], trace.x[j]
    dot, lengths = float(a @ b), float(a.norm() * b.norm())
    why = message("Multiply the numbers in pairs and add the products.")
    return asks_about(
        "scores",
        (i, j),
        multiple_choice_of_numbers(
            message(
                "What is the dot product of the rows of {query} and {key} in X?",
                query=trace.names[i],
                key=trace.names[j],
            ),
            (dot, why, message("the products of the pairs, added up")),
            (
                dot / max(lengths, 1e-9),
                message("That is the cosine: the dot product divided by both lengths."),
                message("the products, added up, over both lengths"),
            ),
            (
                float(a.sum() + b.sum()),
                message("That adds before anything is multiplied. Multiply in pairs first."),
                message("all the numbers of both rows, added up"),
            ),
            (
                float(a.sum() * b.sum()),
                message("That multiplies every number of one row by every number of the other, not in pairs."),
                message("both sums, multiplied"),
            ),
            (
                float(a[0] * b[0]),
                message("That is the first product alone. The others are added to it."),
                message("the product of the first pair"),
            ),
            (
                dot / len(a),
                message("The products are added up, not averaged."),
                message("the products of the pairs, averaged"),
            ),
        ),
    )


def mirror_image(trace: ExampleTrace, random: Generator) -> Asked:
    """Without weights, scores are symmetric."""
    i, j = two_of(len(trace.tokens), random)
    score = Fixed(float(trace.x[i] @ trace.x[j]))
    if abs(score.value) < CLEAR_LEAD:
        return None  # 0 is the same with the other sign
    reply = message("Both are {score}: they add up the same products, so X Xᵀ is symmetric.", score=score)
    return asks_about(
        "scores",
        (j, i),
        multiple_choice(
            message(
                "In X Xᵀ, the row of {one} holds a number in the column of {other}. What does the row of {other} hold "
                "in the column of {one}?",
                one=trace.names[i],
                other=trace.names[j],
            ),
            Card(message("The same number."), reply, message("the same pairs are multiplied")),
            Card(
                message("Minus that number."),
                message("Two numbers have the same product in either order, sign included."),
                message("the order flips the sign"),
            ),
            Card(
                message("Another number."),
                message("Neither counts more: each product takes one number from each."),
                message("one vector counts more than the other"),
            ),
        ),
    )


@beyond_figure
def longer_vector(trace: ExampleTrace, random: Generator) -> Asked:
    """The length of a vector counts, twice when it meets itself. A vector of zeros has none."""
    token, longer = trace.names[one_of(trace.x.square().sum(dim=-1) >= CLEAR_LEAD, random)], 2 + below(8, random)
    return multiple_choice(
        message(
            "Make the vector of {token} {longer} times as long. What happens to its dot product with itself?",
            token=token,
            longer=longer,
        ),
        Card(
            message("It becomes {times} times as large.", times=longer**2),
            message(
                "Both factors become longer: {longer} × {longer} = {times}.",
                longer=longer,
                times=longer**2,
            ),
            message("both factors grow"),
        ),
        Card(
            message("It becomes {times} times as large.", times=longer),
            message("That would hold for another token. Here both factors become longer."),
            message("the product grows as the vector does"),
        ),
        Card(
            message("It does not change."),
            message("Only the cosine does not change."),
            message("same direction, so the same product"),
        ),
    )


QUESTIONS: Kinds = {
    "look": (
        largest_dot_product,
        sign_of_a_dot_product,
    ),
    "predict": (
        dot_product_cell,
        longer_vector,
    ),
    "generalise": (mirror_image,),
}
