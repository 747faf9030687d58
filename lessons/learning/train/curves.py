"""What comes of a training run, as curves and sentences: its loss, its right answers, and whether it looks ahead."""

from attention_core.learning.tasks import CharacterTask, NoiseTask, Task
from attention_core.learning.training import Evaluation, TrainingHistory, TrainingSettings
from lessons.example.task_texts import baseline_name, evaluated_on, texts_of
from lessons.learning.train.ablation import WithoutHead
from lessons.learning.train.future_leak import FutureLeak, measure_future_leak
from lessons.learning.train.head_roles import by_step, formed_heads
from lessons.screen import (
    Array,
    Curves,
    Fixed,
    Line,
    ListOf,
    Message,
    Percent,
    argmax_ties,
    distinguishable,
    message,
    number,
    percent,
    plural,
)
from lessons.shared.head_maps import head_name

LEVEL = 0.005  # losses that differ by less count as equal
WIDTH = 330
LINE_AND_DOTS = message("Line: training loss. Dots: evaluation loss.")


def loss_figure(history: TrainingHistory, less: WithoutHead | None = None) -> Curves:
    """The training loss at every step and the evaluation loss now and then, between baselines that mean something.

    `less` adds the loss without one head.
    """
    settings, evaluations = history.settings, history.evaluations
    vectors = settings.model.output == "vectors"
    line = Line(key="training", name=message("training loss"), x=range(len(history.losses)), y=history.losses)
    dots = Line(
        key="evaluation",
        name=message("evaluation loss"),
        style="dots",
        x=[e.step for e in evaluations],
        y=[e.loss for e in evaluations],
    )
    return Curves(
        key="loss",
        name=message("The loss while the model trains"),
        lines=(line, dots) if less is None else (line, dots, less.line),
        width=WIDTH,
        height=250,
        notice=(*loss_sentences(settings, float(history.losses[-1])), *([LINE_AND_DOTS] if evaluations else [])),
        x=message("training steps"),
        y=message("loss (squared error)") if vectors else message("loss (nats)"),
        x_domain=(0, settings.steps),
        levels=tuple(
            (message("{baseline}: {loss}", baseline=baseline_name(b), loss=Fixed(b.loss)), b.loss)
            for b in settings.task.baselines()
        ),
        marks=tuple((one.label, one.step) for one in formed_heads(history)),
    )


def loss_sentences(settings: TrainingSettings, loss: float) -> tuple[Message, ...]:
    """Where a loss lies between the baselines; and a word of warning where the model may read the answers."""
    if not (isinstance(settings.task, CharacterTask) and may_read_ahead(settings)):
        return (among_baselines(settings.task, loss),)
    return (message("The loss is {loss}. The levels are for models that see only what came before.", loss=Fixed(loss)),)


def asks_for_next(task: Task) -> bool:
    """True for tasks whose answer is the next token."""
    return isinstance(task, CharacterTask | NoiseTask)


def may_read_ahead(settings: TrainingSettings) -> bool:
    """True where the answer is the next token and nothing hides it."""
    return asks_for_next(settings.task) and not settings.model.causal


def among_baselines(task: Task, loss: float) -> Message:
    """What a loss means."""
    baselines = sorted(task.baselines(), key=lambda b: b.loss)
    level = [b for b in baselines if abs(loss - b.loss) <= LEVEL]
    if level:
        return message(
            "The loss is {loss}, as at the level “{baseline}”.", loss=Fixed(loss), baseline=baseline_name(level[0])
        )
    beaten, missed = [b for b in baselines if loss < b.loss], [b for b in baselines if loss > b.loss]
    here, there = distinguishable(loss, (beaten or missed[-1:])[0].loss)
    if not beaten:
        return message(
            "The loss is {loss}: above the level “{baseline}” ({level}).",
            loss=here,
            level=there,
            baseline=baseline_name(missed[-1]),
        )
    return message(
        "The loss is {loss}: below the level “{baseline}” ({level}).",
        loss=here,
        level=there,
        baseline=baseline_name(beaten[0]),
    )


def right_answers(history: TrainingHistory) -> Curves:
    """The share of right answers, and how much weight heads put on the target cells, where a task has any."""
    task, evaluations = history.settings.task, history.evaluations
    look = {"x": [e.step for e in evaluations], "points": True}
    lines = [Line(key="right", name=message("right answers"), y=[e.accuracy for e in evaluations], colour="v", **look)]
    if evaluations[-1].best_role_weights:
        lines.append(
            Line(
                key="weight",
                name=message("weight on target cells"),
                y=[e.weight for e in evaluations],
                colour="weight",
                style="dashed",
                **look,
            )
        )
    return Curves(
        key="progress",
        name=message("Right answers while the model trains"),
        width=WIDTH,
        height=190,
        percent=True,
        notice=success_sentences(history.settings, evaluations[-1]),
        lines=tuple(lines),
        x=message("training steps"),
        y=message("share") if len(lines) > 1 else message("right answers"),
        x_domain=(0, history.settings.steps),
        y_domain=(0, 1),
        levels=((message("enough"), task.enough_right),),
        marks=tuple((None, step) for step in by_step(formed_heads(history))),
    )


def success_sentences(settings: TrainingSettings, evaluation: Evaluation) -> tuple[Message, ...]:
    """The share of right answers, which head plays each role, and whether that is enough."""
    task = settings.task
    right = message("Right answers {where}: {share}.", where=evaluated_on(task), share=Percent(evaluation.accuracy))
    roles = (texts_of(task).roles[role] for role in task.roles)
    played = [role_sentence(task, *pair) for pair in zip(roles, evaluation.role_weights, strict=True)]
    if may_read_ahead(settings):
        return right, *played, message("It may look ahead: its right answers may be read off.")
    return right, *played, verdict_on(task, evaluation)


def verdict_on(task: Task, evaluation: Evaluation) -> Message:
    """Whether the task counts as learnt."""
    enough = Percent(task.enough_right)
    if evaluation.learnt:
        return message("It has learned the task: {enough} is enough.", enough=enough)
    return message("It has not learned the task yet: it needs {enough}.", enough=enough)


def role_sentence(task: Task, role: Message, weights: Array) -> Message:
    """Which head plays a role, with how much of its weight. Heads whose weight reads the same are all named."""
    heads = argmax_ties(weights, number)
    named = ListOf(tuple(head_name(*head) for head in heads))
    return message(
        "Job: to {role}. Best result: {heads}, {weight} of the weight.",
        role=role,
        heads=named,
        weight=Fixed(float(weights[heads[0]])),
    )


def future_leak(history: TrainingHistory) -> FutureLeak | None:
    """How far a model that may look ahead reads the answers; None for one that may not."""
    return measure_future_leak(history.settings, history.snapshot) if may_read_ahead(history.settings) else None


def leak_sentences(leak: FutureLeak) -> tuple[Message, ...]:
    """How far a model that may look ahead reads the answers."""
    losses = {"seeing": Fixed(leak.loss_seeing), "hidden": Fixed(leak.loss_hidden)}
    said = message("With the later letters given, the loss is {seeing}; with them hidden, {hidden}.", **losses)
    if leak.strongest == 0:
        return (said,)
    heads = argmax_ties(leak.ahead, percent)
    puts = plural(
        "{heads} puts {weight} of its weight on the very letter that is to be predicted.",
        "{heads} each put {weight} of their weight on the very letter that is to be predicted.",
        len(heads),
        heads=ListOf(tuple(head_name(*head) for head in heads)),
        weight=Percent(leak.strongest),
    )
    return said, puts
