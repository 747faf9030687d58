"""Heads patched with what they find in another text: how far that alone moves the answer."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.model.transformer import Transformer
from attention_core.one_head.heads import patch
from lessons.example.real_model import RealModel, head_name
from lessons.model.read.choices import HEADS_DRAWN
from lessons.model.read.compute import way_moved
from lessons.model.read.reading import Group, Reading
from lessons.screen import Axis, Code, Fixed, Matrices, Message, Percent, message, plural
from lessons.shared.computed_once import computed_once
from lessons.shared.matrices import single_axis, traced_matrix
from lessons.trace.computation import Computation
from lessons.trace.story import Names

MOST_NAMED = 3  # heads of a group
PATCH_SENTENCES = {
    "patched": message("first guess here − first guess there, in scores, with head {head} patched"),
    "way": message("share of the way with head {head} patched: how far it goes, of the distance from here to there"),
}
GROUP_SENTENCES = {
    "patched": message("first guess here − first guess there, in scores, with heads {head} patched"),
    "way": message("share of the way with heads {head} patched: how far they go, of the distance from here to there"),
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
                "Both texts must have the same number of tokens: this one has {here}, the other {there}.",
                here=here,
                there=there,
            )
        if self.answers[0] == self.answers[1]:
            return message(
                "After both texts the first guess is {token}, so there is no distance to cover.",
                token=self.here.in_vocabulary(self.answers[0]),
            )
        return None

    def with_patch(self, group: Group) -> float:
        """The difference here where some heads find what they find there."""
        return self.difference(patched_scores(self.here.model, self.here.text.ids, self.there.text.ids, group))


def two_texts(reading: Reading) -> TwoTexts:
    """The texts that the learner chose."""
    return TwoTexts(reading, Reading(replace(reading.asked, text=reading.asked.other), reading.model))


@computed_once(maxsize=64)
def patched_scores(
    model: RealModel, here: tuple[int, ...], there: tuple[int, ...], group: Group
) -> Float[Tensor, " vocabulary"]:
    """The scores for the token after a text in which some heads have the outputs that they have in another."""
    layers = model.trace(there).layers
    outputs = {(layer, head): layers[layer].attention.heads.output[head] for layer, head in group}
    return model.compute(here, patched=outputs, scored=slice(-1, None)).logits[0].clone()


def patched_screen(reading: Reading) -> dict[str, Any]:
    """How far the heads move the answer, and as many others, drawn at random."""
    texts = two_texts(reading)
    if texts.why_not is not None:
        return {"figures": (), "remarks": (texts.why_not,), "code": Code((patch, Transformer.__call__))}
    moved = compute_ways(texts)
    return {
        "figures": (ways_figure(texts, moved),),
        "formula": r"\text{share of the way} = \frac{\text{here} - \text{patched}}{\text{here} - \text{there}}",
        "code": moved.code(("way",), patch, Transformer.__call__),
    }


def heads_patched(texts: TwoTexts) -> list[Group]:
    """The chosen heads, and groups of as many drawn at random."""
    group = texts.here.group
    return [group, *texts.here.random_groups(HEADS_DRAWN, group)]


def group_name(group: Group) -> str:
    """Heads by their names; of many the first and the last, and how many there are."""
    heads = [head_name(*place) for place in group]
    return ", ".join(heads) if len(heads) <= MOST_NAMED else f"{heads[0]} … {heads[-1]} ({len(heads)})"


def compute_ways(texts: TwoTexts) -> Computation:
    """One row for each group of heads, patched at once and no others."""
    here, there = texts.ends
    groups = heads_patched(texts)
    sentences = PATCH_SENTENCES if len(groups[0]) == 1 else GROUP_SENTENCES
    patched = torch.tensor([[texts.with_patch(group)] for group in groups])
    things = {"heads": tuple(map(group_name, groups))}
    return Computation(way_moved, {"here": here, "there": there, "patched": patched}, Names(sentences, things))


def ways_figure(texts: TwoTexts, moved: Computation) -> Matrices:
    """The difference with each group patched, and the share of the way."""
    one, other = (texts.here.in_vocabulary(token).text for token in texts.answers)
    rows = Axis(message("heads"), tuple(map(group_name, heads_patched(texts))), named=True, whole=True)
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
        name=message("How far patched heads move the answer"),
        notice=said_of_patch(texts, moved),
        bands=(matrices,),
        first="way",
    )


def said_of_patch(texts: TwoTexts, moved: Computation) -> tuple[Message, ...]:
    """Both answers, how far the chosen heads go, and how far others."""
    way, group = moved.result.way[:, 0], texts.here.group
    here, there = texts.ends
    one, other = map(texts.here.in_vocabulary, texts.answers)
    said = {
        "one": one,
        "other": other,
        "here": Fixed(here),
        "patched": Fixed(float(moved.inputs["patched"][0, 0])),
        "there": Fixed(there),
        "way": Percent(float(way[0])),
    }
    if len(group) == 1:
        goes = message(
            "Here the model guesses {one}, there {other}. With only head {head} taken from there, the "
            "difference of their scores goes from {here} to {patched}, {way} of the way to {there}.",
            head=texts.here.called,
            **said,
        )
    else:
        goes = message(
            "Here the model guesses {one}, there {other}. With only these {count} heads taken from there, "
            "the difference of their scores goes from {here} to {patched}, {way} of the way to {there}.",
            count=len(group),
            **said,
        )
    return (goes, *said_of_others(way[1:].tolist(), len(group)))


def said_of_others(ways: list[float], n: int) -> tuple[Message, ...]:
    """How far groups of `n` heads go that were drawn at random, if there are any."""
    if not ways:
        return ()
    count, most = len(ways), Percent(max(map(abs, ways)))
    if n == 1:
        return (
            plural(
                "A head drawn at random goes {most} of the way, in one direction or the other.",
                "Of {count} heads drawn at random, the one that goes furthest, in either direction, goes {most} of the "
                "way.",
                count,
                most=most,
            ),
        )
    return (
        plural(
            "A group of {n} heads drawn at random goes {most} of the way, in one direction or the other.",
            "Of {count} groups of {n} heads drawn at random, the one that goes furthest, in either direction, goes "
            "{most} of the way.",
            count,
            n=n,
            most=most,
        ),
    )
