"""How our numbers come about, and how far PyTorch's are from them."""

from collections.abc import Callable, Iterator, Sequence

from attention_core.heads import merge_heads
from attention_core.pytorch_parity import Parity
from lessons.many_heads_sheets import HeadsArithmetic
from lessons.old_arithmetic import Line, digits, factor
from lessons.sheets import Sheet, Sheets, places

Lines = Callable[[int, int], Iterator[Line]]


def arithmetic_of(parity: Parity) -> HeadsArithmetic:
    """For our own numbers; the scores are always divided by √d_head here."""
    d_head, trace = parity.trace.heads.q.shape[-1], parity.trace
    return HeadsArithmetic(parity.tokens, trace.heads, f"√{d_head}", parity.ours, parity.x, trace.output)


def output_sheets(parity: Parity, way: str, title: str, shown: Sequence[int]) -> Sheets:
    """Ours, theirs and the difference; `way` is "module" or "fused", and the features `shown` are drawn."""
    if way == "module":
        key, ours, theirs = "output", parity.trace.output, parity.module
    else:
        key, ours, theirs = "concatenated", parity.trace.concatenated, merge_heads(parity.fused)
    sheet, gaps = arithmetic_of(parity).sheet(key, "ours", shown), theirs - ours

    def their_number(i: int, j: int) -> Iterator[Line]:
        yield from sheet.lines(i, j)
        at = i, shown[j]
        yield beside(title, float(ours[at]), float(theirs[at]))

    def gap(i: int, j: int) -> Iterator[Line]:
        at = i, shown[j]
        text = f"{float(theirs[at]):.12f} + (−1)·({float(ours[at]):.12f})"
        yield Line(f"{title} − ours", text, float(gaps[at]))

    return {
        "ours": sheet,
        "theirs": Sheet(title, sheet.rows, sheet.columns, their_number),
        "gap": Sheet("difference", sheet.rows, sheet.columns, gap),
    }


def averaged_sheets(parity: Parity, n_shown: int) -> Sheets:
    """PyTorch's weights of the first heads, and the average of all."""
    tokens, arithmetic, n_heads = places(parity.tokens), arithmetic_of(parity), len(parity.per_head)

    def weight(head: int) -> Lines:
        def lines(i: int, j: int) -> Iterator[Line]:
            yield from arithmetic.head(head).lines("weights", i, j)
            at = head, i, j
            yield beside("nn.MultiheadAttention", float(parity.trace.heads.weights[at]), float(parity.per_head[at]))

        return lines

    def average(i: int, j: int) -> Iterator[Line]:
        weights = parity.per_head[:, i, j].tolist()
        for head, value in enumerate(weights):
            yield Line(f"weight in head {head + 1}", digits(value), value)
        text = f"({' + '.join(map(factor, weights))}) ÷ {n_heads}"
        yield Line("the average of all heads", text, float(parity.averaged[i, j]))

    sheets = {f"map{head}": Sheet(f"head {head + 1}", tokens, tokens, weight(head)) for head in range(n_shown)}
    return sheets | {f"map{n_shown}": Sheet(f"average of {n_heads}", tokens, tokens, average)}


def beside(title: str, ours: float, theirs: float) -> Line:
    """Their number as ours and the difference that was measured."""
    return Line(f"{title}: ours + the difference", f"{ours:.12f} + ({theirs - ours:.12f})", theirs)
