"""What is said of a small model in training, measured again: sequence by sequence, in plain loops."""

from functools import cache

import torch

from attention_core.learning.tasks import NO_TARGET
from attention_core.learning.training import held_out_batch
from lessons.example.example import model_settings
from lessons.example.task_models import recorded
from lessons.example.task_texts import texts_of

TRAINED = "Trained on {task}, training steps: {updates} (seed {seed}). New answers that are right: {right} of {count}."
JOBS = (
    "This head has learned to {role}: in {texts}, {share} of its weight goes there. Spread evenly, it would be {even}.",
    "Untrained: in {texts}, {share} of its weight falls where a head trained to {role} would put it, just as "
    "if it were spread evenly.",
    "Untrained: in {texts}, {share} of its weight falls where a head trained to {role} would put it. Spread "
    "evenly, it would be {even}.",
    "This head has not learned to {role}: in {texts}, {share} of its weight goes there, just as if it were "
    "spread evenly.",
    "This head has not learned to {role}: in {texts}, {share} of its weight goes there. Spread evenly, it "
    "would be {even}.",
)


def example_of(case):
    """The example whose model a screen shows: the lessons on several heads give it sizes of their own."""
    of_heads = getattr(case.choices, "example", None)
    return case.trace.example if of_heads is None else of_heads.taken(case.trace.example)


def whose(case, sentence):
    example = example_of(case)
    right, count, _ = measured(model_settings(example), example.updates)
    return {"task": ..., "updates": example.updates, "seed": example.seed, "right": right, "count": count}


def job(case, sentence):
    """The job that this head does best, as the sentence must say it."""
    example = example_of(case)
    settings = model_settings(example)
    _, _, shares = measured(settings, example.updates)
    ranked = sorted(((shares[role, example.layer - 1, case.head], role) for role in settings.task.roles), reverse=True)
    (share, even), role = ranked[0]
    if "has learned" in sentence.template:
        assert share >= settings.task.threshold
    elif "has not" in sentence.template:
        assert share < settings.task.threshold and example.updates > 0
    else:
        assert example.updates == 0
    assert sentence.arguments["role"] == texts_of(settings.task).roles[role]
    assert sentence.arguments["texts"].arguments["n"] == len(held_out_batch(settings).inputs)
    numbers = {"role": ..., "texts": ..., "share": share}
    return numbers if "as if" in sentence.template else numbers | {"even": even}


def measured_in(pattern):
    """In running text nobody could tell an induction head from luck, so it was measured on lists of random pieces."""
    return "random pieces, repeated" if pattern == "induction" else "text it has not read"


def texts_of_heads(case, sentence):
    """Each head stands with the texts on which it earned its name."""
    return {"texts": sentence.arguments["texts"], "heads": [...] * len(sentence.arguments["heads"].items)}


def name_of_head(case, sentence):
    """A head on the lesson on several heads, with its share of the job that it does best."""
    example, head = example_of(case), sentence.arguments["number"] - 1
    settings = model_settings(example)
    _, _, shares = measured(settings, example.updates)
    share = max(shares[role, example.layer - 1, head][0] for role in settings.task.roles)
    if "no name" in sentence.template:
        assert share < settings.task.threshold
        return {"number": head + 1}
    assert share >= settings.task.threshold
    return {"number": head + 1, "name": ..., "share": share}


@cache
def measured(settings, updates):
    """How many held-out answers are right, of how many; and each head's share, and the even one, for each job."""
    model, batch, right, count, sums = recorded(settings).model(updates), held_out_batch(settings), 0, 0, {}
    for ids, targets, wanted in zip(batch.inputs, batch.targets, batch.target_attention, strict=True):
        trace = model(ids)
        for position, target in enumerate(targets.tolist()):
            if target != NO_TARGET:
                count += 1
                right += int(trace.logits[position].argmax()) == target
        for role, cells in zip(settings.task.roles, wanted, strict=True):
            for query in torch.nonzero(cells.any(dim=1))[:, 0].tolist():
                seen = query + 1 if settings.model.causal else len(ids)
                for layer, block in enumerate(trace.layers):
                    for head, weights in enumerate(block.attention.heads.weights):
                        here = sums.setdefault((role, layer, head), [])
                        here.append((float(weights[query][cells[query]].sum()), int(cells[query].sum()) / seen))
    means = {key: tuple(sum(column) / len(column) for column in zip(*here, strict=True)) for key, here in sums.items()}
    return right, count, means


ORACLE = {
    TRAINED: whose,
    "Trained: layer {layer} of {name}, a language model that has read two trillion tokens.": (
        lambda case, sentence: {"layer": example_of(case).layer - 1, "name": "SmolLM2-135M"}
    ),
    "This is head {head} of {name}.": (
        lambda case, sentence: {"head": f"{example_of(case).layer - 1}.{case.head}", "name": "SmolLM2-135M"}
    ),
    "{whose} Some numbers have been changed by hand since.": lambda case, sentence: {"whose": ...},
    **dict.fromkeys(JOBS, job),
    "A layer norm brings each row to mean 0 and variance 1, and gives every feature its own gain and shift. "
    "The result is the X of the other lessons.": lambda case, sentence: {},
    "{count} layer and an RMS norm process these rows. The result is the X of the other lessons.": (
        lambda case, sentence: {"count": case.trace.example.layer - 1}
    ),
    "{count} layer processes the result.": lambda case, sentence: {"count": case.trace.example.layer - 1},
    "{n} new sequences": lambda case, sentence: {"n": 64},
    "Measured on {texts}: {heads}.": texts_of_heads,
    "head {number}: {name}, on average {share} of its weight": name_of_head,
    "head {number}: no name": name_of_head,
}
