"""Exercises on many heads: split, merge, all of multi-head attention, and a batch."""

import math
from functools import partial

import torch
from torch import Tensor

from attention_core.attention import attend
from attention_core.heads import MultiHeadAttention, merge_heads, split_heads
from attention_core.masks import causal_mask
from lessons.exercises.base import Case, Exercise, Mistake, Outputs, Shown, numbers_within
from lessons.exercises.one_head import NOT_SCALED
from lessons.screen.message import message

MAPS = ("W_q", "W_k", "W_v", "W_o")


# Split the features among the heads


def split_cases(g: torch.Generator) -> tuple[Case, ...]:
    """Tokens, d_model and heads, all different."""
    return tuple(Case(arguments=(numbers_within(g, t, d), h)) for t, d, h in ((4, 6, 2), (3, 8, 4), (5, 6, 3)))


SPLIT = Exercise(
    key="split",
    title=message("Split into heads"),
    lesson="heads",
    asks=message(
        "Give each head its own neighbouring features of every token: from shape [tokens, d_model] to "
        "[n_heads, tokens, d_head]. Head 1 gets the first d_head features, head 2 the next ones, and so on."
    ),
    entry="split_heads",
    takes=(Shown("x", "tokens", "features"), "n_heads"),
    returns=(Shown("heads", "tokens", "features"),),
    starter="""def split_heads(x, n_heads):
    # x: shape [tokens, d_model]
    n_tokens, d_model = x.shape
    heads = None  # Your code
    return heads
""",
    solution="""def split_heads(x, n_heads):
    n_tokens, d_model = x.shape
    d_head = d_model // n_heads
    return x.view(n_tokens, n_heads, d_head).permute(1, 0, 2)
""",
    draw=split_cases,
    answer=split_heads,
    mistakes=(
        Mistake(
            message(
                "view(n_heads, tokens, d_head) mixes tokens, as it keeps the numbers in their order. Use "
                "view(tokens, n_heads, d_head), then permute."
            ),
            lambda x, h: x.reshape(h, len(x), -1),
        ),
        Mistake(
            message(
                "The heads come first: bring [tokens, n_heads, d_head] to [n_heads, tokens, d_head] with "
                "permute(1, 0, 2)."
            ),
            lambda x, h: x.reshape(len(x), h, -1),
        ),
        Mistake(
            message(
                "Each head gets every n-th feature here. It should get neighbouring ones: view(tokens, "
                "n_heads, d_head)."
            ),
            lambda x, h: x.reshape(len(x), -1, h).permute(2, 0, 1),
        ),
    ),
)

# Merge them again


def merge_cases(g: torch.Generator) -> tuple[Case, ...]:
    """Heads, tokens and d_head, all different."""
    return tuple(Case(arguments=(numbers_within(g, *sizes),)) for sizes in ((2, 4, 3), (4, 3, 2), (3, 2, 5)))


MERGE = Exercise(
    key="merge",
    title=message("Merge the heads"),
    lesson="heads",
    asks=message(
        "Put the outputs of all heads side by side again: from [n_heads, tokens, d_head] to [tokens, d_model]. "
        "The features of head 1 come first in the row of each token."
    ),
    entry="merge_heads",
    takes=(Shown("heads", "tokens", "features"),),
    returns=(Shown("merged", "tokens", "features"),),
    starter="""def merge_heads(heads):
    # heads: shape [n_heads, tokens, d_head]
    n_heads, n_tokens, d_head = heads.shape
    merged = None  # Your code
    return merged
""",
    solution="""def merge_heads(heads):
    n_heads, n_tokens, d_head = heads.shape
    return heads.permute(1, 0, 2).reshape(n_tokens, n_heads * d_head)
""",
    draw=merge_cases,
    answer=merge_heads,
    mistakes=(
        Mistake(
            message(
                "reshape alone keeps the numbers in their order and mixes tokens. Bring the tokens to the "
                "front first: permute(1, 0, 2)."
            ),
            lambda x: x.reshape(x.shape[1], -1),
        ),
        Mistake(
            message("The heads are added up here. Put them side by side, each with its own features."),
            lambda x: x.sum(0),
        ),
        Mistake(
            message("This is the mean of the heads. Put them side by side, each with its own features."),
            lambda x: x.mean(0),
        ),
        Mistake(
            message("The features of the heads are interleaved. All features of head 1 come first: permute(1, 0, 2)."),
            lambda x: x.permute(1, 2, 0).reshape(x.shape[1], -1),
        ),
    ),
)

# Multi-head attention, the second exercise of the first notebook


def module_cases(g: torch.Generator) -> tuple[Case, ...]:
    """Without the mask, and twice with it."""
    return tuple(
        Case(
            arguments=(numbers_within(g, t, d, most=1),),
            options={"causal": causal},
            sizes=(d, h),
            weights={name: numbers_within(g, d, d) for name in MAPS},
        )
        for t, d, h, causal in ((5, 6, 2, False), (4, 8, 4, True), (4, 6, 3, True))
    )


def module_of(x: Tensor, causal: bool, n_heads: int, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor) -> Outputs:
    """Output and weights, as the app computes them; a layer of PyTorch holds its weights the other way round."""
    heads = MultiHeadAttention(W_q=W_q.T, W_k=W_k.T, W_v=W_v.T, W_o=W_o.T, n_heads=n_heads)
    output, trace = heads(x, causal_mask(len(x)) if causal else None)
    return output, trace.heads.weights


def other_module(
    x: Tensor,
    causal: bool,
    n_heads: int,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    W_o: Tensor,
    *,
    by: str = "√d_head",
    mask: str = "before",
    diagonal: int = 1,
    dim: int = -1,
    mixes: bool = False,
    merges: bool = True,
    projects: bool = True,
) -> Outputs:
    """Multi-head attention in which something else was done."""
    n, d_model = x.shape
    flat = (x @ weight.T for weight in (W_q, W_k, W_v))
    q, k, v = (y.reshape(n_heads, n, -1) if mixes else y.view(n, n_heads, -1).permute(1, 0, 2) for y in flat)
    divisor = {"√d_head": math.sqrt(d_model // n_heads), "√d_model": math.sqrt(d_model), "nothing": 1.0}[by]
    scores = q @ k.mT / divisor
    hidden = torch.ones(n, n).triu(diagonal).bool() if causal and mask != "none" else torch.zeros(n, n).bool()
    hidden = hidden.T if mask == "past" else hidden
    weights = (scores if mask == "after" else scores.masked_fill(hidden, -math.inf)).softmax(dim)
    weights = weights.masked_fill(hidden, 0.0) if mask == "after" else weights
    found = weights @ v
    joined = (found.permute(1, 0, 2) if merges else found).reshape(n, d_model)
    return (joined @ W_o.T if projects else joined), weights


MODULE = Exercise(
    key="multi_head",
    title=message("Multi-head attention"),
    lesson="heads",
    asks=message(
        "A module of PyTorch: four layers of weights, several heads, a causal mask if asked for. Return the output and "
        "the weights of all heads, shape [n_heads, queries, keys]."
    ),
    entry="MultiHeadAttention",
    takes=(Shown("x", "tokens", "features"),),
    returns=(Shown("output", "queries", "features", "v"), Shown("attn_weights", "queries", "keys", "weight", "weight")),
    starter="""class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        assert d_model % n_heads == 0, "d_model must be divisible by n_heads"
        self.d_model = d_model
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_q = None  # Your code: nn.Linear(d_model, d_model, bias=False)
        self.W_k = None  # Your code
        self.W_v = None  # Your code
        self.W_o = None  # Your code

    def forward(self, x, causal=False):
        seq_len = x.shape[0]
        # 1. Project to Q, K, V
        # 2. Reshape to [n_heads, seq_len, d_head]
        # 3. Scaled attention scores
        # 4. Causal mask, if asked for
        # 5. Softmax
        attn_weights = None  # Your code
        # 6. Apply attention to values
        # 7. Concatenate the heads and project
        output = None  # Your code
        return output, attn_weights
""",
    solution="""class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        assert d_model % n_heads == 0, "d_model must be divisible by n_heads"
        self.d_model = d_model
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, causal=False):
        seq_len = x.shape[0]
        Q = self.W_q(x).view(seq_len, self.n_heads, self.d_head).permute(1, 0, 2)
        K = self.W_k(x).view(seq_len, self.n_heads, self.d_head).permute(1, 0, 2)
        V = self.W_v(x).view(seq_len, self.n_heads, self.d_head).permute(1, 0, 2)
        attn_scores = torch.bmm(Q, K.transpose(1, 2)) / math.sqrt(self.d_head)
        if causal:
            mask = torch.triu(torch.ones(seq_len, seq_len), diagonal=1).bool()
            attn_scores = attn_scores.masked_fill(mask.unsqueeze(0), float("-inf"))
        attn_weights = torch.softmax(attn_scores, dim=-1)
        context = torch.bmm(attn_weights, V)
        merged = context.permute(1, 0, 2).reshape(seq_len, self.d_model)
        return self.W_o(merged), attn_weights
""",
    draw=module_cases,
    answer=module_of,
    mistakes=(
        Mistake(message("The scores are not divided by √d_head."), partial(other_module, by="nothing")),
        Mistake(
            message("You divided by √d_model. The keys of a head have d_head features only: √d_head."),
            partial(other_module, by="√d_model"),
        ),
        Mistake(
            message("causal=True changes nothing yet: mask the scores before the softmax."),
            partial(other_module, mask="none"),
        ),
        Mistake(
            message(
                "Weights were set to 0 after the softmax, so that rows no longer sum to 1. Give hidden scores "
                "−∞ before it."
            ),
            partial(other_module, mask="after"),
        ),
        Mistake(
            message("A token may look at itself: the mask begins at diagonal=1."), partial(other_module, diagonal=0)
        ),
        Mistake(message("The mask hides the past. Hide the future."), partial(other_module, mask="past")),
        Mistake(message("The softmax must run over the keys: dim=-1."), partial(other_module, dim=1)),
        Mistake(
            message("view(n_heads, tokens, d_head) mixes tokens. Use view(tokens, n_heads, d_head), then permute."),
            partial(other_module, mixes=True),
        ),
        Mistake(
            message("Bring the heads back to [tokens, n_heads, d_head] before joining them."),
            partial(other_module, merges=False),
        ),
        Mistake(message("The output projection W_o is missing."), partial(other_module, projects=False)),
    ),
)

# A batch of sentences, each with several heads


def batch_cases(g: torch.Generator) -> tuple[Case, ...]:
    """Sentences, heads, tokens, features; all different within a case."""
    return tuple(
        Case(arguments=tuple(numbers_within(g, *sizes) for _ in "qkv"))
        for sizes in ((2, 3, 4, 5), (3, 2, 5, 4), (1, 4, 3, 2))
    )


def batched(q: Tensor, k: Tensor, v: Tensor) -> Outputs:
    """Output and weights, as the app computes them."""
    trace = attend(q, k, v)
    return trace.output, trace.weights


def other_batch(q: Tensor, k: Tensor, v: Tensor, by: int = -1, dim: int = -1, scaled: bool = True) -> Outputs:
    """A batch with another axis taken, or nothing divided."""
    weights = (q @ k.mT / (math.sqrt(q.shape[by]) if scaled else 1.0)).softmax(dim)
    return weights @ v, weights


BATCHED = Exercise(
    key="batch",
    title=message("A batch"),
    lesson="pytorch",
    asks=message(
        "Several sentences at once, each with several heads: Q, K and V have shape [batch, heads, tokens, "
        "d_k]. No loop is needed: `@` multiplies the matrices in the last two axes, whatever axes come before. "
        "Return the output and the weights."
    ),
    entry="batched_attention",
    takes=(
        Shown("Q", "queries", "features", "q"),
        Shown("K", "keys", "features", "k"),
        Shown("V", "keys", "features", "v"),
    ),
    returns=(Shown("output", "queries", "features", "v"), Shown("weights", "queries", "keys", "weight", "weight")),
    starter="""def batched_attention(Q, K, V):
    # Q, K, V: shape [batch, heads, tokens, d_k]
    scores = None  # Your code
    weights = None  # Your code
    output = None  # Your code
    return output, weights
""",
    solution="""def batched_attention(Q, K, V):
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    output = weights @ V
    return output, weights
""",
    draw=batch_cases,
    answer=batched,
    mistakes=(
        Mistake(NOT_SCALED, partial(other_batch, scaled=False)),
        Mistake(
            message("You divided by the root of the number of tokens. d_k is the size of the last axis."),
            partial(other_batch, by=-2),
        ),
        Mistake(
            message("You divided by the root of the number of heads. d_k is the size of the last axis."),
            partial(other_batch, by=1),
        ),
        Mistake(
            message("The softmax ran over the queries. The row of each query must sum to 1: dim=-1."),
            partial(other_batch, dim=-2),
        ),
        Mistake(
            message("The softmax ran over the heads. The row of each query must sum to 1: dim=-1."),
            partial(other_batch, dim=1),
        ),
        Mistake(
            message("The softmax ran over the sentences. The row of each query must sum to 1: dim=-1."),
            partial(other_batch, dim=0),
        ),
    ),
)
