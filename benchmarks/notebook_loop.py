"""The notebook's kind of model and training loop, written as one writes it in a notebook.

The same maths as `notebook_model` in the app: slices of the features, one head for each, a projection, and a
linear map to the characters. Here every head has linear layers of its own, makes its mask anew in each call,
and the gradients come from autograd. It is what the app's training is measured against.
"""

from collections.abc import Iterator

import torch
from torch import nn
from torch.nn import functional as F

TEXT = "hello world"
WINDOW = 8
BATCH = 4


class Head(nn.Module):
    """Causal self-attention on one slice of the features."""

    def __init__(self, size: int):
        super().__init__()
        self.query = nn.Linear(size, size, bias=False)
        self.key = nn.Linear(size, size, bias=False)
        self.value = nn.Linear(size, size, bias=False)

    def forward(self, x):
        """The tokens after looking at those before them."""
        tokens, size = x.shape[-2:]
        q, k, v = self.query(x), self.key(x), self.value(x)
        scores = q @ k.transpose(-2, -1) / size**0.5
        mask = torch.tril(torch.ones(tokens, tokens))
        scores = scores.masked_fill(mask == 0, float("-inf"))
        return F.softmax(scores, dim=-1) @ v


class SlicedHeads(nn.Module):
    """Several heads, each with its slice, and a projection of what they say together."""

    def __init__(self, d_model: int, n_heads: int):
        super().__init__()
        self.size = d_model // n_heads
        self.heads = nn.ModuleList([Head(self.size) for _ in range(n_heads)])
        self.project = nn.Linear(d_model, d_model)

    def forward(self, x):
        """All heads side by side, projected."""
        parts = [head(x[..., i * self.size : (i + 1) * self.size]) for i, head in enumerate(self.heads)]
        return self.project(torch.cat(parts, dim=-1))


class LanguageModel(nn.Module):
    """Embeddings of characters and places, one layer of attention, a score for each next character."""

    def __init__(self, vocabulary: int, context: int = WINDOW, d_model: int = 16, n_heads: int = 2):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, d_model)
        self.places = nn.Embedding(context, d_model)
        self.attention = SlicedHeads(d_model, n_heads)
        self.output = nn.Linear(d_model, vocabulary)

    def forward(self, ids):
        """A score for each character that could come next, after each place."""
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[-1]))
        return self.output(self.attention(x))


def draw_batch(data: torch.Tensor, random: torch.Generator):
    """A few windows of the text, and the same windows one character further on."""
    starts = torch.randint(0, len(data) - WINDOW, (BATCH,), generator=random)
    x = torch.stack([data[i : i + WINDOW] for i in starts])
    y = torch.stack([data[i + 1 : i + WINDOW + 1] for i in starts])
    return x, y


def train_in_notebook(steps: int, seed: int) -> Iterator[tuple[int, float | None]]:
    """The loop. Yields every step, and the loss at each fiftieth, where the notebook prints it."""
    torch.manual_seed(seed)
    random = torch.Generator().manual_seed(seed)
    characters = sorted(set(TEXT))
    data = torch.tensor([characters.index(character) for character in TEXT])
    model = LanguageModel(len(characters))
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(steps):
        x, y = draw_batch(data, random)
        logits = model(x)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), y.view(-1))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        yield step, loss.item() if step % 50 == 0 else None
