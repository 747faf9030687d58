"""What a visitor reads about the tasks: what must be learned, what attention looks like then, what a loss means."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from attention_core.randomness import generator
from attention_core.tasks import Baseline, CharacterTask, Task
from attention_core.training import HELD_OUT
from lessons.screen.message import Sentence, say, say_count


@dataclass(frozen=True)
class TaskTexts:
    """The words of one task. `roles` completes “To …” for each role of its heads."""

    title: Sentence
    learns: Sentence
    looks_like: Sentence
    roles: Mapping[str, Sentence] = field(default_factory=dict)

    @property
    def in_short(self) -> Sentence:
        """What is to be learnt, and what one sees when it has been."""
        return say(
            "{learns} Once learnt, it looks like this: {looks_like}", learns=self.learns, looks_like=self.looks_like
        )


TASK_TEXTS: dict[str, TaskTexts] = {
    "copy": TaskTexts(say("Copy"),
        say("Each position must attend to itself and pass on the letter it finds there."),
        say("A diagonal: every row attends to its own column."),
        {"self": say("attend to its own position")}),
    "previous": TaskTexts(say("Previous token"),
        say("Each position must attend to the one before it and pass on the letter it finds there."),
        say("A line just below the diagonal: every row attends to the column before its own."),
        {"previous": say("attend one position back")}),
    "reverse": TaskTexts(say("Reverse"),
        say("Each position must attend to the one as far from the end as it is from the beginning."),
        say("A diagonal from the bottom left to the top right."),
        {"mirror": say("attend to the mirrored position")}),
    "sort": TaskTexts(say("Sort"),
        say("Each number that is written must find the next larger one among the numbers of the question."),
        say("Below the arrow, one full cell in each row: in the column of the number that comes next."),
        {"next_larger": say("find the next larger number")}),
    "lookup": TaskTexts(say("Look-up"),
        say("A question must find the pair with its letter, wherever it stands, and pass on the pair's number."),
        say("In the rows of the questions, one full cell each: in the column of the pair that is asked for."),
        {"pair": say("find the pair")}),
    "pronoun": TaskTexts(say("Pronouns"),
        say("“she”, “he” and “it” must find the word of their kind among all words before."),
        say("In the last row, one full cell: in the column of the word that the pronoun stands for."),
        {"referent": say("find the word that the pronoun stands for")}),
    "last": TaskTexts(say("The last four at once"),
        say("Each position must carry the last four letters along, and keep apart which stood where."),
        say("Several lines below the diagonal. One head can only spread over all four; several can share them."),
        {"last": say("attend to the last letter"), "one_back": say("attend one position back"),
         "two_back": say("attend two positions back"), "three_back": say("attend three positions back")}),
    "recall": TaskTexts(say("Associative recall"),
        say("First each number must learn which letter stood before it; then a letter must find its number."),
        say("Layer 1: a number attends one position back. Layer 2: a question attends to the number of its letter."),
        {"letter_before": say("attend from a number to the letter before it"),
         "number": say("attend from a question to its number")}),
    "induction": TaskTexts(say("Induction"),
        say("A letter must find what followed it last time: first each position learns which letter came before it."),
        say("Layer 1: one position back. Layer 2: a stripe, one position after the same letter's earlier appearance."),
        {"previous": say("attend one position back, up to where the letters start to repeat"),
         "after_match": say("attend to what followed the letter last time")}),
    "characters": TaskTexts(say("Letters of a text"),
        say("Each position must predict the next letter from those before it."),
        say("No fixed picture: often a head attends one letter back, another to the beginning of the word.")),
    "noise": TaskTexts(say("Random letters"),
        say("Nothing: no letter predicts the next. Only a head that may look ahead can read the answer off."),
        say("With a mask, no picture. Without one, a line just above the diagonal: the head reads the answer."),
        {"next": say("attend one position ahead")}),
    "vectors": TaskTexts(say("Four fixed vectors"),
        say("To copy, each position must attend to itself; but four fixed vectors can simply be memorised."),
        say("A diagonal if it copied. The weights stay spread out and unseen tokens come out wrong: it memorised."),
        {"self": say("attend to its own position")}),
}  # fmt: skip

BASELINES: dict[str, Callable[..., Sentence]] = {
    "uniform": lambda among: say("guessing uniformly among {among}", among=among),
    "frequency": lambda: say("knowing how often each letter comes"),
    "letter_before": lambda: say("knowing the letter before"),
    "all_visible": lambda: say("knowing all that is visible"),
    "some_letters": lambda known, all_: say("knowing {known} of the {all} letters", known=known, all=all_),
    "kind": lambda: say("knowing the kind, not the sentence"),
    "sentence": lambda: say("choosing among the three in the sentence"),
    "numbers": lambda: say("knowing which numbers there are"),
    "numbers_left": lambda: say("knowing which numbers are left"),
    "answers_present": lambda: say("knowing which answers are present"),
    "letters_present": lambda: say("knowing which letters are present"),
    "reading_ahead": lambda: say("reading every answer that can be read ahead"),
    "zero": lambda: say("answering zero to every token"),
    "vectors": lambda: say("giving every vector back"),
    "perfect": lambda: say("knowing every answer"),
}


def texts_of(task: Task) -> TaskTexts:
    """The words of a task, whatever its sizes or its text."""
    return TASK_TEXTS[task.key]


def baseline_name(baseline: Baseline) -> Sentence:
    """What somebody with this loss does or knows, to follow “better than …”."""
    return BASELINES[baseline.key](*baseline.counts)


def evaluated_on(task: Task) -> Sentence:
    """Which sequences the share of right answers is about."""
    if isinstance(task, CharacterTask):
        return evaluated_on_text(task)
    if not task.draws_afresh:
        return say("on tokens other than the four")
    return say("on {count} sequences it never trains on", count=HELD_OUT)


def evaluated_on_text(task: CharacterTask) -> Sentence:
    """The windows of the part kept apart that stand nowhere else, if there are any."""
    unseen = task.unseen_windows
    if not task.held_out_share:
        return say("on the text it learns")
    if not len(unseen):
        return say("on the text it learns, for every window of the part kept apart stands in the rest, too")
    return say_count("on {count} window of the part kept apart, which stands nowhere in the rest",
                     "on {count} windows of the part kept apart, none of which stands in the rest",
                     len(task.held_out(HELD_OUT, generator(0)).inputs))  # fmt: skip
