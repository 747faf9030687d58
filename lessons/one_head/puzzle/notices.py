"""What is said of a head that was built: true for its numbers, ties included."""

from collections.abc import Sequence

from attention_core.puzzles import Puzzle, Weights
from attention_core.puzzles.trained import TRAINED_ON, UPDATES
from lessons.one_head.puzzle.compute import feature_names, heads_on_screen
from lessons.one_head.puzzle.numbers import count_numbers
from lessons.screen import Fixed, ListOf, Message, Percent, argmax_ties, message, percent, plural
from lessons.trace.computation import Computation, at_path

EVEN = 1e-9  # weights that differ by no more are even
MOST_NAMED = 4  # pairs of features, or sentences, that a sentence names


def score_notice(puzzle: Puzzle, score: float) -> Message:
    """The score on the other sentences, and whether it is enough."""
    says = {"score": Percent(score), "goal": Percent(puzzle.goal)}
    if puzzle.counts:
        if puzzle.is_solved(score):
            return message("Solved: {score} of all outputs are right; the goal was {goal}.", **says)
        return message("So far {score} of all outputs are right; the goal is {goal}.", **says)
    if puzzle.is_solved(score):
        return message("Solved: {score} of the weight is where it should be; the goal was {goal}.", **says)
    return message("So far {score} of the weight is where it should be; the goal is {goal}.", **says)


def table_notices(puzzle: Puzzle, computation: Computation) -> tuple[Message, ...]:
    """What leads in the table of each head, or why the weight is shared evenly."""
    several = puzzle.n_heads > 1
    notices = []
    for place, path in enumerate(heads_on_screen(puzzle)):
        said = table_notice(puzzle, computation, path, place)
        notices.append(message("Head {head}: {said}", head=place + 1, said=said) if several else said)
    return tuple(notices)


def table_notice(puzzle: Puzzle, computation: Computation, path: str, place: int) -> Message:
    """Which feature asks most for which; of a head that tells no token from another, that it shares evenly."""
    table, trace = (at_path(computation.result, f"{path}{name}") for name in ("table", "head"))
    if not table.any():
        return message("W_q W_kᵀ is 0 everywhere, so all scores are equal and the weight is shared evenly.")
    asks, answers = (list(puzzle.free_rows(matrix, place)) for matrix in ("W_q", "W_k"))
    seen = trace.visible.to(trace.weights.dtype)
    if ((trace.weights - seen / seen.sum(dim=-1, keepdim=True)).abs() <= EVEN).all():
        return message("On this sentence all scores of a row are equal, so the weight is shared evenly.")
    free = table[asks][:, answers]
    if not (free > 0).any():
        return message("Nothing in W_q W_kᵀ is above 0: it only says what not to look at.")
    pairs = argmax_ties(free)
    most = Fixed(float(free.max()))
    if len(pairs) > MOST_NAMED:
        return message("The largest number in W_q W_kᵀ, {most}, is in {count} places.", most=most, count=len(pairs))
    features = feature_names(puzzle)
    named = tuple(
        message("{asks} asks for {answers}", asks=features[asks[i]], answers=features[answers[j]]) for i, j in pairs
    )
    return message("The largest number in W_q W_kᵀ is {most}: {pairs}.", most=most, pairs=ListOf(named))


def worst_notice(scores: Sequence[float]) -> Message | None:
    """On which of the other sentences it does worst; nothing where it does equally well on all of them."""
    least = min(scores)
    worst = [number for number, score in enumerate(scores, 1) if percent(score) == percent(least)]
    if len(worst) == len(scores):
        return None
    return plural(
        "It does worst on sentence {first}: {least}.",
        "It does worst on {count} sentences, {least} on each; the first is sentence {first}.",
        len(worst),
        first=worst[0],
        least=Percent(least),
    )


def compare_notice(puzzle: Puzzle, which: str, weights: Weights, score: float) -> Message:
    """Whose head stands beside the learner's, and how well it does."""
    count = count_numbers(puzzle, weights)
    if which == "trained":
        return message(
            "Trained for {updates} training steps on {sentences} other sentences, it uses all {count} "
            "numbers and reaches {score}.",
            updates=UPDATES,
            sentences=TRAINED_ON,
            count=count,
            score=Percent(score),
        )
    return plural(
        "It has {count} nonzero number, needs it, and reaches {score}.",
        "It has {count} nonzero numbers, needs each of them, and reaches {score}.",
        count,
        score=Percent(score),
    )
