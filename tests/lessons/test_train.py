"""What is said of a training run is computed again from its model, its losses and its settings, with plain Python."""

import dataclasses
import math
from dataclasses import replace
from functools import cache
from itertools import accumulate
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from screens import (
    JUDGE,
    Case,
    Ranked,
    by_thought,
    check_case,
    check_conditions,
    check_question,
    check_sentence,
    chosen,
    holds,
    token_on,
    words,
)

from attention_core.base.randomness import generator
from attention_core.learning.evaluation import Evaluation, evaluate, no_roles
from attention_core.learning.steps import predict
from attention_core.learning.tasks import TASKS, Batch, CharacterTask
from attention_core.learning.training import HELD_OUT, TrainingHistory, held_out_batch, recommended, train
from attention_core.learning.training import Snapshot as Weights
from attention_core.measured.observe import SAMPLE_CHARACTERS, Ablation, ablate_heads, observe_task, observe_texts
from attention_core.model.small_model import MAX_D_MODEL, draw_model, model_with
from attention_core.model.weights import weights_of as in_one_vector
from lessons.example.task_texts import TASK_TEXTS, baseline_name, evaluated_on
from lessons.learning.train.ablation import ablation_sentences, ablation_table, without_head, without_heads
from lessons.learning.train.compare_runs import COMPARISONS, comparison_sentences
from lessons.learning.train.curves import leak_sentences, loss_sentences, success_sentences
from lessons.learning.train.future_leak import measure_future_leak
from lessons.learning.train.head_roles import JOBS
from lessons.learning.train.lesson import answer_rows, moment_sentence, questions_about, train_screen
from lessons.learning.train.questions import QUESTIONS, how_many_weights, readable_pairs
from lessons.screen import number, percent, render, render_all, visible_text
from tests.printed import largest, lead, read_alike, some_may_differ

pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")

HARBOUR = COMPARISONS["mask"].task.text
BANANA = CharacterTask("banana bandana banana cabana", 8)


@cache
def steps_of(settings):
    """Every step of a run, with its weights."""
    return list(train(settings))


def trained(settings, updates=None):
    """The run of some settings from its beginning to its end, or after so many updates."""
    steps = steps_of(settings)[: None if updates is None else updates + 1]
    return TrainingHistory(
        settings=settings,
        losses=torch.tensor([step.loss for step in steps]).numpy(),
        evaluations=tuple(step.evaluation for step in steps if step.evaluation is not None),
        snapshot=Weights(steps[-1].step, steps[-1].weights),
    )


def run_of(name, steps=3, **changes):
    return trained(recommended(TASKS[name], 7, steps=steps, **changes))


def observed(history, text="helo", step=None):
    """What is seen of a run after some of its updates, or after the last."""
    snapshot = history.snapshot if step is None else Weights(step, steps_of(history.settings)[step].weights)
    if isinstance(history.settings.task, CharacterTask):
        tokens = tuple(c for c in text if c in history.settings.task.vocabulary.tokens) or ("a",)
        return observe_texts(history.settings, [snapshot], tokens, 1.0)[0]
    return observe_task(history.settings, snapshot)


def some_steps(history):
    """The first, one in between, and the last."""
    last_step = history.snapshot.step
    return sorted({0, last_step // 3, last_step})


RUNS = {
    "copy": lambda: run_of("copy", 41),
    "last": lambda: run_of("last", 21),
    "recall": lambda: run_of("recall"),
    "noise": lambda: run_of("noise", 150),
    "causal noise": lambda: run_of("noise", causal=True),
    "vectors": lambda: run_of("vectors", 21),
    "induction": lambda: run_of("induction"),
    "characters": lambda: trained(recommended(CharacterTask("hello world", 5), 3, steps=40)),
    "sinks": lambda: run_of("last", 21, sink=True),
    "sinks of a text": lambda: trained(recommended(CharacterTask("hello world", 5), 3, steps=20, sink=True)),
    "one step": lambda: trained(recommended(CharacterTask("hello world", 5), 3, steps=1)),
    "ahead": lambda: trained(recommended(BANANA, 0, steps=60, causal=False)),
    "apart": lambda: trained(recommended(CharacterTask(HARBOUR, 16, 0.25), 0, steps=2)),
    "untrained": lambda: trained(recommended(CharacterTask("hello world", 5), 3, steps=40), 0),
    "untrained vectors": lambda: trained(recommended(TASKS["vectors"], 7, steps=21), 0),
}


def last(case):
    return case.choices.evaluations[-1]


def step_of(case):
    """The updates made at the moment that something is said of: the last one, if it is said of the whole screen."""
    return case.choices.snapshot.step if case.moment is None else some_steps(case.choices)[case.moment]


def model_of(case):
    weights = steps_of(case.choices.settings)[step_of(case)].weights
    return model_with(case.choices.settings.model, torch.from_numpy(weights))


def weights_of(case):
    """(layer, head, query, key) and weight of every cell with a choice, from the model itself."""
    look = case.trace
    ids = look.example.ids if hasattr(look, "example") else case.choices.settings.task.vocabulary.encode(look.tokens)
    cells = {}
    for layer, trace in enumerate(model_of(case)(torch.as_tensor(ids)).layers):
        for head, rows in enumerate(trace.attention.heads.weights.tolist()):
            for i, row in enumerate(rows):
                for j, weight in enumerate(row):
                    if not case.choices.settings.model.causal or i > 0:
                        cells[layer, head, i, j] = weight
    return cells


def collected_again(case, sentence):
    """Each row written out from its scores: what is missing is the sink's."""
    look, model = case.trace, model_of(case)
    ids = look.example.ids if hasattr(look, "example") else case.choices.settings.task.vocabulary.encode(look.tokens)
    missing = []
    for layer, trace in zip(model.layers, model(torch.as_tensor(ids)).layers, strict=True):
        for sink, rows in zip(layer.attention.sink.tolist(), trace.attention.heads.masked.tolist(), strict=True):
            missing += [math.exp(sink) / (math.exp(sink) + sum(map(math.exp, row))) for row in rows]
    return {"share": sum(missing) / len(missing)}


def cell_of(pair):
    head = pair.arguments["head"].arguments
    return head["layer"] - 1, head["head"] - 1, pair.arguments["query"].position, pair.arguments["key"].position


def written_again(case, sentence):
    """Letter by letter: each drawn from the probabilities after all that stands before it in the window."""
    settings, model = case.choices.settings, model_of(case)
    random = generator(settings.seed, "sample")
    tokens = settings.task.vocabulary.tokens
    ids = [tokens.index(settings.task.tokens[0])]
    while len(ids) <= SAMPLE_CHARACTERS:
        probabilities = model(torch.tensor(ids[-settings.model.context :])).logits[-1].double().softmax(-1).tolist()
        drawn = float(torch.rand((), generator=random, dtype=torch.float64))
        ids.append(next(i for i, end in enumerate(accumulate(probabilities)) if drawn < end))
    return {"count": step_of(case), "sample": "".join(tokens[i] for i in ids)}


def answers_of_moment(case, sentence):
    """Position by position of the example; where nothing is asked, a dot."""
    model, example = model_of(case), case.choices.settings.task.example
    output, said = model(example.ids).logits, []
    for position, answer in enumerate(example.answers):
        if answer is None:
            said.append("·")
            continue
        if case.choices.settings.model.output == "vectors":
            nearest = [float((vector - output[position]).square().sum()) for vector in model.fixed_table]
            said.append(case.choices.settings.task.vocabulary.tokens[nearest.index(min(nearest))])
        else:
            said.append(case.choices.settings.task.vocabulary.tokens[int(output[position].argmax())])
    return {"count": step_of(case), "answers": " ".join(map(visible_text, said))}


def one_strongest(case, sentence):
    cells = weights_of(case)
    pairs = [cell_of(pair) for pair in sentence.arguments["pairs"].items]
    ranked = Ranked(list(cells.values()), [list(cells).index(at) for at in pairs], percent)
    return {"pairs": [...] * len(pairs), "count": len(pairs), "weight": cells[pairs[0]], "ranked": ranked}


def many_strongest(case, sentence):
    values = list(weights_of(case).values())
    tied = largest(values, sentence.arguments["count"])
    return {"weight": max(values), "count": len(tied), "ranked": Ranked(values, tied, percent)}


def losses_between(case, sentence):
    """The last loss, and the baselines that are named with their numbers."""
    said, task = sentence.arguments, case.choices.settings.task
    loss = float(case.choices.losses[-1])
    named = {render(baseline_name(b)): b.loss for b in task.baselines()}
    level = named[render(said["baseline"])]
    words_ = sentence.template
    if "as at the level" in words_:
        assert abs(loss - level) <= 0.005
    else:
        assert (loss > level) if "above the level" in words_ else (loss < level)
    if "the limit" in words_:
        assert all(loss < other for other in named.values())
    expected = {"loss": loss, "baseline": ...}
    if "level" in said:
        expected["level"] = level
    if "goal" in said:
        expected |= {"goal": ..., "aim": named[render(said["goal"])]}
        assert loss > expected["aim"]
    return expected


def baseline_level(case, sentence):
    named = {render(baseline_name(b)): b.loss for b in case.choices.settings.task.baselines()}
    return {"baseline": ..., "loss": named[render(sentence.arguments["baseline"])]}


def accuracy_again(case, sentence):
    return {"where": ..., "share": right_of(model_of(case), case.choices.settings)}


def right_of(model, settings):
    """Sequence by sequence and position by position."""
    batch, right = held_out_batch(settings), []
    for ids, targets in zip(batch.inputs, batch.targets.tolist(), strict=True):
        output = model(ids).logits
        for position, target in enumerate(targets):
            if target >= 0:
                if settings.model.output == "vectors":
                    nearest = [float((vector - output[position]).square().sum()) for vector in model.fixed_table]
                    right.append(nearest.index(min(nearest)) == target)
                else:
                    right.append(int(output[position].argmax()) == target)
    return sum(right) / len(right)


def role_weight(case, sentence):
    task, said = case.choices.settings.task, sentence.arguments
    role = next(i for i, key in enumerate(task.roles) if TASK_TEXTS[task.key].roles[key] == said["role"])
    model, batch, sums, rows = model_of(case), held_out_batch(case.choices.settings), {}, 0
    for ids, target in zip(batch.inputs, batch.target_attention[:, role], strict=True):
        trace = model(ids)
        rows += int(target.any(dim=-1).sum())
        for layer, block in enumerate(trace.layers):
            for head, weights in enumerate(block.attention.heads.weights):
                sums[layer, head] = sums.get((layer, head), 0.0) + float(weights[target].sum())
    shares = {at: total / rows for at, total in sums.items()}
    named = [(n.arguments["layer"] - 1, n.arguments["head"] - 1) for n in said["heads"].items]
    ranked = Ranked([*shares.values()], [list(shares).index(at) for at in named], number)
    expected = {"role": ..., "heads": [...] * len(named), "weight": shares[named[0]], "ranked": ranked}
    return expected | ({"enough": task.threshold} if "enough" in said else {})


def verdict_again(case, sentence):
    task, evaluation = case.choices.settings.task, last(case)
    assert evaluation.learnt == task.goal.reached(evaluation.accuracy, evaluation.best_role_weights)
    assert evaluation.learnt == ("has learned" in sentence.template)
    return {"enough": task.enough_right}


def windows_kept_apart(case, sentence):
    """Windows of the last quarter, each looked up in the text before; of many every second, every third, …"""
    task = case.choices.settings.task
    rest, end = "".join(task.tokens[: task.n_trained]), "".join(task.tokens[task.n_trained :])
    windows = [end[i : i + task.window] for i in range(len(end) - task.window)]
    unseen = [window for window in windows if window not in rest[:-1]]
    return {"count": len(unseen[:: max(1, -(-len(unseen) // HELD_OUT))])}


def losses_seeing_and_hidden(case):
    """The next letter with all in sight, and with nothing after it."""
    model, batch = model_of(case), held_out_batch(case.choices.settings)
    seeing, hidden = [], []
    for ids, targets in zip(batch.inputs, batch.targets.tolist(), strict=True):
        whole = model(ids).logits.log_softmax(-1)
        for i in range(len(ids) - 1):
            seeing.append(-whole[i, targets[i]].item())
            hidden.append(-model(ids[: i + 1]).logits[i].log_softmax(-1)[targets[i]].item())
    return sum(seeing) / len(seeing), sum(hidden) / len(hidden)


def leak_again(case, sentence):
    return dict(zip(("seeing", "hidden"), losses_seeing_and_hidden(case), strict=True))


def headless_again(case, sentence):
    """The right answers of a model whose maps after the heads are zero, but for what they add to every token."""
    weights = steps_of(case.choices.settings)[step_of(case)].weights
    model = model_with(case.choices.settings.model, torch.tensor(weights))
    whole = right_of(model, case.choices.settings)
    for layer in model.layers:
        layer.attention.W_o[:] = 0
    left = right_of(model, case.choices.settings)
    same = "as many" in sentence.template
    assert read_alike((left, whole), percent) if same else some_may_differ((left, whole), percent)
    return {"left": left, **({"whole": whole} if "whole" in sentence.arguments else {})}


def jobs_done(case):
    """For each role the evaluation from which on, to the last, some head keeps half of its weight there; and which."""
    evaluations, found = case.choices.evaluations, {}
    for role, name in enumerate(case.choices.settings.task.roles):
        for begin in reversed(range(len(evaluations))):
            heads = [
                (layer, head)
                for layer in range(case.choices.settings.model.n_layers)
                for head in range(case.choices.settings.model.n_heads)
                if all(float(one.role_weights[role, layer, head]) >= 0.5 for one in evaluations[begin:])
            ]
            if not heads:
                break
            found[name] = evaluations[begin].step, heads
    return found


def named_job(role):
    return render(JOBS[role][0])


def formed_again(case, sentence):
    found, step = jobs_done(case), sentence.arguments.get("step", 0)
    expected = {named_job(role): heads for role, (at, heads) in found.items() if at == step}
    said = sentence.arguments["which"].items
    for one in said:
        heads = [(head.arguments["layer"] - 1, head.arguments["head"] - 1) for head in one.arguments["heads"].items]
        assert expected[render(one.arguments["label"])] == heads
    return {"which": [...] * len(expected)} | ({"step": step} if "step" in sentence.arguments else {})


def missing_again(case, sentence):
    missing = [named_job(role) for role in case.choices.settings.task.roles if role not in jobs_done(case)]
    assert [render(label) for label in sentence.arguments["labels"].items] == missing
    return {"labels": [...] * len(missing), "enough": 0.5}


def formed_at(case):
    """What is said to have formed at a moment: all since the moment before."""
    before, *_ = [-1, *some_steps(case.choices)][some_steps(case.choices).index(step_of(case)) :]
    return [... for at, _ in jobs_done(case).values() if before < at <= step_of(case)]


def less_again(case, sentence):
    """The same sequences through a model whose map after this head is zero."""
    settings, head = case.choices.settings, sentence.arguments["head"].arguments
    weights = steps_of(settings)[case.choices.snapshot.step].weights
    model, batch = model_with(settings.model, torch.tensor(weights)), held_out_batch(settings)
    whole = evaluate(settings.task.goal, model, batch)
    d_head = settings.model.d_model // settings.model.n_heads
    first = d_head * (head["head"] - 1)
    model.layers[head["layer"] - 1].attention.W_o[first : first + d_head] = 0
    less = evaluate(settings.task.goal, model, batch)
    right = (less.accuracy, whole.accuracy)
    alike = any(said in sentence.template for said in ("as many", "as before"))
    as_many = read_alike(right, percent) if alike else some_may_differ(right, percent)
    assert as_many or len(sentence.arguments) == 2
    found = {"head": ..., "loss": less.loss, "whole": whole.loss, "left": less.accuracy, "right": whole.accuracy}
    return {name: found[name] for name in sentence.arguments}


def ahead_of_no_level(case, sentence):
    return {"loss": float(case.choices.losses[-1])}


def weight_ahead(case, sentence):
    model, batch = model_of(case), held_out_batch(case.choices.settings)
    ahead = {}
    for layer, trace in enumerate(model(batch.inputs).layers):
        for head in range(case.choices.settings.model.n_heads):
            weights = trace.attention.heads.weights[:, head]
            n = weights.shape[-1]
            ahead[layer, head] = sum(float(weights[:, i, i + 1].mean()) for i in range(n - 1)) / (n - 1)
    named = [(n.arguments["layer"] - 1, n.arguments["head"] - 1) for n in sentence.arguments["heads"].items]
    most = max(ahead.values())
    assert lead([list(ahead).index(at) for at in named], [*ahead.values()], percent)
    return {"count": len(named), "heads": [...] * len(named), "weight": most}


def windows_again(case, sentence):
    """A window begins at each character after which there is room for it and its answer."""
    task = case.choices.settings.task
    count = sum(start + task.window < task.n_trained for start in range(len(task.text)))
    if "shown" in sentence.arguments:
        assert count > sentence.arguments["shown"] == 6
        return {"shown": 6}
    return {"count": count}


def y_is_one_further(case):
    """In the text, what stands in the table as y begins one character after what stands there as x."""
    task, (*_, table) = case.choices.settings.task, case.screen.figures
    text = "".join(map(visible_text, task.text))
    return all(text[place:].startswith(x + y[-1]) and y[:-1] == x[1:] for place, (_, x, y) in enumerate(table.cells))


def copies_again(case, sentence):
    """The output and the four rows of the notebook's table, number by number."""
    rows = torch.nn.Embedding(50, 8, _weight=table_of_seed_42())(torch.tensor([5, 12, 31, 7])).flatten().tolist()
    output = model_of(case)(torch.tensor([5, 12, 31, 7])).logits.flatten().tolist()
    gaps = [one - other for one, other in zip(output, rows, strict=True)]
    loss = sum(gap * gap for gap in gaps) / len(gaps)
    return {"count": case.choices.snapshot.step, "loss": loss, "most": max(map(abs, gaps))}


def table_of_seed_42():
    return torch.randn(50, 8, generator=torch.Generator().manual_seed(42))


def no_moment_is_marked(case):
    """No head has cells where it should attend, and no curve has a mark."""
    curves = case.screen.figures[0].curves
    return not jobs_done(case) and not case.choices.settings.task.roles and not any(curve.marks for curve in curves)


ORACLE = {
    "x is what it reads; y, the same one character further on, is what comes next at each position.": holds(
        y_is_one_further
    ),
    "The model trains on {count} window of the text.": windows_again,
    "The model trains on {count} windows of the text.": windows_again,
    "The first {shown} are shown here.": windows_again,
    "The model learns to reproduce X. After {count} training step its output differs from X by at "
    "most {most}; the mean squared difference is {loss}.": copies_again,
    "The model learns to reproduce X. After {count} training steps its output differs from X by at "
    "most {most}; the mean squared difference is {loss}.": copies_again,
    "Untrained: random weights (seed {seed}).": lambda case, sentence: {"seed": case.choices.settings.seed},
    "After {count} training step, it writes: {sample}": written_again,
    "After {count} training steps, it writes: {sample}": written_again,
    "After {count} training step, its answers are: {answers}": answers_of_moment,
    "After {count} training steps, its answers are: {answers}": answers_of_moment,
    "On average, the sinks of the heads collect {share} of the weight of these rows.": collected_again,
    "Largest weight where there is a choice: {pairs}, {weight}.": one_strongest,
    "Largest weight where there is a choice: {weight}, in {count} cells.": many_strongest,
    "{query} to {key} ({head})": chosen,
    "layer {layer}, head {head}": chosen,
    "guessing evenly among {among}": chosen,
    "knowing {known} of the {all} letters": chosen,
    "{baseline}: {loss}": baseline_level,
    "The loss is {loss}, as at the level “{baseline}”.": losses_between,
    "The loss is {loss}: above the level “{baseline}” ({level}).": losses_between,
    "The loss is {loss}: below the level “{baseline}” ({level}).": losses_between,
    "Right answers {where}: {share}.": accuracy_again,
    "on {count} sequences it never trains on": lambda case, sentence: {
        "count": len(held_out_batch(case.choices.settings).inputs)
    },
    "on {count} window of the held-out part, which occurs nowhere in the rest": windows_kept_apart,
    "Job: to {role}. Best result: {heads}, {weight} of the weight.": role_weight,
    "It has learned the task: {enough} is enough.": verdict_again,
    "It has not learned the task yet: it needs {enough}.": verdict_again,
    "With the later letters given, the loss is {seeing}; with them hidden, {hidden}.": leak_again,
    **dict.fromkeys(
        (
            "With every head ablated, {left} of the answers are right, as many as with them.",
            "With every head ablated, {left} of the answers are right ({whole} with them).",
        ),
        headless_again,
    ),
    "{label} ({heads})": lambda case, sentence: {"label": ..., "heads": [...] * len(sentence.arguments["heads"].items)},
    "Formed by training step {step}: {which}.": formed_again,
    "Present before any training: {which}.": formed_again,
    "Not formed so far: {labels}. A head must put {enough} of its weight on its job.": missing_again,
    "After {count} training step, with {formed} formed, its answers are: {answers}": lambda case, sentence: (
        answers_of_moment(case, sentence) | {"formed": formed_at(case)}
    ),
    "without {head}: {loss}": less_again,
    "Without {head} the evaluation loss is {loss} instead of {whole}, and {left} of the answers are right, as "
    "before.": less_again,
    "Without {head} the evaluation loss is {loss} instead of {whole}, and {left} of the answers are right instead of "
    "{right}.": less_again,
    "The loss is {loss}. The levels are for models that see only what came before.": ahead_of_no_level,
    "{heads} puts {weight} of its weight on the very letter that is to be predicted.": weight_ahead,
    "A text gives heads no fixed job, so no moment is marked.": holds(no_moment_is_marked),
}


# Questions: about settings alone.


HERE = "“{answer}” is here, at position {position}: its value can be passed on."


def where_again(case, prompt):
    settings, said = case.choices.settings, prompt.arguments
    example, query = settings.task.example, said["query"].position
    right = [k for q, k in readable_pairs(settings) if q == query]
    assert example.answers[query] == said["answer"] and all(example.tokens[k] == said["answer"] for k in right)
    return {
        HERE: right[0],
        "The mask hides {token} from {query}.": ...,
        "At {token} the head would find “{found}”, but the answer is “{answer}”.": ...,
        JUDGE: lambda card: (
            example.tokens[token_on(card)] == said["answer"] and (token_on(card) <= query or not settings.model.causal)
        ),
    }


def guess_again(case, prompt):
    n = prompt.arguments["size"]
    thoughts = {
        "minus ln of an equal share": math.log(n),
        "the bits that it takes to name one token": math.log(n) / math.log(2),
        "how often it is wrong": (n - 1) / n,
        "one for each token to choose from": n,
        "how often it is right": 1 / n,
        "a fair guess is free": 0.0,
    }
    reply = "−ln(1/{size}) = ln {size}. A loss above this is worse than knowing nothing."
    return {reply: ..., JUDGE: by_thought(thoughts)}


def weights_counted(case, prompt):
    model = replace(case.choices.settings.model, d_model=prompt.arguments["d_model"])
    assert (model.n_layers, model.n_heads) == tuple(prompt.arguments[name].count for name in ("layers", "heads"))
    return {
        "Tables of vectors: {tables}; layers: {layers}; after the layers: {after}.": ...,
        JUDGE: lambda card: card.text.arguments["number"].value == numbers_in(model),
    }


def counted(case, sentence):
    model = case.choices.settings.model
    return {"count": {"1 layer": model.n_layers, "1 head": model.n_heads}[sentence.template]}


def parts_counted(case, sentence):
    """The prompt, and with it d_model, is not known here, so together they must be a model of some width."""
    model, said = case.choices.settings.model, sentence.arguments
    widths = range(2 * model.n_heads, 1 + 32 * model.n_heads, 2 * model.n_heads)
    widths = [width for width in widths if width <= MAX_D_MODEL]
    assert sum(part.value for part in said.values()) in {
        numbers_in(replace(model, d_model=d_model)) for d_model in widths
    }
    return {name: part.value for name, part in said.items()}


def numbers_in(model):
    return len(in_one_vector(draw_model(model, generator(0))))


ANSWERS = {
    "The tokens are {tokens}. The answer at {query} is “{answer}”, and a trained head finds it among them. "
    "On which token will the row of {query} put its weight?": where_again,
    "A model gives each of {size} tokens the same probability. What is its loss, the mean of "
    "−ln(probability of the right answer)?": guess_again,
    "Suppose this model had d_model = {d_model} and {layers} with {heads} each. How many numbers "
    "would training change?": weights_counted,
}
ORACLE |= {prompt: chosen for prompt in ANSWERS} | {
    HERE: chosen,
    "The mask hides {token} from {query}.": chosen,
    "At {token} the head would find “{found}”, but the answer is “{answer}”.": chosen,
    "−ln(1/{size}) = ln {size}. A loss above this is worse than knowing nothing.": chosen,
    "Tables of vectors: {tables}; layers: {layers}; after the layers: {after}.": parts_counted,
    "1 layer": counted,
    "1 head": counted,
}


@pytest.mark.parametrize("name", RUNS)
def test_every_number_on_the_screen_of_a_run_is_computed_again(name):
    history = RUNS[name]()
    task, model = history.settings.task, history.settings.model
    moments = [observed(history, step=step) for step in some_steps(history)]
    head = (model.n_layers - 1, model.n_heads - 1)
    less = without_head(history.settings, [history.snapshot], head) if name in ("last", "recall", "vectors") else None
    screen = train_screen(history, moments, still=name != "copy", less=less)
    ahead = [sentence for sentence in screen.remarks if "later letters given" in sentence.template]
    assert bool(ahead) == (task.key in ("noise", "characters") and not model.causal)
    assert any("every head ablated" in sentence.template for sentence in screen.remarks) == (
        name != "copy" and history.snapshot.step > 0
    )
    case = Case(moments[-1], 0, history, screen)
    used = check_case(case, ORACLE, ANSWERS)
    check_conditions(case, ORACLE)
    assert any(template.startswith("After {count} training step") for template in used)
    assert ("Untrained: random weights (seed {seed})." in used) == (history.snapshot.step == 0)


CHANGES = (
    {},
    {"n_layers": 2},
    {"positions": "none"},
    {"layer_norm": True, "mlp": True},
    {"causal": True},
    {"sink": True},
)
SETTINGS = st.builds(
    lambda key, changes: recommended(TASKS[key], **changes), st.sampled_from(sorted(TASKS)), st.sampled_from(CHANGES)
)


@given(settings=SETTINGS, number=st.integers(0, 200))
def test_every_question_about_settings_is_answered_again(settings, number):
    history = SimpleNamespace(settings=settings)
    case, question = Case(None, 0, history, None), questions_about(settings)(number)
    check_question(case, question, ANSWERS)
    for sentence in words(question):
        check_sentence(case, sentence, ORACLE)
    assert how_many_weights in QUESTIONS["generalise"], "the last kind always makes a question"


@given(loss=st.floats(0, 5), ahead=st.booleans())
def test_every_loss_has_a_true_sentence(loss, ahead):
    settings = recommended(CharacterTask("hello world", 5), causal=not ahead)
    history = SimpleNamespace(settings=settings, losses=[loss])
    for sentence in loss_sentences(settings, loss):
        check_sentence(Case(None, 0, history, None), sentence, ORACLE)


def test_a_model_that_looks_ahead_is_not_praised_for_it():
    """`learn=banana bandana banana cabana`, without a causal mask: a loss that nobody reaches who may not look."""
    settings = recommended(BANANA, causal=False)
    for loss in (0.001, 0.3, 1.2, 5.0):
        said = render_all(loss_sentences(settings, loss))
        assert said.endswith("The levels are for models that see only what came before.")
    perfect = Evaluation(400, 0.001, 1.0, no_roles(1, 4), True)
    judged = [render(sentence) for sentence in success_sentences(settings, perfect)]
    assert judged[-1] == "It may look ahead: its right answers may be read off."
    assert render(success_sentences(recommended(BANANA), perfect)[-1]).startswith("It has learned the task")
    assert "look ahead" not in render_all(loss_sentences(recommended(BANANA), 0.001))


def test_what_a_text_is_evaluated_on_is_said_as_it_is():
    assert render(evaluated_on(CharacterTask("hello world"))) == "on the text it learns"
    for text, count in (("abcdefghijklmnopqrst", 0), ("abcde" * 8, 0), ("abcde" * 6 + "edcbaecadb", 6)):
        task = CharacterTask(text, 4, held_out_share=0.25 if len(text) > 20 else 0.0)
        trained = {text[i : i + 4] for i in range(task.n_trained - 4)}
        apart = [text[i : i + 4] for i in range(task.n_trained, len(text) - 4)]
        assert sum(window not in trained for window in apart) == count
        said = render(evaluated_on(task))
        assert said.startswith(f"on {count} windows of the held-out part" if count else "on the text it learns")
    twice = CharacterTask("abcde" * 8, 4, held_out_share=0.25)
    assert render(evaluated_on(twice)).endswith("since every window of the held-out part also occurs in the rest")


def test_induction_says_where_the_first_layer_is_judged():
    said = [
        render(sentence)
        for sentence in success_sentences(recommended(TASKS["induction"]), run_of("induction").evaluations[-1])
    ]
    assert any("up to where the letters start to repeat" in sentence for sentence in said)


# Films, ablations, comparisons, answers.


@pytest.mark.parametrize("name", ["recall", "induction", "characters", "untrained"])
def test_a_film_has_a_frame_and_a_sentence_for_each_moment_and_its_curves(name):
    history = RUNS[name]()
    steps = list(range(history.snapshot.step + 1))
    film, *_ = train_screen(history, [observed(history, step=step) for step in steps]).figures
    assert list(film.at) == steps and [int(render(said).split()[1]) for said in film.moments] == steps
    assert render(film.notice[0]) == render(film.moments[-1])
    for frame, made in zip(film.frames, steps_of(history.settings), strict=False):
        model = model_with(history.settings.model, torch.from_numpy(made.weights))
        traces = model(torch.tensor(ids_seen(history))).layers
        weights = {
            f"{at}.{h}": w for at, trace in enumerate(traces) for h, w in enumerate(trace.attention.heads.weights)
        }
        assert [matrix.key for matrix in frame.matrices] == list(weights)
        for matrix in frame.matrices:
            torch.testing.assert_close(matrix.values, weights[matrix.key])
    loss, progress = film.curves
    assert loss.lines[0].y.tolist() == [step.loss for step in steps_of(history.settings)][: len(steps)]
    assert list(progress.lines[0].y) == [evaluation.accuracy for evaluation in history.evaluations]
    assert loss.x_domain == progress.x_domain == (0, history.settings.steps)


def ids_seen(history):
    """What the heads are looked at on."""
    task = history.settings.task
    return task.vocabulary.encode("helo") if isinstance(task, CharacterTask) else task.example.ids.tolist()


def test_below_the_film_of_a_text_stand_its_windows_as_the_notebook_cuts_them():
    history = trained(recommended(CharacterTask("hello world", 8), 3, steps=2))
    _, table = train_screen(history, [observed(history)]).figures
    text = "hello world"
    pairs = [(text[i : i + 8], text[i + 1 : i + 9]) for i in range(len(text) - 8)]
    assert [row[1:] for row in table.cells] == [tuple(part.replace(" ", "␣") for part in pair) for pair in pairs]
    assert "3 windows of the text" in render_all(table.notice) and "are shown here" not in render_all(table.notice)
    long = trained(recommended(CharacterTask(HARBOUR, 16, 0.25), 0, steps=2))
    *_, table = train_screen(long, [observed(long)]).figures
    assert [row[0] for row in table.cells] == [1, 2, 3, 4, 5, 6]
    assert table.cells[5][1:] == (visible_text(HARBOUR[5:21]), visible_text(HARBOUR[6:22]))
    assert render_all(table.notice).endswith("The first 6 are shown here.")


@pytest.mark.parametrize("updates", [0, 1, 21])
def test_below_the_film_of_the_four_vectors_stands_what_is_given_back_beside_x(updates):
    history = trained(recommended(TASKS["vectors"], 7, steps=21), updates)
    _, figure = train_screen(history, [observed(history)]).figures
    given, x = figure.matrices
    ids = torch.tensor([[5, 12, 31, 7]])
    model = model_with(history.settings.model, torch.from_numpy(history.snapshot.weights))
    trace, _ = predict(model, Batch(ids, ids))
    assert torch.equal(given.values, trace.logits[0])
    assert torch.equal(x.values, table_of_seed_42()[ids[0]])
    assert given.scale == x.scale == "number", "both are drawn alike at every moment"


def test_of_wide_vectors_the_first_features_are_drawn():
    history = run_of("vectors", 1, d_model=32, n_heads=2)
    _, figure = train_screen(history, [observed(history)]).figures
    assert [matrix.values.shape for matrix in figure.matrices] == [(4, 16), (4, 16)]
    assert [render(matrix.remark) for matrix in figure.matrices] == ["4×32, 16 shown"] * 2


@pytest.mark.parametrize(("width", "bands"), [(1060, [2]), (480, [1, 1])])
def test_in_half_a_page_x_stands_below_the_output(width, bands):
    history = RUNS["vectors"]()
    _, figure = train_screen(history, [observed(history)], width=width).figures
    assert [len(band) for band in figure.bands] == bands


def test_a_task_without_texts_or_vectors_has_the_film_alone():
    assert len(train_screen(RUNS["recall"](), [observed(RUNS["recall"]())]).figures) == 1


@pytest.mark.parametrize(("width", "heads"), [(1000, 632), (480, 410)])
def test_heads_leave_room_for_the_curves_beside_them_or_for_the_axis_of_those_below(width, heads):
    (film,) = train_screen(RUNS["recall"](), [observed(RUNS["recall"]())], width=width).figures
    assert (film.width, film.frames[0].width) == (width, heads)
    assert (film.curves[0].width + film.frames[0].width <= width) == (width == 1000)


def test_the_head_that_costs_the_most_is_named_and_ties_are_named_too():
    one, two = Ablation(((0, 0),), 0.5, 0.9, 0.1, 0.95), Ablation(((1, 0),), 2.0, 0.3, 0.1, 0.95)
    assert render_all(ablation_sentences([one, two])) == (
        "With all heads, 95% of the answers are right. Ablating layer 2, head 1 costs the most: 30% are still right."
    )
    tied = render_all(ablation_sentences([two, dataclasses.replace(two, ablated=((0, 0),))]))
    assert "Ablating one of layer 2, head 1 and layer 1, head 1 costs the most" in tied
    harmless = Ablation(((0, 0),), 0.5, 0.96, 0.1, 0.95)
    assert "No single head is essential." in render_all(ablation_sentences([harmless, harmless]))


def test_the_table_of_ablations_has_a_line_for_each_head_and_layer_with_its_own_numbers():
    history = run_of("last")
    settings, snapshot = history.settings, history.snapshot
    heads = [ablate_heads(settings, snapshot, [(0, head)]) for head in range(4)]
    layer = ablate_heads(settings, snapshot, [(0, head) for head in range(4)])
    table = ablation_table(settings, snapshot)
    named = [f"layer 1, head {head}" for head in (1, 2, 3, 4)]
    assert [render(row[0]) for row in table.cells] == [*named, "all of layer 1"]
    assert [row[1].value for row in table.cells] == [one.accuracy for one in (*heads, layer)]
    assert render_all(table.notice).startswith("With all heads, ")


@pytest.mark.parametrize("name", ["previous", "pronoun", "recall", "characters", "vectors"])
def test_each_token_has_its_answers_below_it_and_what_is_wrong_has_a_cross(name):
    history = run_of(name, 1)
    look = observe_task(history.settings, history.snapshot)
    example = look.example
    tokens, right, said, wrong = answer_rows(example, look.predicted).values()
    assert len(tokens) == len(right) == len(said) == len(wrong) == len(example.tokens)
    crosses = wrong.count("×")
    asked = [i for i, answer in enumerate(example.answers) if answer is not None]
    assert crosses == sum(example.answers[i] != look.predicted[i] for i in asked)
    assert crosses == round((1 - look.accuracy) * len(asked))
    assert render(moment_sentence(look)).startswith("After 1 training step, its answers are: ")


def test_two_runs_are_compared_by_their_last_evaluations():
    runs = [trained(dataclasses.replace(s, steps=21)) for s in COMPARISONS["positions"].settings(1)]
    said = render_all(comparison_sentences(*runs))
    for history in runs:
        assert percent(history.evaluations[-1].accuracy) in said
        assert number(history.evaluations[-1].weight) in said
    assert "(after 21 and 21 training steps)" in said
    assert "look ahead" not in said
    empty = dataclasses.replace(runs[0], evaluations=())
    assert render_all(comparison_sentences(empty, runs[1])) == "Nothing has been evaluated yet."


def test_two_runs_of_which_one_may_look_ahead_are_compared_with_the_future_hidden():
    runs = [trained(dataclasses.replace(s, steps=80)) for s in COMPARISONS["mask"].settings(1)]
    sentence = next(s for s in comparison_sentences(*runs) if "future hidden" in s.template)
    for name, history in zip(("one", "other"), runs, strict=True):
        _, hidden = losses_seeing_and_hidden(Case(None, 0, history, None))
        assert sentence.arguments[name].value == pytest.approx(hidden, abs=1e-3)
    assert sentence.arguments["other"].value > sentence.arguments["one"].value, "who reads has not learnt to predict"
    for pair in (runs, (runs[1], runs[1]), (runs[1], run_of("copy", 41))):
        said = comparison_sentences(*pair)
        assert "they say little about what it has learned." in render_all(said)
        assert not any("have learned it" in s.template or "has learned it." in s.template for s in said)


def test_hello_world_takes_little_attention_and_reversing_takes_all():
    """With these seeds: other ones leave it 67 or 75% of its letters, and then the sentence says no more than that."""
    for seed in (0, 3):
        hello = trained(recommended(CharacterTask("hello world"), seed, steps=100))
        said = without_heads(hello.settings, hello.snapshot)
        assert 0.75 < said.arguments["left"].value < 0.95
    reverse = trained(recommended(TASKS["reverse"], 0, steps=100))
    assert without_heads(reverse.settings, reverse.snapshot).arguments["left"].value < 0.25


def test_two_ways_to_the_gradients_are_told_to_give_the_same_losses():
    by_hand, by_autograd = (trained(dataclasses.replace(s, steps=13)) for s in COMPARISONS["engine"].settings(3))
    sentence = comparison_sentences(by_hand, by_autograd)[-1]
    gaps = [abs(float(one) - float(other)) for one, other in zip(by_hand.losses, by_autograd.losses, strict=True)]
    assert sentence.arguments["count"] == 13
    assert sentence.arguments["gap"].value == pytest.approx(max(gaps), abs=1e-9)
    assert 0 < max(gaps) < 1e-5, "two ways of rounding, and no more"
    assert "Only the way gradients are computed differs" not in render_all(comparison_sentences(by_hand, by_hand))


def test_a_leak_that_no_head_has_is_said_to_be_none():
    history = run_of("noise", causal=True)
    said = render_all(leak_sentences(measure_future_leak(history.settings, history.snapshot)))
    assert "on the very letter" not in said
