"""A comparison with PyTorch: the same weights in PyTorch's own functions, and every difference measured.

nn.MultiheadAttention             projects, splits, attends, merges; a boolean mask blocks where it is True
F.scaled_dot_product_attention    one attention for given q, k, v; a boolean mask keeps where it is True
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from attention_core.base.randomness import generator
from attention_core.one_head.attention import attend
from attention_core.one_head.heads import (
    MultiHeadAttention,
    MultiHeadTrace,
    linear,
    merge_heads,
    sets_of_keys,
    share_heads,
)
from attention_core.one_head.masks import causal_mask, full_mask

MOST_TOKENS, MOST_HEADS, MOST_D_HEAD = 12, 4, 8  # of a random case
GROUPS_SINCE = "2.5"  # the version of PyTorch whose function first took the keys and values of fewer heads


def copy_to_pytorch(ours: MultiHeadAttention, batch_first: bool = True) -> nn.MultiheadAttention:
    """Copy our weights into PyTorch's own module, which stores maps transposed, with W_q, W_k and W_v in one tensor."""
    d_model, bias = ours.W_o.shape[0], ours.b_o is not None
    # Built the usual way it would draw weights from the global random state, which all visitors of a server
    # share. On the device "meta" it draws none; `assign` then puts our tensors in place of the missing ones.
    theirs = nn.MultiheadAttention(d_model, ours.n_heads, bias=bias, batch_first=batch_first, device="meta")
    state = {"in_proj_weight": torch.cat([ours.W_q.T, ours.W_k.T, ours.W_v.T]), "out_proj.weight": ours.W_o.T}
    if bias:
        inner = (torch.zeros(d_model) if b is None else b for b in (ours.b_q, ours.b_k, ours.b_v))
        state |= {"in_proj_bias": torch.cat([*inner]), "out_proj.bias": ours.b_o}
    theirs.load_state_dict(state, assign=True)
    return theirs.eval()


def fits_pytorch(ours: MultiHeadAttention) -> bool:
    """Return whether PyTorch's own module can hold these heads: nothing is rotated, all maps are d_model × d_model."""
    return not ours.rotary and ours.W_q.shape == ours.W_v.shape == ours.W_o.shape


@dataclass(frozen=True, eq=False)
class Parity:
    """A comparison of our module with PyTorch's two functions, on the same tokens, weights and mask.

    `theirs` and its results are None where PyTorch's module cannot hold these heads. `positions` are added to the input
    of queries and keys, not to that of values.
    """

    x: Float[Tensor, "tokens d_model"]
    may_attend: Bool[Tensor, "tokens tokens"]
    ours: MultiHeadAttention
    trace: MultiHeadTrace
    fused: Float[Tensor, "heads tokens d_head"]  # what F.scaled_dot_product_attention makes of what it is given
    theirs: nn.MultiheadAttention | None = None
    module: Float[Tensor, "tokens d_model"] | None = None  # the output of nn.MultiheadAttention
    per_head: Float[Tensor, "heads tokens tokens"] | None = None  # its weights
    averaged: Float[Tensor, "tokens tokens"] | None = None  # the weights it returns by default
    positions: Float[Tensor, "tokens d_model"] | None = None

    @property
    def handed_over(self) -> tuple[Tensor, Tensor, Tensor]:
        """The queries, keys and values that PyTorch's function is given: see the function `handed_over`."""
        return handed_over(self.ours, self.trace)

    @property
    def module_difference(self) -> float:
        """The largest difference of any number of the output between PyTorch's module and ours."""
        return largest_absolute(self.module - self.trace.output)

    @property
    def fused_difference(self) -> float:
        """The largest difference of any number of the heads' outputs between PyTorch's function and ours."""
        return largest_absolute(self.fused - self.trace.heads.output)

    @property
    def weights_difference(self) -> float:
        """The largest difference of any weight of any head between PyTorch's module and ours."""
        return largest_absolute(self.per_head - self.trace.heads.weights)


def largest_absolute(difference: Tensor) -> float:
    """Return the largest absolute value."""
    return float(difference.abs().max())


def heads_by_function(
    q: Float[Tensor, "heads queries d_k"],
    k: Float[Tensor, "kv_heads keys d_k"],
    v: Float[Tensor, "kv_heads keys d_v"],
    may_attend: Bool[Tensor, "queries keys"],
) -> Float[Tensor, "heads queries d_v"]:
    """Compute the outputs of all heads by PyTorch's function. Its boolean mask keeps where it is True.

    Given the keys and values of fewer heads, the function lets neighbouring heads share them.
    """
    if len(k) < len(q):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=may_attend, enable_gqa=True)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=may_attend)


def takes_groups() -> bool:
    """Return whether the function of this PyTorch accepts the keys and values of fewer heads."""
    return torch.__version__ >= GROUPS_SINCE


def heads_with_keys(ours: MultiHeadAttention) -> int:
    """Count the heads that have separate keys and values; the others share those of a neighbour."""
    W_k, W_v = (W if b is None else torch.cat([W, b[None]]) for W, b in ((ours.W_k, ours.b_k), (ours.W_v, ours.b_v)))
    return sets_of_keys(W_k, W_v, ours.n_heads)


def handed_over(ours: MultiHeadAttention, trace: MultiHeadTrace) -> tuple[Tensor, Tensor, Tensor]:
    """Return what PyTorch's function is given: shared keys and values only once, where the function accepts that."""
    apart = ours.n_heads // heads_with_keys(ours) if takes_groups() else 1
    return trace.heads.q, trace.heads.k[::apart], trace.heads.v[::apart]


@torch.no_grad()
def compare_with_pytorch(
    x: Float[Tensor, "tokens d_model"],
    may_attend: Bool[Tensor, "tokens tokens"],
    ours: MultiHeadAttention,
    positions: Float[Tensor, "tokens d_model"] | None = None,
) -> Parity:
    """Compute the same attention by our module and by both of PyTorch's functions.

    The mask, True where a query may attend, is inverted for nn.MultiheadAttention. Each divides by √d_k, as
    nn.MultiheadAttention cannot do otherwise.
    """
    _, trace = ours(x, may_attend, positions=positions)
    fused = heads_by_function(*handed_over(ours, trace), may_attend)
    parity = Parity(x, may_attend, ours, trace, fused, positions=positions)
    if not fits_pytorch(ours):
        return parity
    theirs, asking = copy_to_pytorch(ours), x if positions is None else x + positions
    module, averaged = theirs(asking, asking, x, attn_mask=~may_attend)
    _, per_head = theirs(asking, asking, x, attn_mask=~may_attend, average_attn_weights=False)
    return replace(parity, theirs=theirs, module=module, per_head=per_head, averaged=averaged)


@dataclass(frozen=True, eq=False)
class BesideFunction:
    """The outputs of heads by our steps and by PyTorch's function, W_o applied to them, and the heads' mean weights."""

    ours: Float[Tensor, "tokens all_d_v"]
    theirs: Float[Tensor, "tokens all_d_v"]
    output: Float[Tensor, "tokens features"]
    averaged: Float[Tensor, "tokens tokens"]


def heads_beside_function(
    q: Float[Tensor, "heads tokens d_k"],
    k: Float[Tensor, "kv_heads tokens d_k"],
    v: Float[Tensor, "kv_heads tokens d_v"],
    may_attend: Bool[Tensor, "tokens tokens"],
    W_o: Float[Tensor, "all_d_v features"],
    b_o: Float[Tensor, " features"] | None = None,
) -> BesideFunction:
    """Compute all heads, given their queries, keys and values, by our steps and by PyTorch's function."""
    heads = attend(q, share_heads(k, len(q)), share_heads(v, len(q)), may_attend)
    ours, theirs = merge_heads(heads.output), merge_heads(heads_by_function(q, k, v, may_attend))
    return BesideFunction(ours, theirs, linear(theirs, W_o, b_o), heads.weights.mean(dim=0))


@torch.no_grad()
def shapes_of_batch(parity: Parity) -> tuple[torch.Size, torch.Size, torch.Size]:
    """Return the shapes of a batch of one sentence, of its output and of its weights, with PyTorch's usual axes."""
    batch = parity.x.unsqueeze(1)
    output, weights = copy_to_pytorch(parity.ours, batch_first=False)(batch, batch, batch)
    return batch.shape, output.shape, weights.shape


@dataclass(frozen=True, eq=False)
class TwoMeanings:
    """The weights that follow when the same boolean mask is given to both functions."""

    mask: Bool[Tensor, "tokens tokens"]
    blocked: Float[Tensor, "heads tokens tokens"]  # nn.MultiheadAttention blocks where True
    kept: Float[Tensor, "heads tokens tokens"]  # F.scaled_dot_product_attention keeps where True
    without_weights: Float[Tensor, "tokens d_model"]  # the module's output with need_weights=False


@torch.no_grad()
def one_mask_for_both(
    x: Float[Tensor, "tokens d_model"],
    mask: Bool[Tensor, "tokens tokens"],
    ours: MultiHeadAttention,
    positions: Float[Tensor, "tokens d_model"] | None = None,
) -> TwoMeanings:
    """Give the mask to both functions as it is. With the identity matrix as values, the output equals the weights."""
    theirs, asking = copy_to_pytorch(ours), x if positions is None else x + positions
    _, blocked = theirs(asking, asking, x, attn_mask=mask, average_attn_weights=False)
    without_weights, _ = theirs(asking, asking, x, attn_mask=mask, need_weights=False)
    q, k, _ = ours.project(asking, asking, x)
    kept = heads_by_function(q, k, torch.eye(len(x)).expand(len(q), -1, -1), mask)
    return TwoMeanings(mask, blocked, kept, without_weights)


@dataclass(frozen=True)
class RandomCase:
    """One random case: its sizes, its mask, and the largest difference of any output."""

    tokens: int
    heads: int
    d_head: int
    mask: str
    bias: bool
    difference: float


def random_cases(seed: int, n_cases: int) -> Iterator[RandomCase]:
    """Yield comparisons over random sizes, masks, weights and tokens; the same seed gives the same cases."""
    random = generator(seed, "parity")
    for _ in range(n_cases):
        yield random_case(random)


def random_case(random: torch.Generator) -> RandomCase:
    """Draw sizes, mask, tokens and weights, and compare both functions with ours."""
    tokens, heads, d_head = (draw(most, random) for most in (MOST_TOKENS, MOST_HEADS, MOST_D_HEAD))
    kind, bias = ("none", "causal", "random")[draw(3, random) - 1], draw(2, random) == 1
    scattered = torch.rand(tokens, tokens, generator=random) < 0.5
    masks = {"none": full_mask(tokens), "causal": causal_mask(tokens)}
    mask = masks.get(kind, scattered | torch.eye(tokens, dtype=torch.bool))
    x = torch.randn(tokens, heads * d_head, generator=random)
    ours = MultiHeadAttention.draw(heads * d_head, heads, bias=bias, generator=random)
    parity = compare_with_pytorch(x, mask, ours)
    return RandomCase(tokens, heads, d_head, kind, bias, max(parity.module_difference, parity.fused_difference))


def draw(most: int, random: torch.Generator) -> int:
    """Draw a whole number from 1 to `most`."""
    return int(torch.randint(1, most + 1, (), generator=random))


def heads_by_hand(
    x: Float[Tensor, "tokens d_model"],
    projections: tuple[Float[Tensor, "d_model d_model"], ...],
    biases: tuple[Float[Tensor, " d_model"], ...],
    n_heads: int,
    may_attend: Bool[Tensor, "tokens tokens"],
) -> Float[Tensor, "tokens d_model"]:
    """Compute multi-head attention with tensors alone. `projections` are W_q, W_k, W_v and W_o, used as x @ W."""
    q, k, v = (x @ W + b for W, b in zip(projections[:3], biases[:3], strict=True))
    d_head = x.shape[-1] // n_heads
    outputs = []
    for head in range(n_heads):
        own = slice(head * d_head, (head + 1) * d_head)
        scores = q[:, own] @ k[:, own].T / math.sqrt(d_head)
        scores = torch.where(may_attend, scores, -math.inf)
        powers = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
        weights = powers / powers.sum(dim=-1, keepdim=True)
        outputs.append(weights @ v[:, own])
    return torch.cat(outputs, dim=-1) @ projections[3] + biases[3]


def heads_as_module(
    module: MultiHeadAttention, x: Float[Tensor, "tokens d_model"], may_attend: Bool[Tensor, "tokens tokens"]
) -> Float[Tensor, "tokens d_model"]:
    """Compute multi-head attention by our own module, made of named steps."""
    output, _ = module(x, may_attend)
    return output


def heads_built_in(
    module: nn.MultiheadAttention, x: Float[Tensor, "tokens d_model"], may_attend: Bool[Tensor, "tokens tokens"]
) -> Float[Tensor, "tokens d_model"]:
    """Compute multi-head attention by PyTorch's own module. Its boolean mask blocks where it is True."""
    output, _ = module(x, x, x, attn_mask=~may_attend, need_weights=False)
    return output
