"""What a visitor reads about the tasks: what must be learned, what attention looks like then, what a loss means."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from attention_core.tasks import Baseline, CharacterTask, FourVectorsTask, Task


@dataclass(frozen=True)
class TaskTexts:
    """The words of one task. `roles` completes “To …” for each role of its heads."""

    title: str
    learns: str
    looks_like: str
    roles: Mapping[str, str] = field(default_factory=dict)


TASK_TEXTS: dict[str, TaskTexts] = {
    "copy": TaskTexts(
        "Copy",
        "Each position must attend to itself and pass on the letter it finds there.",
        "A diagonal: every row attends to its own column.",
        {"self": "attend to its own position"},
    ),
    "previous": TaskTexts(
        "Previous token",
        "Each position must attend to the one before it and pass on the letter it finds there.",
        "A line just below the diagonal: every row attends to the column before its own.",
        {"previous": "attend one position back"},
    ),
    "reverse": TaskTexts(
        "Reverse",
        "Each position must attend to the one as far from the end as it is from the beginning.",
        "A diagonal from the bottom left to the top right.",
        {"mirror": "attend to the mirrored position"},
    ),
    "sort": TaskTexts(
        "Sort",
        "Each number that is written must find the next larger one among the numbers of the question.",
        "Below the arrow, one full cell in each row: in the column of the number that comes next.",
        {"next_larger": "find the next larger number"},
    ),
    "lookup": TaskTexts(
        "Look-up",
        "A question must find the pair with its letter, wherever it stands, and pass on the pair's number.",
        "In the rows of the questions, one full cell each: in the column of the pair that is asked for.",
        {"pair": "find the pair"},
    ),
    "pronoun": TaskTexts(
        "Pronouns",
        "“she”, “he” and “it” must find the word of their kind among all words before.",
        "In the last row, one full cell: in the column of the word that the pronoun stands for.",
        {"referent": "find the word that the pronoun stands for"},
    ),
    "last": TaskTexts(
        "The last four at once",
        "Each position must carry the last four letters along, and keep apart which stood where.",
        "Several lines below the diagonal. One head can only spread over all four positions; several can share them.",
        {
            "last": "attend to the last letter",
            "one_back": "attend one position back",
            "two_back": "attend two positions back",
            "three_back": "attend three positions back",
        },
    ),
    "recall": TaskTexts(
        "Associative recall",
        "First each number must learn which letter stood before it; then a letter must find its number.",
        "Layer 1: a number attends one position back. Layer 2: a question attends to the number of its letter.",
        {
            "letter_before": "attend from a number to the letter before it",
            "number": "attend from a question to its number",
        },
    ),
    "induction": TaskTexts(
        "Induction",
        "A letter must find what followed it last time: first each position learns which letter came before it.",
        "Layer 1: one position back. Layer 2: a stripe, one position after the same letter's earlier appearance.",
        {"previous": "attend one position back", "after_match": "attend to what followed the letter last time"},
    ),
    "characters": TaskTexts(
        "Letters of a text",
        "Each position must predict the next letter from those before it.",
        "No fixed picture: often a head attends one letter back, another to the beginning of the word.",
    ),
    "noise": TaskTexts(
        "Random letters",
        "Nothing: no letter predicts the next. Only a head that may look ahead can read the answer off.",
        "With a mask, no picture. Without one, a line just above the diagonal: the head reads the answer.",
        {"next": "attend one position ahead"},
    ),
    "vectors": TaskTexts(
        "Four fixed vectors",
        "To copy, each position must attend to itself; but four fixed vectors can simply be memorised.",
        "A diagonal if it copied. The weights stay spread out and unseen tokens come out wrong: it memorised.",
        {"self": "attend to its own position"},
    ),
}

BASELINE_TEXTS = {
    "uniform": "guessing uniformly among {}",
    "frequency": "knowing how often each letter comes",
    "letter_before": "knowing the letter before",
    "all_visible": "knowing all that is visible",
    "some_letters": "knowing {} of the {} letters",
    "kind": "knowing the kind, not the sentence",
    "sentence": "choosing among the three in the sentence",
    "numbers": "knowing which numbers there are",
    "numbers_left": "knowing which numbers are left",
    "answers_present": "knowing which answers are present",
    "letters_present": "knowing which letters are present",
    "reading_ahead": "reading every answer that can be read ahead",
    "zero": "answering zero to every token",
    "vectors": "giving every vector back",
    "perfect": "knowing every answer",
}


def texts_of(task: Task) -> TaskTexts:
    """The words of a task, whatever its sizes or its text."""
    return TASK_TEXTS[task.key]


def baseline_name(baseline: Baseline) -> str:
    """What somebody with this loss does or knows, to follow “better than …”."""
    return BASELINE_TEXTS[baseline.key].format(*baseline.counts)


def evaluated_on(task: Task) -> str:
    """Which sequences the share of right answers is about."""
    if isinstance(task, CharacterTask):
        return "on the part of the text kept apart" if task.held_out_share else "on the text it learns"
    if isinstance(task, FourVectorsTask):
        return "on tokens other than the four"
    return "on newly drawn sequences"
