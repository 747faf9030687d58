"""Texts of real models, as far as anybody has asked for them: a long one takes many seconds, so it is shown as it
grows."""

import functools
import time
from dataclasses import dataclass

from attention_core.model.sampling import Sampling
from attention_ui.streamlit_insides import check_rerun
from lessons.model.generate.real_writer import Ids, RealWriting, WritingModel, real_writing, write_on

MOST_TEXTS = 300  # of all visitors, a few kilobytes each
WRITING_SECONDS = 0.6


@dataclass(eq=False)
class GrowingText:
    """What a model has written so far after a beginning; who wants more goes on where it ends."""

    model: WritingModel
    start: Ids
    how: Sampling
    seed: int
    ids: Ids  # the beginning, and what is written

    def written(self, length: int) -> int:
        """How many of so many new tokens are written."""
        return min(len(self.ids) - len(self.start), length)

    def write_for_a_moment(self, length: int) -> None:
        """Go on to at most so many new tokens, with at least one more."""
        until = time.monotonic() + WRITING_SECONDS
        while (n_new := self.written(length)) < length:
            self._keep(write_on(self.model, self.start, n_new + 1, self.how, self.seed, self.ids))
            check_rerun()
            if time.monotonic() > until:
                break

    def whole(self, length: int) -> RealWriting:
        """The text with so many new tokens, however long it takes."""
        writing = real_writing(self.model, self.start, length, self.how, self.seed, self.ids)
        self._keep(writing.ids)
        return writing

    def _keep(self, ids: Ids) -> None:
        if len(ids) > len(self.ids):  # two visitors may write the same text at the same time
            self.ids = ids


@functools.lru_cache(maxsize=MOST_TEXTS)
def growing_text(model: WritingModel, start: Ids, how: Sampling, seed: int) -> GrowingText:
    """The text of these settings: one for all who ask for it."""
    return GrowingText(model, start, how, seed, start)
