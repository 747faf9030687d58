"""What numbers changed by hand do downstream: the example computed with them and without, cell by cell."""

from dataclasses import dataclass
from functools import cached_property

from jaxtyping import Bool
from torch import Tensor

from lessons.captions import name, number, plural, seen
from lessons.example import ExampleTrace, projection_of, unedited

INPUTS = {"x": "X", "W_q": "W_q", "W_k": "W_k", "W_v": "W_v"}
RESULTS = {
    "q": "Q",
    "k": "K",
    "v": "V",
    "scores": "the scores",
    "scaled": "the scaled scores",
    "masked": "the masked scores",
    "weights": "the weights",
    "output": "the output",
}
PAIRS = ("scores", "scaled", "masked", "weights")


@dataclass(frozen=True, eq=False)
class Changes:
    """Every tensor of one head without the numbers changed by hand (`before`) and with them (`after`).

    Besides the tensors of the trace there are the same seen otherwise: `k_transposed`, and `xx`, which is X Xᵀ.
    """

    tokens: tuple[str, ...]
    before: dict[str, Tensor]
    after: dict[str, Tensor]

    @cached_property
    def marks(self) -> dict[str, Bool[Tensor, "rows columns"]]:
        """For each tensor, True where a number is not what it was before."""
        return {key: self.after[key] != self.before[key] for key in self.after}

    def marked(self, key: str) -> list[list[bool]] | None:
        """The marks of one tensor as lists; None where nothing changed."""
        return self._marked.get(key)

    @cached_property
    def _marked(self) -> dict[str, list[list[bool]]]:
        return {key: marks.tolist() for key, marks in self.marks.items() if bool(marks.any())}

    def remark(self, key: str, row: int, column: int) -> str:
        """What a changed cell was before, as a sentence to add to others; nothing for a cell that is as it was."""
        marked = self._marked.get(key)
        if marked is None or not marked[row][column]:
            return ""
        was, _ = distinct(float(self.before[key][row, column]), float(self.after[key][row, column]))
        return f" Changed: it was {was}."


def changed_by_edits(trace: ExampleTrace, head: int = 0) -> Changes:
    """Compare an example with the same example without its edits; both are computed, nothing is guessed."""
    return Changes(trace.tokens, tensors_of(unedited(trace), head), tensors_of(trace, head))


def tensors_of(trace: ExampleTrace, head: int) -> dict[str, Tensor]:
    """The tensors of one head by name, in the order in which they are computed."""
    attention = trace.heads.select(head)
    maps = {f"W_{role}": projection_of(trace, role, head) for role in "qkv"}
    results = {key: getattr(attention, key) for key in RESULTS}
    return {"x": trace.x, **maps, **results, "k_transposed": attention.k.mT, "xx": trace.x @ trace.x.mT}


def changes_caption(changes: Changes) -> str:
    """What was changed by hand, how many numbers follow it in each tensor, and the largest change."""
    counts = {key: int(marks.sum()) for key, marks in changes.marks.items()}
    by_hand = [f"{counts[key]} in {INPUTS[key]}" for key in INPUTS if counts[key]]
    if not by_hand:
        return "What was changed by hand changes nothing in this head."
    total = sum(counts[key] for key in INPUTS)
    opening = f"Changed by hand: {total} {plural('number', total)} ({', '.join(by_hand)})."
    parts = [f"{counts[key]} of {changes.after[key].numel()} in {RESULTS[key]}" for key in RESULTS if counts[key]]
    if not parts:
        return f"{opening} Nothing that is computed from it changes."
    same = [RESULTS[key] for key in RESULTS if not counts[key]]
    rest = f"; none in {', '.join(same)}" if same else ""
    return f"{opening} What follows from it: {', '.join(parts)}{rest}. {largest_change(changes)}"


def largest_change(changes: Changes) -> str:
    """Where the difference to the unedited example is largest among all that is computed."""
    gaps = {key: (changes.after[key] - changes.before[key]).nan_to_num(0.0).abs() for key in RESULTS}
    key = max(RESULTS, key=lambda result: float(gaps[result].max()))
    i, j = divmod(int(gaps[key].argmax()), gaps[key].shape[1])
    who = name(changes.tokens, i)
    where = f"{who} → {name(changes.tokens, j)}" if key in PAIRS else f"{who}, feature {j + 1}"
    was, is_now = distinct(float(changes.before[key][i, j]), float(changes.after[key][i, j]))
    return f"The largest change is in {RESULTS[key]}: {where} was {was} and is {is_now}."


def distinct(one: float, other: float) -> tuple[str, str]:
    """Two different numbers with as many decimals as it takes to tell them apart, two at least."""
    for digits in range(2, 9):
        if number(one, digits) != number(other, digits):
            return number(one, digits), number(other, digits)
    return f"{one:.8e}".replace("-", "−"), f"{other:.8e}".replace("-", "−")


def shared_row_caption(trace: ExampleTrace) -> str:
    """What a number set in a row of X does to other rows: a word that comes again fetches the same row."""
    repeated = next((i for i, token_id in enumerate(trace.ids) if trace.ids.count(token_id) > 1), None)
    if repeated is None:
        return "Each token has a row of its own."
    count = trace.ids.count(trace.ids[repeated])
    return (
        f"“{seen(trace.tokens[repeated])}” comes {count} times and fetches the same row each time: "
        "a number changed in one place changes in all."
    )
