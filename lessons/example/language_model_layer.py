"""The language model as a source of the running example: one of its layers on a text."""

from dataclasses import dataclass, replace

from attention_core.head_patterns import MeasuredPattern
from attention_core.language_model import language_model, measured_model
from attention_core.model import TinyTransformer
from attention_core.tokens import Vocabulary, clean_text
from lessons.example.language_model_text import PATTERN_NAMES, shown, texts_measured
from lessons.example.source import FIRST_SHOWN, MAX_TOKENS, Chosen, ExampleInputs, Job, Source, TrainedLayer
from lessons.screen.message import Message, Percent, message, plural

SENTENCE_READ = "The cat sat on the mat. The cat sat"
PATTERN_ROLES = {
    "previous token": message("attend one token back"),
    "start": message("attend to the start"),
    "punctuation": message("attend to punctuation"),
    "induction": message("attend to what followed the same token last time"),
    "same token": message("attend to earlier appearances of the same token"),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class LayerOfReader(TrainedLayer):
    """One layer of the language model that ships with the app."""

    def origin(self) -> Message:
        """What made the weights, and how well they do."""
        about = measured_model()
        return message(
            "Trained on novels and stories, {steps} updates: in novels it never saw, it predicts {right} of "
            "{n} next tokens correctly.",
            steps=about.steps,
            right=Percent(about.right),
            n=about.n,
        )

    @property
    def input_description(self) -> tuple[Message, ...]:
        """How the input of the layer is made: by the layers before it and a norm."""
        if self.layer == 0:
            return (
                message(
                    "A layer norm brings each row to mean 0 and variance 1, and gives every feature its own "
                    "gain and shift. The result is the X of the other lessons."
                ),
            )
        return (
            plural(
                "{count} layer and a layer norm process these rows. The result is the X of the other lessons.",
                "{count} layers and a layer norm process these rows. The result is the X of the other lessons.",
                self.layer,
            ),
        )

    def job(self, head: int) -> Job:
        """The name that the head has earned; else the pattern of which it has most beyond an even head."""
        kept = measured_model().heads
        name = kept.name_of(self.layer, head) or max(kept.naming, key=lambda n: self.above_even(kept.naming[n], head))
        score, done = kept.naming[name], kept.name_of(self.layer, head) is not None
        share, texts = score.heads[self.layer][head], texts_measured(name)
        return Job(PATTERN_NAMES[name], PATTERN_ROLES[name], share, score.even, done, texts)

    def above_even(self, score: MeasuredPattern, head: int) -> float:
        """How much more of its weight the head puts there than an even one."""
        return score.heads[self.layer][head] - score.even


class LanguageModelSource(Source):
    """One layer of the language model as it reads a text; nothing of it is loaded before somebody asks."""

    key = "language"
    title = message("The language model")
    reads = ("english",)
    brings_sizes = cuts_words = True
    sentence = SENTENCE_READ

    def model(self, example: Chosen) -> TinyTransformer:
        """The language model, the same for every example."""
        return language_model().model

    def inputs(self, example: Chosen) -> ExampleInputs:
        """What enters one layer of the language model as it reads a text, and that layer's maps."""
        reader, clean = language_model(), clean_text(example.text or self.sentence)
        encoded, config = reader.encode(clean.text), reader.model.config
        ids, layer = encoded.ids[:MAX_TOKENS], min(example.layer, config.n_layers) - 1
        maps = reader.model.layers[layer].attention
        sizes = {"d_model": config.d_model, "d_k": config.query_features, "d_v": config.value_features}
        return ExampleInputs(
            x=reader.trace(ids).layers[layer].normed,
            W_q=maps.W_q,
            W_k=maps.W_k,
            W_v=maps.W_v,
            rotary=maps.rotary is not None,
            example=replace(example, layer=layer + 1, n_heads=config.n_heads, **sizes),
            tokens=tuple(map(shown, encoded.tokens[:MAX_TOKENS])),
            ids=ids,
            row_ids=tuple(range(len(ids))),
            notes=(*clean.notes, *((FIRST_SHOWN,) if len(encoded.ids) > MAX_TOKENS else ())),
            trained=LayerOfReader(
                layer=layer,
                n_heads=config.n_heads,
                vocabulary=Vocabulary(reader.pieces.tokens),
                table=reader.model.table,
                embedded=reader.model.table[list(ids)],
            ),
        )


THE_LANGUAGE_MODEL = LanguageModelSource()
