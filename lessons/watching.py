"""What the attention and the loss of a model in training say, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attention_core.attention import AttentionTrace
from attention_core.observe import FutureLeak
from attention_core.tasks import Baseline
from attention_core.tokens import clean_text, tokenize
from attention_core.training import TrainingSettings
from lessons.captions import name
from lessons.formatting import number, percent, seen
from lessons.task_texts import baseline_name


def future_leak_caption(leak: FutureLeak) -> str:
    """What the numbers say about reading ahead."""
    with_and_without = (
        f"With the future in sight the loss is {number(leak.loss_seeing)}, with it hidden {number(leak.loss_hidden)}"
    )
    if leak.strongest == 0:
        return f"{with_and_without}. No head can look ahead."
    layer, head = divmod(int(leak.ahead.argmax()), leak.ahead.shape[1])
    look = f"{head_name(layer, head)} puts {percent(leak.strongest)} of its weight on the very letter it must predict"
    if leak.loss_hidden - leak.loss_seeing > 0.1:
        return f"{with_and_without}: the model reads the answer. {look[0].upper()}{look[1:]}."
    return f"{with_and_without}: looking ahead gains it little. {look[0].upper()}{look[1:]}."


@dataclass(frozen=True)
class Probe:
    """A piece of text to look at the attention on, as far as the model knows it; the notes say what was changed."""

    tokens: tuple[str, ...]
    notes: tuple[str, ...] = ()


def read_probe(settings: TrainingSettings, text: str) -> Probe:
    """The last characters that the model knows and can see; the first window of the training text for want of any."""
    task, context = settings.task, settings.model.context
    clean = clean_text(text)
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
    return Probe(tuple(known[-context:]) or task.tokens[: task.window], tuple(notes))


def loss_caption(loss: float, baselines: list[Baseline]) -> str:
    """Where a loss lies between the baselines, in words. Half a hundredth apart counts as equal."""
    here = f"The loss is {number(loss)}"
    level = [b for b in baselines if abs(loss - b.loss) <= 0.005]
    if level:
        best = min(level, key=lambda b: b.loss)
        return f"{here}: as good as {baseline_name(best)} ({number(best.loss)})."
    beaten = [b for b in baselines if loss < b.loss]
    ahead = [b for b in baselines if loss > b.loss]
    if not beaten:
        worst = max(ahead, key=lambda b: b.loss)
        return f"{here}: worse than {baseline_name(worst)} ({number(worst.loss)})."
    best = min(beaten, key=lambda b: b.loss)
    so_far = f"{here}: better than {baseline_name(best)} ({number(best.loss)})"
    if not ahead:
        return f"{so_far}, which is the best on average; this batch was an easy one."
    goal = max(ahead, key=lambda b: b.loss)
    return f"{so_far}, not yet as good as {baseline_name(goal)} ({number(goal.loss)})."


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
