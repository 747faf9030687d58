"""Examples of every kind, for the tests that hold for all of them."""

from typing import get_args

from hypothesis import strategies as st

from attention_core.model.small_model import ModelConfig
from lessons.example.edits import Edit
from lessons.example.example import LIMITS, Example, learnt_example
from lessons.example.presets import RandomSource
from lessons.example.task_models import TASK_SOURCES, TaskSource

SENTENCES = [
    "one",
    "no no",
    "no no no",
    "The cat sat on the mat",
    "a b a b a",
    "a b c d e f g h i j k l",
    "A long walk, a long talk, a long day !",
    "one two three four five six seven eight nine ten eleven twelve",
    "<b>bold</b> ![x](http://127.0.0.1:9/a.png) $x^2$ {0} :red[no]",
]


def within(name):
    """Every whole number that a size may be."""
    return st.integers(LIMITS[name].least, LIMITS[name].most)


def examples(*sources):
    """The running example, from one of these sources, in all its sizes."""
    return st.builds(
        Example,
        source=st.sampled_from(sources),
        text=st.sampled_from(SENTENCES),
        unit=st.sampled_from(["words", "characters"]),
        d_model=within("d_model"),
        d_k=within("d_k"),
        d_v=within("d_v"),
        n_heads=within("n_heads"),
        seed=within("seed"),
        causal=st.booleans(),
        scaling=st.booleans(),
        weight_kind=st.sampled_from(["normal", "small", "linear"]),
    )


# Few sizes and seeds, for each is trained; but any text, any update and any use of the weights.
OF_MODELS = [{}, {"seed": 3}, {"d_model": 5, "d_k": 3, "d_v": 7, "n_heads": 2, "train_scaling": False}]


@st.composite
def learnt_examples(draw, *sources):
    """The running example, from a small model that is trained on one of these tasks."""
    source = draw(st.sampled_from(sources or get_args(TaskSource)))
    words = st.sampled_from([*TASK_SOURCES[source].task.vocabulary.tokens, "stranger"])
    text = (" " if TASK_SOURCES[source].words else "").join(draw(st.lists(words, max_size=14)))
    switches = {name: draw(st.booleans()) for name in ("causal", "scaling")}
    place = {"updates": draw(st.integers(0, 300)), "layer": draw(st.integers(1, 2))}
    return learnt_example(source, text=text, **switches, **place, **draw(st.sampled_from(OF_MODELS)))


# Where a notebook fixes the sizes little else varies, so a sentence comes more often.
EXAMPLES = examples(*get_args(RandomSource), "sentence", "sentence") | learnt_examples("pronouns", "induction")
SIZES_CHOSEN = examples("journey", "sentence")  # where all sizes are those that were chosen


def filled(matrix, rows, columns, value):
    """Edits that give every place of a matrix a number, which may depend on the place."""
    number = value if callable(value) else lambda row, column: value
    return tuple(
        Edit(matrix, row, column, float(number(row, column))) for row in range(rows) for column in range(columns)
    )


def small_example(text, **choices):
    sizes = {"d_model": 3, "d_k": 2, "d_v": 2, "n_heads": 2}
    return Example(**{"source": "sentence", "text": text} | sizes | choices)


# What chance seldom draws: nothing to choose from, nothing that differs, nothing at all, and very much.
EXTREMES = (
    small_example("one"),
    small_example("one", d_model=1, d_k=1, d_v=1, n_heads=1, causal=False, scaling=False),
    small_example("no no no", n_heads=4),
    small_example("no no no", causal=False, scaling=False),
    small_example("a b", d_model=1, d_k=1, d_v=1),
    small_example("a b c", causal=False, edits=filled("x", 3, 3, 0)),
    small_example("a b c", causal=False, edits=filled("x", 3, 3, lambda row, column: row == column)),
    small_example("a b c", edits=filled("W_v", 3, 4, 0)),
    small_example("a b c", causal=False, edits=filled("W_q", 3, 4, 0)),
    small_example("a b c d", edits=filled("x", 4, 3, lambda row, column: 3 * (row - column))),
    small_example("a b c d", causal=False, edits=filled("x", 4, 3, lambda row, column: 1e-4 * (row + 2 * column))),
)


@st.composite
def models(draw, **fixed):
    """Models of every kind, small, with sizes that cannot be mistaken for each other."""
    n_heads = draw(st.sampled_from([1, 3]))
    positions = draw(st.sampled_from(["learned", "none", "sinusoidal", "rotary", "alibi", "qk"]))
    heads = draw(st.sampled_from(["projected", "sliced"]))
    d_k, d_v = (None if heads == "sliced" else draw(st.sampled_from([None, own, 10])) for own in (2, 5))
    switches = ("causal", "scaling", "residual", "layer_norm", "mlp", "sink")
    choices = {name: draw(st.booleans()) for name in switches} | {
        "vocabulary": 13,
        "context": 7,
        "d_model": 6 * n_heads if n_heads == 1 else 6,
        "n_heads": n_heads,
        "n_layers": draw(st.integers(1, 2)),
        "heads": heads,
        "positions": positions,
        "d_k": d_k,
        "d_v": d_v,
        "output": draw(st.sampled_from(["scores", "scores", "vectors"])),
    }
    return ModelConfig(**choices | fixed)


BATCHES = st.sampled_from([(), (2,), (3, 2)])  # leading axes of the tokens
