"""How do the weights get there?"""

from collections.abc import Callable, Sequence

from attention_core.observe import FutureLeak, ObservedTask, ObservedText
from attention_core.tasks import TaskExample
from attention_core.training import TrainingHistory, TrainingSettings, gradient_of, predict, train
from lessons.every_head import every_head
from lessons.formatting import seen
from lessons.questions.base import asking
from lessons.questions.train import QUESTIONS
from lessons.screen import Code, Film, Matrices, Question, Screen
from lessons.sentence import Sentence, Share, say, say_count
from lessons.training_curves import leak_sentences, loss_figure, right_answers

HEADING = say("How do the weights get there?")
OPENING = say(
    "A small transformer starts with random weights and learns a task from examples. Press **Start** and watch its "
    "heads take shape."
)

TRAINING_CODE = Code((train, predict, gradient_of))
NOTHING = "·"  # where a position does not count
HEADS_WIDTH, FILM_WIDTH = 630, 1000
MOST_FRAMES = 40


def train_screen(
    history: TrainingHistory, observed: ObservedText | ObservedTask, leak: FutureLeak | None = None, *,
    width: int = HEADS_WIDTH,
) -> Screen:  # fmt: skip
    """A run at one of its steps: its curves, and what every head does there. `width` is free for the heads."""
    curves = (loss_figure(history), *([right_answers(history)] if history.evaluations else []))
    return Screen(figures=(*curves, observed_heads(observed, width)),
                  remarks=() if leak is None else leak_sentences(leak), code=TRAINING_CODE,
                  ask=questions_about(history.settings))  # fmt: skip


def questions_about(settings: TrainingSettings) -> Callable[[int], Question]:
    """Questions on a run, which can be answered before anything is trained."""
    return asking("train", QUESTIONS, settings.seed, settings)


def observed_heads(observed: ObservedText | ObservedTask, width: int) -> Matrices:
    """Every head on the text, or on the example of the task with its target cells marked."""
    if isinstance(observed, ObservedText):
        return every_head(observed.tokens, observed.layers, width=width)
    example, target = observed.example, observed.example.target_attention
    return every_head(example.tokens, observed.layers, None if target is None else target.any(dim=0), width=width)


def run_film(moments: Sequence[ObservedTask]) -> Film:
    """Every head at several moments of a run."""
    frames, said = tuple(observed_heads(moment, FILM_WIDTH) for moment in moments), tuple(map(moment_sentence, moments))
    return Film(key="replay", name=say("Every head through time"), notice=said[-1:], frames=frames, moments=said)


def film_steps(steps: Sequence[int], most: int = MOST_FRAMES) -> list[int]:
    """At most so many of the recorded steps, evenly spread, the first and the last among them."""
    if len(steps) <= most:
        return list(steps)
    return [steps[round(i * (len(steps) - 1) / (most - 1))] for i in range(most)]


def moment_sentence(observed: ObservedTask) -> Sentence:
    """One moment of a run: how many answers of the example are right, and what the answers are."""
    pairs = zip(observed.example.answers, observed.predicted, strict=True)
    said = " ".join(NOTHING if right is None else seen(answer) for right, answer in pairs)
    return say_count("After {count} update {share} of its answers are right: {answers}",
                     "After {count} updates {share} of its answers are right: {answers}",
                     observed.step, share=Share(observed.accuracy), answers=said)  # fmt: skip


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
    lines = (f"{title:<12}  " + " ".join(map(str.ljust, row, widths)) for title, row in rows.items())
    return "\n".join(map(str.rstrip, lines))
