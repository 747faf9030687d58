"""What do today's models change?"""

from dataclasses import dataclass
from functools import partial

from attention_core.attention import attend, cap_scores, softmax_with_sink
from attention_core.distances import alibi_biases, distances, with_global_tokens, within_window
from attention_core.embeddings import rotate
from attention_core.heads import share_heads
from lessons.example.example import ExampleTrace, whose_weights
from lessons.kit.matrices import BELOW_CONTROLS, KEYS, QUERIES, head_matrix, single_axis, token_axis
from lessons.kit.questions import question_picker
from lessons.screen.message import Message, message
from lessons.screen.program import Ran
from lessons.screen.screen import Code, Figure, Matrices, Matrix, Screen, Step
from lessons.variants.answers import derive_of_variant
from lessons.variants.changed_head import HEADS_OF_SLOPES, Variant, VariedHead, mean_of_groups, vary
from lessons.variants.costs import costs_table
from lessons.variants.figures import consequences
from lessons.variants.notices import notice_variant
from lessons.variants.questions import QUESTIONS

HEADING = message("What do today's models change?")
OPENING = message(
    "Today's models change only a few lines of the attention of 2017. Choose one change: on the left are the head's "
    "weights without it, on the right with it; below is what it costs or saves, and what it leads to, measured."
)

VARIANT_CODE = {
    "window": (within_window, with_global_tokens),
    "sink": (softmax_with_sink,),
    "cap": (cap_scores,),
    "alibi": (alibi_biases,),
    "rotary": (rotate,),
    "grouped": (mean_of_groups, share_heads),
    "cross": (attend,),
}
VARIANT_FORMULAS = {
    "window": r"|i - j| \le {amount} \;\lor\; i = 1 \;\lor\; j = 1",
    "sink": r"w_{{ij}} = \frac{{e^{{s_{{ij}}}}}}{{e^{{{amount}}} + \sum_m e^{{s_{{im}}}}}}",
    "cap": r"s'_{{ij}} = {amount} \cdot \tanh(s_{{ij}} / {amount})",
    "alibi": r"s'_{{ij}} = s_{{ij}} - {slope} \cdot |i - j|",
    "rotary": r"s_{{ij}} = q_i R^{{\,j-i}} k_j^\top / \sqrt{{d_k}}",
    "grouped": r"K_g = X W_k^{{\,g}}, \quad V_g = X W_v^{{\,g}}, \quad g = 1 \ldots {groups}",
    "cross": r"Q = X_2 W_q, \quad K = X_1 W_k, \quad V = X_1 W_v",
}


@dataclass(frozen=True)
class Choices:
    """What the learner chose on this page: a variant, and how far its window reaches, its sink's score, its cap, or a
    second sentence that asks the first.
    """

    variant: Variant = "window"
    reach: int = 2
    sink: float = 0.0
    cap: float = 1.0
    second: str = ""

    @property
    def amount(self) -> float:
        """What the variant takes of these; 0 where it takes nothing."""
        return {"window": float(self.reach), "sink": self.sink, "cap": self.cap}.get(self.variant, 0.0)


def screen(example: ExampleTrace, head: int, choices: Choices) -> Screen:
    """The weights without the variant and with it, what it costs, and what it leads to."""
    varied = vary(example, head, choices.variant, choices.amount, choices.second)
    formula = VARIANT_FORMULAS[varied.kind].format(
        amount=f"{varied.amount:g}", slope=f"{varied.slope:g}", groups=varied.kv_heads
    )
    return Screen(
        formula=formula,
        figures=(variant_figure(varied), *consequences(varied), costs_table(varied)),
        code=Code(VARIANT_CODE[varied.kind], varied.plain, example.scale, partial(ran_variant, varied)),
        ask=question_picker("variants", QUESTIONS, example.example.seed, varied),
        derive=partial(derive_of_variant, varied),
    )


def variant_figure(varied: VariedHead) -> Figure:
    """The weights without the variant, beside those with it."""
    plain = head_matrix(
        varied.to_plain,
        "weights",
        message("both as one text") if varied.cut else message("weights as they are"),
        varied.plain.weights,
        key="plain",
        given=True,
    )
    changed = (
        cross_matrix(varied)
        if varied.cut
        else head_matrix(varied.to_changed, "weights", title_of(varied), varied.changed.weights, key="changed")
    )
    band = (plain, changed, collected_matrix(varied)) if varied.kind == "sink" else (plain, changed)
    return Matrices(
        key="variants_figure",
        name=message("Weights without and with a variant"),
        bands=(band,),
        first="changed",
        notice=(varied.impossible,) if varied.impossible else notice_variant(varied),
        weights=whose_weights(varied.example),
        height=BELOW_CONTROLS,
    )


def title_of(varied: VariedHead) -> Message:
    """What the matrix on the right is."""
    return {
        "window": message("in a window"),
        "sink": message("with a sink"),
        "cap": message("with a soft cap"),
        "alibi": message("with ALiBi"),
        "rotary": message("with rotary positions"),
        "grouped": message("with shared keys"),
        "cross": message("with cross-attention"),
    }[varied.kind]


def cross_matrix(varied: VariedHead) -> Matrix:
    """Rows are the second sentence's tokens, columns the first's."""
    cut, derivation, tokens = varied.cut, varied.to_changed, varied.example.tokens

    def step(i: int, j: int) -> Step:
        return derivation.step("weights", cut + i, j)

    return Matrix(
        key="changed",
        title=title_of(varied),
        values=varied.changed.weights[cut:, :cut],
        step=step,
        rows=token_axis(tokens[cut:], QUERIES),
        columns=token_axis(tokens[:cut], KEYS),
        scale="weight",
        colour="weight",
        before=lambda i, j: derivation.before("weights", cut + i, j),
    )


def collected_matrix(varied: VariedHead) -> Matrix:
    """What the sink collects, row by row."""
    derivation = varied.to_changed
    return Matrix(
        key="collected",
        title=message("the sink collects"),
        values=varied.collected[:, None],
        scale="weight",
        colour="weight",
        rows=token_axis(varied.example.tokens, QUERIES),
        columns=single_axis(message("sink")),
        step=lambda i, j: derivation.collected(i),
        before=lambda i, j: derivation.before_collected(i),
    )


def ran_variant(varied: VariedHead) -> Ran:
    """The call that made the weights on the right."""
    q, k, v, visible = varied.bare.q, varied.bare.k, varied.bare.v, varied.plain.visible
    values = {"q": q, "k": k, "v": v, "may_attend": visible, "scale": varied.example.scale}
    shows, uses = {"trace.weights": varied.changed.weights}, (attend,)
    if varied.impossible is not None:
        return Ran(values, ("trace = attend(q, k, v, may_attend, scale=scale)",), shows, uses)
    match varied.kind:
        case "window":
            lines = (
                "apart = distances(len(q), len(k))",
                "near = with_global_tokens(within_window(apart, reach, reach), torch.arange(len(q)) == 0)",
                "trace = attend(q, k, v, near & may_attend, scale=scale)",
            )
            return Ran(values | {"reach": int(varied.amount)}, lines, shows, (attend, distances))
        case "sink" | "cap":
            name = {"sink": "sink", "cap": "soft_cap"}[varied.kind]
            line = f"trace = attend(q, k, v, may_attend, scale=scale, {name}={name})"
            return Ran(values | {name: varied.amount}, (line,), shows, uses)
        case "alibi":
            lines = (
                f"biases = alibi_biases(distances(len(q), len(k)), {HEADS_OF_SLOPES})[head]",
                "biases = torch.where(may_attend, biases, -torch.inf)",
                "trace = attend(q, k, v, biases, scale=scale)",
            )
            return Ran(values | {"head": varied.head % HEADS_OF_SLOPES}, lines, shows, (attend, distances))
        case "rotary":
            return Ran(values, ("trace = attend(rotate(q), rotate(k), v, may_attend, scale=scale)",), shows, uses)
        case "grouped":
            return ran_groups(varied)
        case "cross":
            line = "trace = attend(q[cut:], k[:cut], v[:cut], scale=scale)"
            cut = varied.cut
            shows = {"trace.weights": varied.changed.weights[cut:, :cut]}
            return Ran({name: values[name] for name in ("q", "k", "v", "scale")} | {"cut": cut}, (line,), shows, uses)


def ran_groups(varied: VariedHead) -> Ran:
    """The same for heads that share: all of them are needed."""
    heads = varied.example.heads
    values = {
        "q": heads.q,
        "k": heads.k,
        "v": heads.v,
        "may_attend": heads.visible[varied.head],
        "scale": varied.example.scale,
        "size": len(varied.group),
        "head": varied.head,
    }
    lines = (
        "shared_k, shared_v = (share_heads(mean_of_groups(x, size), len(q)) for x in (k, v))",
        "trace = attend(q, shared_k, shared_v, may_attend, scale=scale)",
    )
    return Ran(values, lines, {"trace.weights[head]": varied.changed.weights}, (attend,))
