"""How a line of arithmetic is written: signs, parentheses, and as few digits as make it true.

All cells of an array come about alike, so their lines are written together: a `Term` holds numbers for many cells at
once. A line says "=" where nothing in it is rounded, and "≈" elsewhere; either way, whoever computes with the digits
that are printed comes to the printed result.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice

import numpy as np

from attention_core.base.traced import Cells, Numbers

COMPARED = (">", "≥", "<", "≤", "=", "≠", "and", "or", "not")
CALLED = {"exp": "e^", "log": "ln", "sqrt": "√", "tanh": "tanh", "sin": "sin", "cos": "cos", "max": "max"}
INFIX = {  # the mark, how strong its first and its other operands must be at least, and how strong it is itself
    "+": (" + ", (2, 2), 2),
    "−": (" − ", (2, 3), 2),
    "·": ("·", (3, 4), 3),
    "÷": (" ÷ ", (3, 4), 3),
    "^": ("^", (5, 9), 4),
}
COMPUTE: dict[str, Callable[..., np.ndarray]] = {
    "+": np.add,
    "−": np.subtract,
    "·": np.multiply,
    "÷": np.divide,
    "^": np.power,
    "neg": np.negative,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "max": np.maximum,
    ">": np.greater,
    "≥": np.greater_equal,
    "<": np.less,
    "≤": np.less_equal,
    "=": np.equal,
    "≠": np.not_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
}
SUMMED = {"+": (np.sum, 0.0), "max": (np.max, -math.inf)}  # along the axis of terms, and what changes nothing there
MOST_TERMS, SHOWN_TERMS = 16, 6  # longer sums name their largest terms, and what the others come to
# Digits of the operands and of the result: few first; where large numbers cancel, fewer of the result will do.
DIGITS = ((4, 4), (5, 4), (6, 4), (6, 3), (7, 4), (8, 4), (8, 2), (10, 4), (10, 2), (12, 4), (12, 1), (17, 4), (17, 1))


@dataclass(frozen=True, eq=False)
class Term:
    """A sign and its parts, or numbers; `values` has the shape of the cells whose lines are written together.

    A part of a sum or a maximum may have an axis of terms more at its end; then `kept` says which terms count.
    """

    sign: str
    values: np.ndarray
    parts: tuple["Term", ...] = ()
    cells: Cells | None = None  # whose numbers these are, where they are those of an array
    kept: Numbers = None
    text: str | None = None  # of a number that is written in a way of its own

    @cached_property
    def numbers(self) -> list[float]:
        """Its numbers, in reading order."""
        return self.values.ravel().tolist()

    @cached_property
    def terms_shown(self) -> list[list[int]]:
        """For each cell the places of the terms that are shown, in the reading order of the part that has them."""
        places = np.flatnonzero(self.shown).tolist()
        ends = np.cumsum(self.shown.sum(axis=-1)).tolist()
        return [places[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    @cached_property
    def shown(self) -> Numbers:
        """Which terms are written one by one: all that are kept, or the largest of many."""
        if self.kept is None or (self.kept.sum(axis=-1) <= MOST_TERMS).all():
            return self.kept
        terms = self.parts[0].values
        size = np.where(self.kept, terms if self.sign == "max" else np.abs(terms), -math.inf)
        largest = np.argsort(np.argsort(-size, axis=-1, kind="stable"), axis=-1) < SHOWN_TERMS
        return self.kept & (largest | (self.kept.sum(axis=-1, keepdims=True) <= MOST_TERMS))

    @cached_property
    def others(self) -> tuple[np.ndarray, np.ndarray]:
        """How many terms are kept but not shown, and what they come to."""
        rest = self.kept & ~self.shown
        combine, nothing = SUMMED[self.sign]
        return rest.sum(axis=-1), combine(np.where(rest, self.parts[0].values, nothing), axis=-1)


@lru_cache(maxsize=20_000)
def digits(value: float, n: int = 4) -> str:
    """n significant digits, at least one decimal unless the number is whole: then, and only then, it is exact."""
    if not math.isfinite(value):
        text = {math.inf: "∞", -math.inf: "−∞"}.get(value, "not a number")
    elif value == int(value) and abs(value) < 1e6:
        text = str(int(value))
    elif 1e-4 <= abs(value) < 1e6:
        text = f"{value:.{max(1, n - 1 - math.floor(math.log10(abs(value))))}f}"
        text = text.rstrip("0") if float(text) == value else text
    else:
        mantissa, exponent = f"{value:.{max(1, n - 1)}e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if float(f"{mantissa}e{exponent}") == value else mantissa
        text = f"{mantissa}·10^({int(exponent)})"
    return text.replace("-", "−")


def read_number(text: str) -> float:
    """The number that a reader reads."""
    plain = text.replace("−", "-").replace("∞", "inf").replace("not a number", "nan")
    return float(plain.replace("·10^(", "e").rstrip(")"))


@lru_cache(maxsize=20_000)
def written(value: float, n: int) -> tuple[str, int, float]:
    """A number with n digits, how strongly that holds together, and the number that a reader reads."""
    text = digits(value, n)
    return text, 0 if text[0] == "−" else 3 if "·" in text else 9, read_number(text)


@lru_cache(maxsize=10_000)
def half_unit(text: str) -> float:
    """Half a unit of the last digit; 0 for a whole number."""
    mantissa, _, power = text.partition("·10^(")
    _, point, decimals = mantissa.partition(".")
    return 0.5 * 10.0 ** ((int(read_number(power)) if power else 0) - len(decimals)) if point else 0.0


def as_printed(values: np.ndarray, n: int) -> np.ndarray:
    """The numbers that a reader reads."""
    return np.array([written(value, n)[2] for value in values.ravel().tolist()]).reshape(values.shape)


def computed(term: Term, n: int) -> tuple[np.ndarray, np.ndarray]:
    """What comes out for a reader who computes with n digits of every number; and where these are all its digits."""
    if term.sign == "number":
        found = term.values if term.text else as_printed(term.values, n)
        return found, found == term.values if not term.text else np.full(found.shape, True)
    results, exact = map(list, zip(*(computed(part, n) for part in term.parts), strict=True))
    if term.kept is not None:
        combine, nothing = SUMMED[term.sign]
        (count, rest), shown = term.others, term.shown
        results[0] = combine(np.where(shown, results[0], nothing), axis=-1)
        exact[0] = (exact[0] | ~shown).all(axis=-1)
        if count.any():
            results.append(np.where(count > 0, as_printed(rest, n), nothing))
            exact.append(count == 0)
    if len(results) == 1:
        return results[0] if term.kept is not None else COMPUTE[term.sign](*results), exact[0]
    return functools.reduce(COMPUTE[term.sign], results), functools.reduce(np.logical_and, exact)


Texts = tuple[
    list[str], list[int]
]  # of each cell, and how strongly it holds together: weaker parts stand in parentheses


def texts_of(term: Term, n: int) -> Texts:
    """The arithmetic of every cell, with n digits."""
    if term.sign == "number":
        if term.text:
            return [term.text] * term.values.size, [3 if "÷" in term.text else 9] * term.values.size
        texts = [written(value, n) for value in term.numbers]
        return [text for text, _, _ in texts], [strength for _, strength, _ in texts]
    if term.kept is not None:
        return texts_of_sum(term, n)
    first, *more = (texts_of(part, n) for part in term.parts)
    if term.sign in CALLED:
        inside = [first[0], *(texts for texts, _ in more)]
        strength = 5 if term.sign == "exp" else 9
        return [f"{CALLED[term.sign]}({', '.join(texts)})" for texts in zip(*inside, strict=True)], [strength] * len(
            first[0]
        )
    if term.sign in ("neg", "not"):
        mark = "−" if term.sign == "neg" else "not "
        lines = [mark + text for text in in_parentheses(first, 4)]
        return (lines, [0] * len(lines)) if term.sign == "neg" else ([f"[{line}]" for line in lines], [9] * len(lines))
    if term.sign in COMPARED:
        pairs = zip(in_parentheses(first, 3), in_parentheses(more[0], 3), strict=True)
        return [f"[{a} {term.sign} {b}]" for a, b in pairs], [9] * len(first[0])
    text = term.parts[1].text or ""
    if term.sign == "·" and text.startswith("1 ÷ "):  # times a number that is written as 1 ÷ √2
        divisor = text.removeprefix("1 ÷ ")
        return [f"{a} ÷ {divisor}" for a in in_parentheses(first, 3)], [3] * len(first[0])
    mark, (least, later), strength = INFIX[term.sign]
    bare = term.sign in "+−" and term.parts[0].sign == "number"  # a number below 0 may come first
    lines = first[0] if bare else in_parentheses(first, least)
    for texts in more:
        lines = [a + mark + b for a, b in zip(lines, in_parentheses(texts, later), strict=True)]
    return lines, [1 if line[0] == "−" else strength for line in lines]


def in_parentheses(texts: Texts, least: int) -> list[str]:
    """Texts, in parentheses where they do not hold together strongly enough."""
    return [text if strength >= least else f"({text})" for text, strength in zip(*texts, strict=True)]


def texts_of_sum(term: Term, n: int) -> Texts:
    """Sums and maxima of terms along an axis: those that are shown, what the others come to, and what is added."""
    many, *added = (texts_of(part, n) for part in term.parts)
    least = INFIX["+"][1][0] if term.sign == "+" else 0
    terms, additions = in_parentheses(many, least), [in_parentheses(texts, least) for texts in added]
    counts, rests = (numbers.ravel().tolist() for numbers in term.others)
    lines, strengths = [], []
    for i, places in enumerate(term.terms_shown):
        parts = [terms[place] for place in places]
        if parts and parts[0][0] == "(" and term.parts[0].sign == "number":
            parts[0] = many[0][places[0]]
        if counts[i]:
            parts.append(f"the other {counts[i]}: {digits(rests[i], n)}")
        parts += [texts[i] for texts in additions]
        line = f"max({', '.join(parts)})" if term.sign == "max" and len(parts) > 1 else " + ".join(parts) or "0"
        lines.append(line)
        alone = many[1][places[0]] if len(parts) == 1 and places else 2
        strengths.append(9 if line.startswith("max(") else alone if len(parts) == 1 else 1 if line[0] == "−" else 2)
    return lines, strengths


def write_all(terms: Sequence[Term]) -> list[list[str]]:
    """The lines of several terms with their cells in one row; those of one form are written in one go."""
    alike: dict[tuple, list[int]] = {}
    for place, term in enumerate(terms):
        alike.setdefault(form_of(term), []).append(place)
    found: list[list[str]] = [[] for _ in terms]
    for places in alike.values():
        lines = iter(write_lines(joined([terms[place] for place in places])))
        for place in places:
            found[place] = list(islice(lines, len(terms[place].values)))
    return found


def form_of(term: Term) -> tuple:
    """What two terms have in common that differ in nothing but their numbers."""
    look = term.sign, term.text, term.kept is None, term.values.shape[1:], term.values.dtype
    return *look, *map(form_of, term.parts)


def joined(terms: Sequence[Term]) -> Term:
    """The arithmetic of all cells of terms of one form."""
    if len(terms) == 1:
        return terms[0]
    kept = None if terms[0].kept is None else np.concatenate([term.kept for term in terms])
    parts = tuple(map(joined, zip(*(term.parts for term in terms), strict=True)))
    return Term(terms[0].sign, np.concatenate([term.values for term in terms]), parts, None, kept, terms[0].text)


def write_lines(term: Term) -> list[str]:
    """The line of each cell, such as "0.55·0.3367 + 0.87·0.2345 ≈ 0.3892", in as few digits as make it true."""
    if term.sign == "number":
        return [digits(value, 4) for value in term.numbers]
    here, waiting = flat(term), list(range(term.values.size))
    lines = [""] * len(waiting)
    with np.errstate(all="ignore"):
        for n, r in DIGITS:
            results, true, exact = judged(here, n, r)
            found = np.flatnonzero(true)
            if not len(found):
                continue
            texts, _ = texts_of(taken(here, found), n)
            for place, text in zip(found.tolist(), texts, strict=True):
                line = f"{text} {'=' if exact[place] else '≈'} {results[place]}"
                lines[waiting[place]] = "0" if line == "0 = 0" else line  # a sum without terms
            left = np.flatnonzero(~true)
            here, waiting = taken(here, left), [waiting[place] for place in left.tolist()]
            if not waiting:
                break
        else:  # where larger numbers cancel, what is left is no more than rounding
            texts, _ = texts_of(here, 17)
            for place, text, value, noise in zip(waiting, texts, here.numbers, rounding(here).tolist(), strict=True):
                decimals = max(1, min(12, math.floor(-math.log10(noise)) - 1)) if noise else 12
                lines[place] = f"{text} ≈ {f'{round(value, decimals) + 0.0:.{decimals}f}'.replace('-', '−')}"
    return lines


def judged(term: Term, n: int, r: int) -> tuple[list[str], np.ndarray, list[bool]]:
    """With n digits, and r of the result: the results; where a reader would find them; and where nothing is rounded."""
    values, (found, exact) = term.values, computed(term, n)
    results = [digits(value, r) for value in term.numbers]
    shown = as_printed(values, r)
    off = np.where(np.isfinite(values), np.abs(found - shown), 0.0)
    half = np.array([half_unit(result) for result in results])
    noise, few = rounding(term), n <= 12  # of 17 digits the last ones are rounded, so that nothing is exact
    true = (off + noise < half * (1 - 1e-9)) | (few & (half == 0) & (off <= noise))
    least = noise + 4e-16 * np.abs(values)
    whole = few & exact & (np.abs(shown - values) <= least)
    # Rounding changes nothing in the largest of some numbers, nor where −∞ makes it 0.
    if term.sign == "max":
        whole = np.full(values.shape, True)
    elif (nothing := values == 0).any():
        whole |= nothing & hides(term)
    return results, true, (whole & ((off <= least) | ~np.isfinite(values))).tolist()


def rounding(term: Term) -> np.ndarray:
    """How far the numbers may be off because a computer adds up with 16 digits: much, where large numbers cancel."""
    sizes = [np.abs(part.values) for part in term.parts]
    if term.sign in ("+", "−"):
        if term.kept is not None:
            sizes[0] = np.where(term.kept, sizes[0], 0).sum(axis=-1)
        noise = 1e-15 * functools.reduce(np.add, sizes)
    elif term.sign == "·":
        noise = rounding(term.parts[0]) * sizes[1] + sizes[0] * rounding(term.parts[1])
    elif term.sign == "÷":
        noise = rounding(term.parts[0]) / sizes[1]
    else:
        noise = np.zeros(term.values.shape)
    return np.nan_to_num(noise, posinf=0.0)


def hides(term: Term) -> np.ndarray:
    """True where −∞ in an exponent, or a factor 0, makes it 0, whatever the other numbers are."""
    if term.sign == "number":
        return term.values == -math.inf
    if term.sign == "·":
        return np.any([part.values == 0 for part in term.parts], axis=0)
    first = term.parts[0] if term.parts else None
    if first is None or first.values.ndim > term.values.ndim:
        return np.zeros(term.values.shape, bool)
    return hides(first)


def taken(term: Term, places: np.ndarray) -> Term:
    """The same arithmetic for some of its cells, in their order, where these stand in one row."""
    return term if len(places) == len(term.values) else rearranged(term, lambda numbers: numbers[places])


def flat(term: Term) -> Term:
    """The same arithmetic with all cells in one row."""
    axes = term.values.ndim
    return term if axes == 1 else rearranged(term, lambda numbers: numbers.reshape(-1, *numbers.shape[axes:]))


def rearranged(term: Term, move: Callable[[np.ndarray], np.ndarray]) -> Term:
    """The same arithmetic with its cells in another order."""
    cells = None if term.cells is None else Cells(term.cells.array, move(term.cells.at))
    kept = None if term.kept is None else move(term.kept)
    parts = tuple(rearranged(part, move) for part in term.parts)
    return Term(term.sign, move(term.values), parts, cells, kept, term.text)
