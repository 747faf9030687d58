"""Examples of every kind, for the tests that hold for all of them."""

from typing import get_args

from hypothesis import strategies as st

from lessons.example import LIMITS, Example, Source

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


# Where a notebook fixes the sizes little else varies, so a sentence comes more often.
EXAMPLES = examples(*get_args(Source), "sentence", "sentence")
SIZES_CHOSEN = examples("journey", "sentence")  # where all sizes are those that were chosen
