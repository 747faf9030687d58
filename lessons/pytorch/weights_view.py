"""The weights that nn.MultiheadAttention reports: of each head, and averaged unless told otherwise."""

from collections.abc import Iterator

from lessons.heads.derivation import ManyHeadsDerivation
from lessons.kit.matrices import head_matrix
from lessons.pytorch.parity import Parity
from lessons.screen.arithmetic import sum_of, term
from lessons.screen.format import names
from lessons.screen.message import Fixed, ListOf, Magnitude, Message, message
from lessons.screen.screen import Matrix, Step

MOST_COLUMNS, MOST_HEATMAPS = 30, 4  # of the heads that are shown beside their average


def averaged_band(parity: Parity, derivation: ManyHeadsDerivation) -> Iterator[Matrix]:
    """The weights of the first heads, and the average of all."""
    shown = min(len(parity.per_head), max(1, MOST_COLUMNS // len(parity.tokens)), MOST_HEATMAPS)
    for head in range(shown):
        yield weights_of_head(parity, derivation, head)
    yield average_of_heads(parity, derivation, shown)


def weights_of_head(parity: Parity, derivation: ManyHeadsDerivation, head: int) -> Matrix:
    """PyTorch's weights of one head."""
    own, theirs = derivation.head(head), parity.per_head[head].tolist()
    ours = own.numbers["weights"]

    def step(i: int, j: int) -> Step:
        if not own.visible[i][j]:
            return own.step("weights", i, j)
        says = message("nn.MultiheadAttention: ours + the difference")
        return Step(says, term(ours[i][j]) + (theirs[i][j] - ours[i][j]), theirs[i][j])

    def before(i: int, j: int) -> Iterator[Step]:
        return own.derive("weights", i, j) if own.visible[i][j] else own.before("weights", i, j)

    title = message("head {head}", head=head + 1)
    return head_matrix(own, "weights", title, parity.per_head[head], key=f"map{head}", step=step, before=before)


def average_of_heads(parity: Parity, derivation: ManyHeadsDerivation, place: int) -> Matrix:
    """What is reported."""
    weights, average, own = parity.per_head.tolist(), parity.averaged.tolist(), derivation.head(0)

    def before(i: int, j: int) -> Iterator[Step]:
        for head, rows in enumerate(weights):
            yield Step(message("weight in head {head}", head=head + 1), term(rows[i][j]), rows[i][j])

    def step(i: int, j: int) -> Step:
        pair = {"query": own.names[i], "key": own.names[j]}
        says = message("average weight that {query} puts on {key}", **pair)
        if not own.visible[i][j]:
            says = message("average weight that {query} puts on {key}: masked in every head", **pair)
        return Step(says, sum_of(rows[i][j] for rows in weights) / len(weights), average[i][j])

    title = message("average of {count}", count=len(weights))
    return head_matrix(own, "weights", title, parity.averaged, key=f"map{place}", step=step, before=before)


def notice_averaged(parity: Parity) -> Iterator[Message]:
    """What the average hides, at a weight on which the heads differ most."""
    if len(parity.per_head) == 1:
        yield message("With one head the average is that head: choose more heads to see what it hides.")
    else:
        gap = parity.per_head.max(dim=0).values - parity.per_head.min(dim=0).values
        i, j = divmod(int(gap.argmax()), len(parity.tokens))
        query, key = (names(parity.tokens)[place] for place in (i, j))
        weights = ListOf(tuple(Fixed(weight) for weight in parity.per_head[:, i, j].tolist()))
        if i == j:
            yield message("Head by head, {query} puts the weights {weights} on itself.", query=query, weights=weights)
        else:
            yield message(
                "Head by head, {query} puts the weights {weights} on {key}.", query=query, key=key, weights=weights
            )
        yield message(
            "Unless told otherwise, nn.MultiheadAttention reports only their average, {average}.",
            average=Fixed(float(parity.averaged[i, j])),
        )
    if parity.weights_difference == 0:
        yield message("Our weights are those of nn.MultiheadAttention to the last digit.")
    else:
        yield message(
            "Our weights differ from those of nn.MultiheadAttention by at most {difference}.",
            difference=Magnitude(parity.weights_difference),
        )
