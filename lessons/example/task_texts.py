"""What a visitor reads about the tasks: what must be learned, what attention looks like then, what a loss means."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from attention_core.base.randomness import generator
from attention_core.learning.tasks import Baseline, CharacterTask, Task
from attention_core.learning.training import HELD_OUT
from lessons.screen import Message, message, plural


@dataclass(frozen=True)
class TaskTexts:
    """The words of one task. `roles` completes “To …” for each role of its heads."""

    title: Message
    learns: Message
    looks_like: Message
    roles: Mapping[str, Message] = field(default_factory=dict)

    @property
    def once_learned(self) -> Message:
        """What one sees when it has been learnt."""
        return message("What it looks like once learned. {looks_like}", looks_like=self.looks_like)


TASK_TEXTS: dict[str, TaskTexts] = {
    "copy": TaskTexts(
        message("Copy"),
        message("Each position must attend to itself and pass on the letter it finds there."),
        message("A diagonal: every row attends to its own column."),
        {"self": message("attend to its own position")},
    ),
    "previous": TaskTexts(
        message("Previous token"),
        message("Each position must attend to the one before it and pass on the letter it finds there."),
        message("A line just below the diagonal: every row attends to the column before its own."),
        {"previous": message("attend one position back")},
    ),
    "reverse": TaskTexts(
        message("Reverse"),
        message("Each position must attend to the one as far from the end as it is from the beginning."),
        message("A diagonal from the bottom left to the top right."),
        {"mirror": message("attend to the mirrored position")},
    ),
    "sort": TaskTexts(
        message("Sort"),
        message("Each number of the answer must find the next larger one among the numbers of the question."),
        message("Below the arrow, one full cell in each row: in the column of the number that comes next."),
        {"next_larger": message("find the next larger number")},
    ),
    "lookup": TaskTexts(
        message("Look-up"),
        message("A question must find the pair with its letter, wherever it is, and pass on the pair's number."),
        message("In the rows of the questions, one full cell each: in the column of the pair that is asked for."),
        {"pair": message("find the pair")},
    ),
    "story": TaskTexts(
        message("Short stories"),
        message("“She” or “He” must find two words: who is meant, and what happened. What follows depends on both."),
        message("In the row of “She” or “He”, the weight shared between two cells: that person's and the verb's."),
        {"needed": message("find who is meant and what happened")},
    ),
    "pronoun": TaskTexts(
        message("Pronouns"),
        message("“she”, “he” and “it” must each find the word they stand for among all the words before them."),
        message("In the last row, one full cell: in the column of the word that the pronoun stands for."),
        {"referent": message("find the word that the pronoun stands for")},
    ),
    "last": TaskTexts(
        message("The last four at once"),
        message("Each position must carry the last four letters along and remember which came where."),
        message("Several lines below the diagonal. One head can only spread over all four; several can share them."),
        {
            "last": message("attend to the last letter"),
            "one_back": message("attend one position back"),
            "two_back": message("attend two positions back"),
            "three_back": message("attend three positions back"),
        },
    ),
    "recall": TaskTexts(
        message("Associative recall"),
        message("First each number must learn which letter came before it; then a letter must find its number."),
        message(
            "Layer 1: a number attends one position back. Layer 2: a question attends to the number of its letter."
        ),
        {
            "letter_before": message("attend from a number to the letter before it"),
            "number": message("attend from a question to its number"),
        },
    ),
    "induction": TaskTexts(
        message("Induction"),
        message(
            "A letter must find what followed it last time: first each position learns which letter came before it."
        ),
        message(
            "Layer 1: one position back. Layer 2: a stripe, one position after the same letter's earlier appearance."
        ),
        {
            "previous": message("attend one position back, up to where the letters start to repeat"),
            "after_match": message("attend to what followed the letter last time"),
        },
    ),
    "characters": TaskTexts(
        message("Letters of a text"),
        message("Each position must predict the next letter from those before it."),
        message("No fixed picture: often a head attends one letter back, another to the beginning of the word."),
    ),
    "noise": TaskTexts(
        message("Random letters"),
        message("Nothing: no letter predicts the next. Only a head that may look ahead can read off the answer."),
        message("With a mask, no picture. Without one, a line just above the diagonal: the head reads the answer."),
        {"next": message("attend one position ahead")},
    ),
    "vectors": TaskTexts(
        message("Four fixed vectors"),
        message("To copy, each position must attend to itself; but four fixed vectors can simply be memorised."),
        message(
            "A diagonal, if it copied. If the weights stay spread out and unseen tokens come out wrong, it memorised."
        ),
        {"self": message("attend to its own position")},
    ),
}

BASELINES: dict[str, Callable[..., Message]] = {
    "uniform": lambda among: message("guessing evenly among {among}", among=among),
    "frequency": lambda: message("knowing how often each letter comes"),
    "letter_before": lambda: message("knowing the letter before"),
    "all_visible": lambda: message("knowing all that is visible"),
    "some_letters": lambda known, all_: message("knowing {known} of the {all} letters", known=known, all=all_),
    "kind": lambda: message("knowing the kind, not the sentence"),
    "sentence": lambda: message("choosing among the three in the sentence"),
    "verb": lambda: message("knowing what happened, not to whom"),
    "person": lambda: message("knowing who is meant, not what happened"),
    "numbers": lambda: message("knowing which numbers there are"),
    "numbers_left": lambda: message("knowing which numbers are left"),
    "answers_present": lambda: message("knowing which answers are present"),
    "letters_present": lambda: message("knowing which letters are present"),
    "reading_ahead": lambda: message("reading every answer that can be read ahead"),
    "zero": lambda: message("answering zero for every token"),
    "vectors": lambda: message("giving every vector back"),
    "perfect": lambda: message("knowing every answer"),
}


def texts_of(task: Task) -> TaskTexts:
    """The words of a task, whatever its sizes or its text."""
    return TASK_TEXTS[task.key]


def baseline_name(baseline: Baseline) -> Message:
    """What somebody with this loss does or knows, to follow “better than …”."""
    return BASELINES[baseline.key](*baseline.counts)


def evaluated_on(task: Task) -> Message:
    """Which sequences the share of right answers is about."""
    if isinstance(task, CharacterTask):
        return evaluated_on_text(task)
    if not task.draws_afresh:
        return message("on tokens other than the four")
    return message("on {count} sequences it never trains on", count=HELD_OUT)


def evaluated_on_text(task: CharacterTask) -> Message:
    """The windows of the part kept apart that stand nowhere else, if there are any."""
    unseen = task.unseen_windows
    if not task.held_out_share:
        return message("on the text it learns")
    held_out = task.held_out(HELD_OUT, generator(0)) if len(unseen) else None
    if held_out is None:
        return message("on the text it learns, since every window of the held-out part also occurs in the rest")
    return plural(
        "on {count} window of the held-out part, which occurs nowhere in the rest",
        "on {count} windows of the held-out part, none of which occurs in the rest",
        len(held_out.inputs),
    )
