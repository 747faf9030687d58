"""What can be seen of a model in training: its attention on a text, and what it writes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import cross_entropy

from attention_core.attention import AttentionTrace
from attention_core.randomness import generator
from attention_core.sampling import continue_text
from attention_core.tasks import Baseline, TaskExample
from attention_core.tokens import clean_text, tokenize
from attention_core.training import (
    HELD_OUT,
    Measured,
    RunView,
    Snapshot,
    TrainingSettings,
    accuracy_of,
    held_out_batch,
    job_weights,
    measure,
    predicted_ids,
)
from attention_core.weights import borrowed_model
from lessons.captions import name, number, percent, seen

SAMPLE_CHARACTERS = 20  # a class that trains together draws them all again and again


@dataclass(frozen=True, eq=False)
class Watched:
    """One look at a model: `layers` has a trace for each layer, with the axis of the heads first."""

    step: int
    tokens: tuple[str, ...]
    layers: tuple[AttentionTrace, ...]
    sample: str
    notes: tuple[str, ...]


@torch.inference_mode()
def watch(view: RunView, probe: str, temperature: float) -> Watched:
    """The attention of every head on the probe text, and a sample, with the weights the view shows: for texts only.

    The sample begins with the first character of the training text; its draws depend on the seed
    of the run alone, so that from step to step only the model changes. Of the probe only characters
    the model knows, and only as many as it can see, are used; the notes say so.
    """
    task, random = view.settings.task, generator(view.settings.seed, "sample")
    tokens, notes = probe_tokens(view, probe)
    start = task.vocabulary.encode(task.tokens[:1])
    with borrowed_model(view.settings.model, view.snapshot.weights) as model:
        trace = model(torch.tensor(task.vocabulary.encode(tokens)))
        sample = continue_text(model, start, SAMPLE_CHARACTERS, temperature=temperature, generator=random)
    layers = tuple(layer.attention.heads for layer in trace.layers)
    return Watched(view.snapshot.step, tuple(tokens), layers, "".join(task.vocabulary.decode(sample)), notes)


@dataclass(frozen=True, eq=False)
class WatchedTask:
    """One look at a model with the example of its task.

    `layers` is as in `Watched`; `predicted` names the model's answer at each place; `jobs` holds how much of its
    weight each head puts on the right cells of the example.
    """

    step: int
    example: TaskExample
    layers: tuple[AttentionTrace, ...]
    predicted: tuple[str, ...]
    accuracy: float  # on the example
    jobs: Float[Tensor, "jobs layers heads"]


@torch.inference_mode()
def watch_task(settings: TrainingSettings, snapshot: Snapshot) -> WatchedTask:
    """The attention of every head on the example of the task, and the answers there, with these weights."""
    task, example = settings.task, settings.task.example
    with borrowed_model(settings.model, snapshot.weights) as model:
        trace = model(example.ids)
        ids = predicted_ids(model, trace)
    return WatchedTask(
        step=snapshot.step,
        example=example,
        layers=tuple(layer.attention.heads for layer in trace.layers),
        predicted=tuple(task.vocabulary.decode(ids.tolist())),
        accuracy=accuracy_of(ids, example.targets),
        jobs=job_weights(trace, example.looks),
    )


@dataclass(frozen=True)
class WithoutHeads:
    """How well a model does when some heads are switched off, beside the whole model on the same sequences."""

    off: tuple[tuple[int, int], ...]  # (layer, head), counted from 0
    loss: float
    accuracy: float
    loss_of_all: float
    accuracy_of_all: float

    @property
    def lost(self) -> float:
        """The accuracy that goes with these heads; below 0 where the model does better without them."""
        return self.accuracy_of_all - self.accuracy


def without_head(settings: TrainingSettings, snapshot: Snapshot, layer: int, head: int) -> WithoutHeads:
    """The model on held-out sequences with one head's part set to zero before W_o.

    Raises ValueError when there is no such head.
    """
    n_layers, n_heads = settings.model.n_layers, settings.model.n_heads
    if not (0 <= layer < n_layers and 0 <= head < n_heads):
        raise ValueError(f"layers go from 0 to {n_layers - 1} and heads from 0 to {n_heads - 1}, got {layer}, {head}")
    return without_heads(settings, snapshot, ((layer, head),))


def without_layer(settings: TrainingSettings, snapshot: Snapshot, layer: int) -> WithoutHeads:
    """The same with all heads of one layer switched off. Raises ValueError when there is no such layer."""
    n_layers = settings.model.n_layers
    if not 0 <= layer < n_layers:
        raise ValueError(f"layers go from 0 to {n_layers - 1}, but got {layer}")
    return without_heads(settings, snapshot, tuple((layer, head) for head in range(settings.model.n_heads)))


def without_heads(settings: TrainingSettings, snapshot: Snapshot, off: tuple[tuple[int, int], ...]) -> WithoutHeads:
    """The model on held-out sequences, whole and without the (layer, head) pairs in `off`."""
    whole = measured_at(settings, snapshot)
    less = measured_at(settings, snapshot, off)
    return WithoutHeads(off, less.loss, less.accuracy, whole.loss, whole.accuracy)


def measured_at(settings: TrainingSettings, snapshot: Snapshot, without: tuple[tuple[int, int], ...] = ()) -> Measured:
    """Loss, accuracy and the heads' jobs on the held-out sequences of the run, as training measures them."""
    with borrowed_model(settings.model, snapshot.weights) as model:
        return measure(settings.task, model, held_out_batch(settings), snapshot.step, without)


def every_head_without(settings: TrainingSettings, snapshot: Snapshot) -> tuple[WithoutHeads, ...]:
    """Each head switched off by itself, layer by layer."""
    heads = [(layer, head) for layer in range(settings.model.n_layers) for head in range(settings.model.n_heads)]
    return tuple(without_head(settings, snapshot, layer, head) for layer, head in heads)


@dataclass(frozen=True, eq=False)
class Cheat:
    """How far a model without a mask reads the answer instead of predicting it."""

    ahead: Float[Tensor, "layers heads"]  # mean weight of a place on the next place, where the answer stands
    loss_seeing: float  # at the places whose answer stands in the sequence
    loss_hidden: float  # at the same places, each asked with nothing after it

    @property
    def strongest(self) -> float:
        """The weight that the head most given to it puts on the answer."""
        return float(self.ahead.max())


@torch.inference_mode()
def find_cheat(settings: TrainingSettings, snapshot: Snapshot, most: int = HELD_OUT) -> Cheat:
    """The cheat of a model of letters, on held-out sequences.

    With the future hidden, place i is asked by giving the model the tokens 0 … i alone, as in writing.
    A causal model cannot cheat: its weights ahead are 0 and the two losses agree. Raises ValueError for tasks
    where the answer of a place is not the next token.
    """
    task, batch = settings.task, held_out_batch(settings)
    inputs, targets = batch.inputs[:most], batch.targets[:most]
    if not torch.equal(inputs[:, 1:], targets[:, :-1]) or task.window < 2:
        raise ValueError(f"the cheat is reading the next token, but “{task.title}” does not ask for it")
    with borrowed_model(settings.model, snapshot.weights) as model:
        trace, answers = model(inputs), targets[:, :-1]
        hidden = [model(inputs[:, : i + 1]).logits[:, -1] for i in range(task.window - 1)]
    ahead = [layer.attention.heads.weights.diagonal(1, -2, -1).mean(dim=(0, 2)) for layer in trace.layers]
    return Cheat(
        ahead=torch.stack(ahead),
        loss_seeing=mean_loss(trace.logits[:, :-1], answers),
        loss_hidden=mean_loss(torch.stack(hidden, dim=1), answers),
    )


def mean_loss(logits: Float[Tensor, "batch tokens vocabulary"], targets: Tensor) -> float:
    """The mean cross-entropy over all places."""
    return cross_entropy(logits.flatten(0, 1), targets.flatten()).item()


def cheat_caption(cheat: Cheat) -> str:
    """What the numbers say about reading ahead."""
    with_and_without = (
        f"With the future in sight the loss is {number(cheat.loss_seeing)}, with it hidden {number(cheat.loss_hidden)}"
    )
    if cheat.strongest == 0:
        return f"{with_and_without}. No head can look ahead."
    layer, head = divmod(int(cheat.ahead.argmax()), cheat.ahead.shape[1])
    look = f"{head_name(layer, head)} puts {percent(cheat.strongest)} of its weight on the very letter it must predict"
    if cheat.loss_hidden - cheat.loss_seeing > 0.1:
        return f"{with_and_without}: the model reads the answer. {look[0].upper()}{look[1:]}."
    return f"{with_and_without}: looking ahead gains it little. {look[0].upper()}{look[1:]}."


def probe_tokens(view: RunView, probe: str) -> tuple[list[str], tuple[str, ...]]:
    """The characters to look at; the first window of the training text where the probe has none it knows."""
    task, context = view.settings.task, view.settings.model.context
    clean = clean_text(probe)
    characters = tokenize(clean.text, "characters")
    known = [c for c in characters if c in task.vocabulary.tokens]
    notes = list(clean.notes)
    if unknown := list(dict.fromkeys(c for c in characters if c not in task.vocabulary.tokens)):
        listed = " ".join(seen(c) for c in unknown[:8]) + (" …" if len(unknown) > 8 else "")
        notes.append(f"This model has never met {listed} and leaves it out.")
    if len(known) > context:
        notes.append(f"The model sees {context} characters at once; these are the last {context}.")
    if characters and not known:
        notes.append("Nothing is left of the text to look at, so this is the beginning of the training text.")
    return known[-context:] or list(task.tokens[: task.window]), tuple(notes)


def loss_caption(loss: float, baselines: list[Baseline]) -> str:
    """Where a loss lies between the baselines, in words. Half a hundredth apart counts as equal."""
    here = f"The loss is {number(loss)}"
    level = [b for b in baselines if abs(loss - b.loss) <= 0.005]
    if level:
        best = min(level, key=lambda b: b.loss)
        return f"{here}: as good as {best.name} ({number(best.loss)})."
    beaten = [b for b in baselines if loss < b.loss]
    ahead = [b for b in baselines if loss > b.loss]
    if not beaten:
        worst = max(ahead, key=lambda b: b.loss)
        return f"{here}: worse than {worst.name} ({number(worst.loss)})."
    best = min(beaten, key=lambda b: b.loss)
    so_far = f"{here}: better than {best.name} ({number(best.loss)})"
    if not ahead:
        return f"{so_far}, which is the best on average; this batch was an easy one."
    goal = max(ahead, key=lambda b: b.loss)
    return f"{so_far}, not yet as good as {goal.name} ({number(goal.loss)})."


def heads_caption(tokens: tuple[str, ...], layers: Sequence[AttentionTrace]) -> str:
    """The strongest preference of any head, among tokens that have a choice."""
    best = None
    for layer, trace in enumerate(layers):
        choosing = trace.visible.sum(dim=-1) > 1
        if not choosing.any():
            continue
        weights = trace.weights.masked_fill(~choosing[..., None], -1)
        # PyTorch's own unravel_index imports a system of symbolic algebra.
        head, query, key = map(int, np.unravel_index(int(weights.argmax()), weights.shape))
        if best is None or weights[head, query, key] > best[0]:
            best = (float(weights[head, query, key]), layer, head, query, key)
    if best is None:
        return "With one token to look at there is nothing to choose: it gets the whole weight."
    weight, layer, head, query, key = best
    who, whom = name(tokens, query), name(tokens, key)
    return f"The firmest look: {who} at {whom}, {percent(weight)}, by {head_name(layer, head)}."


def head_name(layer: int, head: int) -> str:
    """Layers and heads are counted from 1 on the screen."""
    return f"layer {layer + 1}, head {head + 1}"
