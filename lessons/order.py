"""The lessons in the order in which a notebook goes through them: each as it first opens, on one example and head."""

from collections.abc import Iterator
from types import ModuleType

from attention_core.measured.parity import fits_pytorch
from attention_core.one_head.masks import causal_mask, full_mask
from lessons.code.pytorch import lesson as pytorch
from lessons.example.example import ExampleTrace, first_query
from lessons.learning.backward import lesson as backward
from lessons.model.heads import lesson as heads
from lessons.model.heads.example import HeadsChosen, run_heads
from lessons.model.positions import lesson as positions
from lessons.one_head.dot_product import lesson as dot_product
from lessons.one_head.mask import lesson as mask
from lessons.one_head.output import lesson as output
from lessons.one_head.projections import lesson as projections
from lessons.one_head.scores import lesson as scores
from lessons.one_head.softmax import lesson as softmax
from lessons.one_head.tokens import lesson as tokens
from lessons.today.cost import lesson as cost
from lessons.today.variants import lesson as variants


def lesson_path(trace: ExampleTrace) -> Iterator[tuple[ModuleType, object]]:
    """Each lesson, and the choices with which it begins; where one is about a single query, the one that asks first."""
    n = len(trace.tokens)
    query, several = first_query(trace), HeadsChosen()
    visible = causal_mask(n) if trace.example.causal else full_mask(n)
    yield tokens, tokens.Choices()
    yield dot_product, dot_product.Choices("all", query)
    yield projections, projections.Choices()
    yield scores, scores.Choices()
    yield mask, mask.Choices(causal_mask(n))
    yield softmax, softmax.Choices(query)
    yield output, output.Choices("all", query)
    yield heads, heads.Choices(several)
    yield positions, positions.Choices(tuple(reversed(range(n))))
    fits = fits_pytorch(run_heads(trace.example, several).module)
    yield pytorch, pytorch.Choices(several, visible, "module" if fits else "fused")
    yield backward, backward.Choices()
    yield variants, variants.Choices()
    yield cost, cost.Choices()
