"""What does it cost?"""

from dataclasses import dataclass, replace

from attention_core.measured.costs import LayerSizes, count_layer, multiplications, numbers_moved, squared_from
from attention_core.one_head.online_softmax import attend_in_blocks, take_block
from lessons.example.example import ExampleTrace
from lessons.example.real_model import MAX_TOKENS
from lessons.screen import Limit, Number, OneOf, Screen, message, numbers
from lessons.shared.questions import question_picker
from lessons.shared.shared_choices import QUERY
from lessons.today.cost.counted_view import counted_figures, sizes_of_example
from lessons.today.cost.online_softmax_view import OnlineRow, online_figures
from lessons.today.cost.published_models import PUBLISHED
from lessons.today.cost.questions import BLOCK_QUESTIONS, QUESTIONS
from lessons.today.cost.sliding_window import sliding_figures
from lessons.today.cost.whole_model_view import whole_model_figures
from lessons.trace.computation import Computation

TOPIC = message("The cost of attention")
POINT = message(
    "Every query meets every key: twice as many tokens make four times as many scores, but only twice as many queries."
)

EXAMPLE_SIZES = "example"
COUNTED = ("multiplications", "moved", "parameters", "cache", "squared_from")


VIEW = OneOf(
    "cost_view",
    message("What does it cost?"),
    {"counted": message("counted"), "blocks": message("block by block")},
)
SIZES_OF = {EXAMPLE_SIZES: message("this example")} | {key: model.name for key, model in PUBLISHED.items()}
MODEL = OneOf("cost_of", message("A layer of"), SIZES_OF, look="list", width=220, only=("view", ("counted",)))
TOKENS_READ = OneOf(
    "cost_tokens",
    message("Tokens"),
    numbers(2**power for power in range(4, 18)),
    1024,
    look="slider",
    width=200,
    only=("model", PUBLISHED),
)
BLOCK = Number("block", message("Keys in a block"), Limit(1, MAX_TOKENS), 2, width=200, only=("view", ("blocks",)))
QUERY_OF_BLOCKS = replace(QUERY, only=("view", ("blocks",)))


@dataclass(frozen=True)
class Choices:
    """What the learner chose on this page: what is shown, and whose sizes are counted, with how many tokens.

    The running example has tokens of its own; a published model, named as in `PUBLISHED`, reads `tokens`. The softmax
    block by block is that of one query, counted from 0, with so many keys in a `block`.
    """

    view: VIEW.type = VIEW.begin
    model: MODEL.type = MODEL.begin
    tokens: TOKENS_READ.type = TOKENS_READ.begin
    block: BLOCK.type = BLOCK.begin
    query: QUERY_OF_BLOCKS.type = -1


def screen(trace: ExampleTrace, head: int, choices: Choices) -> Screen:
    """What attention costs, or how it is computed without ever holding a whole row of scores."""
    return (blocks_screen if choices.view == "blocks" else counted_screen)(trace, head, choices)


def blocks_screen(trace: ExampleTrace, head: int, choices: Choices) -> Screen:
    """One query's softmax, block by block."""
    row = OnlineRow(trace, head, choices.query % len(trace.tokens), choices.block)
    return Screen(
        formula=BLOCK_FORMULA,
        figures=online_figures(row),
        code=row.computation.code(("largest", "total", "output"), attend_in_blocks, take_block),
        ask=question_picker("cost", BLOCK_QUESTIONS, trace.example.seed, row),
    )


BLOCK_FORMULA = (
    r"m' = \max(m,\ \max_j s_j) \qquad \ell' = \ell\,e^{m - m'} + \textstyle\sum_j e^{s_j - m'}"
    r" \qquad o' = o\,e^{m - m'} + \textstyle\sum_j e^{s_j - m'} \textcolor{v}{v_j}"
)


def counted_screen(trace: ExampleTrace, head: int, choices: Choices) -> Screen:
    """The cost of one layer, counted."""
    model = PUBLISHED.get(choices.model)
    sizes = sizes_of_example(trace) if model is None else model.sizes(choices.tokens)
    parts, facts, *others = counted_figures(sizes, model)
    return Screen(
        formula=cost_formula(sizes),
        figures=(
            *(parts, facts),
            *whole_model_figures(trace, sizes, model),
            *others,
            *sliding_figures(trace, model),
        ),
        code=Computation(count_layer, {"sizes": sizes}).code(COUNTED, multiplications, numbers_moved, squared_from),
        ask=question_picker("cost", QUESTIONS, trace.example.seed, sizes),
    )


def cost_formula(s: LayerSizes) -> str:
    """LaTeX: what grows with n and what with its square, with the widths filled in; d stands for any of them."""
    maps = rf"{s.d_model}\,({s.n_heads}\cdot{s.d_k} + {s.n_kv_heads}\cdot{s.d_k + s.d_v} + {s.n_heads}\cdot{s.d_v})"
    pairs = rf"{s.n_heads}\,({s.d_k} + 2 + {s.d_v})"
    return (
        rf"\text{{multiplications}} = n \cdot \underbrace{{{maps}}}_{{Q,\,K,\,V,\,W_o:\ O(n \cdot d^2)}}"
        rf" \;+\; n^2 \cdot \underbrace{{{pairs}}}_{{\text{{scores, softmax, mixture}}:\ O(n^2 \cdot d)}}"
    )
