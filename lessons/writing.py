"""What the lesson on generating says: what a text starts with, and what led to each new character."""

from collections.abc import Sequence
from dataclasses import dataclass

from attention_core.generation import GeneratedToken, NewToken, legal_steps, never_an_input
from attention_core.sampling import Sampling, ranked
from attention_core.tasks import CharacterTask
from attention_core.tokens import clean_text, tokenize
from lessons.captions import number, percent, plural, seen
from lessons.watching import head_name

MAX_START = 200


@dataclass(frozen=True)
class Start:
    """What a text begins with, and what had to be done to make it so."""

    tokens: tuple[str, ...]
    notes: tuple[str, ...] = ()


def start_of(raw: str, task: CharacterTask) -> Start:
    """What somebody typed, without the characters the model does not know.

    Where nothing is left, the first character of the training text. The notes say what was changed.
    """
    clean = clean_text(raw, MAX_START)
    text = clean.text + (" " if clean.text and raw[-1:].isspace() else "")  # a space at the end asks for a word
    characters = tokenize(text, "characters")
    known = tuple(c for c in characters if c in task.vocabulary.tokens)
    notes = list(clean.notes)
    if unknown := [c for c in dict.fromkeys(characters) if c not in task.vocabulary.tokens]:
        listed = " ".join(map(seen, unknown[:8])) + (" …" if len(unknown) > 8 else "")
        notes.append(f"This model has never met {listed} and leaves it out.")
    if characters and not known:
        notes.append(f"Nothing is left to begin with, so the text begins with {quoted(task.tokens[0])}.")
    return Start(known or task.tokens[:1], tuple(notes))


def draw_caption(new: GeneratedToken, sampling: Sampling) -> str:
    """What the model found likely, what could be drawn, and what was."""
    draw, size = new.draw, len(new.draw.logits)
    rank = ranked(draw.logits).tolist().index(draw.token) + 1
    kept = int(draw.kept.sum())
    place = "the likeliest" if rank == 1 else f"the {ordinal(rank)} likeliest"
    if kept == 1:
        how = "nothing else could be drawn"
    elif sampling.temperature == 0:
        how = "at temperature 0 nothing else could be drawn"
    elif kept < size:
        how = f"drawn from the {kept} of {size} that were kept, at {percent(float(draw.final[draw.token]))}"
    elif sampling.temperature != 1:
        how = f"drawn at {percent(float(draw.final[draw.token]))} after the temperature"
    else:
        how = f"drawn from all {size}"
    return (
        f"The new character is {quoted(new.token)}: the model gave it "
        f"{percent(float(draw.probabilities[draw.token]))} ({place} of {size}); {how}."
    )


def look_caption(new: GeneratedToken) -> str:
    """What the last token of the window looked at most before the new one was drawn."""
    asker = quoted(new.window[-1])
    if len(new.window) == 1:
        return f"Before it stands {asker} alone, so every head gives it the whole weight."
    best = max(
        (float(heads[head, key]), layer, head, key)
        for layer, heads in enumerate(new.attention)
        for head in range(heads.shape[0])
        for key in [int(heads[head].argmax())]
    )
    weight, layer, head, key = best
    back = len(new.window) - 1 - key
    where = "itself" if back == 0 else f"{quoted(new.window[key])}, {back} back"
    return f"The last character read, {asker}, looked most at {where}: {percent(weight)}, by {head_name(layer, head)}."


def window_caption(new: NewToken) -> str:
    """Which part of the text was read."""
    n = len(new.window)
    if new.first == 0:
        return f"The model read the whole text before it: {n} {plural('character', n)}."
    return (
        f"The model sees {n} characters at once and read those from place {new.first + 1} to {new.position}; "
        f"the first {new.first} {'is' if new.first == 1 else 'are'} out of sight."
    )


def steps_caption(start: Sequence[str], written: Sequence[NewToken], task: CharacterTask) -> str:
    """The share of legal steps."""
    steps = legal_steps(start, written, task.tokens[: task.n_trained])
    return (
        f"{steps.legal} of {steps.total} {plural('step', steps.total)} from a character to the next "
        f"({percent(steps.legal / steps.total)}) {'occurs' if steps.legal == 1 else 'occur'} in the training text."
    )


def unseen_caption(written: Sequence[NewToken], task: CharacterTask) -> str:
    """Which characters the model could never read while it trained, and where it had to read one now."""
    unseen = never_an_input(task)
    if not unseen:
        return "Every character of the training text is an input of some window, so the model has read them all."
    listed = " ".join(quoted(token) for token in unseen)
    rows = "its row of the token table was" if len(unseen) == 1 else "their rows of the token table were"
    first = f"No training window has {listed} as an input, only as an answer, so {rows} never taught anything."
    met = next((new for new in written if set(new.window) & set(unseen)), None)
    if met is None:
        return f"{first} So far the text did not make it read {'it' if len(unseen) == 1 else 'one'}."
    token = next(token for token in met.window if token in unseen)
    count = sum(bool(set(new.window) & set(unseen)) for new in written)
    return (
        f"{first} To write place {met.position + 1} it had to read {quoted(token)} for the first time; "
        f"{count} of the {len(written)} new {plural('character', len(written))} rest on such a row."
    )


def draw_in_words(new: GeneratedToken) -> str:
    """The random number, and the stretch it fell on."""
    end = float(new.draw.final[: new.draw.token + 1].sum())
    start = end - float(new.draw.final[new.draw.token])
    return (
        f"Laid end to end in the order of the vocabulary, {quoted(new.token)} reaches from {number(start, 4)} to "
        f"{number(end, 4)}; the random number was {number(new.draw.uniform, 4)}."
    )


def quoted(token: str) -> str:
    """A token in quotes, so that it can be seen."""
    return f"“{seen(token)}”"


def ordinal(rank: int) -> str:
    """1st, 2nd, 3rd, 4th, …"""
    ending = "th" if rank // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}"
