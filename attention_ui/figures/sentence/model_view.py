"""A sentence as a real model reads it, as the browser draws it: its words, what its heads look at, what they do."""

from typing import Any

import numpy as np
import pyarrow as pa

from attention_ui.figures.matrices.numbers import sent_as_text
from attention_ui.figures.sentence.ribbons import DIGITS, short_percent, weights_table
from lessons.screen import (
    ISOLATED,
    ModelView,
    message,
    quote_token,
    render,
    render_all,
    translate,
    visible_text,
)
from words import language

LARGEST_BAR = 0.12  # a share from which on bars are drawn smaller
PLACE = {"head": "{head}", "job": "{job}"}  # where the browser writes which head it is, and what it does


def view_of(figure: ModelView) -> dict[str, Any]:
    """Everything that is drawn of a figure."""
    mapped, words = figure.of_query is not None, [visible_text(token.text) for token in figure.tokens]
    return {
        "name": render(figure.name),
        "words": [
            {"text": word, "name": quote_token(token), "apart": spaced or word.startswith(ISOLATED)}
            for token, word, spaced in zip(figure.tokens, words, figure.spaced, strict=True)
        ],
        "query": figure.query,
        "chosen": chosen_place(figure),
        "off": figure.off,
        "n_layers": figure.n_layers,
        "n_heads": figure.n_heads,
        "of_head": [row[: query + 1] for query, row in enumerate(figure.of_head.tolist())],
        "of_query": rows_of_all_heads(figure),
        "heads": [[job, round(share, DIGITS)] for job, share in heads_of_view(figure)],
        "jobs": [
            {
                "key": job.key,
                "name": render(job.name),
                "title": render(job.title),
                "says": render(job.says),
                "count": job.count,
            }
            for job in figure.jobs
        ],
        "heading": translate("All {count} heads: point at one", count=figure.n_layers * figure.n_heads),
        "legend": translate("What each does"),
        "first_head": translate("head {head}", head=0),
        "first_layer": translate("layer {layer}", layer=0),
        "head": render(message("Head {head}: {job}", **PLACE)),
        "about": render_all(figure.about_head) if mapped else "",
        "percent": language().percent,
        **guesses_of_view(figure),
    }


def rows_of_all_heads(figure: ModelView) -> str:
    """What each head gives to each token from the query, as numbers of 32 bits; nothing without the model."""
    if figure.of_query is None:
        return ""
    return sent_as_text(np.asarray(figure.of_query)[..., : figure.query + 1])


def chosen_place(figure: ModelView) -> int:
    """The chosen head among all, counted from 0."""
    layer, head = figure.chosen
    return layer * figure.n_heads + head


def heads_of_view(figure: ModelView) -> list[tuple[int, float]]:
    """Every head with the job that it has been measured to do; without the model there is none to show."""
    if figure.of_query is None:
        return []
    return [*figure.heads] or [(-1, 0.0)] * (figure.n_layers * figure.n_heads)


def guesses_of_view(figure: ModelView) -> dict[str, Any]:
    """The tokens that may come next: what each gets, what it got before the head was off, and both in words."""
    guesses = figure.guesses
    title = (
        translate("Its guesses for what comes next")
        if guesses
        else translate("Its guesses for what comes next\nneed the model.")
    )
    head = f"{figure.chosen[0]}.{figure.chosen[1]}"
    without = translate("with head {head} switched off", head=head) if figure.off else ""
    told = [
        {
            "word": visible_text(guess.token),
            "share": guess.share if guess.without is None else guess.without,
            "was": guess.share,
            "off": guess.without is not None,
            "said": short_percent(guess.share)
            if guess.without is None
            else f"{short_percent(guess.share)} → {short_percent(guess.without)}",
        }
        for guess in guesses
    ]
    return {
        "guesses": told,
        "scale": 1 / max([LARGEST_BAR, *(share for one in told for share in (one["share"], one["was"]))]),
        "next_title": [*title.split("\n"), *filter(None, [without])],
        "next_small": without or (translate("its guesses") if guesses else ""),
    }


def view_numbers(figure: ModelView) -> pa.Table:
    """The weights of the chosen head, for a spreadsheet."""
    rows = enumerate(figure.of_head.tolist())
    return weights_table((query, key, share) for query, row in rows for key, share in enumerate(row[: query + 1]))
