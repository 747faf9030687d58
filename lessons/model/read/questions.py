"""Questions on the real model: each is answered by the picture on the page."""

import math
from collections.abc import Callable

from torch import Generator

from lessons.model.read.early_guesses import early_guesses, said_of_step
from lessons.model.read.flip import ANIMALS, THINGS, cannot_see, flip_test
from lessons.model.read.patched import compute_ways, group_name, heads_patched, two_texts
from lessons.model.read.reading import Reading
from lessons.model.read.without_head import changed_most, changes, likeliest
from lessons.screen import Fixed, Message, Percent, Question, message
from lessons.shared.questions import (
    Asked,
    Kinds,
    below,
    beyond_figure,
    multiple_choice_of_numbers,
    multiple_choice_of_things,
    multiple_choice_of_tokens,
    question_picker,
    told,
)

CLEAR = 0.02


@beyond_figure
def looks_where(reading: Reading, random: Generator) -> Asked:
    """Which key the chosen head looks at most from the word that asks."""
    query = reading.query
    if query < 2:
        return None
    row, names = reading.head.weights[query, : query + 1], reading.names

    def given(key: int) -> Message:
        return message("{weight} of its weight goes to {key}.", weight=Fixed(float(row[key])), key=names[key])

    return multiple_choice_of_tokens(
        message("From {query}, which token does head {head} look at most?", head=reading.called, query=names[query]),
        names[: query + 1],
        row,
        given(int(row.argmax())),
        [(key, given(key)) for key in (0, query - 1, query)],
        given,
    )


@beyond_figure
def even_head(reading: Reading, random: Generator) -> Asked:
    """What a head gets that looks everywhere alike."""
    query = below(len(reading.names), random)
    visible, n = query + 1, len(reading.names)
    config = reading.model.transformer.config
    return multiple_choice_of_numbers(
        message(
            "If a head spreads its weight evenly, how much does {query}, token {place} of {total}, put on "
            "each token that it sees?",
            query=reading.names[query],
            place=visible,
            total=n,
        ),
        *told(
            message("It sees itself and all before it, and the weights sum to 1."),
            (1 / visible, message("one whole, shared with all before it")),
            (
                1 / n,
                message("one whole, shared by all tokens of the text"),
                message("It does not see the whole text: later tokens are hidden."),
            ),
            (
                1 / (visible + 1),
                message("one whole, shared with what comes next"),
                message("What comes next is hidden from it."),
            ),
            (
                1 / query if query else math.nan,
                message("one whole, shared by those before it"),
                message("It sees itself as well."),
            ),
            (
                1 / config.n_heads,
                message("one whole, shared by all heads"),
                message("Each head has a whole of its own to share out."),
            ),
            (
                1.0,
                message("one whole on each of them"),
                message("One whole is all there is, for all of them together."),
            ),
            (
                1 / config.vocabulary,
                message("one whole, shared by the vocabulary"),
                message("It looks at tokens of the text, not at all words there are."),
            ),
        ),
    )


@beyond_figure
def first_there(reading: Reading, random: Generator) -> Asked:
    """What comes first at some step."""
    found = early_guesses(reading)
    n = len(found.first)
    step = n // 2 + below(n - n // 2, random)
    right = int(found.first[step])
    others = dict.fromkeys(int(found.first[other]) for other in (n - 1, 0, n // 4, step - 1, n // 2))
    called = {token: reading.in_vocabulary(token) for token in (right, *others)}
    if len({name.text for name in called.values()}) < 3:
        return None
    return multiple_choice_of_things(
        message("Read off after {step}, which token comes first?", step=said_of_step(step)),
        (
            called[right],
            message("Its probability there is {chance}.", chance=Percent(float(found.chance[step]))),
        ),
        *(
            (called[other], message("{token} comes first at another step, not at this one.", token=called[other]))
            for other in others
            if called[other].text != called[right].text
        ),
    )


@beyond_figure
def given_to_first(reading: Reading, random: Generator) -> Asked:
    """What the chosen head gives to the first token, from the word that asks."""
    row, lengths = reading.row, reading.head.v[: reading.query + 1].norm(dim=-1)
    added = row * lengths
    return multiple_choice_of_numbers(
        message(
            "From {query}, how much of its weight does head {head} give to the first token?",
            query=reading.names[reading.query],
            head=reading.called,
        ),
        *told(
            message("It is in the first row, in violet."),
            (float(row[0]), message("its weight")),
            (
                float(added[0] / added.sum()),
                message("its share of what is added"),
                message("That is its part of what is added up. The weight alone is asked for."),
            ),
            (1 / len(row), message("as much as each of the others"), message("That would take equal scores.")),
            (
                1 - float(row[0]),
                message("the weight of all the others"),
                message("That is what all the others get together."),
            ),
            (
                float(row[-1]),
                message("the weight of the last token"),
                message("That is what the last token that it sees gets."),
            ),
        ),
    )


def head_missing(reading: Reading, random: Generator) -> Asked:
    """What a guess has left without the chosen head."""
    token = changed_most(reading)
    whole, less = (float(chances[token]) for chances in (reading.guesses(), reading.guesses(reading.place)))
    if abs(less - whole) < CLEAR:
        return None
    config = reading.model.transformer.config
    heads = config.n_heads * config.n_layers
    return multiple_choice_of_numbers(
        lambda write: message(
            "With all heads, {token} has the probability {whole}. What is it without head {head}?",
            token=reading.in_vocabulary(token),
            whole=write(whole),
            head=reading.called,
        ),
        (less, message("Everything else runs as before, without what this head adds to each token.")),
        (0.0, message("This head adds a part of what leads to the guess, and other heads add theirs.")),
        (whole * (heads - 1) / heads, message("Heads do not all have the same part in a guess.")),
        (2 * whole - less, message("That is the same change in the other direction.")),
        (whole / 2, message("No fixed part of a guess belongs to a head.")),
    )


@beyond_figure
def loses_most(reading: Reading, random: Generator) -> Asked:
    """Which guess changes most without the head."""
    tokens, change = likeliest(reading), changes(reading)
    order = change.argsort(descending=True).tolist()
    if float(change[order[0]] - change[order[1]]) < CLEAR / 2:
        return None
    return multiple_choice_of_things(
        message("Without head {head}, which of these guesses changes most?", head=reading.called),
        *(
            (
                reading.in_vocabulary(tokens[which]),
                message(
                    "{token} changes by {change}.",
                    token=reading.in_vocabulary(tokens[which]),
                    change=Fixed(float(change[which]), 3),
                ),
            )
            for which in order
        ),
    )


@beyond_figure
def moves_furthest(reading: Reading, random: Generator) -> Asked:
    """Which patched head moves the answer furthest."""
    texts = two_texts(reading)
    if texts.why_not is not None or len(reading.group) > 1:
        return None
    way, groups = compute_ways(texts).result.way[:, 0], heads_patched(texts)
    order = way.abs().argsort(descending=True).tolist()
    if float(way[order].abs()[0] - way[order].abs()[1]) < CLEAR:
        return None
    return multiple_choice_of_things(
        message("Patched on its own, which of these heads moves the answer furthest?"),
        *(
            (
                group_name(groups[which]),
                message(
                    "{head}: the answer moves {way} of the way.",
                    head=group_name(groups[which]),
                    way=Fixed(float(way[which])),
                ),
            )
            for which in order
        ),
    )


@beyond_figure
def one_word_later(reading: Reading, random: Generator) -> Asked:
    """What a later word changes for an earlier one."""
    said = cannot_see(reading, flip_test(reading.model, ANIMALS[:1], THINGS[:1]))
    return multiple_choice_of_things(
        message("“tired” becomes “wide”. What happens to the weights of “it” in a causal model?"),
        (message("none of them changes"), said),
        (
            message("the street gets more"),
            message("“it” comes before that word and cannot read it, so the street gains nothing."),
        ),
        (
            message("the animal gets more"),
            message("“it” comes before that word and cannot read it, so the animal gains nothing."),
        ),
        (message("each gets half"), message("No weight is shared out anew: “it” reads the same tokens as before.")),
    )


QUESTIONS_OF: dict[str, Kinds] = {
    "one": {"look": (looks_where,)},
    "maps": {"look": (looks_where,)},
    "sink": {"look": (given_to_first,)},
    "guesses": {"look": (first_there,)},
    "off": {"look": (loses_most,), "predict": (head_missing,)},
    "patch": {"look": (moves_furthest,)},
    "flip": {"generalise": (one_word_later,)},
}
ON_ANY_TEXT: Kinds = {"generalise": (even_head,)}


def questions_about(reading: Reading) -> Callable[[int], Question]:
    """The questions of a view, and those that fit any text."""
    return question_picker("read", {**ON_ANY_TEXT, **QUESTIONS_OF[reading.asked.view]}, 0, reading)
