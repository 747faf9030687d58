"""The steps of a worksheet: from one X and its weight matrices to the output, each with the numbers of the last.

Beside each table stands what its rows sum to, so that a slip is found before it goes on. Up to the softmax all is
exact; then it is computed with what stands on the sheet: powers of e from its table, and weights that are rounded.
"""

import math
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention_core.base.arrays import Array, namespace, row_max, row_sum
from attention_core.base.randomness import generator
from attention_core.one_head.attention import AttentionTrace, attend, mix_values
from attention_core.one_head.head import one_head
from attention_core.one_head.masks import causal_mask
from lessons.example.example import ExampleTrace
from lessons.one_head.mask.lesson import TOPIC as MASK
from lessons.one_head.output.lesson import TOPIC as OUTPUT
from lessons.one_head.projections.lesson import TOPIC as PROJECTIONS
from lessons.one_head.scores.lesson import TOPIC as SCORES
from lessons.one_head.softmax.lesson import SENTENCES as SOFTMAX_SENTENCES
from lessons.one_head.softmax.lesson import TOPIC as SOFTMAX
from lessons.one_head.tokens.lesson import TOPIC as TOKENS
from lessons.screen import Axis, Fixed, Matrix, Message, message, plural
from lessons.shared.matrices import KEYS, head_matrix, single_axis, token_axis, traced_matrix, weight_matrix
from lessons.teachers.take_home.numbers import LARGEST_OF_W, LARGEST_OF_X, WIDTHS, example_of, rounded_number
from lessons.teachers.take_home.sheet import SheetChoices
from lessons.teachers.take_home.tasks import Blanks, PaperTask, sum_on_paper
from lessons.trace.computation import Computation
from lessons.trace.head import compute_head, divisor_of, head_names

DRAWN_AT_ONCE, TRIES_AT_THREADS = 256, 40
LARGEST_SCORE, LARGEST_DROP, LARGEST_WEIGHT = 12, 4, 0.84  # 0.84, so that no weight reads 0.9
MOST_ZEROS_OF_ROW = 0.5
THREAD_SENTENCES = {
    "shifted": SOFTMAX_SENTENCES["shifted"],
    "exponentials": SOFTMAX_SENTENCES["powers"],
    "sum of exponentials": SOFTMAX_SENTENCES["sum of powers"],
}


# The numbers.


def thread_example(choices: SheetChoices) -> ExampleTrace:
    """The running example of a sheet: the first that has no fault of many that are drawn, or that with the fewest."""
    tokens = choices.text.split(" ")
    once = [tokens.index(token) for token in dict.fromkeys(tokens)]
    random = generator(choices.seed, "worksheet in one thread")
    found: list[tuple[int, dict[str, Tensor]]] = []
    while len(found) < TRIES_AT_THREADS:
        drawn = drawn_together(tokens, random)
        faults = faults_of(drawn, once)
        place = int(faults.argmin())
        found.append((int(faults[place]), {name: several[place] for name, several in drawn.items()}))
        if faults[place] == 0:
            break
    return example_of(choices, min(found, key=itemgetter(0))[1])


def drawn_together(tokens: Sequence[str], random: torch.Generator) -> dict[str, Tensor]:
    """Many of X, with the same row for the same token, and of the three maps: rows and columns that all differ."""
    kinds = list(dict.fromkeys(tokens))
    rows = several_vectors(len(kinds), LARGEST_OF_X, random)[:, [kinds.index(token) for token in tokens]]
    widths = {"W_q": "d_k", "W_k": "d_k", "W_v": "d_v"}
    maps = {name: several_vectors(WIDTHS[width], LARGEST_OF_W, random).mT for name, width in widths.items()}
    return {"x": rows, **maps}


def several_vectors(count: int, largest: int, random: torch.Generator) -> Float[Tensor, "drawn count d_model"]:
    """Many times so many vectors of small whole numbers, no two of them the same and none all zeros."""
    every = torch.cartesian_prod(*[torch.arange(-largest, largest + 1)] * WIDTHS["d_model"])
    every = every[every.any(dim=-1)]
    order = torch.rand(DRAWN_AT_ONCE, len(every), generator=random).argsort(dim=-1)
    return every[order[:, :count]].float()


def faults_of(drawn: dict[str, Tensor], once: Sequence[int]) -> Int[Tensor, " drawn"]:
    """How many rules each of these breaks. `once` are the positions of different words: of the same, rows are the same.

    No table has zeros or twins; scores are small, and none lies too far below the largest of its row to be looked up;
    no query has one weight that is nearly all, nor equal ones only.
    """
    x, maps = drawn["x"], [drawn[name] for name in ("W_q", "W_k", "W_v")]
    q, k, v = (x @ W for W in maps)
    a = attend(q, k, v, causal_mask(x.shape[1]))
    scores = a.scores[:, once][:, :, once]
    x, q, k, v, output = (table[:, once] for table in (x, a.q, a.k, a.v, a.output))
    chooses = torch.tensor([sum(place <= query for place in once) > 1 for query in range(a.q.shape[1])])
    drops = (a.masked.amax(dim=-1, keepdim=True) - a.masked).where(a.visible, torch.zeros(())).amax(dim=-1)
    broken = [
        *(has_zeros_or_twins(table) for table in (x, *maps, q, k, v, scores, output)),
        *(mostly_zeros(table) for table in (q, k, scores)),
        *(all_sum_alike(table) for table in (q, k, v, scores) if len(once) > 1),
        a.scores.abs().amax(dim=(1, 2)) > LARGEST_SCORE,
        drops.amax(dim=1) > LARGEST_DROP,
        ((drops == 0) & chooses).any(dim=1),
        ((a.weights.amax(dim=-1) > LARGEST_WEIGHT) & chooses).any(dim=1),
    ]
    return torch.stack(broken).sum(dim=0)


def has_zeros_or_twins(tables: Float[Tensor, "drawn rows columns"]) -> Bool[Tensor, " drawn"]:
    """True for a table with a row or a column of zeros, or with two rows or two columns that are the same."""
    found = torch.zeros(len(tables), dtype=torch.bool)
    for rows in (tables, tables.mT):
        same = (rows[:, :, None] == rows[:, None]).all(dim=-1).sum(dim=(1, 2)) > rows.shape[1]
        found |= same | ~rows.any(dim=-1).all(dim=-1)
    return found


def mostly_zeros(tables: Float[Tensor, "drawn rows columns"]) -> Bool[Tensor, " drawn"]:
    """True for a table with a row of which more than half is 0."""
    return ((tables == 0).float().mean(dim=-1) > MOST_ZEROS_OF_ROW).any(dim=-1)


def all_sum_alike(tables: Float[Tensor, "drawn rows columns"]) -> Bool[Tensor, " drawn"]:
    """True for a table whose rows all have the same sum, which would be little to compare with."""
    sums = tables.sum(dim=-1)
    return (sums == sums[:, :1]).all(dim=-1)


# The steps.


def subtract_largest(masked: Float[Array, "queries keys"]) -> Float[Array, "queries keys"]:
    """The scores of each query less the largest of them."""
    return masked - row_max(masked)


def raise_e(shifted: Float[Array, "queries keys"]) -> Float[Array, "queries keys"]:
    """e to the power of each."""
    return namespace(shifted).exp(shifted)


def share_out(exponentials: Float[Array, "queries keys"]) -> Float[Array, "queries keys"]:
    """Each number as a part of the sum of its row."""
    return exponentials / row_sum(exponentials)


def thread_tasks(choices: SheetChoices) -> tuple[PaperTask, ...]:
    """The steps from X to the output, as tasks of which each needs what those before it ask for."""
    trace = thread_example(choices)
    head = compute_head(one_head, trace, 0)
    return (
        given_numbers(trace, head),
        vectors_of_tokens(trace, head),
        PaperTask(
            topic=SCORES,
            asks=message("Take the dot product of every query with every key."),
            blanks=(Blanks(head_matrix(trace, head, "scores", message("scores = Q Kᵀ"))),),
        ),
        scores_left(trace, head),
        *softmax_and_output(trace, head.result, choices.decimals),
    )


def given_numbers(trace: ExampleTrace, head: Computation) -> PaperTask:
    """X and the weight matrices."""
    x = head_matrix(trace, head, "x", message("X"), given=True)
    weights = tuple(weight_matrix(trace, role, 0, head) for role in "qkv")
    asks = message("Each token has a row in X. All else follows from X and the weight matrices.")
    return PaperTask(topic=TOKENS, asks=asks, given=(x, *weights))


def vectors_of_tokens(trace: ExampleTrace, head: Computation) -> PaperTask:
    """Queries, keys and values."""
    titles = {"q": message("Q = X W_q"), "k": message("K = X W_k"), "v": message("V = X W_v")}
    vectors = tuple(Blanks(head_matrix(trace, head, key, title)) for key, title in titles.items())
    asks = message("Multiply every row of X by each weight matrix.")
    return PaperTask(topic=PROJECTIONS, asks=asks, blanks=vectors)


def scores_left(trace: ExampleTrace, head: Computation) -> PaperTask:
    """The scaled scores, of which the mask leaves some."""
    d_k, root = trace.example.d_k, Fixed(math.sqrt(trace.example.d_k), 0)
    scaled = head_matrix(trace, head, "scaled", message("scaled: ÷ {divisor}", divisor=divisor_of(trace)))
    asks = message(
        "Divide every score by √{d_k} = {root}. Then cross out what the mask hides: no token may look at a later one. "
        "Σ is the sum of what is left.",
        d_k=d_k,
        root=root,
    )
    blanks = Blanks(scaled, left=head.result.visible.tolist())
    return PaperTask(topic=MASK, asks=asks, blanks=(blanks,), begins_page=True)


def softmax_and_output(trace: ExampleTrace, head: AttentionTrace, decimals: int) -> tuple[PaperTask, ...]:
    """The weights, from powers of e in a table, and the output, from weights that are rounded."""
    of_keys = {"visible": head.visible, "columns": token_axis(trace.tokens, KEYS)}
    shifted = step_by_hand(
        trace, subtract_largest, {"masked": head.masked}, message("minus the largest"), "shifted", **of_keys
    )
    powers = step_by_hand(
        trace, raise_e, {"shifted": shifted.values}, message("eˣ, from the table"), "exponentials", **of_keys
    )
    looked_up = {"exponentials": rounded_cells(powers.values, decimals + 1)}
    weights = step_by_hand(trace, share_out, looked_up, message("weights A"), "weights", **of_keys)
    mixed = {"weights": rounded_cells(weights.values, decimals), "v": head.v.double()}
    output = step_by_hand(trace, mix_values, mixed, message("output = A V"), "output")
    return (
        PaperTask(
            topic=SOFTMAX,
            asks=message("In each row, subtract the largest remaining number from all the remaining ones."),
            blanks=(Blanks(shifted),),
            beside=True,
        ),
        divided_powers(table_of_powers(shifted), powers, weights, decimals),
        PaperTask(
            topic=OUTPUT,
            asks=message("Mix the values by the rounded weights of each query."),
            blanks=(Blanks(output),),
        ),
    )


def divided_powers(table: Matrix, powers: Matrix, weights: Matrix, decimals: int) -> PaperTask:
    """What is looked up, what it sums to, and the parts of that; all sums together are told, to compare with."""
    summed = Blanks(powers, sums="asked")
    total = sum(sum_on_paper(summed, row, decimals) for row in range(len(powers.rows.labels)))
    asks = message(
        "Look up eˣ for each number and add up the row to get Σ. Together the sums are {total}. Then "
        "divide each eˣ by the Σ of its row.",
        total=Fixed(round(total, decimals + 1), decimals + 1),
    )
    return PaperTask(topic=SOFTMAX, asks=asks, given=(table,), blanks=(summed, Blanks(weights, lines=2)))


def step_by_hand(
    trace: ExampleTrace,
    function: Callable[..., Array],
    inputs: dict[str, Array],
    title: Message,
    name: str,
    **look: Any,
) -> Matrix:
    """A table that a function makes of what stands on the sheet."""
    computation = Computation(function, inputs, head_names(trace, **THREAD_SENTENCES))
    axes = ("queries", "d_v" if name == "output" else "keys")
    return traced_matrix(computation, "", title, trace.tokens, name=name, axes=axes, **look)


def rounded_cells(values: Array, decimals: int) -> Float[Tensor, "rows columns"]:
    """Numbers as the sheet has them, with so many decimals."""
    rows = [[rounded_number(value, decimals) for value in row] for row in values.tolist()]
    return torch.tensor(rows, dtype=torch.float64)


def table_of_powers(shifted: Matrix) -> Matrix:
    """eˣ for 0 and every half below it, down to the lowest x of the sheet."""
    lowest = float(shifted.values[torch.as_tensor(shifted.visible)].min())
    xs = [-half / 2 for half in range(round(-2 * lowest) + 1)]
    written = tuple(message("{number}", number=Fixed(x, 0 if x == int(x) else 1)) for x in xs)
    powers = torch.tensor([xs]).double().exp()
    return Matrix(
        key="e_to_x",
        title=message("x above, eˣ below"),
        values=powers,
        rows=single_axis("eˣ"),
        columns=Axis(None, written),
    )


def how_to_check(choices: SheetChoices) -> tuple[Message, ...]:
    """What is exact on a sheet, what is rounded, and what the sums are for."""
    return (
        message("Every step needs the numbers of the one before."),
        message("Σ is the sum of a row: compare it with yours before you go on."),
        plural(
            "Take eˣ as given in the table. Round weights to {count} decimal, halves up, and use them rounded.",
            "Take eˣ as given in the table. Round weights to {count} decimals, halves up, and use them rounded.",
            choices.decimals,
        ),
    )
