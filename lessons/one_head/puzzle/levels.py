"""What is said of each level: its name, what the head shall do, a hint, and why one head may not be enough."""

from dataclasses import dataclass

from lessons.screen import Argument, Message, message


@dataclass(frozen=True)
class Level:
    """The words of one puzzle."""

    title: Message
    goal: Message
    hint: Message


LEVELS = {
    "first": Level(
        message("First token"),
        message("Every token looks at the first one."),
        message(
            "A score is what the query asks times what the key answers. Let both kinds of token ask with the same "
            "number, and let only the first one answer."
        ),
    ),
    "self": Level(
        message("Itself"),
        message(
            "Every token looks at itself. All it has is its position: the hand of a clock, which moves on "
            "one hour with each token."
        ),
        message(
            "Two hands that point the same way have the largest product. Keep the direction of the hand, "
            "but make it longer."
        ),
    ),
    "back": Level(
        message("One back"),
        message("Every token looks at the one before it."),
        message(
            "Turn the asking hand back by one hour, 45°: then it points the same way as the hand of the token before."
        ),
    ),
    "same": Level(
        message("Same word"),
        message("A repeated word looks at all places where it was before, evenly."),
        message(
            "Give each word a direction, the same in W_q and W_k. Two columns have room for four: right, up, left, "
            "down."
        ),
    ),
    "it": Level(
        message("It or she"),
        message("“it” looks evenly at all the things it may mean, “she” evenly at all the people."),
        message("One column is enough: let “it” ask with a positive number and “she” with a negative one."),
    ),
    "bracket": Level(
        message("Brackets"),
        message("A closing bracket looks at its partner."),
        message(
            "Two conditions add up: the key is an opening bracket, and it is at the same depth. Use a column for each."
        ),
    ),
    "count": Level(
        message("Count"),
        message("The output of every token is the share of cats in the sentence."),
        message("Where all scores are equal, the output is the average of all values. What should a value be?"),
    ),
    "soft": Level(
        message("Half sure"),
        message(
            "The verb looks only at the noun. The noun gives half of its weight to the verb and spreads the "
            "rest evenly over all others and itself."
        ),
        message(
            "Half against a tenth is 5 to 1, and ln 5 ≈ 1.6: the score must be that much larger. Scores are "
            "divided by √2 here."
        ),
    ),
    "two": Level(
        message("Two heads"),
        message("Two jobs at once: head 1 looks one back, head 2 one ahead."),
        message("Head 1 is the head of “One back”. Head 2 turns the hand the other way."),
    ),
    "layers": Level(
        message("Two layers"),
        message(
            "The last name looks at its colour. Head 1 looks first; the name that it finds is added to the features, "
            "as “after Ann”; then head 2 looks."
        ),
        message("Head 1 looks one back. In head 2, each name asks for the token that is “after” it."),
    ),
}


def why_not_one(level: str, best: Argument) -> Message | None:
    """Why one head alone cannot do it, with what it reaches at best; None where it can."""
    if level == "two":
        return message(
            "A single head reaches {best} at most: its weights sum to 1, so what one job gets, the other lacks.",
            best=best,
        )
    if level == "layers":
        return message(
            "A single head reaches {best} at most, however large it is: swap the two names before the "
            "colours, and the same query meets the same colours, but the other one is right.",
            best=best,
        )
    return None
