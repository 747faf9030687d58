"""Can tokens attend without learned parameters? Questions about an example, of which only the rows of X matter."""

from torch import Generator

from lessons.example.example import ExampleTrace, first_query
from lessons.kit.questions import (
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
    shaped,
    sizes,
    two_of,
)
from lessons.screen.message import Fixed, message
from lessons.screen.screen import Card


def largest_dot_product(example: ExampleTrace, random: Generator) -> Asked:
    """A long vector can win over the token itself."""
    names = example.names
    i = first_query(example)  # whose row the page shows at first
    others = [p for p in range(len(names)) if p != i]
    row, lengths = (example.x @ example.x[i])[others], example.x.norm(dim=-1)[others].round(decimals=4)
    names = [example.names[p] for p in others]
    if not others:
        return None
    if below(2, random):
        return multiple_choice_of_tokens(
            message("Which other token has the smallest dot product with {query}?", query=example.names[i]),
            names,
            -row,
            message("Its vector is short, or points in another direction, or both."),
            [(int(lengths.argmin()), message("No vector is shorter, but the direction counts as well."))],
            lambda p: message(
                "The dot product of {query} and {key} is {score}; another is smaller.",
                query=example.names[i],
                key=names[p],
                score=Fixed(float(row[p])),
            ),
        )
    return multiple_choice_of_tokens(
        message("Which other token has the largest dot product with {query}?", query=example.names[i]),
        names,
        row,
        message("Its vector points in a similar direction, or it is long, or both."),
        [
            (int(lengths.argmax()), message("No vector is longer, but the direction counts as well.")),
        ],
        lambda p: message(
            "The dot product of {query} and {key} is {score}; another is larger.",
            query=example.names[i],
            key=names[p],
            score=Fixed(float(row[p])),
        ),
    )


def sign_of_a_dot_product(example: ExampleTrace, random: Generator) -> Asked:
    """The sign says whether two vectors point more the same way or more opposite ways."""
    i, j = two_of(len(example.names), random)
    score = float(example.x[i] @ example.x[j])
    if abs(score) < CLEAR_LEAD:
        return None
    with_it = Card(
        message("More in the same direction."),
        message("Their dot product is {score}: above 0, the products of like signs win.", score=Fixed(score))
        if score > 0
        else message("Their dot product is {score}: below 0, the products of unlike signs win.", score=Fixed(score)),
        message("where one has a large number, so has the other"),
    )
    against = Card(
        message("More in opposite directions."),
        with_it.reply,
        message("where one has a large number, the other's is below 0"),
    )
    right, wrong = (with_it, against) if score > 0 else (against, with_it)
    return multiple_choice(
        message(
            "Do the vectors of {one} and {other} point more in the same direction or more in opposite ones?",
            one=example.names[i],
            other=example.names[j],
        ),
        right,
        wrong,
        Card(
            message("Exactly at a right angle."),
            message("Then their dot product would be 0, and it is {score}.", score=Fixed(score)),
            message("the products of their numbers cancel out"),
        ),
    )


def dot_product_cell(example: ExampleTrace, random: Generator) -> Asked:
    """Multiply in pairs, then add."""
    i, j = two_of(len(example.names), random) if len(example.names) > 1 else (0, 0)
    a, b = example.x[i], example.x[j]
    dot, lengths = float(a @ b), float(a.norm() * b.norm())
    return asks_about(
        "scores",
        (i, j),
        multiple_choice_of_numbers(
            message(
                "What is the dot product of the rows of {query} and {key} in X?",
                query=example.names[i],
                key=example.names[j],
            ),
            (
                dot,
                message("Multiply the numbers in pairs and add the products."),
                message("the products of the pairs, added up"),
            ),
            (
                dot / max(lengths, 1e-9),
                message("That is the cosine: the dot product divided by both lengths."),
                message("the products, added up, over both lengths"),
            ),
            (
                float(a.sum() + b.sum()),
                message(
                    "A dot product does not add all the numbers: it multiplies them in pairs and adds the products."
                ),
                message("all the numbers of both rows, added up"),
            ),
            (
                float(a.sum() * b.sum()),
                message("A dot product multiplies in pairs first and adds afterwards, not the other way round."),
                message("both sums, multiplied"),
            ),
            (
                float(a[0] * b[0]),
                message("That is only the first pair. Add the products of all pairs."),
                message("the product of the first pair"),
            ),
            (
                dot / len(a),
                message("That is the mean of the products. A dot product is their sum."),
                message("the products of the pairs, averaged"),
            ),
        ),
    )


def mirror_image(example: ExampleTrace, random: Generator) -> Asked:
    """Without weights, scores are symmetric."""
    i, j = two_of(len(example.tokens), random)
    x = example.x
    there, own, other = (Fixed(float(x[a] @ x[b])) for a, b in ((i, j), (i, i), (j, j)))
    if abs(there.value) < CLEAR_LEAD:
        return None  # 0 is the same with the other sign
    return asks_about(
        "scores",
        (j, i),
        multiple_choice(
            message(
                "In X Xᵀ, the row of {one} holds a number in the column of {other}. What does the row of {other} hold "
                "in the column of {one}?",
                one=example.names[i],
                other=example.names[j],
            ),
            Card(
                message("The same number."),
                message(
                    "Both are {score}: they add up the same products, so X Xᵀ is symmetric. Q Kᵀ need not be.",
                    score=there,
                ),
                message("the same pairs are multiplied"),
            ),
            Card(
                message("Minus that number."),
                message(
                    "Both are {score}. Swapping the two vectors changes no sign: a · b and b · a add up the same "
                    "products.",
                    score=there,
                ),
                message("the order flips the sign"),
            ),
            Card(
                message("Another number."),
                message(
                    "Both lengths count in both cells, and both are {score}. Their dot products with "
                    "themselves are {own} and {other}.",
                    score=there,
                    own=own,
                    other=other,
                ),
                message("one vector counts more than the other"),
            ),
        ),
    )


@beyond_figure
def shape_of_dot_products(example: ExampleTrace, random: Generator) -> Asked:
    """A score for each pair of tokens."""
    n, d = sizes(2, random)
    return multiple_choice(
        message("For another sentence, X is {shape}. What is the shape of X Xᵀ?", shape=shaped(n, d)),
        Card(
            shaped(n, n),
            message("One dot product for each pair of tokens: rows are queries, columns are keys."),
            message("a row and a column for each token"),
        ),
        Card(
            shaped(d, d),
            message("That is Xᵀ X, which compares features. X Xᵀ compares tokens."),
            message("a row and a column for each feature"),
        ),
        Card(
            shaped(n, d),
            message("That is X itself. Each dot product turns two rows of X into one number."),
            message("a row for each token, as in X"),
        ),
    )


@beyond_figure
def longer_vector(example: ExampleTrace, random: Generator) -> Asked:
    """The length of a vector counts, twice when it meets itself. A vector of zeros has none."""
    token, longer = example.names[one_of(example.x.square().sum(dim=-1) >= CLEAR_LEAD, random)], 2 + below(8, random)
    return multiple_choice(
        message(
            "Make the vector of {token} {longer} times as long. What happens to its dot product with itself?",
            token=token,
            longer=longer,
        ),
        Card(
            message("It becomes {times} times as large.", times=longer**2),
            message(
                "Both factors are {longer} times as long, and {longer} × {longer} = {times}.",
                longer=longer,
                times=longer**2,
            ),
            message("both factors grow"),
        ),
        Card(
            message("It becomes {times} times as large.", times=longer),
            message("That would be true with another token. Here both factors have become longer."),
            message("the product grows as the vector does"),
        ),
        Card(
            message("It does not change."),
            message("The cosine does not change. The dot product grows with the lengths."),
            message("its direction is the same, so the product is"),
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
    "generalise": (
        mirror_image,
        shape_of_dot_products,
    ),
}
