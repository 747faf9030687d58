"""What somebody typed, as far as a model of characters knows it; and what had to be changed in it."""

from dataclasses import dataclass

from attention_core.base.errors import Phrase
from attention_core.learning.tasks import CharacterTask
from attention_core.learning.training import TrainingSettings
from attention_core.text.tokens import clean_text, tokenize
from lessons.screen import Message, Token, message, visible_text

MAX_START = 200
MOST_LISTED = 8


@dataclass(frozen=True)
class Beginning:
    """Characters that the model knows, and what was changed to get them."""

    tokens: tuple[str, ...]
    notes: tuple[Message | Phrase, ...] = ()


def beginning_of(raw: str, task: CharacterTask) -> Beginning:
    """What a text begins with: where nothing is left of it, the first character of the training text."""
    clean = clean_text(raw, MAX_START)
    text = clean.text + (" " if clean.text and raw[-1:].isspace() else "")  # a space at the end asks for a word
    known, notes = known_characters(text, task)
    if text and not known:
        first = Token(task.tokens[0], 0)
        notes.append(message("Nothing is left of your beginning, so the text begins with {first}.", first=first))
    return Beginning(known or task.tokens[:1], (*clean.notes, *notes))


def read_probe(settings: TrainingSettings, raw: str) -> Beginning:
    """The last characters that the model knows and can see; the first window of the training text for want of any."""
    task, context = settings.task, settings.model.context
    if not isinstance(task, CharacterTask):  # it reads no text
        return Beginning(task.example.tokens)
    clean = clean_text(raw)
    known, notes = known_characters(clean.text, task)
    if len(known) > context:
        notes.append(message("The model sees {n} characters at once; these are the last {n}.", n=context))
    if clean.text and not known:
        notes.append(message("Nothing is left of the text, so this is the beginning of the training text."))
    return Beginning(known[-context:] or task.tokens[: task.window], (*clean.notes, *notes))


def known_characters(text: str, task: CharacterTask) -> tuple[tuple[str, ...], list[Message]]:
    """The characters of a text that are in the vocabulary, and a sentence on the others."""
    typed, vocabulary = tokenize(text, "characters"), set(task.vocabulary.tokens)
    unknown = [character for character in dict.fromkeys(typed) if character not in vocabulary]
    known = tuple(character for character in typed if character in vocabulary)
    if not unknown:
        return known, []
    listed = " ".join(map(visible_text, unknown[:MOST_LISTED])) + (" …" if len(unknown) > MOST_LISTED else "")
    return known, [message("This model has never met {characters} and leaves it out.", characters=listed)]
