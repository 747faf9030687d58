"""The puzzles, from the easiest on: how their sentences are drawn, and a solution of ours for each.

Each solution has as few numbers as we know, and none of them can be left out.
"""

import math
from collections.abc import Sequence
from functools import partial

import torch
from jaxtyping import Bool, Float

from attention_core.base.arrays import Array
from attention_core.one_head.masks import causal_mask, full_mask
from attention_core.puzzles.base import HOURS, DrawnSentence, Puzzle, Weights

ANIMALS = ("cat", "dog", "fox", "owl")
BETWEEN = ("saw", "met", "near", "and", "heard", "behind")
PEOPLE, THINGS = ("queen", "girl", "aunt", "nun"), ("lamp", "boat", "drum", "book")
JOINED = (("saw", "met", "left", "found"), ("near", "behind", "beside", "below"), ("because", "while", "when", "as"))
VERBS, SMALL = ("sings", "sleeps", "waits", "hunts"), ("the", "old", "again", "today", "here", "now", "alone")
NAMES, COLOURS = ("Ann", "Bob", "Cleo", "Dan"), ("red", "blue", "green", "pink")
CLOCK = ("cos", "sin")


# Drawing.


def below(count: int, random: torch.Generator) -> int:
    """Draw a whole number from 0 to `count` − 1."""
    return int(torch.randint(count, (1,), generator=random))


def one_of(several: Sequence[str], random: torch.Generator) -> str:
    """Draw one of several words."""
    return several[below(len(several), random)]


def some_of(several: Sequence[str], count: int, random: torch.Generator) -> list[str]:
    """Draw `count` different words, in random order."""
    places: list[int] = torch.randperm(len(several), generator=random)[:count].tolist()
    return [several[place] for place in places]


def chain(length: int, random: torch.Generator) -> tuple[str, ...]:
    """Draw animals with words between them."""
    return tuple(one_of(BETWEEN if place % 2 else ANIMALS, random) for place in range(length))


def marked(features: Sequence[str], of_tokens: Sequence[Sequence[str]]) -> Float[Array, "tokens features"]:
    """Return a row for each token with 1 at its features, else 0."""
    return torch.tensor([[float(name in own) for name in features] for own in of_tokens], dtype=torch.float64)


def hands(first: int, length: int) -> Float[Array, "tokens 2"]:
    """Return the hand of the clock at each token, an hour on from one to the next: cos and sin, with two decimals."""
    angles = 2 * math.pi * torch.arange(first, first + length, dtype=torch.float64) / HOURS
    return torch.stack([angles.cos(), angles.sin()], dim=-1).round(decimals=2) + 0.0


def looks_at(length: int, keys: dict[int, Sequence[int]]) -> Float[Array, "1 queries keys"]:
    """Return the target of one job: a query in `keys` shares its weight evenly among its keys; others do not count."""
    target = torch.zeros(1, length, length, dtype=torch.float64)
    for query, those in keys.items():
        target[0, query, list(those)] = 1 / len(those)
    return target


def earlier_mask(length: int) -> Bool[Array, "queries keys"]:
    """Return a mask that lets each token attend to earlier ones, and the first one to itself."""
    mask = causal_mask(length).clone()
    mask[range(1, length), range(1, length)] = False
    return mask


# The sentences of each level.


def draw_first(random: torch.Generator) -> DrawnSentence:
    """Draw four to seven words, which should all attend to the first."""
    words = chain(4 + below(4, random), random)
    n = len(words)
    x = marked(("first", "later"), [["later" if place else "first"] for place in range(n)])
    return DrawnSentence(words, x, looks_at(n, {query: [0] for query in range(n)}), full_mask(n))


def draw_step(random: torch.Generator, steps: Sequence[int]) -> DrawnSentence:
    """Draw six words on the clock, from any hour on, with a job for each step: to attend that many tokens ahead.

    A query counts where every step leads to a token.
    """
    words, n = chain(6, random), 6
    asked = [query for query in range(n) if all(0 <= query + step < n for step in steps)]
    target = torch.cat([looks_at(n, {query: [query + step] for query in asked}) for step in steps])
    return DrawnSentence(words, hands(below(HOURS, random), n), target, full_mask(n))


def draw_same(random: torch.Generator) -> DrawnSentence:
    """Draw seven animals, some of them repeated; each repeated one should attend to all earlier tokens of its kind."""
    words = tuple(one_of(ANIMALS, random) for _ in range(7))
    before = {query: [key for key in range(query) if words[key] == word] for query, word in enumerate(words)}
    target = looks_at(7, {query: keys for query, keys in before.items() if keys})
    return DrawnSentence(words, marked(ANIMALS, [[word] for word in words]), target, earlier_mask(7))


def draw_pronoun(random: torch.Generator) -> DrawnSentence:
    """Draw three nouns, of both kinds, and a pronoun, which should attend to all nouns that it may mean."""
    kinds = [THINGS, PEOPLE, (PEOPLE, THINGS)[below(2, random)]]
    kinds = [kinds[place] for place in torch.randperm(3, generator=random).tolist()]
    nouns = [one_of(kind, random) for kind in kinds]
    meant = (THINGS, PEOPLE)[below(2, random)]
    words = [word for noun, after in zip(nouns, JOINED, strict=True) for word in (noun, one_of(after, random))]
    words.append("it" if meant is THINGS else "she")
    own = [[kind_of(word)] for word in words]
    target = looks_at(7, {6: [place for place in (0, 2, 4) if words[place] in meant]})
    return DrawnSentence(tuple(words), marked(PRONOUN_FEATURES, own), target, causal_mask(7))


def kind_of(word: str) -> str:
    """Return the feature of a word in a sentence with a pronoun."""
    named = {"person": PEOPLE, "thing": THINGS, "it": ("it",), "she": ("she",)}
    return next((kind for kind, words in named.items() if word in words), "other")


def draw_brackets(random: torch.Generator) -> DrawnSentence:
    """Draw a pair of brackets in another, and words between; each closing one should attend to its partner."""
    counts = [1 + below(2, random), 1 + below(2, random), 1 + below(2, random)]
    before, inside, after = (some_of(ANIMALS, count, random) for count in counts)
    words = ("(", *before, "(", *inside, ")", *after, ")")
    n, opens, closes = len(words), 1 + counts[0], 2 + counts[0] + counts[1]
    own = [
        [{"(": "open", ")": "close"}.get(word, "word"), "inner" if opens <= place <= closes else "outer"]
        for place, word in enumerate(words)
    ]
    target = looks_at(n, {closes: [opens], n - 1: [0]})
    return DrawnSentence(words, marked(BRACKET_FEATURES, own), target, causal_mask(n))


def draw_count(random: torch.Generator) -> DrawnSentence:
    """Draw four to seven animals; the right output of each token is the share of cats."""
    words = tuple(one_of(ANIMALS[:3], random) for _ in range(4 + below(4, random)))
    n, x = len(words), marked(ANIMALS[:3], [[word] for word in words])
    return DrawnSentence(words, x, looks_at(n, {}), full_mask(n), words.count("cat") / n)


def draw_soft(random: torch.Generator) -> DrawnSentence:
    """Draw a noun, a verb and four others: the verb should attend to the noun alone, the noun by half to the verb.

    The noun shares its other half evenly among all other tokens, itself included.
    """
    words = some_of(SMALL, 4, random)
    words.insert(below(5, random), one_of(ANIMALS, random))
    words.insert(below(6, random), one_of(VERBS, random))
    noun, verb = (next(place for place, word in enumerate(words) if word in kind) for kind in (ANIMALS, VERBS))
    own = [["noun" if place == noun else "verb" if place == verb else "other"] for place in range(6)]
    target = looks_at(6, {verb: [noun]})
    target[0, noun] = 0.1
    target[0, noun, verb] = 0.5
    return DrawnSentence(tuple(words), marked(SOFT_FEATURES, own), target, full_mask(6))


def draw_pairs(count: int, random: torch.Generator) -> list[DrawnSentence]:
    """Draw names and colours in pairs of sentences, in which the names, and so the answer, change places."""
    drawn = []
    while len(drawn) < count:
        names, colours = some_of(NAMES, 2, random), some_of(COLOURS, 2, random)
        asked, first = names[below(2, random)], below(HOURS, random)
        drawn += [named_pairs(order, colours, asked, first) for order in (names, names[::-1])]
    return drawn[:count]


def named_pairs(names: Sequence[str], colours: Sequence[str], asked: str, first: int) -> DrawnSentence:
    """Return a sentence with two pairs, and a name again, which should attend to its colour."""
    words = ("so", *(word for pair in zip(names, colours, strict=True) for word in pair), asked)
    x = torch.cat([hands(first, 6), marked((*NAMES, *AFTER), [[word] for word in words])], dim=-1)
    return DrawnSentence(words, x, looks_at(6, {5: [2 * names.index(asked) + 2]}), causal_mask(6))


PRONOUN_FEATURES = ("person", "thing", "it", "she", "other")
BRACKET_FEATURES = ("open", "close", "word", "outer", "inner")
SOFT_FEATURES = ("noun", "verb", "other")
AFTER = tuple(f"after {name}" for name in NAMES)
PAIR_FEATURES = (*CLOCK, *NAMES, *AFTER)


# The puzzles.


def one_by_one(draw, count: int, random: torch.Generator) -> list[DrawnSentence]:
    """Draw `count` sentences, each independently."""
    return [draw(random) for _ in range(count)]


def puzzle(key: str, features: tuple[str, ...], draw, solution: Weights, **more) -> Puzzle:
    """Return a puzzle whose sentences are drawn one by one."""
    return Puzzle(key=key, features=features, draw=partial(one_by_one, draw), solution=solution, **more)


def rows(*numbers: Sequence[int]) -> Float[Array, "features columns"]:
    """Return a matrix, given row by row."""
    return torch.tensor(numbers, dtype=torch.float64)


def solved(W_q: Array, W_k: Array, W_v: Array | None = None) -> Weights:
    """Return the weights of a solution. Unless W_v is set by hand, it is the identity."""
    return Weights(W_q, W_k, torch.eye(len(W_q), dtype=torch.float64) if W_v is None else W_v)


STAY = rows((4, 0), (0, 4))  # the hand as it is, longer
BACK, AHEAD = rows((3, -3), (3, 3)), rows((3, 3), (-3, 3))  # the hand an hour before, and an hour later
CORNERS = rows((4, 0), (0, 4), (-4, 0), (0, -4))  # a direction for each of four words


def written_after() -> Float[Array, "features features"]:
    """Return W_v of the first of two layers: a name that is found becomes “after” that name."""
    matrix = torch.zeros(len(PAIR_FEATURES), len(PAIR_FEATURES), dtype=torch.float64)
    matrix[2:6, 6:10] = torch.eye(4, dtype=torch.float64)
    return matrix


def both_layers(first: Array, second: Array, empty: int) -> Float[Array, "features 4"]:
    """Return the columns of two heads: the first reads the clock, the second four features after `empty` others."""
    matrix = torch.zeros(len(PAIR_FEATURES), 4, dtype=torch.float64)
    matrix[:2, :2], matrix[2 + empty : 6 + empty, 2:] = first, second
    return matrix


PUZZLES: dict[str, Puzzle] = {
    one.key: one
    for one in (
        puzzle(
            "first",
            ("first", "later"),
            draw_first,
            solved(rows((3,), (3,)), rows((3,), (0,))),
            d_k=1,
            goal=0.95,
        ),
        puzzle("self", CLOCK, partial(draw_step, steps=(0,)), solved(STAY, STAY), d_k=2, goal=0.9),
        puzzle("back", CLOCK, partial(draw_step, steps=(-1,)), solved(BACK, STAY), d_k=2, goal=0.9),
        puzzle("same", ANIMALS, draw_same, solved(CORNERS, CORNERS), d_k=2, goal=0.95),
        puzzle(
            "it",
            PRONOUN_FEATURES,
            draw_pronoun,
            solved(rows((0,), (0,), (3,), (-3,), (0,)), rows((-3,), (3,), (0,), (0,), (0,))),
            d_k=1,
            goal=0.95,
        ),
        puzzle(
            "bracket",
            BRACKET_FEATURES,
            draw_brackets,
            solved(
                rows((0, 0), (3, 0), (0, 0), (0, 3), (0, -3)),
                rows((3, 0), (0, 0), (0, 0), (0, 0), (0, -3)),
            ),
            d_k=2,
            goal=0.95,
        ),
        puzzle(
            "count",
            ANIMALS[:3],
            draw_count,
            solved(rows((0,), (0,), (0,)), rows((0,), (0,), (0,)), rows((1,), (0,), (0,))),
            d_k=1,
            goal=0.95,
            counts=True,
        ),
        puzzle(
            "soft",
            SOFT_FEATURES,
            draw_soft,
            solved(rows((0, 1), (3, 0), (0, 0)), rows((3, 0), (0, 2), (0, 0))),
            d_k=2,
            goal=0.95,
        ),
        puzzle(
            "two",
            CLOCK,
            partial(draw_step, steps=(-1, 1)),
            solved(torch.cat([BACK, AHEAD], dim=1), torch.cat([STAY, STAY], dim=1)),
            d_k=2,
            goal=0.9,
            n_heads=2,
        ),
        Puzzle(
            key="layers",
            features=PAIR_FEATURES,
            draw=draw_pairs,
            solution=Weights(both_layers(BACK, CORNERS, 0), both_layers(STAY, CORNERS, 4), written_after()),
            d_k=2,
            goal=0.95,
            n_heads=2,
            stacked=True,
            asks=(CLOCK, NAMES),
            answers=(CLOCK, (*NAMES, *AFTER)),
            handed_on=written_after(),
        ),
    )
}
