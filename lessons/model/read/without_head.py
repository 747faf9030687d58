"""A head switched off: what the guesses for the next token lose, beside the same without heads drawn at random."""

from typing import Any

from jaxtyping import Float
from torch import Tensor

from attention_core.model.transformer import Transformer
from attention_core.one_head.heads import ablate
from lessons.example.real_model import head_name
from lessons.model.read.choices import HEADS_DRAWN
from lessons.model.read.reading import Place, Reading
from lessons.screen import Code, Fixed, Message, Part, Parts, Table, message, plural

MOST_GUESSES = 8


def without_head_screen(reading: Reading) -> dict[str, Any]:
    """The guesses with all heads and without one; and the same for others."""
    figures = guesses_figure(reading), others_table(reading)
    return {"figures": figures, "code": Code((ablate, Transformer.__call__))}


def likeliest(reading: Reading) -> list[int]:
    """The likeliest next tokens of the whole model."""
    return reading.guesses().argsort(descending=True, stable=True)[:MOST_GUESSES].tolist()


def changes(reading: Reading) -> Float[Tensor, " guesses"]:
    """How much the head changes the probability of each of them."""
    return (reading.guesses(reading.place) - reading.guesses())[likeliest(reading)].abs()


def changed_most(reading: Reading) -> int:
    """The one that it changes most."""
    return likeliest(reading)[int(changes(reading).argmax())]


def guesses_figure(reading: Reading) -> Parts:
    """The likeliest next tokens, with the whole model and without the head."""
    whole, less = reading.guesses(), reading.guesses(reading.place)

    def part(token: int) -> Part:
        name, shares = reading.in_vocabulary(token), (float(whole[token]), float(less[token]))
        says = tuple(message("{token}: {share}", token=name, share=Fixed(share, 3)) for share in shares)
        return Part(name=name.text, shares=shares, says=says)

    return Parts(
        key="read_off",
        name=message("The guesses for the next token, with all heads and without one"),
        notice=(what_it_costs(reading), range_of_others(reading)),
        rows=(message("the whole model"), message("without head {head}", head=reading.called)),
        parts=tuple(map(part, likeliest(reading))),
        width=660,
    )


def what_it_costs(reading: Reading) -> Message:
    """What becomes of the guess that changes most."""
    token = changed_most(reading)
    return message(
        "Without head {head}, {token} goes from {whole} to {less}.",
        head=reading.called,
        token=reading.in_vocabulary(token),
        whole=Fixed(float(reading.guesses()[token]), 3),
        less=Fixed(float(reading.guesses(reading.place)[token]), 3),
    )


def chances_without(reading: Reading, token: int) -> dict[Place, float]:
    """The probability of a token without each of some heads drawn at random."""
    return {place: float(reading.guesses(place)[token]) for place in reading.random_heads(HEADS_DRAWN)}


def range_of_others(reading: Reading) -> Message:
    """The same without others, one at a time."""
    token = changed_most(reading)
    chances = chances_without(reading, token).values()
    return plural(
        "Without a randomly drawn head, {token} is at {most}.",
        "Without one of {count} randomly drawn heads, {token} is between {least} and {most}.",
        len(chances),
        token=reading.in_vocabulary(token),
        least=Fixed(min(chances), 3),
        most=Fixed(max(chances), 3),
    )


def others_table(reading: Reading) -> Table:
    """Each of the random heads."""
    token = changed_most(reading)
    rows = {reading.place: float(reading.guesses(reading.place)[token])} | chances_without(reading, token)
    return Table(
        key="read_off_others",
        name=message("Without one random head at a time"),
        columns=(message("without"), message("probability of {token}", token=reading.in_vocabulary(token))),
        cells=(
            (message("no head"), Fixed(float(reading.guesses()[token]), 4)),
            *((head_name(*place), Fixed(chance, 4)) for place, chance in rows.items()),
        ),
        folded=True,
    )
