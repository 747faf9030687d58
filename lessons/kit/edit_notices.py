"""What follows from the numbers that a learner changed by hand: how many others, and one of them, before and after."""

from torch import Tensor

from lessons.example.edits import LETTER_OF, title
from lessons.example.example import ExampleTrace, projection_of, unedited
from lessons.kit.matrices import PAIRS
from lessons.screen.format import apart
from lessons.screen.message import All, Sentence, Token, say, say_count

RESULTS = {"q": say("Q"), "k": say("K"), "v": say("V"), "scores": say("the scores"), "scaled": say("the scaled scores"),
           "masked": say("the masked scores"), "weights": say("the weights"), "output": say("the output")}  # fmt: skip


def edit_remarks(example: ExampleTrace, head: int) -> tuple[Sentence, ...]:
    """What was changed in the matrices of one head, and what follows from it; nothing where nothing was changed."""
    if not example.example.edits:
        return ()
    now, then = tensors_of(example, head), tensors_of(unedited(example), head)
    changed = {key: int((now[key] != then[key]).sum()) for key in now}
    by_hand = [say("{count} in {matrix}", count=changed[key], matrix=title(key)) for key in LETTER_OF if changed[key]]
    if not by_hand:
        return (say("What was changed by hand changes nothing in this head."),)
    opening = say_count("{count} number is changed by hand: {where}.", "{count} numbers are changed by hand: {where}.",
                        sum(changed[key] for key in LETTER_OF), where=All(tuple(by_hand)))  # fmt: skip
    follow = [key for key in RESULTS if changed[key]]
    if not follow:
        return opening, say("Nothing that is computed from it changes.")
    return opening, *what_follows(changed, now), example_of_change(example.names, now, then)


def tensors_of(example: ExampleTrace, head: int) -> dict[str, Tensor]:
    """The matrices that can be edited, and all that is computed from them, for one head."""
    attention = example.heads.select(head)
    weights = {f"W_{role}": projection_of(example, role, head) for role in "qkv"}
    return {"x": example.x} | weights | {key: getattr(attention, key) for key in RESULTS}


def what_follows(changed: dict[str, int], now: dict[str, Tensor]) -> tuple[Sentence, ...]:
    """How many numbers of each tensor are others now, and which tensors stayed as they were."""
    counts = tuple(say("{count} of {total} in {tensor}", count=changed[key], total=now[key].numel(), tensor=name)
                   for key, name in RESULTS.items() if changed[key])  # fmt: skip
    same = tuple(name for key, name in RESULTS.items() if not changed[key])
    follows = say("So these numbers change: {counts}.", counts=All(counts))
    return (follows, say("Nothing changes in {tensors}.", tensors=All(same))) if same else (follows,)


def example_of_change(names: tuple[Token, ...], now: dict[str, Tensor], then: dict[str, Tensor]) -> Sentence:
    """A number that moved far."""
    gaps = {key: (now[key] - then[key]).nan_to_num(0.0).abs() for key in RESULTS}
    key = max(RESULTS, key=lambda result: float(gaps[result].max()))
    i, j = divmod(int(gaps[key].argmax()), gaps[key].shape[1])
    before, after = apart(float(then[key][i, j]), float(now[key][i, j]))
    if key in PAIRS:
        return say("In {tensor}, for example, {query} → {key} was {before} and is {after} now.",
                   tensor=RESULTS[key], query=names[i], key=names[j], before=before, after=after)  # fmt: skip
    return say("In {tensor}, for example, feature {feature} of {token} was {before} and is {after} now.",
               tensor=RESULTS[key], feature=j + 1, token=names[i], before=before, after=after)  # fmt: skip


def shared_row(example: ExampleTrace) -> Sentence:
    """What a number set in a row of X does to other rows: a token that repeats picks the same row again."""
    repeated = next((i for i, token_id in enumerate(example.row_ids) if example.row_ids.count(token_id) > 1), None)
    if repeated is None:
        return say("No row repeats, so each belongs to one token.")
    name = example.names[repeated]
    return say(
        "{token} comes {count} times and picks the same row each time: a number changed in one of them changes in all.",
        token=Token(name.text, name.position), count=example.row_ids.count(example.row_ids[repeated]))  # fmt: skip
