"""Questions of the lesson on generating: how does it write?

Each is about a token just written, with all that led to it, and the vocabulary it was drawn from.
"""

from functools import partial

import torch

from attention_core.generation import GeneratedToken
from attention_core.sampling import keep_top_p, next_token_probabilities, ranked
from attention_core.tokens import Vocabulary
from lessons.kit.questions import (
    CLEAR_LEAD,
    Kinds,
    below,
    beyond_figure,
    multiple_choice,
    multiple_choice_of_counts,
    multiple_choice_of_numbers,
    multiple_choice_of_things,
)
from lessons.screen.message import Fixed, Integer, Message, Percent, Token, message
from lessons.screen.screen import Card, Question

HALF, DOUBLE = 0.5, 2.0
MOST_OFFERED = 20  # of a vocabulary


def most_probable(new: GeneratedToken, vocabulary: Vocabulary, random: torch.Generator) -> Question | None:
    """The likeliest need not be what was drawn, nor what was read last."""
    says, order, called = new.draw.probabilities, ranked(new.draw.logits).tolist(), partial(token_named, vocabulary)
    if says[order[0]] - says[order[1]] < CLEAR_LEAD:
        return None

    def less(token: int) -> Message:
        return message(
            "Its probability is {probability}; another token has more.", probability=Fixed(float(says[token]), 3)
        )

    best, read = order[0], vocabulary.encode_with_unknown(new.window[-1:])[0]
    wrong = [
        (
            new.draw.token,
            message("This token was drawn. A draw takes unlikely tokens too, as often as their probability says."),
        ),
        (read, message("That is the last token read. The scores are for the token that follows it.")),
        *((token, less(token)) for token in order[1:MOST_OFFERED]),
    ]
    return multiple_choice_of_things(
        message(
            "{drawn} was drawn. Which token did the model find likeliest there, before temperature and cuts?",
            drawn=called(new.draw.token),
        ),
        (
            called(best),
            message("Its probability is {probability}: no other has as much.", probability=Fixed(float(says[best]), 3)),
        ),
        *((called(token), mend) for token, mend in wrong if token not in (best, len(vocabulary))),
    )


def how_sure(new: GeneratedToken, vocabulary: Vocabulary, random: torch.Generator) -> Question | None:
    """The likeliest has more than any other, which may be much or little."""
    says, order, called = new.draw.probabilities, ranked(new.draw.logits).tolist(), partial(token_named, vocabulary)
    if says[order[0]] - says[order[1]] < CLEAR_LEAD:
        return None
    return multiple_choice_of_numbers(
        message(
            "{drawn} was drawn. What probability did the model give its likeliest token there, before temperature and "
            "cuts?",
            drawn=called(new.draw.token),
        ),
        (
            float(says[order[0]]),
            message("That token is {token}; all others together have the rest.", token=called(order[0])),
        ),
        (
            1 / len(vocabulary),
            message("That would be true if all were equal. What the model has learned makes some likelier."),
        ),
        (1.0, message("Then no other token could ever be drawn. A softmax leaves every token something.")),
        (
            float(says[order[1]]),
            message("That is the probability of {token}, which comes second.", token=called(order[1])),
        ),
        (0.5, message("The likeliest token has more than any other; that may be more than a half or less.")),
    )


@beyond_figure
def warmer(new: GeneratedToken, vocabulary: Vocabulary, random: torch.Generator) -> Question | None:
    """Temperature divides the scores, not the probabilities."""
    best = ranked(new.draw.logits).tolist()[0]
    now = float(new.draw.probabilities[best])
    hot, cold = (float(next_token_probabilities(new.draw.logits, t)[best]) for t in (DOUBLE, HALF))
    return multiple_choice_of_numbers(
        lambda shown: message(
            "At temperature 1, {token} has the probability {now}. What is it at temperature 2, with no cut?",
            token=token_named(vocabulary, best),
            now=shown(now),
        ),
        (
            hot,
            message("All differences between the scores are halved, so likely tokens lose and unlikely ones gain."),
            message("the scores, divided by the temperature"),
        ),
        (
            now / DOUBLE,
            message("The scores are divided, not the probabilities: halved, the probabilities would sum to a half."),
            message("the probability, divided by the temperature"),
        ),
        (
            cold,
            message("That is its probability at temperature 0.5, which makes the differences larger."),
            message("the scores, multiplied by the temperature"),
        ),
        (now, message("Only a temperature of 1 changes nothing."), message("the likeliest stays as likely")),
        (
            1 / len(vocabulary),
            message("That is an equal share for each token: no temperature gets there."),
            message("heat makes all tokens equally likely"),
        ),
    )


def survivors(new: GeneratedToken, vocabulary: Vocabulary, random: torch.Generator) -> Question | None:
    """Top-p counts tokens until their sum is reached; the one that reaches it stays."""
    p = (0.5, 0.8, 0.9, 0.95)[below(4, random)]
    says, size = new.draw.probabilities, len(vocabulary)
    right, single = int(keep_top_p(says, p).sum()), int((says >= p).sum())
    reached = Percent(float(says[ranked(new.draw.logits)[:right]].sum()))
    top_p = {"p": Fixed(p)}
    return multiple_choice_of_counts(
        message(
            "At temperature 1 and without top-k: how many of the {size} tokens survive top-p {p}?",
            size=Integer(size),
            **top_p,
        ),
        (
            right,
            message(
                "The likeliest {right} have {reached} together; fewer do not reach {p}.",
                right=Integer(right),
                reached=reached,
                **top_p,
            ),
            message("the likeliest, until their sum reaches p"),
        ),
        (
            single,
            message("That many tokens reach {p} on their own. Top-p adds probabilities up.", **top_p),
            message("those with p or more, each on its own"),
        ),
        (
            right - 1,
            message("The token whose probability reaches the sum is kept too."),
            message("the likeliest, while their sum is below p"),
        ),
        (
            round(p * size),
            message("Top-p is a share of the probability, not of the vocabulary."),
            message("the share p of all tokens"),
        ),
        (
            size,
            message("All tokens together have 1; top-p stops as soon as its sum is reached."),
            message("all of them, as together they have 1"),
        ),
    )


def only_one(new: GeneratedToken, vocabulary: Vocabulary, random: torch.Generator) -> Question | None:
    """Top-k 1 is greedy whatever the temperature and the seed. Always possible."""
    called, best = partial(token_named, vocabulary), ranked(new.draw.logits).tolist()[0]
    return multiple_choice(
        message("Set top-k to 1 and draw this token again with other seeds and temperatures. What comes?"),
        Card(
            message("{token}, every time", token=called(best)),
            message("Only the likeliest is kept, and no temperature changes the order."),
            message("the likeliest is all that is left"),
        ),
        Card(
            message("{token}, every time", token=called(new.draw.token)),
            message("This token was just drawn, but it is not the likeliest."),
            message("what was drawn stays drawn"),
        ),
        Card(
            message("it depends on the seed"),
            message("A seed chooses among the tokens that are left, and only one is left."),
            message("each seed draws in its own way"),
        ),
        Card(
            message("it depends on the temperature"),
            message("A temperature keeps the order, so the likeliest stays the likeliest."),
            message("heat brings other tokens to the top"),
        ),
    )


@beyond_figure
def same_seed(new: GeneratedToken, vocabulary: Vocabulary, random: torch.Generator) -> Question | None:
    """A seed makes chance repeatable. Always possible."""
    drawn = token_named(vocabulary, new.draw.token)
    likeliest = Card(
        message("always the likeliest"),
        message("The draw works as before: it takes the token on which its random number falls."),
        message("what is repeated is no longer chance"),
    )
    return multiple_choice(
        message(
            "Start again with the same model, beginning, settings and seed, and write up to here. What comes "
            "at this position?"
        ),
        Card(
            message("{token} again", token=drawn),
            message("The same seed gives the same random numbers, so everything repeats."),
            message("the seed decides every draw"),
        ),
        Card(
            message("anything may come"),
            message("A random number is computed from its seed: same seed, same number."),
            message("each draw is left to chance"),
        ),
        Card(
            message("anything but {token}", token=drawn),
            message("A draw uses nothing up: the same seed gives the same random number, and so the same token."),
            message("what was drawn once is used up"),
        ),
        *([likeliest] if new.draw.logits[new.draw.token] < new.draw.logits.max() else []),
    )


def token_named(vocabulary: Vocabulary, token: int) -> Token:
    """A token of the vocabulary, as sentences name it."""
    return Token(vocabulary.tokens[token], token)


QUESTIONS: Kinds = {
    "look": (
        most_probable,
        how_sure,
    ),
    "predict": (
        only_one,
        survivors,
    ),
    "generalise": (
        warmer,
        same_seed,
    ),
}
