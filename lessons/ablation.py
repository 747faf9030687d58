"""What each head of a trained model is worth: how well it does when one of them, or a layer, is ablated."""

from collections.abc import Sequence

import torch

from attention_core.model import ModelConfig
from attention_core.observe import Ablation, ablate_heads
from attention_core.training import Snapshot, TrainingSettings
from lessons.every_head import head_name
from lessons.formatting import leaders, percent
from lessons.screen import Table
from lessons.sentence import All, Number, Sentence, Share, say

LITTLE = 0.75  # of the right answers: where so many are left without a head, attention adds little


def ablation_table(settings: TrainingSettings, snapshot: Snapshot) -> Table:
    """A line for each head, then for each layer of several heads."""
    of_layers = heads_by_layer(settings.model)
    heads = [ablate_heads(settings, snapshot, [one]) for layer in of_layers for one in layer]
    layers = [ablate_heads(settings, snapshot, layer) for layer in of_layers if len(layer) > 1]
    return Table(
        key="ablation", name=say("What each head is worth"),
        notice=ablation_sentences(heads),
        columns=(say("ablated"), say("right answers left"), say("lost (percentage points)"), say("loss")),
        cells=tuple((ablated_name(one), Share(one.accuracy), Number(100 * one.lost, 1), Number(one.loss))
                    for one in (*heads, *layers)))  # fmt: skip


def heads_by_layer(config: ModelConfig) -> list[list[tuple[int, int]]]:
    """The heads of each layer as (layer, head), counted from 0."""
    return [[(layer, head) for head in range(config.n_heads)] for layer in range(config.n_layers)]


def ablated_name(ablation: Ablation) -> Sentence:
    """What is ablated: one head, or a whole layer."""
    if len(ablation.ablated) == 1:
        return head_name(*ablation.ablated[0])
    return say("all of layer {layer}", layer=ablation.ablated[0][0] + 1)


def ablation_sentences(heads: Sequence[Ablation]) -> tuple[Sentence, Sentence]:
    """How well the whole model does, and which head it needs."""
    whole = say("With all heads, {share} of the answers are right.", share=Share(heads[0].accuracy_of_all))
    needed = [heads[i] for (i,) in leaders(-torch.tensor([one.accuracy for one in heads]), lambda a: percent(-a))]
    left = Share(min(one.accuracy for one in needed))
    if all(one.lost <= 0 for one in heads):
        return whole, say("No single head is essential.")
    if len(heads) == 1:
        return whole, say("Without its only head, {share} are.", share=left)
    if len(needed) > 1:
        named = All(tuple(ablated_name(one) for one in needed))
        return whole, say("Ablating one of {heads} costs the most: {share} are left.", heads=named, share=left)
    return whole, say("Ablating {head} costs the most: {share} are left.", head=ablated_name(needed[0]), share=left)


def without_heads(settings: TrainingSettings, snapshot: Snapshot) -> Sentence:
    """What is left of the right answers with every head ablated: how much of the task needs attention at all."""
    off = ablate_heads(settings, snapshot, [head for layer in heads_by_layer(settings.model) for head in layer])
    left, whole = Share(off.accuracy), Share(off.accuracy_of_all)
    if percent(off.accuracy) == percent(off.accuracy_of_all):
        return say("With every head ablated {left} of the answers are right, as many as with them.", left=left)
    if off.accuracy_of_all >= settings.task.enough_right and off.accuracy > LITTLE * off.accuracy_of_all:
        return say("With every head ablated {left} of the answers are still right ({whole} with them): this takes "
                   "little attention.", left=left, whole=whole)  # fmt: skip
    return say("With every head ablated {left} of the answers are right ({whole} with them).", left=left, whole=whole)
