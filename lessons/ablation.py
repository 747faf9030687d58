"""What each head of a trained model is worth: how well it does when one of them, or a layer, is ablated."""

from collections.abc import Sequence

import torch

from attention_core.observe import Ablation, Overlap
from lessons.every_head import head_name
from lessons.formatting import leaders, percent
from lessons.screen import Table
from lessons.sentence import All, Number, Sentence, Share, say, say_count


def ablation_table(heads: Sequence[Ablation], layers: Sequence[Ablation], overlap: Overlap) -> Table:
    """A line for each head, then for each layer; and whether the sequences that count were seen in training."""
    return Table(
        key="ablation", name=say("What each head is worth"),
        notice=(*ablation_sentences(heads), overlap_sentence(overlap)),
        columns=(say("ablated"), say("right answers left"), say("lost (percentage points)"), say("loss")),
        cells=tuple((ablated_name(one), Share(one.accuracy), Number(100 * one.lost, 1), Number(one.loss))
                    for one in (*heads, *layers)))  # fmt: skip


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


def overlap_sentence(overlap: Overlap) -> Sentence:
    """How many of the sequences that a model is evaluated on it has been trained on."""
    if overlap.seen == 0:
        return say("None of the {total} evaluation sequences occurred in training.", total=overlap.total)
    if overlap.seen == overlap.total:
        return say("All of the {total} evaluation sequences occurred in training, too.", total=overlap.total)
    return say_count("{count} of the {total} evaluation sequences occurred in training, too.",
                     "{count} of the {total} evaluation sequences occurred in training, too.",
                     overlap.seen, total=overlap.total)  # fmt: skip
