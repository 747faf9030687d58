"""Published models: what their caches depend on, each with where it is written.

Of Llama 2 7B, `sku_list.py` of llama-models says that it has 8 key/value heads; but its model card says that its heads
share none, and its weights are those of 32. Llama 3 8B is the model of April 2024, which read 8192 tokens at once.
"""

from dataclasses import dataclass

from attention_core.measured.costs import LayerSizes

BYTES_OF_A_NUMBER = 2  # 16 bits, as such models are usually run


@dataclass(frozen=True, kw_only=True)
class PublishedModel:
    """A model as its authors describe it. `context` tokens are the most that it was trained to read at once.

    Where each query looks back over a `window` only, no older key need be kept.
    """

    name: str
    layers: int
    d_model: int
    n_heads: int
    n_kv_heads: int
    d_head: int
    context: int
    source: str
    window: int | None = None

    def sizes(self, tokens: int) -> LayerSizes:
        """One of its layers, with so many tokens to read."""
        return LayerSizes(
            tokens=tokens,
            d_model=self.d_model,
            n_heads=self.n_heads,
            n_kv_heads=self.n_kv_heads,
            d_k=self.d_head,
            d_v=self.d_head,
        )

    @property
    def bytes_of_token(self) -> int:
        """What the cache keeps of each token: a key and a value of every key/value head of every layer."""
        return 2 * self.layers * self.n_kv_heads * self.d_head * BYTES_OF_A_NUMBER

    @property
    def most_kept(self) -> int:
        """Tokens in the cache when the context is full."""
        return self.context if self.window is None else min(self.context, self.window)

    @property
    def bytes_of_cache(self) -> int:
        """The cache of one sequence when the context is full."""
        return self.bytes_of_token * self.most_kept


PUBLISHED = {
    "gpt2": PublishedModel(
        name="GPT-2 small",
        layers=12,
        d_model=768,
        n_heads=12,
        n_kv_heads=12,
        d_head=64,
        context=1024,
        source="Radford et al. 2019; github.com/openai/gpt-2, src/model.py",
    ),
    "gpt3": PublishedModel(
        name="GPT-3 175B",
        layers=96,
        d_model=12288,
        n_heads=96,
        n_kv_heads=96,
        d_head=128,
        context=2048,
        source="Brown et al. 2020, arXiv 2005.14165, section 2.1 and table 2.1",
    ),
    "llama2_7b": PublishedModel(
        name="Llama 2 7B",
        layers=32,
        d_model=4096,
        n_heads=32,
        n_kv_heads=32,
        d_head=128,
        context=4096,
        source="Touvron et al. 2023; meta-llama/Llama-2-7b-hf, config.json",
    ),
    "llama2_70b": PublishedModel(
        name="Llama 2 70B",
        layers=80,
        d_model=8192,
        n_heads=64,
        n_kv_heads=8,
        d_head=128,
        context=4096,
        source="Touvron et al. 2023; github.com/meta-llama/llama-models, models/sku_list.py",
    ),
    "mistral_7b": PublishedModel(
        name="Mistral 7B",
        layers=32,
        d_model=4096,
        n_heads=32,
        n_kv_heads=8,
        d_head=128,
        context=8192,
        window=4096,
        source="Jiang et al. 2023, arXiv 2310.06825, table 1",
    ),
    "gemma_2b": PublishedModel(
        name="Gemma 2B",
        layers=18,
        d_model=2048,
        n_heads=8,
        n_kv_heads=1,
        d_head=256,
        context=8192,
        source="arXiv 2403.08295, table 1; github.com/google/gemma_pytorch, config.py",
    ),
    "llama3_8b": PublishedModel(
        name="Llama 3 8B",
        layers=32,
        d_model=4096,
        n_heads=32,
        n_kv_heads=8,
        d_head=128,
        context=8192,
        source="github.com/meta-llama/llama-models, models/sku_list.py, llama3/MODEL_CARD.md",
    ),
    "smollm2": PublishedModel(
        name="SmolLM2-135M",
        layers=30,
        d_model=576,
        n_heads=9,
        n_kv_heads=3,
        d_head=64,
        context=8192,
        source="Allal et al. 2025, arXiv 2502.02737; HuggingFaceTB/SmolLM2-135M-Instruct, config.json",
    ),
}
