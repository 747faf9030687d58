"""Can you set the weights yourself? A head built by hand: where it looks, how well it does, what its table means."""

from dataclasses import dataclass, replace
from functools import lru_cache

from attention_core.puzzles import (
    OTHERS,
    PUZZLES,
    Puzzle,
    TrainedWeights,
    Weights,
    best_of_one_head,
    other_sentences,
    score_sentences,
    train_puzzle,
)
from attention_core.puzzles.base import DrawnSentence, Sentences, together
from lessons.one_head.puzzle.compute import compute_built, feature_names, heads_on_screen
from lessons.one_head.puzzle.levels import LEVELS, why_not_one
from lessons.one_head.puzzle.notices import compare_notice, score_notice, table_notices, worst_notice
from lessons.one_head.puzzle.numbers import read_numbers
from lessons.screen import (
    Axis,
    Facts,
    Fixed,
    Limit,
    Matrices,
    Matrix,
    Message,
    Number,
    OneOf,
    Percent,
    Screen,
    Text,
    message,
)
from lessons.shared.head_maps import TARGETS_MARKED
from lessons.shared.matrices import FEATURES, QUERIES, TOKENS, single_axis, token_axis, traced_matrix
from lessons.trace.computation import Computation
from words import cached_by_language

TOPIC = message("Build a head by hand")
POINT = message("A head is a table of who asks for whom, made from what W_q asks and W_k answers: set it yourself.")
EXAMPLE_SEED = 3
ONLY_THE_PRODUCT = message("Only W_q W_kᵀ counts: doubling W_q and halving W_k gives the same head.")

LEVEL = OneOf("level", message("Level"), {key: level.title for key, level in LEVELS.items()})
BUILT = Text("built", message("Your numbers"), 600)
SENTENCE = Number("on", message("Sentence"), Limit(0, OTHERS), 0, typed=True, width=150)
BESIDE = OneOf(
    "compared",
    message("Beside yours"),
    {"none": message("only yours"), "trained": message("a trained head"), "ours": message("our solution")},
)


@dataclass(frozen=True)
class BuildChoices:
    """The level, the numbers that were set, the sentence (0 is the level's own, then the others), what is compared."""

    level: LEVEL.type = LEVEL.begin
    built: BUILT.type = ""
    sentence: SENTENCE.type = 0
    compared: BESIDE.type = BESIDE.begin


@lru_cache(maxsize=16)
def own_sentence(puzzle: Puzzle) -> Sentences:
    """The sentence with which a level begins; not among those that are scored."""
    return puzzle.sentences(1, EXAMPLE_SEED, "example")


@lru_cache(maxsize=16)
def trained_on(puzzle: Puzzle) -> TrainedWeights:
    """What training finds, once for everybody."""
    return train_puzzle(puzzle)


def shown_sentence(puzzle: Puzzle, number: int) -> DrawnSentence:
    """The level's own sentence, or one of the others."""
    return other_sentences(puzzle).each[number - 1] if number else own_sentence(puzzle).each[0]


def scores_of(puzzle: Puzzle, weights: Weights) -> list[float]:
    """How well these weights do on each of the other sentences."""
    return score_sentences(puzzle, weights, other_sentences(puzzle)).tolist()


def mean(scores: list[float]) -> float:
    """The score on all of them."""
    return sum(scores) / len(scores)


@cached_by_language(maxsize=16)
def build_screen(choices: BuildChoices) -> Screen:
    """What the learner's numbers do on one sentence and on 64 others; beside it, if one likes, another head.

    The last few are kept: never change one.
    """
    puzzle, level = PUZZLES[choices.level], LEVELS[choices.level]
    weights, _ = read_numbers(puzzle, choices.built)
    sentence, scores = shown_sentence(puzzle, choices.sentence), scores_of(puzzle, weights)
    here = float(score_sentences(puzzle, weights, together([sentence]))[0])
    computation = compute_built(puzzle, sentence, weights)
    figures = [
        look_figure("build_figure", puzzle, sentence, computation),
        table_figure("table_figure", puzzle, computation, (*table_notices(puzzle, computation), ONLY_THE_PRODUCT)),
        facts_figure(puzzle, here, mean(scores)),
        features_figure(puzzle, sentence, computation),
        *compared_figures(puzzle, sentence, choices.compared),
    ]
    best = best_of_one_head(puzzle, other_sentences(puzzle))
    limit = None if best is None else why_not_one(choices.level, Percent(best))
    return Screen(
        figures=tuple(figures),
        code=computation.code(shown_paths(puzzle), scale=puzzle.d_k**-0.5),
        formula=formula_of(puzzle),
        headline=level.goal,
        lead=(score_notice(puzzle, mean(scores)),),
        remarks=tuple(filter(None, (None if puzzle.is_solved(mean(scores)) else worst_notice(scores), limit))),
    )


def shown_paths(puzzle: Puzzle) -> tuple[str, ...]:
    """What a program of the screen shows."""
    return tuple(f"{head}{path}" for head in heads_on_screen(puzzle) for path in ("table", "head.weights"))


def formula_of(puzzle: Puzzle) -> str:
    """The scores, with the table in their middle."""
    return rf"\frac{{Q K^\top}}{{\sqrt{{{puzzle.d_k}}}}} = \frac{{X \, W_q W_k^\top X^\top}}{{\sqrt{{{puzzle.d_k}}}}}"


def facts_figure(puzzle: Puzzle, here: float, others: float) -> Facts:
    """The score on this sentence and on the others, and the goal."""
    return Facts(
        key="build_facts",
        name=message("How well it does"),
        facts=(
            (message("this sentence"), Percent(here)),
            (message("{count} others", count=OTHERS), Percent(others)),
            (message("goal"), Percent(puzzle.goal)),
        ),
    )


def compared_figures(puzzle: Puzzle, sentence: DrawnSentence, which: str) -> list[Matrices]:
    """The trained head on the same sentence, or a solution of ours; nothing where none is asked for."""
    if which == "none":
        return []
    weights = trained_on(puzzle).weights if which == "trained" else puzzle.solution
    computation = compute_built(puzzle, sentence, weights)
    notice = compare_notice(puzzle, which, weights, mean(scores_of(puzzle, weights)))
    heading = message("A trained head") if which == "trained" else message("Our solution")
    looks = look_figure("compared_figure", puzzle, sentence, computation)
    table = table_figure("compared_table", puzzle, computation, (notice,))
    return [replace(looks, heading=heading), replace(table, beside=True)]


def look_figure(key: str, puzzle: Puzzle, sentence: DrawnSentence, computation: Computation) -> Matrices:
    """Where each head looks, one below the other; what comes out, where that counts."""
    bands = []
    for place, head in enumerate(heads_on_screen(puzzle)):
        looks = weight_matrix(puzzle, sentence, computation, head, place, f"{key}_{place}_")
        bands.append((looks, output_matrix(sentence, computation, key)) if puzzle.counts else (looks,))
    return Matrices(
        key=key,
        name=message("Where the head looks"),
        bands=tuple(bands),
        first=f"{key}_0_weights",
        width=500,
        numbered=True,
        hint=None if puzzle.counts else TARGETS_MARKED,
    )


def table_figure(key: str, puzzle: Puzzle, computation: Computation, notice: tuple[Message, ...]) -> Matrices:
    """Which feature asks for which, one table for each head."""
    tables = [
        (table_matrix(puzzle, computation, head, place, f"{key}_{place}_"),)
        for place, head in enumerate(heads_on_screen(puzzle))
    ]
    return Matrices(
        key=key,
        name=message("Which feature asks for which"),
        bands=tuple(tables),
        first=f"{key}_0_table",
        notice=notice,
        width=420,
        numbered=True,
        hint=message("Rows ask, columns are asked for."),
    )


def features_figure(puzzle: Puzzle, sentence: DrawnSentence, computation: Computation) -> Matrices:
    """The features of the tokens; of a single head also the scores that the table makes of them."""
    matrices = [features_matrix(puzzle, sentence, computation)]
    if puzzle.n_heads == 1:
        title = message("scores ÷ √{d_k}", d_k=puzzle.d_k)
        matrices.append(traced_matrix(computation, "head.scaled", title, sentence.words, key="build_scaled"))
    return Matrices(
        key="features_figure",
        name=message("The features of each token, and the scores"),
        heading=message("What the head reads"),
        bands=(tuple(matrices),),
        first="build_x",
        width=900,
    )


def table_matrix(puzzle: Puzzle, computation: Computation, head: str, place: int, prefix: str) -> Matrix:
    """Which feature asks for which: of those that may be given numbers."""
    asks, answers = (list(puzzle.free_rows(matrix, place)) for matrix in ("W_q", "W_k"))
    features = feature_names(puzzle)
    titles = [message("W_q W_kᵀ"), message("W_q W_kᵀ of head {head}", head=place + 1)]
    return traced_matrix(
        computation,
        f"{head}table",
        titles[puzzle.n_heads > 1],
        (),
        key=f"{prefix}table",
        take=lambda table: table[asks][:, answers],
        rows=Axis(message("asks"), tuple(features[row] for row in asks), named=True),
        columns=Axis(message("asked for"), tuple(features[row] for row in answers), named=True),
    )


def weight_matrix(
    puzzle: Puzzle, sentence: DrawnSentence, computation: Computation, head: str, place: int, prefix: str
) -> Matrix:
    """Where a head looks, with a frame where it should."""
    jobs = len(sentence.target)
    job = place if jobs > 1 else 0
    marked = sentence.target[job] > 0 if jobs > 1 or place == puzzle.n_heads - 1 else None
    titles = [message("weights"), message("weights of head {head}", head=place + 1)]
    return traced_matrix(
        computation,
        f"{head}head.weights",
        titles[puzzle.n_heads > 1],
        sentence.words,
        key=f"{prefix}weights",
        visible=sentence.may_attend,
        marked=marked,
    )


def output_matrix(sentence: DrawnSentence, computation: Computation, key: str) -> Matrix:
    """What each token receives, and what it should."""
    return traced_matrix(
        computation,
        "head.output",
        message("output"),
        sentence.words,
        key=f"{key}_output",
        rows=token_axis(sentence.words, QUERIES),
        columns=single_axis(message("should be {share}", share=Fixed(sentence.wanted))),
    )


def features_matrix(puzzle: Puzzle, sentence: DrawnSentence, computation: Computation) -> Matrix:
    """The features of each token."""
    return traced_matrix(
        computation,
        "x",
        message("X"),
        sentence.words,
        key="build_x",
        given=True,
        rows=token_axis(sentence.words, TOKENS),
        columns=Axis(FEATURES, feature_names(puzzle), named=True),
    )
