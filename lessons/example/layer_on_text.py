"""One layer of the real language model as it reads a text.

Layer 13 on the default sentence ships with the app, in 16-bit floats, so that the first page and the lessons open with
it without any download; `training/ship_layer.py` writes the file. Every other text and layer needs the model.
"""

import json
import weakref
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from jaxtyping import Float
from safetensors import safe_open

from attention_core.base.arrays import Array, namespace
from attention_core.model.family import TransformerConfig, config_of
from attention_core.model.weights import widened
from attention_core.one_head.heads import MultiHeadAttention
from lessons.example.real_model import MAX_TOKENS, CutText, RealModel, cut_text
from lessons.example.token_names import told_apart

SHIPPED_FILE = Path(__file__).with_name("real_layer.safetensors")
# Of each layer that somebody looks at: a copy for each visitor would be some megabytes of the same numbers.
MAPS: "weakref.WeakValueDictionary[MultiHeadAttention, MultiHeadAttention]" = weakref.WeakValueDictionary()


@dataclass(frozen=True, eq=False, kw_only=True)
class LayerOnText:
    """What a layer of the model, counted from 0, works on as it reads some tokens, and the weights of its heads.

    `fetched` are the rows of the embedding table that the tokens fetch; `x` is what the layers before have made of
    them, normed. Keys and values that heads share stand in `attention` once for each of them. `n_left` more tokens of
    the text are not read.
    """

    layer: int
    config: TransformerConfig
    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    x: Float[Array, "tokens d_model"]
    fetched: Float[Array, "tokens d_model"]
    attention: MultiHeadAttention
    n_left: int = 0


@lru_cache(maxsize=2)
def shipped_layer(*, numpy: bool = False) -> LayerOnText:
    """The layer that ships with the app, of torch; of NumPy for the first page. Shared by all: never change it."""
    with safe_open(SHIPPED_FILE, "np") as file:
        about = json.loads(file.metadata()["about"])
        tensors = {name: file.get_tensor(name).astype(np.float32) for name in file.keys()}  # noqa: SIM118  no dictionary
    if not numpy:
        tensors = {name: namespace(None).from_numpy(array) for name, array in tensors.items()}
    maps, config = {name: tensors[name] for name in ("W_q", "W_k", "W_v", "W_o")}, config_of(about["config"])
    return LayerOnText(
        layer=about["layer"],
        config=config,
        ids=tuple(about["ids"]),
        tokens=tuple(about["tokens"]),
        x=tensors["x"],
        fetched=tensors["fetched"],
        attention=a_map_each(MultiHeadAttention(**maps, n_heads=config.n_heads, rotary=config.rotary)),
    )


def layer_of(model: RealModel, text: str, layer: int) -> LayerOnText:
    """A layer of the model as it reads the first tokens of a text."""
    whole, transformer = cut_text(model, text), model.transformer
    cut = first_tokens(whole)
    return LayerOnText(
        layer=layer,
        config=transformer.config,
        ids=cut.ids,
        tokens=cut.tokens,
        x=model.trace(cut.ids).layers[layer].normed.clone(),
        fetched=transformer.token_table[list(cut.ids)],
        attention=maps_of(transformer.layers[layer].attention),
        n_left=len(whole.ids) - len(cut.ids),
    )


def first_tokens(whole: CutText) -> CutText:
    """What of a text is read."""
    return whole.first(MAX_TOKENS)


def maps_of(attention: MultiHeadAttention) -> MultiHeadAttention:
    """The heads of a layer with 32-bit maps of their own, the same for all who keep them: never change one."""
    maps = MAPS.get(attention)
    return MAPS.setdefault(attention, a_map_each(widened(attention))) if maps is None else maps


def a_map_each(attention: MultiHeadAttention) -> MultiHeadAttention:
    """The same heads with W_k and W_v of their own: where several share keys and values, they are equal."""
    d_k, d_v = attention.W_q.shape[-1] // attention.n_heads, attention.d_head

    def repeated(W: Array, width: int) -> Array:
        maps = W.reshape(W.shape[0], -1, width)  # d_model kv_heads width
        shared_by = attention.n_heads // maps.shape[1]
        return maps[:, [head // shared_by for head in range(attention.n_heads)]].reshape(W.shape[0], -1)

    return replace(attention, W_k=repeated(attention.W_k, d_k), W_v=repeated(attention.W_v, d_v))


def called(at: LayerOnText) -> tuple[str, ...]:
    """Its tokens without the space in front; it stays where another token differs from this one by it alone."""
    tokens = told_apart(at.tokens)
    stripped = [token.strip() or token for token in tokens]
    ids_of = {name: {at.ids[i] for i, other in enumerate(stripped) if other == name} for name in stripped}
    alike = {name for name, ids in ids_of.items() if len(ids) > 1}
    return tuple(token if name in alike else name for token, name in zip(tokens, stripped, strict=True))


def sizes_of(at: LayerOnText) -> dict[str, int]:
    """The sizes of a layer, by the names of the choices of an example."""
    maps = at.attention
    return {
        "d_model": at.x.shape[-1],
        "d_k": maps.W_q.shape[-1] // maps.n_heads,
        "d_v": maps.d_head,
        "n_heads": maps.n_heads,
    }
