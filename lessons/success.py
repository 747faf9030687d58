"""How far a model is with its task, in words and lines for the screen."""

from collections.abc import Sequence

from attention_core.observe import Ablation, ObservedTask
from attention_core.tasks import Task, TaskExample
from attention_core.training import Evaluation
from lessons.formatting import number, percent, seen
from lessons.task_texts import evaluated_on, texts_of
from lessons.watching import head_name

NOTHING = "·"  # where a place does not count


def success_caption(task: Task, evaluation: Evaluation) -> str:
    """The share of right answers and what the best head puts on the right cells, each beside what is enough."""
    right = (
        f"Right answers {evaluated_on(task)}: {percent(evaluation.accuracy)} (enough: {percent(task.enough_right)})."
    )
    parts = [right, *role_sentences(task, evaluation)]
    return " ".join(
        [*parts, "So it has learnt the task." if evaluation.learnt else "So it has not learnt the task yet."]
    )


def role_sentences(task: Task, evaluation: Evaluation) -> list[str]:
    """For each role of the task, which head plays it best, and with how much of its weight."""
    counts = task.learnt(1.0, ()) and not task.learnt(1.0, (0.0,) * len(task.roles))
    enough = f" (enough: {number(task.threshold)})" if counts else ""
    sentences = []
    for role, weights in zip(task.roles, evaluation.role_weights, strict=True):
        layer, head = divmod(int(weights.argmax()), weights.shape[1])
        best = number(float(weights[layer, head]))
        sentences.append(
            f"To {texts_of(task).roles[role]}: {head_name(layer, head)} with {best} of its weight{enough}."
        )
    return sentences


def answer_lines(example: TaskExample, predicted: Sequence[str]) -> str:
    """Three lines for a fixed-width font: the tokens, the right answers below them, and the model's answers.

    A wrong answer has a cross below it.
    """
    asked = [seen(token) for token in example.tokens]
    right = [NOTHING if answer is None else seen(answer) for answer in example.answers]
    said = [NOTHING if r == NOTHING else seen(p) for r, p in zip(right, predicted, strict=True)]
    wrong = ["×" if r != s else " " for r, s in zip(right, said, strict=True)]
    widths = [max(map(len, column)) for column in zip(asked, right, said, strict=True)]
    rows = {"tokens": asked, "right answer": right, "its answer": said, "": wrong}
    lines = (
        f"{title:<12}  " + " ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for title, row in rows.items()
    )
    return "\n".join(line.rstrip() for line in lines)


def moment_caption(watched: ObservedTask) -> str:
    """One moment of a run: how many answers of the example are right, and what the answers are."""
    said = " ".join(
        NOTHING if right is None else seen(answer)
        for right, answer in zip(watched.example.answers, watched.predicted, strict=True)
    )
    return f"After {watched.step} updates {percent(watched.accuracy)} of its answers are right: {said}"


def heads_off_rows(heads: Sequence[Ablation]) -> list[dict[str, str]]:
    """A table of what each head is worth."""
    return [
        {
            "switched off": off_name(without),
            "right answers without it": percent(without.accuracy),
            "lost": percent(without.lost),
            "loss without it": number(without.loss),
        }
        for without in heads
    ]


def off_name(without: Ablation) -> str:
    """What is switched off: one head, or a whole layer."""
    if len(without.ablated) == 1:
        return head_name(*without.ablated[0])
    return f"all of layer {without.ablated[0][0] + 1}"


def heads_off_caption(heads: Sequence[Ablation]) -> str:
    """Which head is missed most."""
    worst = max(heads, key=lambda without: (without.lost, without.loss))
    whole = f"With all heads {percent(worst.accuracy_of_all)} of the answers are right"
    if worst.lost <= 0:
        return f"{whole}; no single head is missed."
    return f"{whole}; {off_name(worst)} is missed most: without it {percent(worst.accuracy)}."
