"""The flip test: one word at the end decides what “it” means. Do the weights of “it” turn with it?

In a causal model they cannot. In an encoder, which looks ahead, they might: measured on many pairs of sentences.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.model.transformer import Transformer
from lessons.example.real_model import RealModel, head_name
from lessons.model.read.reading import Reading
from lessons.screen import (
    Code,
    Fixed,
    ListOf,
    Magnitude,
    Message,
    Percent,
    Points,
    Table,
    argmax_ties,
    message,
    percent,
)
from lessons.shared.computed_once import computed_once

ANIMALS = ("animal", "dog", "cat", "horse", "cow", "fox", "sheep", "lion")
THINGS = ("street", "road", "river", "bridge", "field", "lake")
ENDINGS = ("tired", "wide")  # the animal is too tired, the thing is too wide
LEAST_LEAD = 0.05  # of the noun that is meant, before it counts


def sentence_of(animal: str, thing: str, ending: str) -> str:
    """A sentence of a pair."""
    return f"The {animal} didn't cross the {thing} because it was too {ending}"


@dataclass(frozen=True, eq=False)
class FlipTest:
    """What “it” gives to the animal and to the thing, with either ending, for every pair and head."""

    animal: Float[Tensor, "pairs endings layers heads"]
    thing: Float[Tensor, "pairs endings layers heads"]

    @property
    def leads(self) -> Float[Tensor, "pairs endings layers heads"]:
        """How much more the animal gets than the thing."""
        return self.animal - self.thing

    @property
    def flips(self) -> Float[Tensor, "layers heads"]:
        """The share of pairs in which the animal leads with the one ending and the thing with the other."""
        tired, wide = self.leads.unbind(dim=1)
        return ((tired >= LEAST_LEAD) & (wide <= -LEAST_LEAD)).float().mean(dim=0)


@computed_once(maxsize=4)
def flip_test(model: RealModel, animals: tuple[str, ...], things: tuple[str, ...]) -> FlipTest:
    """All pairs of these nouns in one pass. Each must be one token, so that all sentences are equally long."""
    texts = [sentence_of(animal, thing, end) for animal in animals for thing in things for end in ENDINGS]
    cut = [model.tokenizer.encode(text) for text in texts]  # with the marks that an encoder was trained with
    words = [[text[begin:end].strip() for begin, end in one.offsets] for text, one in zip(texts, cut, strict=True)]
    it, noun = words[0].index("it"), (words[0].index(animals[0]), words[0].index(things[0]))
    layers = model.compute([one.ids for one in cut]).layers
    rows = torch.stack(
        [layer.attention.heads.weights[:, :, it] for layer in layers], dim=1
    )  # sentences layers heads keys
    rows = rows.unflatten(0, (-1, len(ENDINGS)))
    return FlipTest(rows[..., noun[0]].clone(), rows[..., noun[1]].clone())


def flip_screen(reading: Reading, encoder: RealModel | None) -> dict[str, Any]:
    """The causal model on the first pair; where it is here, the encoder on all pairs."""
    causal = flip_test(reading.model, ANIMALS[:1], THINGS[:1])
    table = both_models_table(reading, causal, encoder)
    code = Code((sentence_of, Transformer.visible, Transformer.__call__))
    if encoder is None:
        return {"figures": (table,), "code": code}
    return {"figures": (flips_figure(flip_test(encoder, ANIMALS, THINGS)), table), "code": code}


def flips_figure(found: FlipTest) -> Points:
    """A dot for each head of the encoder: who leads with the one ending, and who with the other."""
    tired, wide = found.leads.mean(dim=0)
    heads = [(layer, head) for layer in range(tired.shape[0]) for head in range(tired.shape[1])]
    return Points(
        key="read_flips",
        name=message("The flip test: who leads with “tired”, and who with “wide”"),
        notice=(nearest_to_flip(found),),
        xs=[float(tired[place]) for place in heads],
        ys=[float(wide[place]) for place in heads],
        says=tuple(said_of_head(found, place) for place in heads),
        x=message("“tired”: weight of “it” on the animal − on the thing"),
        y=message("“wide”: the same; a flip lies below 0"),
        width=620,
        height=320,
    )


def said_of_head(found: FlipTest, place: tuple[int, int]) -> Message:
    """The mean weights of a head."""
    animal, thing = (noun.mean(dim=0)[:, *place].tolist() for noun in (found.animal, found.thing))
    return message(
        "With “tired”, head {head} puts {a} on the animal and {b} on the thing; with “wide”, {c} and "
        "{d}. It flips in {share} of the pairs.",
        head=head_name(*place),
        a=Fixed(animal[0]),
        b=Fixed(thing[0]),
        c=Fixed(animal[1]),
        d=Fixed(thing[1]),
        share=Percent(float(found.flips[place])),
    )


def nearest_to_flip(found: FlipTest) -> Message:
    """The null result, or what was found after all."""
    flips = found.flips
    most = argmax_ties(flips, percent)
    about = {
        "all": flips.numel(),
        "pairs": len(found.animal),
        "least": Fixed(LEAST_LEAD),
        "share": Percent(float(flips.max())),
        "heads": ListOf(tuple(head_name(*place) for place in most)),
    }
    if float(flips.max()) == 0:
        del about["heads"], about["share"], about["least"]
        return message(
            "MiniLM sees what comes after “it”, yet none of its {all} heads flips in any of the {pairs} pairs.",
            **about,
        )
    return message(
        "MiniLM sees what comes after “it”. Of its {all} heads, {heads} flips most, in {share} of "
        "{pairs} pairs: there the noun that is meant leads by {least} both times.",
        **about,
    )


def cannot_see(reading: Reading, causal: FlipTest) -> Message:
    """Why no head of the causal model flips, and the largest change of a weight that was measured."""
    change = max(float((noun[:, 0] - noun[:, 1]).abs().max()) for noun in (causal.animal, causal.thing))
    return message(
        "In {model}, “it” cannot see the deciding word, which comes later: none of its weights, in "
        "{all} heads, changes by more than {change}.",
        model=reading.model.name,
        all=causal.animal[0, 0].numel(),
        change=Magnitude(change if change > 1e-5 else 0.0),
    )


def both_models_table(reading: Reading, causal: FlipTest, encoder: RealModel | None) -> Table:
    """The weights of “it” on one pair: in the chosen head of the one model, in that nearest to a flip of the other."""
    rows = [(reading.called, reading.place, reading.model, causal)]
    if encoder is not None:
        flips = flip_test(encoder, ANIMALS, THINGS).flips
        place = divmod(int(flips.argmax()), flips.shape[1])
        rows.append((head_name(*place), place, encoder, flip_test(encoder, ANIMALS[:1], THINGS[:1])))
    return Table(
        key="read_flip_pair",
        name=message("One pair: the weights of “it”"),
        heading=message("One pair, in numbers"),
        notice=(cannot_see(reading, causal),),
        columns=(message("model"), message("head"), message("sentence"), message("animal"), message("street")),
        cells=tuple(
            (
                model.name,
                called,
                sentence_of(ANIMALS[0], THINGS[0], ending),
                *(Fixed(float(noun[0, end][place]), 3) for noun in (found.animal, found.thing)),
            )
            for called, place, model, found in rows
            for end, ending in enumerate(ENDINGS)
        ),
    )
