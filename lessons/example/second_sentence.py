"""A second sentence beside that of the running example, for the same weights: its tokens ask in cross-attention."""

from dataclasses import replace

import torch

from lessons.example.example import ExampleTrace, heads_of, run_example, unedited, with_edits
from lessons.example.source import Drawn


def followed_by(example: ExampleTrace, text: str) -> ExampleTrace:
    """The tokens of the example, then those of the text, each sentence read on its own. The notes are on the text.

    Where nothing but the token makes a row of X, a token of both sentences has one row, and one edit changes it.
    """
    own, first = example.example, unedited(example)
    second = run_example(replace(own, text=text, edits=()))
    ids, x = own.given_by.together(first, second)
    positions = [each.added for each in (example, second) if each.added is not None]
    added = torch.cat(positions) if positions else None
    row_ids = ids if example.row_ids == example.ids else tuple(range(len(ids)))
    drawn = Drawn(
        x,
        example.W_q,
        example.W_k,
        example.W_v,
        added=added,
        rotary=example.rotary,
        turn=example.turn,
        turn_v=example.turn_v,
    )
    drawn, _ = with_edits(drawn, own.edits, row_ids)
    changed = {"tokens": example.tokens + second.tokens, "ids": ids, "row_ids": row_ids, "notes": second.notes}
    return replace(example, **vars(drawn), **changed, heads=heads_of(own, drawn))
