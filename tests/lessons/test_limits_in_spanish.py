"""In Spanish a limit, "over 99%" or "under 1%", says what it says in the other languages, and without an article."""

import pytest

from lessons.screen import Percent, percent, translate
from words import speaking

ABOVE, BELOW = 0.997, 0.002


@pytest.mark.parametrize(
    ("template", "shares", "ends"),
    [
        (
            "To read {query}, this head looks at {key}: {share} of its weight goes there.",
            (ABOVE,),
            "esta cabeza mira a a: allí va más del 99\u00a0% de su peso.",
        ),
        (
            "To read {query}, this head looks at {key}: {share} of its weight goes there.",
            (BELOW,),
            "esta cabeza mira a a: allí va menos del 1\u00a0% de su peso.",
        ),
        (
            "To read {query}, this head looks at {key}: {share} of its weight goes there.",
            (0.36,),
            "esta cabeza mira a a: allí va el 36\u00a0% de su peso.",
        ),
        (
            "Multiply every score by {times} and the weight of {key} goes from {before} to {after}.",
            (ABOVE, BELOW),
            "el peso de a pasa de más del 99\u00a0% a menos del 1\u00a0%.",
        ),
        (
            "Multiply every score by {times} and the weight of {key} goes from {before} to {after}.",
            (BELOW, 0.36),
            "el peso de a pasa de menos del 1\u00a0% al 36\u00a0%.",
        ),
    ],
)
def test_no_article_stands_before_a_limit(template, shares, ends):
    names = ("share",) if len(shares) == 1 else ("before", "after")
    others = {name: "a" for name in ("query", "key", "times") if f"{{{name}}}" in template}
    with speaking("es"):
        said = translate(template, **others, **dict(zip(names, map(Percent, shares), strict=True)))
    assert said.endswith(ends)


def test_a_limit_alone_says_which_side():
    with speaking("es"):
        assert (percent(ABOVE), percent(BELOW)) == ("más del 99\u00a0%", "menos del 1\u00a0%")
