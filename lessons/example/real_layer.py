"""The real language model as a source of the running example: one of its layers as it reads a text."""

from dataclasses import dataclass, replace

from attention_core.model.family import TransformerConfig
from attention_core.one_head.heads import MultiHeadAttention
from attention_core.text.tokens import clean_text
from lessons.example.layer_on_text import LayerOnText, called, first_tokens, layer_of, shipped_layer, sizes_of
from lessons.example.real_model import (
    DEFAULT_HEAD,
    DEFAULT_LAYER,
    DEFAULT_TEXT,
    SMOLLM2,
    RealModel,
    cut_text,
    head_name,
)
from lessons.example.source import Chosen, ExampleInputs, Job, Source, TrainedLayer, first_shown
from lessons.screen import Message, message, plural

NAME = "SmolLM2-135M"
NOT_HERE = message(
    "The model itself is not on this machine, so this is layer {layer} as it reads “{text}”.",
    layer=DEFAULT_LAYER,
    text=DEFAULT_TEXT,
)


LIKE_LLAMA = {
    "norm": "rms",
    "norm_place": "before",
    "qk_norm": False,
    "positions": "rotary",
    "causal": True,
    "window": None,
    "embedding_norm": False,
    "qkv_bias": False,
}


def is_built_like_llama(model: RealModel) -> bool:
    """True where queries, keys and values are X times a map and turned by position: as the lessons compute them."""
    config = model.transformer.config
    return all(getattr(config, part) == wanted for part, wanted in LIKE_LLAMA.items())


def otherwise_built(model: RealModel) -> Message:
    """What is said of a model whose heads do more than the lessons on one head show."""
    return message(
        "The heads of {model} are built differently from those in these lessons, so this is layer "
        "{layer} of {usual} as it reads “{text}”.",
        model=model.name,
        layer=DEFAULT_LAYER,
        usual=NAME,
        text=DEFAULT_TEXT,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class LayerOfRealModel(TrainedLayer):
    """A layer of the real model. It holds `attention` so that all who look at this layer share it: see `maps_of`."""

    config: TransformerConfig
    attention: MultiHeadAttention
    name: str = NAME

    def origin(self) -> Message:
        """What made the weights."""
        if self.name != NAME:
            return message("Layer {layer} of {name}, a model on this machine.", layer=self.layer, name=self.name)
        return message(
            "Trained: layer {layer} of {name}, a language model that has read two trillion tokens.",
            layer=self.layer,
            name=self.name,
        )

    @property
    def input_description(self) -> tuple[Message, ...]:
        """Layers, and a norm."""
        return (
            plural(
                "{count} layer and an RMS norm process these rows. The result is the X of the other lessons.",
                "{count} layers and an RMS norm process these rows. The result is the X of the other lessons.",
                self.layer,
            ),
        )

    def job(self, head: int) -> Job | None:
        """Its heads are called by their numbers."""
        return None

    def label(self, head: int) -> Message:
        """Layer and head, both counted from 0."""
        return message("{name}", name=head_name(self.layer, head))

    def does(self, head: int) -> Message:
        """Where it stands in the model."""
        return message("This is head {head} of {name}.", head=head_name(self.layer, head), name=self.name)


class RealModelSource(Source):
    """One layer of the real language model as it reads a text."""

    key = "language"
    title = message("A real language model")
    reads, asks = ("real_text",), ("real_sizes",)
    brings_sizes = cuts_words = True
    first_head = DEFAULT_HEAD
    asking = ("it",)  # what it means is what the heads have to find
    sentence = DEFAULT_TEXT
    begins = {"layer": DEFAULT_LAYER + 1}

    def inputs(self, example: Chosen) -> ExampleInputs:
        """What enters a layer of the model as it reads a text, and that layer's maps."""
        clean, at = clean_text(example.text), self.layer_on_text(example)
        notes, model, shown = clean.notes, example.real_model, self.model_shown(example)
        if model is not None and model is not shown:
            notes = (otherwise_built(model),)
        elif model is None and (self.text_of(example), example.layer - 1) != (DEFAULT_TEXT, DEFAULT_LAYER):
            notes = (NOT_HERE,)
        elif at.n_left:
            notes = (*notes, first_shown(len(at.ids)))
        maps = at.attention
        return ExampleInputs(
            x=at.x,
            W_q=maps.W_q,
            W_k=maps.W_k,
            W_v=maps.W_v,
            rotary=maps.rotary,
            example=replace(example, layer=at.layer + 1, **sizes_of(at)),
            tokens=called(at),
            ids=at.ids,
            row_ids=tuple(range(len(at.ids))),
            notes=notes,
            trained=LayerOfRealModel(
                layer=at.layer,
                config=at.config,
                attention=maps,
                n_heads=maps.n_heads,
                name=NAME if shown is None or shown.name == SMOLLM2 else shown.name,
                embedded=at.fetched,
            ),
        )

    def with_model(self, example: Chosen, model: RealModel | None) -> Chosen:
        """Read by this model."""
        return replace(example, real_model=model)

    def layer_on_text(self, example: Chosen) -> LayerOnText:
        """The layer that was chosen, where the model is at hand; else the one that ships."""
        model = self.model_shown(example)
        if model is None:
            return shipped_layer()
        return layer_of(model, self.text_of(example), min(example.layer, len(model.transformer.layers)) - 1)

    def ids_read(self, example: Chosen) -> tuple[int, ...]:
        """The tokens that the model is asked to read, where it is at hand."""
        model = self.model_shown(example)
        return () if model is None else first_tokens(cut_text(model, self.text_of(example))).ids

    def model_shown(self, example: Chosen) -> RealModel | None:
        """The model, where it is at hand and built as these lessons show it."""
        model = example.real_model
        return model if model is not None and is_built_like_llama(model) else None

    def text_of(self, example: Chosen) -> str:
        """What is read: its own sentence where nothing is typed."""
        return clean_text(example.text).text or self.sentence

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes of its heads."""
        return sizes_of(shipped_layer())

    def n_layers(self, example: Chosen) -> int:
        """How many there are to choose from."""
        model = self.model_shown(example)
        return 1 if model is None else model.transformer.config.n_layers

    def attention(self, example: Chosen) -> MultiHeadAttention:
        """The heads of the layer."""
        return self.layer_on_text(example).attention
