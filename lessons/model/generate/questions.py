"""Questions of the lesson on generating: how does it write?

Each is about a token just written, with all that led to it, and the vocabulary it was drawn from.
"""

from functools import partial

import torch

from attention_core.model.generation import GeneratedToken
from attention_core.model.sampling import keep_top_p, next_token_probabilities, ranked
from attention_core.text.tokens import Vocabulary
from lessons.screen import Card, Fixed, Integer, Message, Percent, Question, Token, message
from lessons.shared.questions import (
    CLEAR_LEAD,
    Kinds,
    below,
    beyond_figure,
    multiple_choice,
    multiple_choice_of_counts,
    multiple_choice_of_numbers,
    multiple_choice_of_things,
    told,
)

HALF, DOUBLE = 0.5, 2.0
MOST_OFFERED = 20  # of a vocabulary


def most_probable(new: GeneratedToken, vocabulary: Vocabulary, random: torch.Generator) -> Question | None:
    """The likeliest need not be what was drawn, nor what was read last."""
    says, order, called = new.draw.probabilities, ranked(new.draw.logits).tolist(), partial(token_named, vocabulary)
    if says[order[0]] - says[order[1]] < CLEAR_LEAD:
        return None

    def less(token: int) -> Message:
        return message(
            "{token} has the probability {probability}; another token has a higher one.",
            token=called(token),
            probability=Fixed(float(says[token]), 3),
        )

    best, read = order[0], vocabulary.encode_with_unknown(new.window[-1:])[0]
    wrong = [
        (
            new.draw.token,
            message("This token was drawn, but a draw can pick unlikely tokens, too."),
        ),
        (read, message("This is the last token read. The scores are for the next one.")),
        *((token, less(token)) for token in order[1:MOST_OFFERED]),
    ]
    return multiple_choice_of_things(
        message(
            "{drawn} was drawn. Which token did the model find likeliest, before temperature and cuts?",
            drawn=called(new.draw.token),
        ),
        (
            called(best),
            message(
                "Its probability is {probability}, and no other token has one as high.",
                probability=Fixed(float(says[best]), 3),
            ),
        ),
        *((called(token), mend) for token, mend in wrong if token not in (best, len(vocabulary))),
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
        *told(
            message("All differences between the scores are halved, so likely tokens lose and unlikely ones gain."),
            (hot, message("the scores, divided by the temperature")),
            (
                now / DOUBLE,
                message("the probability, divided by the temperature"),
                message("The temperature divides the scores, not the probability."),
            ),
            (
                cold,
                message("the scores, multiplied by the temperature"),
                message("Multiplying would make the differences larger. They are halved."),
            ),
            (
                now,
                message("the likeliest token stays as likely"),
                message("It stays the likeliest, but smaller differences take from it."),
            ),
            (
                1 / len(vocabulary),
                message("a higher temperature makes all tokens equally likely"),
                message("They come closer to each other, but the scores still differ."),
            ),
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
        *told(
            message(
                "The likeliest {right} are needed to reach {p}: together they have {reached}.",
                right=Integer(right),
                reached=reached,
                **top_p,
            ),
            (right, message("the likeliest, until their sum reaches p")),
            (
                single,
                message("those with p or more, each on its own"),
                message("It is their sum that has to reach p, not each on its own."),
            ),
            (
                right - 1,
                message("the likeliest, while their sum is below p"),
                message("The token with which the sum reaches p stays, too."),
            ),
            (
                round(p * size),
                message("the share p of all tokens"),
                message("p is a share of the probability, not of the tokens."),
            ),
            (size, message("all of them, as they sum to 1"), message("Tokens are kept only until the sum reaches p.")),
        ),
    )


def only_one(new: GeneratedToken, vocabulary: Vocabulary, random: torch.Generator) -> Question | None:
    """Top-k 1 is greedy whatever the temperature and the seed. Always possible."""
    called, best = partial(token_named, vocabulary), ranked(new.draw.logits).tolist()[0]
    reply = message("Only the likeliest is kept, whatever the seed and the temperature.")
    return multiple_choice(
        message("Set top-k to 1 and draw this token again with other seeds and temperatures. Which token comes?"),
        Card(
            message("{token}, every time", token=called(best)),
            reply,
            message("only the likeliest token is left to draw"),
        ),
        Card(
            message("{token}, every time", token=called(new.draw.token)),
            message("What was drawn before does not count: only the likeliest is left."),
            message("a token drawn once stays drawn"),
        ),
        Card(
            message("it depends on the seed"),
            message("With one token left, chance has nothing to decide."),
            message("each seed draws in its own way"),
        ),
        Card(
            message("it depends on the temperature"),
            message("A temperature never changes which token is the likeliest."),
            message("a higher temperature brings other tokens to the top"),
        ),
    )


@beyond_figure
def same_seed(new: GeneratedToken, vocabulary: Vocabulary, random: torch.Generator) -> Question | None:
    """A seed makes chance repeatable. Always possible."""
    drawn = token_named(vocabulary, new.draw.token)
    reply = message("The same seed gives the same random numbers, so everything repeats.")
    likeliest = Card(
        message("always the likeliest"),
        message("The same draw comes again, and that was not the likeliest."),
        message("a repeated draw is no longer random"),
    )
    return multiple_choice(
        message("Write the text up to here again with the same settings and seed. Which token comes at this position?"),
        Card(message("{token} again", token=drawn), reply, message("the seed decides every draw")),
        Card(
            message("it could be anything"),
            message("The chance of a computer comes from the seed, and that is the same."),
            message("each draw is left to chance"),
        ),
        Card(
            message("anything but {token}", token=drawn),
            message("A draw uses nothing up."),
            message("a token drawn once is used up"),
        ),
        *([likeliest] if new.draw.logits[new.draw.token] < new.draw.logits.max() else []),
    )


def token_named(vocabulary: Vocabulary, token: int) -> Token:
    """A token of the vocabulary, as sentences name it."""
    return Token(vocabulary.tokens[token], token)


QUESTIONS: Kinds = {
    "look": (most_probable,),
    "predict": (
        only_one,
        survivors,
    ),
    "generalise": (
        warmer,
        same_seed,
    ),
}
