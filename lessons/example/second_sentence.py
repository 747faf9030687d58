"""A second sentence beside that of the running example, for the same weights: its tokens ask in cross-attention."""

from dataclasses import replace

import torch

from attention_core.tokens import Vocabulary
from lessons.example.example import Example, ExampleTrace, heads_of, run_example, unedited, with_edits
from lessons.example.presets import PRESETS, Drawn


def takes_second(example: Example) -> bool:
    """True where sentences can be typed: no notebook has fixed the tokens."""
    return example.source not in PRESETS or PRESETS[example.source].tokens is None


def followed_by(example: ExampleTrace, text: str) -> ExampleTrace:
    """The tokens of the example, then those of the text, each sentence read on its own. The notes are on the text.

    Where nothing but the token makes a row of X, a token of both sentences has one row, and one edit changes it.
    """
    own, first = example.example, unedited(example)
    second = run_example(replace(own, text=text, edits=()))
    tokens = example.tokens + second.tokens
    if own.source in PRESETS:  # a word's row is drawn by the order in which words appear
        ids = tuple(Vocabulary.in_order_of_appearance(tokens).encode(tokens))
        x = PRESETS[own.source].draw(own, ids).x
    else:
        ids, x = example.ids + second.ids, torch.cat([first.x, second.x])
    added = None if example.added is None else torch.cat([example.added, second.added])
    row_ids = ids if example.row_ids == example.ids else tuple(range(len(ids)))
    drawn = Drawn(x, example.W_q, example.W_k, example.W_v, added=added, rotary=example.rotary)
    drawn, _ = with_edits(drawn, own.edits, row_ids)
    return replace(
        example, **vars(drawn), tokens=tokens, ids=ids, row_ids=row_ids, heads=heads_of(own, drawn), notes=second.notes
    )
