"""What comes of a training run, as curves and sentences: its loss, its right answers, and whether it looks ahead."""

from attention_core.tasks import CharacterTask, NoiseTask, Task
from attention_core.training import Evaluation, TrainingHistory, TrainingSettings
from lessons.example.task_texts import baseline_name, evaluated_on, texts_of
from lessons.kit.head_maps import head_name
from lessons.screen.format import apart, leaders, number, percent
from lessons.screen.message import All, Number, Sentence, Share, say, say_count
from lessons.screen.screen import Array, Curves, Line
from lessons.train.ablation import WithoutHead
from lessons.train.future_leak import FutureLeak, measure_future_leak
from lessons.train.head_roles import by_step, formed_heads

LEVEL = 0.005  # losses that differ by less count as equal
READS_AHEAD = 0.1  # nats that sight of the future must save before we say that the answer is read
WIDTH = 270
LINE_AND_DOTS = say("Line: training loss. Dots: evaluation loss.")


def loss_figure(history: TrainingHistory, less: WithoutHead | None = None) -> Curves:
    """The training loss at every step and the evaluation loss now and then, between baselines that mean something.

    `less` adds the loss without one head.
    """
    settings, evaluations = history.settings, history.evaluations
    vectors = settings.model.output == "vectors"
    line = Line(key="training", name=say("training loss"), x=range(len(history.losses)), y=history.losses)
    dots = Line(key="evaluation", name=say("evaluation loss"), style="dots",
                x=[e.step for e in evaluations], y=[e.loss for e in evaluations])  # fmt: skip
    return Curves(
        key="loss", name=say("The loss while the model trains"),
        lines=(line, dots) if less is None else (line, dots, less.line), width=WIDTH, height=190,
        notice=(*loss_sentences(settings, float(history.losses[-1])), *([LINE_AND_DOTS] if evaluations else [])),
        x=say("updates"), y=say("loss (squared error)") if vectors else say("loss (nats)"),
        x_domain=(0, settings.steps),
        levels=tuple((say("{baseline}: {loss}", baseline=baseline_name(b), loss=Number(b.loss)), b.loss)
                     for b in settings.task.baselines()),
        marks=tuple((one.label, one.step) for one in formed_heads(history)))  # fmt: skip


def loss_sentences(settings: TrainingSettings, loss: float) -> tuple[Sentence, ...]:
    """Where a loss lies between the baselines; and a word of warning where the model may read the answers."""
    if not (isinstance(settings.task, CharacterTask) and may_read_ahead(settings)):
        return (among_baselines(settings.task, loss),)
    warning = say("This model may look ahead, so it can read the next letter instead of predicting it.")
    limit = min(settings.task.baselines(), key=lambda b: b.loss)
    if loss >= limit.loss - LEVEL:
        return say("The loss is {loss}. The levels are for models that see only what came before.",
                   loss=Number(loss)), warning  # fmt: skip
    here, there = apart(loss, limit.loss)
    return say("The loss is {loss}: below {baseline} ({level}), the limit for who sees only what came before.",
               loss=here, level=there, baseline=baseline_name(limit)), warning  # fmt: skip


def asks_for_next(task: Task) -> bool:
    """True for tasks whose answer is the next token."""
    return isinstance(task, CharacterTask | NoiseTask)


def may_read_ahead(settings: TrainingSettings) -> bool:
    """True where the answer is the next token and nothing hides it."""
    return asks_for_next(settings.task) and not settings.model.causal


def among_baselines(task: Task, loss: float) -> Sentence:
    """What a loss means."""
    baselines = sorted(task.baselines(), key=lambda b: b.loss)
    level = [b for b in baselines if abs(loss - b.loss) <= LEVEL]
    if level:
        return say("The loss is {loss}: as good as {baseline}.", loss=Number(loss), baseline=baseline_name(level[0]))
    beaten, missed = [b for b in baselines if loss < b.loss], [b for b in baselines if loss > b.loss]
    here, there = apart(loss, (beaten or missed[-1:])[0].loss)
    if not beaten:
        return say("The loss is {loss}: worse than {baseline} ({level}).", loss=here, level=there,
                   baseline=baseline_name(missed[-1]))  # fmt: skip
    reached = {"loss": here, "level": there, "baseline": baseline_name(beaten[0])}
    if not missed:
        return say("The loss is {loss}: better than {baseline} ({level}), the limit on average. This batch was easy.",
                   **reached)  # fmt: skip
    goal = {"goal": baseline_name(missed[-1]), "aim": Number(missed[-1].loss)}
    return say("The loss is {loss}: better than {baseline} ({level}), not yet as good as {goal} ({aim}).",
               **reached, **goal)  # fmt: skip


def right_answers(history: TrainingHistory) -> Curves:
    """The share of right answers, and how much weight heads put on the target cells, where a task has any."""
    task, evaluations = history.settings.task, history.evaluations
    look = {"x": [e.step for e in evaluations], "points": True}
    lines = [Line(key="right", name=say("right answers"), y=[e.accuracy for e in evaluations], colour="v", **look)]
    if evaluations[-1].best_role_weights:
        lines.append(Line(key="weight", name=say("weight on target cells"), y=[e.weight for e in evaluations],
                          colour="weight", style="dashed", **look))  # fmt: skip
    return Curves(key="progress", name=say("Right answers while the model trains"), width=WIDTH, height=140,
                  percent=True, notice=success_sentences(history.settings, evaluations[-1]), lines=tuple(lines),
                  x=say("updates"), y=say("share") if len(lines) > 1 else say("right answers"),
                  x_domain=(0, history.settings.steps), y_domain=(0, 1),
                  levels=((say("enough"), task.enough_right),),
                  marks=tuple((None, step) for step in by_step(formed_heads(history))))  # fmt: skip


def success_sentences(settings: TrainingSettings, evaluation: Evaluation) -> tuple[Sentence, ...]:
    """The share of right answers, which head plays each role, and whether that is enough."""
    task = settings.task
    right = say("Right answers {where}: {share}.", where=evaluated_on(task), share=Share(evaluation.accuracy))
    roles = (texts_of(task).roles[role] for role in task.roles)
    played = [role_sentence(task, *pair) for pair in zip(roles, evaluation.role_weights, strict=True)]
    if may_read_ahead(settings):
        return right, *played, say("It may look ahead: what it gets right may be read, not predicted.")
    return right, *played, verdict_on(task, evaluation)


def verdict_on(task: Task, evaluation: Evaluation) -> Sentence:
    """Whether the task counts as learnt."""
    enough = Share(task.enough_right)
    if evaluation.learnt:
        return say("It has learnt the task, for which {enough} is enough.", enough=enough)
    if roles_count(task):
        return say("It has not learnt the task yet: that takes {enough}, and heads that attend where they should.",
                   enough=enough)  # fmt: skip
    return say("It has not learnt the task yet: that takes {enough}.", enough=enough)


def roles_count(task: Task) -> bool:
    """True for a task that counts as learnt only when heads attend to the target cells."""
    return task.learnt(1.0, ()) and not task.learnt(1.0, (0.0,) * len(task.roles))


def role_sentence(task: Task, role: Sentence, weights: Array) -> Sentence:
    """Which head plays a role, with how much of its weight. Heads whose weight reads the same are all named."""
    heads = leaders(weights, number)
    named = All(tuple(head_name(*head) for head in heads))
    about = {"role": role, "weight": Number(float(weights[heads[0]])), "heads": named}
    if roles_count(task):
        return say("Job: to {role}. Best at it: {heads}, with {weight} of the weight (enough: {enough}).", **about,
                   enough=Number(task.threshold))  # fmt: skip
    return say("To {role}: {heads} with {weight} of the weight.", **about)


def future_leak(history: TrainingHistory) -> FutureLeak | None:
    """How far a model that may look ahead reads the answers; None for one that may not."""
    return measure_future_leak(history.settings, history.snapshot) if may_read_ahead(history.settings) else None


def leak_sentences(leak: FutureLeak) -> tuple[Sentence, ...]:
    """How far a model that may look ahead reads the answers."""
    losses = {"seeing": Number(leak.loss_seeing), "hidden": Number(leak.loss_hidden)}
    if leak.strongest == 0:
        return (say("With the future in sight the loss is {seeing}, with it hidden {hidden}. No head can look ahead.",
                    **losses),)  # fmt: skip
    heads = leaders(leak.ahead, percent)
    puts = say_count("{heads} puts {weight} of its weight on the very letter that is to be predicted.",
                     "{heads} each put {weight} of their weight on the very letter that is to be predicted.",
                     len(heads), heads=All(tuple(head_name(*head) for head in heads)),
                     weight=Share(leak.strongest))  # fmt: skip
    if leak.loss_hidden - leak.loss_seeing > READS_AHEAD:
        return say("With the future in sight the loss is {seeing}, with it hidden {hidden}: the model reads the "
                   "answer.", **losses), puts  # fmt: skip
    return say("With the future in sight the loss is {seeing}, with it hidden {hidden}: looking ahead gains it "
               "little.", **losses), puts  # fmt: skip
