"""A second sentence beside that of the running example, for the same weights: its tokens ask in cross-attention."""

from dataclasses import replace

import torch

from lessons.example.example import ExampleTrace, heads_of, run_example, unedited, with_edits
from lessons.example.source import Drawn


def followed_by(trace: ExampleTrace, text: str) -> ExampleTrace:
    """The tokens of the example, then those of the text, each sentence read on its own. The notes are on the text.

    Where nothing but the token makes a row of X, a token of both sentences has one row, and one edit changes it.
    """
    own, first = trace.example, unedited(trace)
    second = run_example(replace(own, text=text, edits=()))
    ids, x = own.given_by.together(first, second)
    positions = [each.added for each in (trace, second) if each.added is not None]
    added = torch.cat(positions) if positions else None
    row_ids = ids if trace.row_ids == trace.ids else tuple(range(len(ids)))
    drawn = Drawn(
        x,
        trace.W_q,
        trace.W_k,
        trace.W_v,
        added=added,
        rotary=trace.rotary,
        turn=trace.turn,
        turn_v=trace.turn_v,
    )
    drawn, _ = with_edits(drawn, own.edits, row_ids)
    changed = {"tokens": trace.tokens + second.tokens, "ids": ids, "row_ids": row_ids, "notes": second.notes}
    return replace(trace, **vars(drawn), **changed, heads=heads_of(own, drawn))
