"""Questions of the lesson generate: how does it write?

They are about one new token, so they are made from its `GeneratedToken` instead of an example and a head.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.generation import GeneratedToken
from attention_core.sampling import Sampling, keep_top_p, next_token_probabilities, ranked
from attention_core.tokens import Vocabulary
from lessons.captions import number, percent
from lessons.questions.old_base import CLEAR_LEAD, Choice, Question, among, among_numbers, first_fair
from lessons.writing import quoted

HALF, DOUBLE = 0.5, 2.0


@dataclass(frozen=True, eq=False)
class Moment:
    """A token just written, and how it was drawn."""

    new: GeneratedToken
    vocabulary: Vocabulary
    sampling: Sampling

    @property
    def says(self) -> Float[Tensor, " vocabulary"]:
        """What the model says, before temperature and cuts."""
        return self.new.draw.probabilities

    @property
    def order(self) -> list[int]:
        """The tokens, the likeliest first. Scores keep apart what probabilities may round together."""
        return ranked(self.new.draw.logits).tolist()

    def called(self, token: int) -> str:
        """A token of the vocabulary in quotes."""
        return quoted(self.vocabulary.tokens[token])


Maker = Callable[[Moment, torch.Generator], Question | None]


def ask_about_writing(moment: Moment, seed: int) -> Question:
    """A question about this token. The same arguments give the same question."""
    return first_fair(QUESTIONS, "generate", seed, moment)


def most_probable(moment: Moment, random: torch.Generator) -> Question | None:
    """The likeliest need not be what was drawn, nor what was looked at."""
    order, says = moment.order, moment.says
    if says[order[0]] - says[order[1]] < CLEAR_LEAD:
        return None
    drawn = moment.new.draw.token
    last = moment.vocabulary.encode(moment.new.window[-1:])[0]
    beliefs = [
        (drawn, "That one was drawn. A draw takes the unlikely too, as often as its probability says."),
        (last, "That is the last character read. The scores are for the one that follows it."),
    ]
    others = [(p, f"Its probability is {number(float(says[p]), 3)}; another one has more.") for p in order[1:]]
    return among(
        f"The text so far ends with “{ending(moment)}”. Before any temperature or cut, which character does the model "
        "find most likely to come next?",
        Choice(moment.called(order[0]), f"Its probability is {number(float(says[order[0]]), 3)}, the largest of all."),
        *(Choice(moment.called(p), mend) for p, mend in [*beliefs, *others] if p != order[0]),
    )


def warmer(moment: Moment, random: torch.Generator) -> Question | None:
    """Temperature divides the scores, not the probabilities."""
    best = moment.order[0]
    now = float(moment.says[best])
    hot, cold = (float(next_token_probabilities(moment.new.draw.logits, t)[best]) for t in (DOUBLE, HALF))
    return among_numbers(
        lambda shown: (
            f"At temperature 1 {moment.called(best)} has the probability {shown(now)}. "
            f"What is it at temperature {DOUBLE:g}, with no cut?"
        ),
        (hot, "All differences between the scores are halved, so the likeliest loses and the unlikely gain."),
        (now / DOUBLE, "The scores are divided, not the probabilities: halved probabilities would sum to a half."),
        (cold, f"That is temperature {HALF:g}: dividing by less than 1 makes differences larger."),
        (now, "Only a temperature of 1 leaves everything as it is."),
    )


def survivors(moment: Moment, random: torch.Generator) -> Question | None:
    """Top-p counts tokens until their sum is reached; the one that reaches it stays."""
    p = (0.5, 0.8, 0.9, 0.95)[int(torch.randint(4, (), generator=random))]
    size = len(moment.says)
    right = int(keep_top_p(moment.says, p).sum())
    single, short, share = int((moment.says >= p).sum()), right - 1, round(p * size)
    reached = percent(float(summed(moment, right)))
    return among(
        f"At temperature 1 and without top-k: how many of the {size} characters survive top-p {p:g}?",
        Choice(str(right), f"The likeliest {right} have {reached} together; fewer do not reach {p:g}."),
        Choice(str(single), f"So many have {p:g} each on their own. Top-p adds them up, likeliest first."),
        Choice(str(short), "The one whose probability reaches the sum is kept, so there is one more."),
        Choice(str(share), "Top-p is a share of the probability, not of the vocabulary."),
        Choice(str(size), "All together have 1; top-p stops as soon as the sum is reached."),
    )


def only_one(moment: Moment, random: torch.Generator) -> Question | None:
    """Top-k 1 is greedy whatever the temperature and the seed. Always possible."""
    best, drawn = moment.order[0], moment.new.draw.token
    return among(
        "Set top-k to 1 and draw this character again with other seeds and temperatures. What comes?",
        Choice(f"{moment.called(best)}, every time", "Only the likeliest is kept, and a temperature keeps the order."),
        Choice(f"{moment.called(drawn)}, every time", "That was drawn this time, but it is not the likeliest."),
        Choice("it depends on the seed", "A seed chooses among what is left, and only one is left."),
        Choice("it depends on the temperature", "A temperature keeps the order, so the likeliest stays the likeliest."),
    )


def same_seed(moment: Moment, random: torch.Generator) -> Question | None:
    """A seed makes chance repeatable. Always possible."""
    drawn = moment.called(moment.new.draw.token)
    return among(
        "Begin again with the same model, start, settings and seed, and write as far as here. What comes at this "
        "place?",
        Choice(f"{drawn} again", "The same seed gives the same random numbers, so everything repeats."),
        Choice("anything may come", "A random number from a seed is computed: the same seed gives the same one."),
        Choice("always the likeliest", "The draw is the same as before, and it took what its random number fell on."),
    )


def ending(moment: Moment, most: int = 12) -> str:
    """The last characters that were read."""
    return "".join(moment.new.window[-most:])


def summed(moment: Moment, count: int) -> Float[Tensor, ""]:
    """The probabilities of so many tokens together, the likeliest first."""
    return moment.says[moment.order[:count]].sum()


QUESTIONS: tuple[Maker, ...] = (most_probable, warmer, survivors, only_one, same_seed)
