"How are the weights learned?"

from collections.abc import Callable, Sequence
from itertools import islice

import torch

from attention_core.learning.steps import TrainingStack, gradient_of, predict
from attention_core.learning.tasks import TaskExample
from attention_core.learning.training import TrainingHistory, TrainingSettings, train
from attention_core.measured.observe import ObservedTask, ObservedText
from lessons.learning.train.ablation import WithoutHead, without_heads
from lessons.learning.train.curves import future_leak, leak_sentences, loss_figure, right_answers
from lessons.learning.train.head_roles import by_step, formed_heads, formed_sentences
from lessons.learning.train.notebook_runs import beside_the_printed
from lessons.learning.train.questions import QUESTIONS
from lessons.learning.train.task_figures import figures_of_task
from lessons.screen import (
    Code,
    Film,
    ListOf,
    Matrices,
    Message,
    Percent,
    Question,
    Screen,
    message,
    plural,
    translate,
    visible_text,
)
from lessons.shared.head_maps import every_head
from lessons.shared.questions import question_picker
from lessons.trace.computation import Computation

TOPIC = message("Training")
POINT = message(
    "A model starts with random numbers and learns from examples: each step changes them a little to make its guesses "
    "less wrong."
)

FIRST_STEPS = 5  # which a program trains
NOTHING = "·"  # where a position does not count
FILM_WIDTH, BESIDE_ROOM, BELOW_ROOM = 1070, 368, 70  # of the width, what curves take from heads beside or above them
MOST_FRAMES = 40

Observed = ObservedText | ObservedTask


def train_screen(
    history: TrainingHistory,
    moments: Sequence[Observed],
    *,
    still: bool = False,
    less: WithoutHead | None = None,
    width: int = FILM_WIDTH,
) -> Screen:
    """A run up to one of its steps, as a film of these moments, the present one last: its curves and every head.

    Of a run that stands `still` more is measured; `less` is the model without one head. `width` is free for all of it:
    where that is narrow, the curves stand below the heads. Below the film is what belongs to this task alone.
    """
    without, left_out = ((), None) if less is None else ((less.sentence,), less.now.ablated[0])
    curves = (loss_figure(history, less), *([right_answers(history)] if history.evaluations else []))
    heads_width = width - (BESIDE_ROOM if width > 2 * BESIDE_ROOM else BELOW_ROOM)
    frames = tuple(observed_heads(moment, heads_width, moment is moments[-1], left_out) for moment in moments)
    said = moment_sentences(history, moments)
    film = Film(
        key="run",
        name=message("A training run"),
        frames=frames,
        moments=said,
        curves=curves,
        width=width,
        at=tuple(moment.step for moment in moments),
        notice=said[-1:],
        weights=untrained(history),
    )
    return Screen(
        figures=(film, *figures_of_task(history, width)),
        remarks=(
            *without,
            *collected_by_sinks(history.settings, moments[-1]),
            *formed_sentences(history),
            *(standing_remarks(history) if still else ()),
        ),
        code=code_of_run(history.settings),
        ask=questions_about(history.settings),
    )


def collected_by_sinks(settings: TrainingSettings, observed: Observed) -> tuple[Message, ...]:
    """What the sinks of a model collect on the sequence that is watched, where it has some."""
    if not settings.model.sink:
        return ()
    left = torch.stack([layer.weights.sum(dim=-1) for layer in observed.layers])
    return (
        message(
            "On average, the sinks of the heads collect {share} of the weight of these rows.",
            share=Percent(1 - float(left.mean())),
        ),
    )


def standing_remarks(history: TrainingHistory) -> tuple[Message, ...]:
    """What takes too long to measure at every step: how far it reads ahead, and what it can do without its heads."""
    leak, trained = future_leak(history), history.snapshot.step > 0 and bool(history.evaluations)
    return (
        *(() if leak is None else leak_sentences(leak)),
        *([without_heads(history.settings, history.snapshot)] if trained else ()),
        *(beside_the_printed(history) if trained else ()),
    )


def untrained(history: TrainingHistory) -> Message | None:
    """Says that the weights are still random, before the first update."""
    if history.snapshot.step:
        return None
    return message("Untrained: random weights (seed {seed}).", seed=history.settings.seed)


def questions_about(settings: TrainingSettings) -> Callable[[int], Question]:
    """Questions on a run, which can be answered before anything is trained."""
    return question_picker("train", QUESTIONS, settings.seed, settings)


def first_losses(settings: TrainingSettings, n_steps: int) -> list[float]:
    """The losses of the first steps of a run."""
    return [step.loss for step in islice(train(settings), n_steps)]


def code_of_run(settings: TrainingSettings) -> Code:
    """What trains, and the first steps of this run."""
    first = Computation(first_losses, {"settings": settings, "n_steps": FIRST_STEPS})
    return first.code(("",), train, TrainingStack.step, predict, gradient_of)


def observed_heads(observed: Observed, width: int, noticed: bool, left_out: tuple[int, int] | None) -> Matrices:
    """Every head on the text, or on the example of the task with its target cells marked."""
    how = {"width": width, "noticed": noticed, "left_out": left_out}
    if isinstance(observed, ObservedText):
        return every_head(observed.tokens, observed.layers, **how)
    example, target = observed.example, observed.example.target_attention
    return every_head(example.tokens, observed.layers, None if target is None else target.any(dim=0), **how)


def film_steps(steps: Sequence[int], most: int = MOST_FRAMES) -> list[int]:
    """At most so many of the recorded steps, evenly spread, the first and the last among them."""
    if len(steps) <= most:
        return list(steps)
    return [steps[round(i * (len(steps) - 1) / (most - 1))] for i in range(most)]


def moment_sentences(history: TrainingHistory, moments: Sequence[Observed]) -> tuple[Message, ...]:
    """What is said of each moment; of the first one at which heads have formed, which these are."""
    left, said = by_step(formed_heads(history)), []
    for moment in moments:
        now = [one.label for step in list(left) if step <= moment.step for one in left.pop(step)]
        said.append(moment_sentence(moment, now))
    return tuple(said)


def moment_sentence(observed: Observed, formed: Sequence[Message] = ()) -> Message:
    """One moment of a run: what the model writes, or its answers to the example. How many are right, the curves say."""
    if isinstance(observed, ObservedText):
        return plural(
            "After {count} training step, it writes: {sample}",
            "After {count} training steps, it writes: {sample}",
            observed.step,
            sample=observed.sample,
        )
    pairs = zip(observed.example.answers, observed.predicted, strict=True)
    answers = " ".join(NOTHING if right is None else visible_text(answer) for right, answer in pairs)
    if formed:
        return plural(
            "After {count} training step, with {formed} formed, its answers are: {answers}",
            "After {count} training steps, with {formed} formed, its answers are: {answers}",
            observed.step,
            formed=ListOf(tuple(formed)),
            answers=answers,
        )
    return plural(
        "After {count} training step, its answers are: {answers}",
        "After {count} training steps, its answers are: {answers}",
        observed.step,
        answers=answers,
    )


def answer_rows(example: TaskExample, predicted: Sequence[str]) -> dict[str, list[str]]:
    """Rows of one text for each token, by their titles: the tokens, the right answers and the model's answers.

    A wrong answer has a cross below it.
    """
    asked = [visible_text(token) for token in example.tokens]
    right = [NOTHING if answer is None else visible_text(answer) for answer in example.answers]
    said = [NOTHING if r == NOTHING else visible_text(p) for r, p in zip(right, predicted, strict=True)]
    wrong = ["×" if r != s else "" for r, s in zip(right, said, strict=True)]
    return {translate("tokens"): asked, translate("right answer"): right, translate("its answer"): said, "": wrong}
