"""Questions of the lesson on the language model: what do its heads do?"""

import math
from dataclasses import replace

from torch import Generator

from lessons.example.language_model_text import Reading, read
from lessons.kit.head_maps import head_name
from lessons.kit.questions import Asked, below, beyond_figure, multiple_choice_of_numbers, multiple_choice_of_tokens
from lessons.screen.message import Fixed, message

FEW_TOKENS = 3


@beyond_figure
def second_time(reading: Reading, random: Generator) -> Asked:
    """Which key the chosen head looks at when the text comes a second time."""
    if reading.asked.twice:
        return None
    twice = read(replace(reading.asked, twice=True, word=None))
    once = len(twice.encoded.ids) // 2
    if once < FEW_TOKENS:
        return None
    layer, head, names = reading.asked.layer, reading.asked.head, twice.names
    query = once + 1 + below(once, random)
    row = twice.weights[layer, head, query, : query + 1]

    def only(key: int) -> Fixed:
        return Fixed(float(row[key]))

    return multiple_choice_of_tokens(
        message(
            "Repeat the text. From {query} in the second copy, which token does {head} look at most?",
            head=head_name(layer, head),
            query=names[query],
        ),
        names[: query + 1],
        row,
        message("{weight} of its weight goes there.", weight=Fixed(float(row.max()))),
        [
            (
                query - once + 1,
                message(
                    "That token followed it the first time. An induction head would look there; this one puts "
                    "only {weight} there.",
                    weight=only(query - once + 1),
                ),
            ),
            (
                query - 1,
                message(
                    "A previous-token head would look there; this one puts only {weight} there.",
                    weight=only(query - 1),
                ),
            ),
            (0, message("Many heads rest on the start; this one puts only {weight} there.", weight=only(0))),
            (
                query - once,
                message(
                    "That is the same token in the first copy: only {weight} goes there.", weight=only(query - once)
                ),
            ),
        ],
        lambda key: message("Only {weight} of its weight goes there.", weight=only(key)),
    )


@beyond_figure
def one_head_missing(reading: Reading, random: Generator) -> Asked:
    """What the text costs without the chosen head."""
    whole, less = reading.surprise(reading.whole.logits), reading.surprise(reading.less)
    if whole is None or less is None or abs(less - whole) < 0.02:
        return None
    heads = reading.weights.shape[0] * reading.weights.shape[1]
    return multiple_choice_of_numbers(
        lambda write: message(
            "With all heads, the mean surprise over this text is {whole}. What is it without {head}?",
            whole=write(whole),
            head=head_name(reading.asked.layer, reading.asked.head),
        ),
        (less, message("Everything else runs as before, without what this head adds to each token.")),
        (whole, message("It would be the same only if nothing used what the head adds.")),
        (2 * less - whole, message("That counts the head twice.")),
        (
            2 * whole - less,
            message("That is as far off in the other direction: on this text, the head does the opposite."),
        ),
        (
            whole * heads / (heads - 1),
            message("Heads do not share the work evenly: one may matter much, another little."),
        ),
    )


@beyond_figure
def even_head(reading: Reading, random: Generator) -> Asked:
    """What a head gets that looks everywhere alike."""
    query = below(len(reading.encoded.ids), random)
    visible, n = query + 1, len(reading.encoded.ids)
    vocabulary, heads = reading.whole.logits.shape[-1], reading.weights.shape[1]
    return multiple_choice_of_numbers(
        message(
            "In a head that spreads its weight evenly, how much does {query}, token {place} of {total}, put on "
            "each token that it sees?",
            query=reading.names[query],
            place=visible,
            total=n,
        ),
        (
            1 / visible,
            message("It sees itself and all tokens before it, and the weights sum to 1."),
            message("one whole, shared with all before it"),
        ),
        (1 / n, message("The tokens after it are masked."), message("one whole, shared by all tokens of the text")),
        (
            1 / (visible + 1),
            message("No weight goes to what comes next."),
            message("one whole, shared with what comes next"),
        ),
        (
            1 / query if query else math.nan,
            message("A token sees itself as well."),
            message("one whole, shared only by those before it"),
        ),
        (
            1 / heads,
            message("Each head has its own weight of 1 to spread; heads do not share it."),
            message("one whole, shared by all heads"),
        ),
        (1.0, message("All of them together get 1, not each of them."), message("one whole on each of them")),
        (
            1 / vocabulary,
            message("Weights are shared among the tokens of the text, not the vocabulary."),
            message("one whole, shared by all tokens of the vocabulary"),
        ),
    )


QUESTIONS = (second_time, one_head_missing, even_head)
