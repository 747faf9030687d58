"""What follows from the numbers that a learner changed by hand: how many others, and one of them, before and after."""

from torch import Tensor

from lessons.example.edits import LETTER_OF, title
from lessons.example.example import ExampleTrace, projection_of, unedited
from lessons.screen import ListOf, Message, Token, distinguishable, message, plural
from lessons.shared.matrices import PAIRS

RESULTS = {
    "q": message("Q"),
    "k": message("K"),
    "v": message("V"),
    "scores": message("the scores"),
    "scaled": message("the scaled scores"),
    "masked": message("the masked scores"),
    "weights": message("the weights"),
    "output": message("the output"),
}


def edit_remarks(trace: ExampleTrace, head: int) -> tuple[Message, ...]:
    """What was changed in the matrices of one head, and what follows from it; nothing where nothing was changed."""
    if not trace.example.edits:
        return ()
    now, then = tensors_of(trace, head), tensors_of(unedited(trace), head)
    changed = {key: int((now[key] != then[key]).sum()) for key in now}
    by_hand = [
        message("{count} in {matrix}", count=changed[key], matrix=title(key)) for key in LETTER_OF if changed[key]
    ]
    if not by_hand:
        return (message("The changes made by hand change nothing in this head."),)
    opening = plural(
        "{count} number has been changed by hand: {where}.",
        "{count} numbers have been changed by hand: {where}.",
        sum(changed[key] for key in LETTER_OF),
        where=ListOf(tuple(by_hand)),
    )
    follow = [key for key in RESULTS if changed[key]]
    if not follow:
        return opening, message("No number computed from this changes.")
    return opening, *what_follows(changed, now), example_of_change(trace.names, now, then)


def tensors_of(trace: ExampleTrace, head: int) -> dict[str, Tensor]:
    """The matrices that can be edited, and all that is computed from them, for one head."""
    attention = trace.heads.select(head)
    weights = {f"W_{role}": projection_of(trace, role, head) for role in "qkv"}
    return {"x": trace.x} | weights | {key: getattr(attention, key) for key in RESULTS}


def what_follows(changed: dict[str, int], now: dict[str, Tensor]) -> tuple[Message, ...]:
    """How many numbers of each tensor are others now, and which tensors stayed as they were."""
    counts = tuple(
        message("{count} of {total} in {tensor}", count=changed[key], total=now[key].numel(), tensor=name)
        for key, name in RESULTS.items()
        if changed[key]
    )
    same = tuple(name for key, name in RESULTS.items() if not changed[key])
    follows = message("So these numbers change: {counts}.", counts=ListOf(counts))
    return (follows, message("Nothing changes in {tensors}.", tensors=ListOf(same))) if same else (follows,)


def example_of_change(names: tuple[Token, ...], now: dict[str, Tensor], then: dict[str, Tensor]) -> Message:
    """A number that moved far."""
    gaps = {key: (now[key] - then[key]).nan_to_num(0.0).abs() for key in RESULTS}
    key = max(RESULTS, key=lambda result: float(gaps[result].max()))
    i, j = divmod(int(gaps[key].argmax()), gaps[key].shape[1])
    before, after = distinguishable(float(then[key][i, j]), float(now[key][i, j]))
    if key in PAIRS:
        return message(
            "In {tensor}, for example, {query} → {key} was {before} and is now {after}.",
            tensor=RESULTS[key],
            query=names[i],
            key=names[j],
            before=before,
            after=after,
        )
    return message(
        "In {tensor}, for example, feature {feature} of {token} was {before} and is {after} now.",
        tensor=RESULTS[key],
        feature=j + 1,
        token=names[i],
        before=before,
        after=after,
    )
