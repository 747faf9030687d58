"""What a model writes, as a screen: drawn on its page, and made again for a class that is asked about it."""

import functools

from attention_core.model import generation
from attention_core.model.generation import MAX_NEW_TOKENS, NewToken, regenerate_last
from attention_core.model.sampling import Sampling
from attention_ui.process.kept import KeptByLanguage
from attention_ui.process.turns import outside_turn
from attention_ui.session import is_projected
from attention_ui.writing.controls import Request
from lessons.model.generate.lesson import Writing, code_of_writing, generate_screen
from lessons.model.generate.real_writer import RealWriting, code_of_real, real_screen
from lessons.screen import Code, Screen
from models.shared import UNUSED_SECONDS, Once
from runs.checkpoint import Checkpoint

MOST_PROJECTED = 11  # tokens of a distribution on a projector, in large letters
CHUNK = 25  # so many tokens are written ahead, so that a step costs nothing
# The question asks for one before the figures do, and so do all visitors: never change one.
WRITINGS: Once[RealWriting] = Once(16, lambda _: 1, UNUSED_SECONDS)
SCREENS: KeptByLanguage[Screen] = KeptByLanguage(16)


@functools.lru_cache(maxsize=32)
def written_ahead(
    checkpoint: Checkpoint, start: tuple[str, ...], length: int, sampling: Sampling, seed: int
) -> tuple[NewToken, ...]:
    """What this model writes; a longer text begins with the shorter one, so whole chunks can be kept.

    How each token was drawn is left out: a dozen texts with it would take megabytes.
    """
    vocabulary = checkpoint.settings.task.vocabulary
    written = generation.generate(checkpoint.model(), vocabulary, start, length, sampling, seed)
    return tuple(NewToken(new.token, new.position, new.first, new.window) for new in written)


def screen_so_far(request: Request, length: int) -> tuple[str, Screen]:
    """The text with so many new tokens, and what there is to see of the newest.

    Raises ValueError for a model with broken weights.
    """
    most = MOST_PROJECTED if is_projected() else None
    if text := request.text:
        with outside_turn():  # a token takes a while: the pages of others need not wait for it
            real = WRITINGS.get((text, length), lambda: text.whole(length))
        return real.text_to_see, SCREENS.get((real, request.head, most), lambda: real_screen(real, request.head, most))
    small = writing_so_far(request, length)
    return small.text_to_see, generate_screen(small, most)


def writing_so_far(request: Request, length: int) -> Writing:
    """The first so many new tokens of a small model. Raises ValueError for one with broken weights."""
    checkpoint, start = request.writer.checkpoint, request.start.tokens
    chunks = min(-(-length // CHUNK) * CHUNK, MAX_NEW_TOKENS)
    written = written_ahead(checkpoint, start, chunks, request.sampling, request.seed)[:length]
    text, vocabulary = (*start, *(new.token for new in written)), checkpoint.settings.task.vocabulary
    newest = regenerate_last(checkpoint.model(), vocabulary, text, length, request.sampling, request.seed)
    return Writing(request.writer.task, start, written, newest, request.sampling, request.seed)


def code_of(request: Request) -> Code:
    """What writes, and with which model, beginning and settings it was asked to."""
    checkpoint, how = request.writer.checkpoint, (request.sampling, request.seed)
    if request.writer.model is not None:
        return code_of_real()
    return code_of_writing(checkpoint.model(), request.writer.task, request.start.tokens, request.length, *how)
