"""Exercises on many heads: split, merge, all of multi-head attention, and a batch."""

from functools import partial
from itertools import permutations

import torch
from torch import Tensor

from attention_core.one_head.attention import attend
from attention_core.one_head.heads import MultiHeadAttention, merge_heads, split_heads
from attention_core.one_head.masks import causal_mask
from lessons.code.exercises.base import Case, Exercise, Mistake, Outputs, Shown, numbers_within
from lessons.code.exercises.varied import (
    AFTER_SOFTMAX,
    CHANGED_MASKS,
    CHANGED_STEPS,
    INFINITE_WEIGHTS,
    MASKS,
    NO_KEEPDIM,
    varied_heads,
)
from lessons.screen import message

MAPS = ("W_q", "W_k", "W_v", "W_o")
OVER_HEADS = message("The softmax ran over the heads. The row of each query must sum to 1: dim=-1.")


# Split the features among the heads


def split_cases(g: torch.Generator) -> tuple[Case, ...]:
    """Tokens, d_model and heads, all different."""
    return tuple(Case(arguments=(numbers_within(g, t, d), h)) for t, d, h in ((4, 6, 2), (3, 8, 4), (5, 6, 3)))


def split_and_permuted(order: tuple[int, ...], x: Tensor, n_heads: int, first: str = "thd") -> Tensor:
    """The numbers in another shape, then with its axes in another order."""
    sizes = {"t": len(x), "h": n_heads, "d": x.shape[1] // n_heads}
    return x.reshape([sizes[name] for name in first]).permute(order)


AXES_TURNED = message(
    "The features are split correctly, but the axes are in another order: [n_heads, tokens, d_head] is asked for."
)
SPLIT_MIXES = message(
    "This mixes tokens and features, as view keeps the numbers in their order. Use view(tokens, n_heads, d_head), "
    "then permute."
)
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
        *(
            Mistake(AXES_TURNED, partial(split_and_permuted, order))
            for order in permutations(range(3))
            if order != (1, 0, 2)
        ),
        *(
            Mistake(SPLIT_MIXES, partial(split_and_permuted, order, first=first))
            for first in ("htd", "hdt", "dth", "dht", "tdh")
            for order in permutations(range(3))
        ),
    ),
)

# Merge them again


def merge_cases(g: torch.Generator) -> tuple[Case, ...]:
    """Heads, tokens and d_head, all different."""
    return tuple(Case(arguments=(numbers_within(g, *sizes),)) for sizes in ((2, 4, 3), (4, 3, 2), (3, 2, 5)))


def permuted_and_joined(order: tuple[int, ...], x: Tensor) -> Tensor:
    """The axes in another order, then two of them as one."""
    return x.permute(order).reshape(x.shape[1], -1)


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
        *(
            Mistake(
                message(
                    "This mixes tokens: bring them to the front, with permute(1, 0, 2), and only then join the heads."
                ),
                partial(permuted_and_joined, order),
            )
            for order in permutations(range(3))
            if order != (1, 0, 2)
        ),
        Mistake(
            message("The tokens are at the front; now join the heads of each: reshape(tokens, n_heads * d_head)."),
            lambda x: x.permute(1, 0, 2),
        ),
        Mistake(
            message("The heads are in another order: the features of head 1 come first in each row."),
            lambda x: x.flip(0).permute(1, 0, 2).reshape(x.shape[1], -1),
        ),
        Mistake(
            message("The heads are one below the other here. Put them side by side, each with its own features."),
            lambda x: x.reshape(-1, x.shape[2]),
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


def varied_module(
    x: Tensor,
    causal: bool,
    n_heads: int,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    W_o: Tensor,
    *,
    uses: str = "qkv",
    hides: str = "future",
    always: bool = False,
    split: str = "permute",
    merge: str = "permute",
    last: str = "W_o",
    **changes,
) -> Outputs:
    """Multi-head attention in which something else was done."""
    n, d_model = x.shape
    maps = {"q": W_q, "k": W_k, "v": W_v}
    q, k, v = (SPLITS[split](x @ maps[name].T, n_heads) for name in uses)
    hidden = None if hides == "nothing" or not (causal or always) else MASKS[hides](n)
    found, weights = varied_heads(q, k, v, hidden, **changes)
    joined = MERGES[merge](found).reshape(n, d_model)
    return {"W_o": lambda: joined @ W_o.T, "nothing": lambda: joined, "turned": lambda: joined @ W_o}[last](), weights


SPLITS = {
    "permute": lambda y, h: y.view(len(y), h, -1).permute(1, 0, 2),
    "view": lambda y, h: y.reshape(h, len(y), -1),
    "interleaved": lambda y, h: y.view(len(y), -1, h).permute(2, 0, 1),
}
MERGES = {
    "permute": lambda x: x.permute(1, 0, 2),
    "view": lambda x: x,
    "interleaved": lambda x: x.permute(1, 2, 0),
    "twisted": lambda x: x.transpose(1, 2),
}
BRING_BACK = message("Bring the heads back to [tokens, n_heads, d_head] before joining them.")


MODULE = Exercise(
    key="multi_head",
    title=message("Multi-head attention"),
    lesson="heads",
    asks=message(
        "Write a PyTorch module with four layers of weights, several heads and, if asked for, a causal "
        "mask. Return the output and the weights of all heads, shape [n_heads, queries, keys]."
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
    varied=varied_module,
    mistakes=(
        Mistake(message("The scores are not divided by √d_head."), {"by": "nothing"}),
        Mistake(
            message("You divided by √d_model. The keys of a head have only d_head features: √d_head."),
            {"by": "√d_model"},
        ),
        Mistake(message("causal=True changes nothing yet: mask the scores before the softmax."), {"hides": "nothing"}),
        Mistake(
            message("The mask is applied although causal is False. Mask only if it is asked for."), {"always": True}
        ),
        Mistake(AFTER_SOFTMAX, {"masks": "after"}),
        Mistake(INFINITE_WEIGHTS, {"masks": "after, −∞"}),
        *CHANGED_MASKS,
        *(it for it in CHANGED_STEPS if it.hint is not NO_KEEPDIM),  # whose shapes do not fit here
        Mistake(
            message("You divided by the root of the number of heads. Divide by √d_head."), {"by": "√heads"}, alone=True
        ),
        Mistake(message("The softmax must run over the keys: dim=-1."), {"dim": 1}),
        Mistake(OVER_HEADS, {"dim": 0}),
        *(
            Mistake(
                message("Two of Q, K and V were made by the same layer. Each has its own."),
                {"uses": uses},
                alone=uses in ("qkq", "vkv", "qvv"),
            )
            for uses in ("qqv", "kkv", "qkk", "qvv", "qkq", "vkv")
        ),
        Mistake(message("Q and K are swapped: W_q makes the queries, W_k the keys."), {"uses": "kqv"}),
        Mistake(
            message("view(n_heads, tokens, d_head) mixes tokens. Use view(tokens, n_heads, d_head), then permute."),
            {"split": "view"},
        ),
        Mistake(
            message(
                "Each head gets every n-th feature here. It should get neighbouring ones: view(tokens, "
                "n_heads, d_head)."
            ),
            {"split": "interleaved"},
        ),
        Mistake(BRING_BACK, {"merge": "view"}),
        Mistake(BRING_BACK, {"merge": "twisted"}, alone=True),
        Mistake(
            message("The features of the heads are interleaved. All features of head 1 come first: permute(1, 0, 2)."),
            {"merge": "interleaved"},
        ),
        Mistake(message("The output projection W_o is missing."), {"last": "nothing"}),
        Mistake(
            message("W_o is applied the other way round: call the layer, self.W_o(…)."), {"last": "turned"}, alone=True
        ),
        Mistake(message("This is the mean of the weights of all heads. Return those of each head."), {"gives": "mean"}),
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
    varied=varied_heads,
    mistakes=(
        *(it for it in CHANGED_STEPS if it.hint is not NO_KEEPDIM),  # whose shapes do not fit here
        Mistake(
            message("You divided by √d_model. The keys of a head have only d_k features: √d_k."), {"by": "√d_model"}
        ),
        Mistake(
            message("You divided by the root of the number of heads. d_k is the size of the last axis."),
            {"by": "√heads"},
        ),
        Mistake(message("The softmax ran over the queries. The row of each query must sum to 1: dim=-1."), {"dim": -2}),
        Mistake(OVER_HEADS, {"dim": 1}),
        Mistake(
            message("The softmax ran over the sentences. The row of each query must sum to 1: dim=-1."), {"dim": 0}
        ),
    ),
)
