"""What can be seen of a model in training: its attention on a text, and what it writes."""

from dataclasses import dataclass

import torch

from attention_core.attention import AttentionTrace
from attention_core.captions import name, number, percent, seen
from attention_core.randomness import generator
from attention_core.sampling import continue_text
from attention_core.tasks import Baseline
from attention_core.tokens import clean_text, tokenize
from attention_core.training import RunView, model_with

SAMPLE_CHARACTERS = 32


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
    """The attention of every head on the probe text, and a sample, with the weights the view shows.

    The sample begins with the first character of the training text; its draws depend on the seed
    of the run alone, so that from step to step only the model changes. Of the probe only characters
    the model knows, and only as many as it can see, are used; the notes say so.
    """
    task, model = view.settings.task, model_with(view.settings.model, view.snapshot.weights)
    tokens, notes = probe_tokens(view, probe)
    trace = model(torch.tensor(task.vocabulary.encode(tokens)))
    start = task.vocabulary.encode(task.tokens[:1])
    random = generator(view.settings.seed, "sample")
    sample = continue_text(model, start, SAMPLE_CHARACTERS, temperature=temperature, generator=random)
    layers = tuple(layer.attention.heads for layer in trace.layers)
    return Watched(view.snapshot.step, tuple(tokens), layers, "".join(task.vocabulary.decode(sample)), notes)


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


def heads_caption(watched: Watched) -> str:
    """The strongest preference of any head, among tokens that have a choice."""
    best = None
    for layer, trace in enumerate(watched.layers):
        choosing = trace.visible.sum(dim=-1) > 1
        if not choosing.any():
            continue
        weights = trace.weights.masked_fill(~choosing[..., None], -1)
        head, query, key = (int(i) for i in torch.unravel_index(weights.argmax(), weights.shape))
        if best is None or weights[head, query, key] > best[0]:
            best = (float(weights[head, query, key]), layer, head, query, key)
    if best is None:
        return "With one token to look at there is nothing to choose: it gets the whole weight."
    weight, layer, head, query, key = best
    who, whom = name(watched.tokens, query), name(watched.tokens, key)
    return f"The firmest look: {who} at {whom}, {percent(weight)}, by {head_name(layer, head)}."


def head_name(layer: int, head: int) -> str:
    """Layers and heads are counted from 1 on the screen."""
    return f"layer {layer + 1}, head {head + 1}"
