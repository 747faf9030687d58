"""The screens of all lessons: each view on each example, for three seeds, or three texts where a model has no seed."""

from collections.abc import Iterator
from typing import Any

from tests.truths.links import LESSONS, VIEWS, link_to
from tests.truths.opened import PRESSED, read_link

SEEDS = (1, 2, 42)
DRAWN = ("journey", "search", "mat", "batch", "modules", "meanings", "sentence")
TRAINED = ("stories", "pronouns", "previous", "reverse", "lookup", "induction")
REAL_TEXTS = ("The cat sat on the mat because it was very", "Mary gave John a drink", "no no no, no!")
# Views that are of something else than the running example: one example is enough.
OF_THEIR_OWN = ("cost_of", "cut", "merges", "second")
ON_MODEL = 5  # views of the first page that show the real model, before those of an example
STEPS = 40  # of a training: enough for a loss that falls, too few for what rounding leaves over to grow


def asked() -> list[str]:
    """All of them, in an order in which neighbours share an example."""
    return list(dict.fromkeys([*of_models(), *on_examples()]))


def entry(link: str) -> dict[str, Any]:
    """What the screen of a link shows, says and asks now."""
    return read_link(link, whole=True)


def on_examples() -> Iterator[str]:
    """The lessons that show the running example."""
    for place, example in enumerate(examples()):
        for lesson in ("home", *LESSONS):
            views = VIEWS[lesson][ON_MODEL:] if lesson == "home" else VIEWS[lesson]
            for view in views:
                if place < len(SEEDS) or not is_of_its_own(lesson, view):
                    yield link_to(lesson, example | view)


def examples() -> Iterator[dict[str, object]]:
    """Every example, with each of its seeds or texts."""
    yield from ({"example": source, "seed": seed} for source in DRAWN for seed in SEEDS)
    yield {"example": TRAINED[0]}
    yield from ({"example": source, "seed": seed, "trained_for": STEPS} for source in TRAINED for seed in SEEDS)
    yield from ({"example": "language", "says_language": text, "head": 3 + n} for n, text in enumerate(REAL_TEXTS))


def is_of_its_own(lesson: str, view: dict[str, object]) -> bool:
    """True where another running example would change nothing that the view shows."""
    mine = view.get("mh", "sentence") != "sentence" or not view.keys().isdisjoint(OF_THEIR_OWN)
    return mine or (lesson == "tokens" and "cuts" not in view)


def of_models() -> Iterator[str]:
    """The lessons with models and puzzles of their own."""
    yield from (link_to("home", view) for view in VIEWS["home"][:ON_MODEL])
    yield from (link_to("read", view) for view in VIEWS["read"])
    for seed in SEEDS:
        for view in VIEWS["backward"]:
            yield link_to("backward", {"back_sentence": seed} | view | {"seed": seed})
        for view in VIEWS["train"]:
            yield link_to("train", {"steps": STEPS, "train_seed": seed} | view) + f"{PRESSED}start"
        for view in VIEWS["build"]:
            yield link_to("build", view | {"on": seed})
        for view in VIEWS["generate"]:
            yield link_to("generate", {"length": 5} | view | {"draw_seed": seed})
