"""Questions of the lesson on training: how do the weights get there?

They can be answered before anything is trained, so they are made from the settings of a run alone.
"""

import math
from dataclasses import replace

import torch

from attention_core.learning.training import TrainingSettings
from attention_core.model.small_model import MAX_D_MODEL, blank
from attention_core.model.weights import named_weights
from lessons.screen import Integer, Message, Question, message, names, plural, visible_text
from lessons.shared.questions import (
    Kinds,
    below,
    multiple_choice_of_counts,
    multiple_choice_of_numbers,
    multiple_choice_of_things,
    told,
)


def where_to_attend(settings: TrainingSettings, random: torch.Generator) -> Question | None:
    """A head has to attend where the answer stands: for tasks whose answer can be read off one position."""
    example, pairs = settings.task.example, readable_pairs(settings)
    if not pairs:
        return None
    query, key = pairs[below(len(pairs), random)]
    tokens, answer, called = example.tokens, example.tokens[key], names(example.tokens)
    about = {"query": called[query], "answer": visible_text(answer)}

    def finds(position: int) -> Message:
        if settings.model.causal and position > query:
            return message("The mask hides {token} from {query}.", token=called[position], query=called[query])
        return message(
            "At {token} the head would find “{found}”, but the answer is “{answer}”.",
            token=called[position],
            found=visible_text(tokens[position]),
            answer=visible_text(answer),
        )

    tempting = [query, query - 1, query + 1, *torch.randperm(len(tokens), generator=random).tolist()]
    wrong = [position for position in tempting if 0 <= position < len(tokens) and tokens[position] != answer]
    return multiple_choice_of_things(
        message(
            "The tokens are {tokens}. The answer at {query} is “{answer}”, and a trained head finds it among them. "
            "On which token will the row of {query} put its weight?",
            tokens=" ".join(map(visible_text, tokens)),
            **about,
        ),
        (
            called[key],
            message(
                "“{answer}” is here, at position {position}: its value can be passed on.", position=key + 1, **about
            ),
        ),
        *((called[position], finds(position)) for position in wrong),
    )


def readable_pairs(settings: TrainingSettings) -> list[tuple[int, int]]:
    """(query, key) wherever a perfect head attends to one token only, may see it, and it is the very answer."""
    example = settings.task.example
    if example.target_attention is None:
        return []
    pairs = [
        (query, int(row.nonzero()[0]))
        for role in example.target_attention
        for query, row in enumerate(role)
        if row.sum() == 1 and example.answers[query] is not None
    ]
    hidden = settings.model.causal
    return [(q, k) for q, k in pairs if example.tokens[k] == example.answers[q] and not (hidden and k > q)]


def loss_of_a_guess(settings: TrainingSettings, random: torch.Generator) -> Question | None:
    """What a loss means: a guess that knows nothing has ln of the number of answers it can choose from."""
    size = 2 + below(98, random)
    return multiple_choice_of_numbers(
        message(
            "A model gives each of {size} tokens the same probability. What is its loss, the mean of "
            "−ln(probability of the right answer)?",
            size=size,
        ),
        *told(
            message("−ln(1/{size}) = ln {size}. A loss above this is worse than knowing nothing.", size=size),
            (math.log(size), message("minus ln of an equal share")),
            (
                math.log2(size),
                message("the bits that it takes to name one token"),
                message("That is the logarithm to base 2. The loss takes the natural one."),
            ),
            (
                1 - 1 / size,
                message("how often it is wrong"),
                message("That is a share of mistakes. The loss is minus a logarithm."),
            ),
            (
                float(size),
                message("one for each token to choose from"),
                message("The loss grows with the logarithm of the number of tokens, not with the number."),
            ),
            (
                1 / size,
                message("how often it is right"),
                message("That is the probability itself. The loss is minus its logarithm."),
            ),
            (0.0, message("a fair guess is free"), message("Only probability 1 for the right answer costs nothing.")),
        ),
    )


def how_many_weights(settings: TrainingSettings, random: torch.Generator) -> Question | None:
    """What is trained: every entry of every matrix. Always possible."""
    heads = settings.model.n_heads
    model = replace(settings.model, d_model=2 * heads * (1 + below(min(16, MAX_D_MODEL // (2 * heads)), random)))
    sizes = {key: weight.numel() for key, weight in named_weights(blank(model))}
    total, tables = sum(sizes.values()), sum(n for key, n in sizes.items() if key.endswith("_table"))
    layers = sum(n for key, n in sizes.items() if key.startswith("layers."))
    return multiple_choice_of_counts(
        message(
            "Suppose this model had d_model = {d_model} and {layers} with {heads} each. How many numbers "
            "would training change?",
            layers=plural("1 layer", "{count} layers", model.n_layers),
            heads=plural("1 head", "{count} heads", model.n_heads),
            d_model=model.d_model,
        ),
        *told(
            message(
                "Tables of vectors: {tables}; layers: {layers}; after the layers: {after}.",
                tables=Integer(tables),
                layers=Integer(layers),
                after=Integer(total - tables - layers),
            ),
            (total, message("the tables, the layers, and all after them")),
            (
                layers,
                message("only the layers"),
                message("The layers are not all: tables of vectors are trained as well."),
            ),
            (
                total + layers,
                message("all of it, and the layers again for the way back"),
                message("The way back computes gradients, and has no weights of its own."),
            ),
            (
                total - tables,
                message("the layers and all after them"),
                message("The tables of vectors before the layers are trained as well."),
            ),
            (
                total + tables,
                message("all of it, and the tables again for the answers"),
                message("Each table counts once."),
            ),
            (
                4 * model.d_model,
                message("d_model for each of W_q, W_k, W_v and W_o"),
                message("Each of these is a whole matrix, and they are not all that is trained."),
            ),
        ),
    )


QUESTIONS: Kinds = {
    "look": (where_to_attend,),
    "generalise": (
        loss_of_a_guess,
        how_many_weights,
    ),
}
