"""Questions of the lesson train: how do the weights get there?

They can be answered before anything is trained, so they are made from the settings of a run alone.
"""

import math
from collections.abc import Callable

import torch

from attention_core.model import TinyTransformer
from attention_core.randomness import generator
from attention_core.training import TrainingSettings
from lessons.captions import name
from lessons.questions.old_base import Choice, Question, among, among_numbers, below, first_fair

Maker = Callable[[TrainingSettings, torch.Generator], Question | None]


def ask_about_training(settings: TrainingSettings, seed: int) -> Question:
    """A question about this run. The same arguments give the same question."""
    return first_fair(QUESTIONS, "train", seed, settings)


def where_to_look(settings: TrainingSettings, random: torch.Generator) -> Question | None:
    """A head has to look where the answer stands: for tasks whose answer can be read off one place."""
    example = settings.task.example
    places = readable_places(settings)
    if not places:
        return None
    query, key = places[below(len(places), random)]
    tokens, answer = example.tokens, example.answers[query]
    asker, told = name(tokens, query), f"The answer at {name(tokens, query)} is “{answer}”"

    def brings(place: int) -> str:
        if settings.model.causal and place > query:
            return f"The mask hides all that comes after {asker}."
        return f"What it finds there is “{tokens[place]}”, but the answer is “{answer}”."

    tempting = [query, query - 1, query + 1, *torch.randperm(len(tokens), generator=random).tolist()]
    wrong = [place for place in tempting if 0 <= place < len(tokens) and tokens[place] != answer]
    return among(
        f"The tokens are {' '.join(tokens)}. {told}, and a head that has learnt this task carries it there. "
        f"On which token does the row of {asker} put its weight?",
        Choice(name(tokens, key), f"{told}, and here it stands: its value can be handed on."),
        *(Choice(name(tokens, place), brings(place)) for place in wrong),
    )


def readable_places(settings: TrainingSettings) -> list[tuple[int, int]]:
    """(query, key) wherever a perfect head attends to one token only, may see it, and it is the very answer."""
    example = settings.task.example
    if example.target_attention is None:
        return []
    pairs = [
        (query, row.nonzero()[0].item())
        for role in example.target_attention
        for query, row in enumerate(role)
        if row.sum() == 1 and example.answers[query] is not None
    ]
    hidden = settings.model.causal
    return [(q, k) for q, k in pairs if example.tokens[k] == example.answers[q] and not (hidden and k > q)]


def loss_of_a_guess(settings: TrainingSettings, random: torch.Generator) -> Question | None:
    """What a loss means: a guess that knows nothing has ln of the number of answers it can choose from."""
    if settings.model.output != "scores":
        return None
    size = settings.model.vocabulary
    return among_numbers(
        lambda shown: (
            f"The model chooses among {size} tokens. If it gave each the same probability, what would its loss be? "
            "The loss is the mean of −ln(probability of the right answer), in nats."
        ),
        (math.log(size), f"−ln(1/{size}) = ln {size}. A loss above it is worse than not knowing anything."),
        (math.log2(size), "That is its number of bits: a logarithm to the base 2."),
        (1 - 1 / size, "That is how often such a guess is wrong, not the loss."),
        (1 / size, "That is the probability of the right answer. The loss is its negative logarithm."),
        (0.0, "A loss of 0 is for who gives the right answer the whole probability, every time."),
    )


def how_many_weights(settings: TrainingSettings, random: torch.Generator) -> Question | None:
    """What is trained: every entry of every matrix. Always possible."""
    sizes = {key: weight.numel() for key, weight in TinyTransformer(settings.model, generator(0)).named_parameters()}
    total, tables = sum(sizes.values()), sum(n for key, n in sizes.items() if key.endswith("_table"))
    layers = sum(n for key, n in sizes.items() if key.startswith("layers."))
    model = settings.model
    return among(
        f"Layers: {model.n_layers}; heads in each: {model.n_heads}; d_model: {model.d_model}. "
        "How many numbers does training change?",
        Choice(
            str(total), f"Tables of vectors: {tables}; layers: {layers}; after the layers: {total - tables - layers}."
        ),
        Choice(str(layers), "So many are in the layers; what stands before and after them is trained as well."),
        Choice(str(total - tables), "The tables of vectors are trained as well."),
        Choice(str(4 * model.d_model), "A map from all features to all features has a number for each pair of them."),
        Choice(str(total + layers), "The layers are counted twice."),
    )


QUESTIONS: tuple[Maker, ...] = (where_to_look, loss_of_a_guess, how_many_weights)
