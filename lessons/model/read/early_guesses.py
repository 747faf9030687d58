"""What the model would guess if it stopped earlier: after every layer, and between attention and MLP."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_core.model.transformer import Transformer
from lessons.example.real_model import RealModel
from lessons.model.read.compute import stop_early
from lessons.model.read.reading import Reading
from lessons.screen import (
    Code,
    Curves,
    Fixed,
    Integer,
    Line,
    Magnitude,
    Message,
    Percent,
    Table,
    argmax_ties,
    message,
    percent,
)
from lessons.shared.computed_once import computed_once

LEAST_DRAWN = 1e-7  # what is less likely stands at the foot of the figure


@dataclass(frozen=True, eq=False)
class EarlyGuesses:
    """For each step the first guess and its probability; and of the guess in the end its probability and its place."""

    first: Int[Tensor, " steps"]
    chance: Float[Tensor, " steps"]
    final: int
    of_final: Float[Tensor, " steps"]
    place: Int[Tensor, " steps"]  # from 1

    @property
    def first_for_good(self) -> int:
        """From this step on the guess in the end comes first."""
        others = (self.first != self.final).nonzero()
        return int(others.max()) + 1 if len(others) else 0


def early_guesses(reading: Reading) -> EarlyGuesses:
    """Those at the token that asks. Kept, for they take as long as the pass."""
    return computed_guesses(reading.model, reading.text.ids, reading.query)


@computed_once(maxsize=16)
def computed_guesses(model: RealModel, ids: tuple[int, ...], query: int) -> EarlyGuesses:
    """The same of these tokens."""
    with torch.inference_mode():
        chances = stop_early(model.transformer, model.trace(ids), query).softmax(dim=-1)
    best = chances.max(dim=-1)
    final = int(best.indices[-1])
    place = (chances > chances[:, [final]]).sum(dim=-1) + 1
    return EarlyGuesses(best.indices, best.values, final, chances[:, final].clone(), place)


def early_guesses_screen(reading: Reading) -> dict[str, Any]:
    """A curve over the layers, and all steps in a table."""
    found = early_guesses(reading)
    return {
        "figures": (curves(reading, found), steps_table(reading, found)),
        "code": Code((stop_early, Transformer.__call__)),
    }


def curves(reading: Reading, found: EarlyGuesses) -> Curves:
    """The probability of the guess in the end at every step, and from where on it comes first."""
    final = reading.in_vocabulary(found.final)
    line = Line(
        key="guess_final",
        name=message("{token}", token=final),
        x=[step / 2 for step in range(len(found.first))],
        y=found.of_final.clamp(min=LEAST_DRAWN).tolist(),
        points=True,
    )
    return Curves(
        key="read_guesses",
        name=message("The guess for the next token, layer by layer"),
        notice=(when_it_leads(reading, found), *largest_rise(found)),
        lines=(line,),
        x=message("layers read (a half: attention, not yet the MLP)"),
        y=message("probability of {token}", token=final),
        logarithmic_y=True,
        y_domain=(LEAST_DRAWN, 1),
        marks=((message("first from here on"), found.first_for_good / 2),),
        width=680,
        height=300,
    )


def said_of_step(step: int) -> Message:
    """Where in the model a step is; layers count from 0."""
    if step == 0:
        return message("the embedding")
    layer, half = divmod(step - 1, 2)
    return (
        message("the MLP of layer {layer}", layer=layer)
        if half
        else message("the attention of layer {layer}", layer=layer)
    )


def when_it_leads(reading: Reading, found: EarlyGuesses) -> Message:
    """From where on the guess in the end comes first."""
    return message(
        "After {query} the model guesses {token} ({chance}); read off layer by layer, that guess comes "
        "first from {step} onwards.",
        query=reading.names[reading.query],
        token=reading.in_vocabulary(found.final),
        chance=Percent(float(found.of_final[-1])),
        step=said_of_step(found.first_for_good),
    )


def largest_rise(found: EarlyGuesses) -> tuple[Message, ...]:
    """Which half of a layer raises it most; nothing where several tie."""
    rises = found.of_final.diff()
    most = argmax_ties(rises, percent)
    if len(most) > 1:
        return ()
    step = most[0][0] + 1
    before, after = (Percent(float(found.of_final[which])) for which in (step - 1, step))
    return (
        message(
            "Its probability rises most in {step}: from {before} to {after}.",
            step=said_of_step(step),
            before=before,
            after=after,
        ),
    )


def steps_table(reading: Reading, found: EarlyGuesses) -> Table:
    """Every step, the last first."""
    final = reading.in_vocabulary(found.final)
    return Table(
        key="read_steps",
        name=message("Every step"),
        heading=message("What would it guess if it stopped there?"),
        notice=(
            message(
                "The map to the vocabulary is used at every step, but only the output of the last layer was "
                "trained for it."
            ),
        ),
        columns=(
            message("after"),
            message("first guess"),
            message("probability"),
            message("rank of {token}", token=final),
            message("probability of {token}", token=final),
        ),
        cells=tuple(
            (
                said_of_step(step),
                reading.in_vocabulary(int(found.first[step])),
                Fixed(float(found.chance[step]), 3),
                Integer(int(found.place[step])),
                Magnitude(float(found.of_final[step])),
            )
            for step in reversed(range(len(found.first)))
        ),
    )
