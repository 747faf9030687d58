"""What each head of a trained model is worth: how well it does when one of them, or a layer, is ablated."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch

from attention_core.learning.training import Snapshot, TrainingSettings
from attention_core.measured.observe import Ablation, ablate_heads, evaluate_without
from attention_core.model.small_model import ModelConfig
from lessons.screen import Fixed, Line, ListOf, Message, Percent, Table, argmax_ties, distinguishable, message, percent
from lessons.shared.head_maps import head_name


def ablation_table(settings: TrainingSettings, snapshot: Snapshot) -> Table:
    """A line for each head, then for each layer of several heads."""
    of_layers = heads_by_layer(settings.model)
    heads = [ablate_heads(settings, snapshot, [one]) for layer in of_layers for one in layer]
    layers = [ablate_heads(settings, snapshot, layer) for layer in of_layers if len(layer) > 1]
    return Table(
        key="ablation",
        name=message("What each head is worth"),
        notice=ablation_sentences(heads),
        columns=(
            message("ablated"),
            message("right answers left"),
            message("lost (percentage points)"),
            message("loss"),
        ),
        cells=tuple(
            (ablated_name(one), Percent(one.accuracy), Fixed(100 * one.lost, 1), Fixed(one.loss))
            for one in (*heads, *layers)
        ),
    )


def heads_by_layer(config: ModelConfig) -> list[list[tuple[int, int]]]:
    """The heads of each layer as (layer, head), counted from 0."""
    return [[(layer, head) for head in range(config.n_heads)] for layer in range(config.n_layers)]


def ablated_name(ablation: Ablation) -> Message:
    """What is ablated: one head, or a whole layer."""
    if len(ablation.ablated) == 1:
        return head_name(*ablation.ablated[0])
    return message("all of layer {layer}", layer=ablation.ablated[0][0] + 1)


def ablation_sentences(heads: Sequence[Ablation]) -> tuple[Message, Message]:
    """How well the whole model does, and which head it needs."""
    whole = message("With all heads, {share} of the answers are right.", share=Percent(heads[0].accuracy_of_all))
    needed = [heads[i] for (i,) in argmax_ties(-torch.tensor([one.accuracy for one in heads]), lambda a: percent(-a))]
    left = Percent(min(one.accuracy for one in needed))
    if all(one.lost <= 0 for one in heads):
        return whole, message("No single head is essential.")
    if len(needed) > 1:
        named = ListOf(tuple(ablated_name(one) for one in needed))
        return whole, message(
            "Ablating one of {heads} costs the most: {share} are still right.", heads=named, share=left
        )
    return whole, message(
        "Ablating {head} costs the most: {share} are still right.", head=ablated_name(needed[0]), share=left
    )


@dataclass(frozen=True, eq=False)
class WithoutHead:
    """The loss on the evaluation sequences without one head, at some steps of a run; and what is left at the last."""

    steps: tuple[int, ...]
    losses: tuple[float, ...]  # at each of them
    now: Ablation

    @property
    def name(self) -> Message:
        """Which head is left out, and what the loss is then."""
        return message("without {head}: {loss}", head=head_name(*self.now.ablated[0]), loss=Fixed(self.now.loss))

    @property
    def line(self) -> Line:
        """The curve of the loss without a head, to be drawn beside that of the whole model."""
        return Line(
            key="ablated", name=self.name, colour="muted", style="dashed", points=True, x=self.steps, y=self.losses
        )

    @property
    def sentence(self) -> Message:
        """What leaving out the head costs now."""
        now, head = self.now, head_name(*self.now.ablated[0])
        losses = dict(zip(("loss", "whole"), distinguishable(now.loss, now.loss_of_all), strict=True))
        if percent(now.accuracy) == percent(now.accuracy_of_all):
            return message(
                "Without {head} the evaluation loss is {loss} instead of {whole}, and {left} of the answers "
                "are right, as before.",
                head=head,
                **losses,
                left=Percent(now.accuracy),
            )
        return message(
            "Without {head} the evaluation loss is {loss} instead of {whole}, and {left} of the answers are "
            "right instead of {right}.",
            head=head,
            **losses,
            left=Percent(now.accuracy),
            right=Percent(now.accuracy_of_all),
        )


def without_head(settings: TrainingSettings, snapshots: Iterable[Snapshot], head: tuple[int, int]) -> WithoutHead:
    """Leave one head out of the model of each snapshot. Raises ValueError when there is no such head."""
    losses = {}
    for snapshot in snapshots:
        losses[snapshot.step] = evaluate_without(settings, snapshot, [head]).loss
    return WithoutHead(tuple(losses), tuple(losses.values()), ablate_heads(settings, snapshot, [head]))


def without_heads(settings: TrainingSettings, snapshot: Snapshot) -> Message:
    """What is left of the right answers with every head ablated: how much of the task needs attention at all."""
    off = ablate_heads(settings, snapshot, [head for layer in heads_by_layer(settings.model) for head in layer])
    left, whole = Percent(off.accuracy), Percent(off.accuracy_of_all)
    if percent(off.accuracy) == percent(off.accuracy_of_all):
        return message("With every head ablated, {left} of the answers are right, as many as with them.", left=left)
    return message(
        "With every head ablated, {left} of the answers are right ({whole} with them).", left=left, whole=whole
    )
