"""A head patched with what it finds in another text: how far that alone moves the answer."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.heads import patch
from attention_core.transformer import Transformer
from lessons.example.real_model import RealModel, head_name
from lessons.kit.computed_once import computed_once
from lessons.kit.matrices import single_axis, traced_matrix
from lessons.read.choices import HEADS_DRAWN
from lessons.read.compute import way_moved
from lessons.read.reading import Place, Reading
from lessons.screen.message import Fixed, Message, Percent, message
from lessons.screen.screen import Axis, Code, Matrices
from lessons.trace.computation import Computation
from lessons.trace.story import Names

PATCH_SENTENCES = {
    "patched": message("first guess here − first guess there, in scores, with head {head} patched"),
    "way": message("share of the way with head {head} patched: how far it goes, of the distance from here to there"),
}


@dataclass(frozen=True, eq=False)
class TwoTexts:
    """The text that is read and the other one, at whose ends the next token is guessed."""

    here: Reading
    there: Reading

    @cached_property
    def answers(self) -> tuple[int, int]:
        """The first guess after each."""
        return int(self.here.trace.logits[-1].argmax()), int(self.there.trace.logits[-1].argmax())

    def difference(self, scores: Float[Tensor, " vocabulary"]) -> float:
        """The score of the one answer minus that of the other."""
        one, other = self.answers
        return float(scores[one] - scores[other])

    @property
    def ends(self) -> tuple[float, float]:
        """The difference after each text."""
        return self.difference(self.here.trace.logits[-1]), self.difference(self.there.trace.logits[-1])

    @property
    def why_not(self) -> Message | None:
        """Why nothing can be patched, if so."""
        here, there = len(self.here.text.ids), len(self.there.text.ids)
        if here != there:
            return message(
                "Both texts need as many tokens: this one has {here}, the other {there}.", here=here, there=there
            )
        if self.answers[0] == self.answers[1]:
            return message(
                "After both texts the first guess is {token}: there is no way to go.",
                token=self.here.in_vocabulary(self.answers[0]),
            )
        return None

    def with_patch(self, place: Place) -> float:
        """The difference here where one head finds what it finds there."""
        return self.difference(patched_scores(self.here.model, self.here.text.ids, self.there.text.ids, place))


def two_texts(reading: Reading) -> TwoTexts:
    """The texts that the learner chose."""
    return TwoTexts(reading, Reading(replace(reading.asked, text=reading.asked.other), reading.model))


@computed_once(maxsize=64)
def patched_scores(
    model: RealModel, here: tuple[int, ...], there: tuple[int, ...], place: Place
) -> Float[Tensor, " vocabulary"]:
    """The scores for the token after a text in which one head has the output that it has in another."""
    layer, head = place
    output = model.trace(there).layers[layer].attention.heads.output[head]
    with torch.inference_mode():
        return model.transformer(torch.tensor(here), patched={place: output}).logits[-1].clone()


def patched_screen(reading: Reading) -> dict[str, Any]:
    """How far the head moves the answer, and others, drawn at random."""
    texts = two_texts(reading)
    if texts.why_not is not None:
        return {"figures": (), "remarks": (texts.why_not,), "code": Code((patch, Transformer.__call__))}
    moved = compute_ways(texts)
    return {
        "figures": (ways_figure(texts, moved),),
        "formula": r"\text{share of the way} = \frac{\text{here} - \text{patched}}{\text{here} - \text{there}}",
        "code": moved.code(("way",), patch, Transformer.__call__),
    }


def heads_patched(texts: TwoTexts) -> list[Place]:
    """The chosen head, and those drawn at random."""
    return [texts.here.place, *texts.here.random_heads(HEADS_DRAWN)]


def compute_ways(texts: TwoTexts) -> Computation:
    """One row for each head, patched alone."""
    here, there = texts.ends
    places = heads_patched(texts)
    patched = torch.tensor([[texts.with_patch(place)] for place in places])
    things = {"heads": tuple(head_name(*place) for place in places)}
    return Computation(way_moved, {"here": here, "there": there, "patched": patched}, Names(PATCH_SENTENCES, things))


def ways_figure(texts: TwoTexts, moved: Computation) -> Matrices:
    """The difference with each head patched, and the share of the way."""
    one, other = (texts.here.in_vocabulary(token).text for token in texts.answers)
    rows = Axis(message("heads"), tuple(head_name(*place) for place in heads_patched(texts)), named=True)
    columns = single_axis("")
    matrices = (
        traced_matrix(
            moved,
            "patched",
            message("score of {one} − {other}", one=one, other=other),
            (),
            rows=rows,
            columns=columns,
            given=True,
        ),
        traced_matrix(moved, "way", message("share of the way"), (), rows=rows, columns=columns, scale="change"),
    )
    return Matrices(
        key="read_patched",
        name=message("How far one patched head moves the answer"),
        notice=said_of_patch(texts, moved),
        bands=(matrices,),
        first="way",
    )


def said_of_patch(texts: TwoTexts, moved: Computation) -> tuple[Message, ...]:
    """Both answers, how far the chosen head goes, and how far others."""
    way = moved.result.way[:, 0]
    here, there = texts.ends
    one, other = map(texts.here.in_vocabulary, texts.answers)
    furthest = max(way[1:].tolist(), key=abs)
    return (
        message(
            "Here the model guesses {one} and there {other}; with only head {head} from there, the difference of their "
            "scores goes from {here} to {patched}, {way} of the way to {there}.",
            one=one,
            other=other,
            head=texts.here.called,
            here=Fixed(here),
            patched=Fixed(float(moved.inputs["patched"][0, 0])),
            there=Fixed(there),
            way=Percent(float(way[0])),
        ),
        message(
            "Of {count} heads drawn at random, none goes further than {most}, in either direction.",
            count=len(way) - 1,
            most=Percent(abs(furthest)),
        ),
    )
