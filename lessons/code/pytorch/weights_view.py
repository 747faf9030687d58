"""The weights that nn.MultiheadAttention reports: of each head, and averaged unless told otherwise."""

from collections.abc import Iterator, Sequence

from attention_core.measured.parity import Parity
from lessons.code.pytorch.compute import Beside, compute_average
from lessons.screen import Fixed, ListOf, Magnitude, Matrix, Message, Token, message
from lessons.shared.matrices import KEYS, QUERIES, token_axis, traced_matrix

MOST_COLUMNS, MOST_HEATMAPS = 30, 4  # of the heads that are shown beside their average


def averaged_band(beside: Beside) -> Iterator[Matrix]:
    """PyTorch's weights of the first heads, and the average of all."""
    parity, tokens, n_heads = beside.parity, beside.ours.tokens, beside.ours.n_heads
    computation = compute_average(beside)
    look = {
        "rows": token_axis(tokens, QUERIES),
        "columns": token_axis(tokens, KEYS),
        "scale": "weight",
        "colour": "weight",
        "visible": parity.may_attend,
    }
    shown = min(n_heads, max(1, MOST_COLUMNS // len(tokens)), MOST_HEATMAPS)
    for head in range(shown):
        title = message("head {head}", head=head + 1)
        take = lambda a, head=head: a[head]  # noqa: E731
        yield traced_matrix(computation, "each", title, tokens, key=f"map{head}", take=take, computed=True, **look)
    title = message("average of {count}", count=n_heads)
    yield traced_matrix(computation, "average", title, tokens, key=f"map{shown}", values=parity.averaged, **look)


def notice_averaged(parity: Parity, who: Sequence[Token]) -> Iterator[Message]:
    """What the average hides, at a weight on which the heads differ most."""
    if parity.per_head is None or parity.averaged is None:
        return
    if len(parity.per_head) == 1:
        yield message("With one head, the average is that head's weight.")
    else:
        gap = parity.per_head.max(dim=0).values - parity.per_head.min(dim=0).values
        i, j = divmod(int(gap.argmax()), len(who))
        query, key = (who[place] for place in (i, j))
        weights = ListOf(tuple(Fixed(weight) for weight in parity.per_head[:, i, j].tolist()))
        yield message("In its heads, {query} gives {key} the weights {weights}.", query=query, key=key, weights=weights)
        yield message(
            "By default, nn.MultiheadAttention reports only their average, {average}.",
            average=Fixed(float(parity.averaged[i, j])),
        )
    yield message(
        "Our weights differ from those of nn.MultiheadAttention by at most {difference}.",
        difference=Magnitude(parity.weights_difference),
    )
