"""What do today's models change?"""

from dataclasses import dataclass
from functools import partial
from typing import Any

from lessons.example.example import ExampleTrace, whose_weights
from lessons.example.real_model import MAX_TOKENS
from lessons.screen import Code, Limit, Matrices, Matrix, Message, Number, OneOf, Screen, message, numbers
from lessons.shared.matrices import KEYS, QUERIES, single_axis, token_axis, traced_matrix
from lessons.shared.questions import question_picker
from lessons.shared.shared_choices import SecondSentence
from lessons.today.variants.compute import OF_THE_CORE, VariedHead, vary
from lessons.today.variants.counts import costs_table, derive_number
from lessons.today.variants.figures import consequences
from lessons.today.variants.notices import notice_variant
from lessons.today.variants.questions import QUESTIONS

TOPIC = message("Attention today")
POINT = message(
    "Today's models change only a few parts of the attention of 2017: who is seen, how scores are made, what is shared."
)

VARIANT_FORMULAS = {
    "window": r"|i - j| \le {amount} \;\lor\; i = 1 \;\lor\; j = 1",
    "sink": r"w_{{ij}} = \frac{{e^{{s_{{ij}}}}}}{{e^{{{amount}}} + \sum_m e^{{s_{{im}}}}}}",
    "cap": r"s'_{{ij}} = {amount} \cdot \tanh(s_{{ij}} / {amount})",
    "alibi": r"s'_{{ij}} = s_{{ij}} - {slope} \cdot |i - j|",
    "rotary": r"s_{{ij}} = q_i R^{{\,j-i}} k_j^\top / \sqrt{{d_k}}",
    "grouped": r"K_g = X W_k^{{\,g}}, \quad V_g = X W_v^{{\,g}}, \quad g = 1 \ldots {groups}",
    "cross": r"Q = X_2 W_q, \quad K = X_1 W_k, \quad V = X_1 W_v",
}


VARIANT = OneOf(
    "variant",
    message("What is changed"),
    {
        "window": message("window"),
        "sink": message("sink"),
        "cap": message("soft cap"),
        "alibi": "ALiBi",
        "rotary": message("rotary positions"),
        "grouped": message("grouped queries"),
        "cross": message("cross-attention"),
    },
)
REACH = Number(
    "reach",
    message("Tokens that the window reaches"),
    Limit(1, MAX_TOKENS - 1),
    2,
    width=330,
    only=("variant", ("window",)),
)
SINKS = {-2.0: "−2", -1.0: "−1", 0.0: "0", 1.0: "1", 2.0: "2"}
SINK = OneOf("sink", message("Score of the sink"), SINKS, 0.0, labelled=True, only=("variant", ("sink",)))
CAPS = numbers((0.5, 1.0, 2.0, 8.0, 32.0))
CAP = OneOf("cap", message("Cap"), CAPS, 1.0, labelled=True, only=("variant", ("cap",)))
SECOND = SecondSentence(
    "second",
    message("A second sentence, which asks"),
    100,
    placeholder=message("if left empty, the second half of the first asks"),
    width=380,
    only=("variant", ("cross",)),
)


@dataclass(frozen=True)
class Choices:
    """What the learner chose on this page: a variant, and how far its window reaches, its sink's score, its cap, or a
    second sentence that asks the first.
    """

    variant: VARIANT.type = VARIANT.begin
    reach: REACH.type = REACH.begin
    sink: SINK.type = SINK.begin
    cap: CAP.type = CAP.begin
    second: SECOND.type = SECOND.begin

    @property
    def amount(self) -> float:
        """What the variant takes of these; 0 where it takes nothing."""
        return {"window": float(self.reach), "sink": self.sink, "cap": self.cap}.get(self.variant, 0.0)


def screen(trace: ExampleTrace, head: int, choices: Choices) -> Screen:
    """The weights without the variant and with it, what it costs, and what it leads to."""
    varied = vary(trace, head, choices.variant, choices.amount, choices.second)
    formula = VARIANT_FORMULAS[varied.kind].format(
        amount=f"{varied.amount:g}", slope=f"{varied.slope:g}", groups=varied.kv_heads
    )
    return Screen(
        formula=formula,
        figures=(variant_figure(varied), *consequences(varied), costs_table(varied)),
        code=code_of(varied),
        ask=question_picker("variants", QUESTIONS, trace.example.seed, varied),
        derive=partial(derive_number, varied),
    )


def code_of(varied: VariedHead) -> Code:
    """What was computed of the head."""
    shown = ("plain.weights", "changed.weights", *(("collected",) if varied.kind == "sink" else ()))
    functions = () if varied.impossible else OF_THE_CORE[varied.kind]
    return varied.computation.code(shown, *functions, attention=varied.plain)


def variant_figure(varied: VariedHead) -> Matrices:
    """The weights without the variant, beside those with it."""
    title = message("both as one text") if varied.cut else message("unchanged weights")
    band = [
        weights_matrix(varied, "plain", title, given=True, visible=varied.plain.visible),
        weights_matrix(varied, "changed", title_of(varied), **axes_of(varied)),
    ]
    if varied.kind == "sink":
        band.append(collected_matrix(varied))
    return Matrices(
        key="variants_figure",
        name=message("Weights without and with a variant"),
        bands=(tuple(band),),
        first="changed",
        notice=(varied.impossible,) if varied.impossible else notice_variant(varied),
        weights=whose_weights(varied.trace),
    )


def title_of(varied: VariedHead) -> Message:
    """What the matrix on the right is."""
    return {
        "window": message("in a window"),
        "sink": message("with a sink"),
        "cap": message("with a soft cap"),
        "alibi": message("with ALiBi"),
        "rotary": message("with rotary positions"),
        "grouped": message("keys shared by {count}", count=len(varied.group))
        if varied.shared_before
        else message("with shared keys"),
        "cross": message("with cross-attention"),
    }[varied.kind]


def weights_matrix(varied: VariedHead, which: str, title: Message, **look: Any) -> Matrix:
    """The weights of the head, "plain" or "changed"."""
    tokens = varied.trace.tokens
    return traced_matrix(varied.computation, f"{which}.weights", title, tokens, take=varied.own, key=which, **look)


def axes_of(varied: VariedHead) -> dict[str, Any]:
    """Whose the rows and columns of the changed weights are: in cross-attention, of two sentences."""
    if not varied.cut:
        return {"visible": varied.changed.visible}
    tokens, cut = varied.trace.tokens, varied.cut
    return {"rows": token_axis(tokens[cut:], QUERIES), "columns": token_axis(tokens[:cut], KEYS)}


def collected_matrix(varied: VariedHead) -> Matrix:
    """What the sink collects, row by row."""
    return traced_matrix(
        varied.computation,
        "collected",
        message("collected by the sink"),
        varied.trace.tokens,
        scale="weight",
        colour="weight",
        rows=token_axis(varied.trace.tokens, QUERIES),
        columns=single_axis(message("sink")),
    )
