"""Questions of the lesson on the way back: how does it learn from a mistake?

Each is about one mistake of a model.
"""

import math

import torch
from torch import Generator

from lessons.learning.backward.one_prediction import Prediction, word_of
from lessons.learning.backward.update_view import RATES, rate_as_written, steps_at
from lessons.screen import Card, Fixed, Magnitude, message
from lessons.shared.questions import (
    Asked,
    Kinds,
    asks_about,
    below,
    has_clear_lead,
    multiple_choice,
    multiple_choice_of_numbers,
    multiple_choice_of_things,
    multiple_choice_of_tokens,
    one_of,
    told,
)

WORTH_ASKING = 0.05  # how much a step must change the loss
CLEARLY_LONGER = 1.1  # times as long as the next
LEAST_LOSS = 0.01  # less looks like nothing


def likeliest_word(mistake: Prediction, random: Generator) -> Asked:
    """What the model would say, right or not."""
    p = torch.tensor(mistake.probabilities)
    if not has_clear_lead(p):
        return None
    best, *others = p.argsort(descending=True).tolist()
    right = message(
        "That is the right word, but the model gives it only {probability}.",
        probability=Fixed(float(p[mistake.right])),
    )
    wrong = [(mistake.right, right)] if mistake.right != best else []
    less = [
        (
            word,
            message(
                "The model gives {word} the probability {probability}, and another word more.",
                word=word_of(word),
                probability=Fixed(float(p[word])),
            ),
        )
        for word in others
    ]
    return multiple_choice_of_things(
        message(
            "The sentence is “{sentence}”. Which word does the model find likeliest to come next?",
            sentence=" ".join(mistake.tokens),
        ),
        (word_of(best), message("Its probability is {probability}.", probability=Fixed(float(p[best])))),
        *((word_of(word), reply) for word, reply in (*wrong, *less)),
    )


def loss_of_this_guess(mistake: Prediction, random: Generator) -> Asked:
    """Minus the logarithm of what the right word was given."""
    p = float(mistake.probabilities[mistake.right])
    question = multiple_choice_of_numbers(
        lambda shown: message(
            "The model gives the right word, {right}, the probability {p}. The loss is −ln of it. How large is it?",
            right=word_of(mistake.right),
            p=shown(p),
        ),
        *told(
            message("−ln grows without limit as the probability of the right word goes to 0."),
            (-math.log(p), message("minus the logarithm of p")),
            (
                math.log(p),
                message("the logarithm of p"),
                message("A logarithm of a probability is never above 0: the minus is missing."),
            ),
            (
                1 - p,
                message("the probability of the wrong words"),
                message("That is a probability. The loss takes a logarithm."),
            ),
            (1 / p, message("1, divided by p"), message("The loss is ln of that: the logarithm is missing.")),
            (
                0.0,
                message("only a wrong guess costs anything"),
                message("The right word costs something, too, unless its probability is 1."),
            ),
        ),
    )
    return asks_about("loss.loss", (), question)


def most_raised(mistake: Prediction, random: Generator) -> Asked:
    """A score goes up where its weight and its d_weight together say so."""
    asked, names = mistake.asked[-1], mistake.names
    way = mistake.way
    d_scores, d_weights, weights = (
        torch.tensor(rows[asked]) for rows in (way.d_scores, way.d_weights, way.attention.weights)
    )
    right = mistake.tokens.index(word_of(mistake.right).text)
    lowest, heaviest = int(d_weights.argmin()), int(weights.argmax())
    return asks_about(
        "d_scores",
        (asked, int(d_scores.argmin())),
        multiple_choice_of_tokens(
            message(
                "The model takes one small step against d_scores, the gradient of the scores. Which key's score "
                "does {query} raise most?",
                query=names[asked],
            ),
            names,
            -d_scores,
            message("weight · (d_weight − mean) is lowest there, and a step goes against it."),
            [
                (
                    lowest,
                    message(
                        "Its d_weight is the lowest, but its weight, a factor of the gradient, is only {weight}.",
                        weight=Fixed(float(weights[lowest])),
                    ),
                ),
                (
                    heaviest,
                    message("It has the largest weight, but how far its d_weight is below the mean counts, too."),
                ),
                (
                    right,
                    message("The answer is there, but another score lowers the loss of this model more."),
                ),
            ],
            lambda p: message(
                "The d_score of {key} is {gradient}; another is lower.",
                key=names[p],
                gradient=Magnitude(float(d_scores[p])),
            ),
        ),
    )


def hidden_from_gradients(mistake: Prediction, random: Generator) -> Asked:
    """What is masked has no gradient: which key is it?"""
    attention, names = mistake.way.attention, mistake.names
    visible = torch.tensor(attention.visible)
    query = one_of((~visible).any(dim=-1) & (visible.sum(dim=-1) > 1), random)  # one key alone has no gradient either
    hidden = one_of(~visible[query], random)
    weights = attention.weights[query]
    others = [j for j in torch.randperm(len(names), generator=random).tolist() if visible[query, j] and j != query]
    return multiple_choice(
        message(
            "Suppose every position is asked for its next word. Which of these keys gets a d_score of exactly 0 from "
            "{query}?",
            query=names[query],
        ),
        Card(
            message("{token}", token=names[hidden]),
            message("The mask hides it: its weight, a factor of the gradient, is 0."),
        ),
        *(
            Card(
                message("{token}", token=names[j]),
                message(
                    "{key} is visible, with weight {weight}, so its score gets a gradient.",
                    key=names[j],
                    weight=Fixed(float(weights[j])),
                ),
            )
            for j in (query, *others)
        ),
    )


def twice_the_rate(mistake: Prediction, random: Generator) -> Asked:
    """Twice the step, not twice the gain."""
    rate = RATES[3 + below(4, random)]
    steps = steps_at(mistake, rate, 2 * rate)
    before, (after, then), (_, line) = float(steps.before), steps.after.tolist(), steps.promised.tolist()
    if abs(before - after) < WORTH_ASKING or then < LEAST_LOSS:
        return None
    doubled = before - 2 * (before - after)
    bends = message("The step is twice as long, but the loss bends on the way.")
    return multiple_choice_of_numbers(
        lambda shown: message(
            "One step at learning rate {rate} takes the loss from {before} to {after}. What is the loss "
            "after one step at twice that rate, from the same weights?",
            rate=rate_as_written(rate),
            before=shown(before),
            after=shown(after),
        ),
        (then, bends, message("twice the step, along a curve")),
        (
            doubled if doubled > 0 else math.nan,
            message("That would hold if the loss were a straight line."),
            message("twice the step, twice the change"),
        ),
        (
            line if line > 0 else math.nan,
            message("There the straight line of the gradient leads, and the loss leaves it."),
            message("down the straight line of the gradient"),
        ),
        (
            after,
            message("The direction is the same, but the step goes further."),
            message("the same direction, the same loss"),
        ),
        (
            after**2 / before,
            message("A loss does not fall by one factor for each length of step."),
            message("the same factor once more"),
        ),
        (
            (before + after) / 2,
            message("A higher rate makes the step longer, not shorter."),
            message("twice the rate, half the change"),
        ),
        (
            0.0,
            message("A step does not know where the bottom is. It only gets longer."),
            message("a longer step arrives at the bottom"),
        ),
    )


def gradient_of_the_right_logit(mistake: Prediction, random: Generator) -> Asked:
    """The probability minus 1. Always possible."""
    right = mistake.right
    p = float(mistake.probabilities[right])
    return asks_about(
        "d_logits",
        (mistake.asked[-1], right),
        multiple_choice_of_numbers(
            lambda shown: message(
                "The model gives the right word, {right}, the probability {p}. What is its "
                "d_logit, the gradient of the loss with respect to its logit?",
                right=word_of(right),
                p=shown(p),
            ),
            *told(
                message("Probability minus 1: negative, so a step against it raises the logit."),
                (p - 1, message("the probability, minus 1")),
                (
                    p,
                    message("the probability, just as it is"),
                    message("That is the d_logit of a wrong word. For the right one, 1 is subtracted."),
                ),
                (
                    1 - p,
                    message("1, minus the probability"),
                    message("That has the wrong sign: a step against it would lower the logit."),
                ),
                (-math.log(p), message("minus ln of the probability"), message("That is the loss, not its gradient.")),
                (
                    math.log(p),
                    message("ln of the probability"),
                    message("That is the loss with its sign turned, not its gradient."),
                ),
                (
                    -1.0,
                    message("minus 1, whatever the probability"),
                    message("The surer the model is, the nearer the gradient is to 0."),
                ),
            ),
        ),
    )


QUESTIONS: Kinds = {
    "look": (
        likeliest_word,
        loss_of_this_guess,
    ),
    "predict": (
        gradient_of_the_right_logit,
        most_raised,
    ),
    "generalise": (
        hidden_from_gradients,
        twice_the_rate,
    ),
}
