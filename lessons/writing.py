"""Writing token by token, with everything that led to each token: the window, the attention, the draw."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.model import ModelTrace, TinyTransformer
from attention_core.randomness import generator
from attention_core.sampling import Sampling, TokenDraw, draw_token, ranked, uniform_number
from attention_core.tasks import CharacterTask
from attention_core.tokens import Vocabulary, clean_text, tokenize
from lessons.captions import number, percent, plural, seen
from lessons.watching import head_name

MAX_NEW_TOKENS = 200
MAX_START = 200


@dataclass(frozen=True, eq=False)
class NewToken:
    """One new token, and what was read before it.

    `window` are the last tokens of the text so far, as many as the model can see; the first of them stands at
    place `first` of the text, the new token at `place`, both counted from 0.
    """

    token: str
    place: int
    first: int
    window: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class WrittenToken(NewToken):
    """One new token, and all that led to it.

    `attention` has for each layer the weights of the last token of the window, the one that asks what comes next.
    """

    draw: TokenDraw
    attention: tuple[Float[Tensor, "heads keys"], ...]


def write(
    model: TinyTransformer, vocabulary: Vocabulary, start: Sequence[str], length: int, sampling: Sampling, seed: int
) -> tuple[WrittenToken, ...]:
    """`length` new tokens after `start`, each drawn after looking at the last `context` tokens before it.

    The same arguments give the same text; a longer one begins with the shorter one.
    Raises ValueError for an empty start, unknown tokens, too great a length, or a model with broken weights.
    """
    check_request(start, length)
    text, random, written = list(start), generator(seed, "sample"), []
    for _ in range(length):
        written.append(write_token(model, vocabulary, text, sampling, random))
        text.append(written[-1].token)
    return tuple(written)


@torch.inference_mode()
def write_token(
    model: TinyTransformer, vocabulary: Vocabulary, text: Sequence[str], sampling: Sampling, random: torch.Generator
) -> WrittenToken:
    """The token that follows a text: look at its last `context` tokens, and draw."""
    first = max(0, len(text) - model.config.context)
    window = tuple(text[first:])
    trace = model(torch.tensor(vocabulary.encode(window)))
    draw = draw_token(trace.logits[-1], sampling, random)
    return WrittenToken(vocabulary.tokens[draw.token], len(text), first, window, draw, last_looks(trace))


def write_again(
    model: TinyTransformer, vocabulary: Vocabulary, text: Sequence[str], new: int, sampling: Sampling, seed: int
) -> WrittenToken:
    """The last token of a text whose last `new` tokens `write` wrote, with all that led to it."""
    random = generator(seed, "sample")
    for _ in range(new - 1):  # each token before it took one random number
        uniform_number(random)
    return write_token(model, vocabulary, text[:-1], sampling, random)


def check_request(start: Sequence[str], length: int) -> None:
    """Raises ValueError that says what can be asked for."""
    if not start:
        raise ValueError("a text needs at least one character to go on from")
    if not 0 <= length <= MAX_NEW_TOKENS:
        raise ValueError(f"a text goes on by 0 to {MAX_NEW_TOKENS} characters, but got {length}")


def last_looks(trace: ModelTrace) -> tuple[Float[Tensor, "heads keys"], ...]:
    """For each layer what every head of the last token looks at; copied, so that no other row is kept."""
    return tuple(layer.attention.heads.weights[:, -1].clone() for layer in trace.layers)


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


def never_an_input(task: CharacterTask) -> tuple[str, ...]:
    """The characters that no training window has as an input, only as an answer.

    No gradient ever reaches their rows of the token table.
    """
    inputs = set(task.windows[:, :-1].flatten().tolist())
    return tuple(token for i, token in enumerate(task.vocabulary.tokens) if i not in inputs)


@dataclass(frozen=True)
class LegalSteps:
    """Steps from one token to the next: how many were written, how many of them the training text has too."""

    legal: int
    total: int


def legal_steps(start: Sequence[str], written: Sequence[NewToken], learnt: Sequence[str]) -> LegalSteps:
    """Count the steps onto written tokens that also occur in the text that was learnt."""
    text = [*start, *(new.token for new in written)]
    steps, known = list(pairwise(text[len(start) - 1 :])), set(pairwise(learnt))
    return LegalSteps(sum(step in known for step in steps), len(steps))


def draw_caption(new: WrittenToken, sampling: Sampling) -> str:
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


def look_caption(new: WrittenToken) -> str:
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
        f"The model sees {n} characters at once and read those from place {new.first + 1} to {new.place}; "
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
        f"{first} To write place {met.place + 1} it had to read {quoted(token)} for the first time; "
        f"{count} of the {len(written)} new {plural('character', len(written))} rest on such a row."
    )


def draw_in_words(new: WrittenToken) -> str:
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
