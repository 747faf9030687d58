"""Lines of arithmetic: how they are written, and whether what is written is exact.

All numbers of a line stand in it with as few digits as it takes for a reader who computes with them, as they are
printed, to come to the result, right to its last digit. “=” stands where that holds exactly, and “≈” everywhere else.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import lru_cache, partial
from typing import NamedTuple, Union

FEWEST_DECIMALS, FEWEST_DIGITS = 4, 4
OWN_ERROR = 1.2e-7  # of single precision: numbers that differ by less, relative to their size, are the same number
MANY = 10  # digits more, and the last ones of a number that is as good as a round one count, too
AS_PRINTED = Context(prec=50, traps=[])  # without traps 0 ÷ 0 is no error, but not a number
Number_ = Union[int, float, "Arithmetic"]


class Spelled(NamedTuple):
    """Arithmetic as it is printed: how strongly it holds together, what it comes to, and whether its numbers are exact.

    What holds together less than its place demands stands there in parentheses. `unit` is that of the last digit.
    """

    text: str
    strength: int
    value: Decimal
    exact: bool
    unit: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Signs and numbers, put together with Python's own signs: `term(a) * b + power(c)`."""

    sign: str
    parts: tuple["Arithmetic", ...] = ()
    value: float = 0.0  # of a number, which has no parts

    def __add__(self, other: Number_) -> "Arithmetic":
        return sum_of((*(self.parts if self.sign == "+" else (self,)), other))

    def __sub__(self, other: Number_) -> "Arithmetic":
        return Arithmetic("−", (self, term(other)))

    def __mul__(self, other: Number_) -> "Arithmetic":
        return Arithmetic("·", (self, term(other)))

    def __truediv__(self, other: Number_) -> "Arithmetic":
        return Arithmetic("÷", (self, term(other)))

    def __pow__(self, other: Number_) -> "Arithmetic":
        return Arithmetic("^", (self, term(other)))

    def __str__(self) -> str:
        return spell(self).text


def term(value: Number_) -> Arithmetic:
    """A number as a part of arithmetic; an integer counts something and has no decimals."""
    if isinstance(value, Arithmetic):
        return value
    return Arithmetic("", (), value if isinstance(value, int) else float(value))


def power(exponent: Number_) -> Arithmetic:
    """e to this number."""
    return Arithmetic("e^", (term(exponent),))


def root(value: int) -> Arithmetic:
    """The square root of this number."""
    return Arithmetic("√", (term(value),))


def divided(value: Number_, divisor: str | None) -> Arithmetic:
    """A number divided by what is written so: a root such as √2, or 1; by nothing where it is None."""
    if divisor is None:
        return term(value)
    return term(value) / (root(int(divisor[1:])) if divisor.startswith("√") else int(divisor))


def sum_of(terms: Iterable[Number_]) -> Arithmetic:
    """`a + b + …`; of no terms, 0."""
    parts = tuple(map(term, terms))
    return Arithmetic("+", parts) if len(parts) > 1 else parts[0] if parts else term(0)


def sum_of_products(left: Sequence[float], right: Sequence[float]) -> Arithmetic:
    """`a·b + c·d + …` with every term."""
    return sum_of(term(a) * b for a, b in zip(left, right, strict=True))


# How it is printed.


def digits(value: float, more: int = 0) -> str:
    """The number with four decimals and at least four significant digits, and so many `more`.

    Zeros end it only where it is rounded: 5.0000 is about 5, and 5 is 5.
    """
    return spell_number(value, more).text


@lru_cache(maxsize=16384, typed=True)  # an entry of X stands in every product of its row
def spell_number(value: float, more: int = 0) -> Spelled:
    """A number with so many digits more than the fewest, or less."""
    if math.isnan(value):
        return Spelled("not a number", 9, Decimal("NaN"), True)
    if math.isinf(value) or isinstance(value, int):
        text = f"{value}".replace("inf", "∞")
        return signed(text, Decimal(value), True, Decimal(0))
    if 0 < more < MANY and (fewest := spell_number(value)).exact:
        return fewest
    size = abs(value)
    scientific = bool(size) and not 1e-4 <= size < 1e6
    decimals = (
        FEWEST_DIGITS - 1
        if scientific
        else (max(FEWEST_DECIMALS, FEWEST_DIGITS - 1 - math.floor(math.log10(size))) if size else FEWEST_DECIMALS)
    )
    text = f"{value or 0.0:.{max(1, decimals + more)}{'e' if scientific else 'f'}}"
    printed = Decimal(text)
    mantissa, _, exponent = text.partition("e")
    unit = Decimal(1).scaleb(printed.as_tuple().exponent)
    if exact := math.isclose(float(text), value, rel_tol=OWN_ERROR):
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return signed(f"{mantissa}·10^({int(exponent)})" if scientific else mantissa, printed, exact, unit)


def signed(text: str, value: Decimal, exact: bool, unit: Decimal) -> Spelled:
    """A printed number with a true minus sign; one that begins with it, or is a product, does not hold together."""
    strength = 0 if text.startswith("-") else 3 if "·" in text else 9
    return Spelled(text.replace("-", "−"), strength, value, exact, unit)


def chained(apply: Callable[[Decimal, Decimal], Decimal], *values: Decimal) -> Decimal:
    """One after the other, from the left."""
    total, *rest = values
    for value in rest:
        total = apply(total, value)
    return total


class Sign(NamedTuple):
    """How a sign is written, how strong its first and its other parts must be and it is itself; and what it does."""

    mark: str
    first: int
    others: int
    strength: int
    compute: Callable[..., Decimal]


SIGNS = {
    "+": Sign(" + ", 0, 1, 1, partial(chained, AS_PRINTED.add)),
    "−": Sign(" − ", 0, 2, 1, partial(chained, AS_PRINTED.subtract)),
    "·": Sign("·", 3, 4, 3, partial(chained, AS_PRINTED.multiply)),
    "÷": Sign(" ÷ ", 3, 4, 3, partial(chained, AS_PRINTED.divide)),
    "^": Sign("^", 6, 9, 5, partial(chained, AS_PRINTED.power)),
}
CALLED = {"e^": ("e^({})", AS_PRINTED.exp), "√": ("√{}", AS_PRINTED.sqrt)}


def spell(arithmetic: Arithmetic, more: int = 0) -> Spelled:
    """Arithmetic with so many digits more than the fewest."""
    if not arithmetic.parts:
        return spell_number(arithmetic.value, more)
    parts = [spell(part, more) for part in arithmetic.parts]
    exact, values = all(part.exact for part in parts), [part.value for part in parts]
    if arithmetic.sign in CALLED:
        called, compute = CALLED[arithmetic.sign]
        return Spelled(called.format(parts[0].text), 9, compute(*values), exact)
    sign = SIGNS[arithmetic.sign]
    texts = [bracketed(part, sign.others if place else sign.first) for place, part in enumerate(parts)]
    return Spelled(sign.mark.join(texts), sign.strength, sign.compute(*values), exact)


def bracketed(part: Spelled, least: int) -> str:
    """In parentheses where it holds together less than it must, and where a minus would follow a sign."""
    return part.text if part.strength >= least else f"({part.text})"


# Digits more of the numbers, and of the result: where large numbers cancel, fewer of the result will do.
TRIES = tuple(
    (more, result)
    for more in (0, 1, 2, 3, 4, 6, 8, 10, 13)
    for result in (0, -1, -2, -3)
    if -result <= (0 if more < 2 else more - 1)
)
DECIMALS_LEFT = range(6, -1, -1)  # decimals of a result that is no more than what rounding leaves


def line(arithmetic: Arithmetic, value: float) -> str:
    """The arithmetic, “=” or “≈”, and its result; where there is nothing to compute, the number alone."""
    if not arithmetic.parts:
        return digits(value)
    for more, less in TRIES:
        spelled, result = spell(arithmetic, more), spell_number(value, less)
        if comes_to(spelled, result):
            break
    else:
        spelled, result = spell(arithmetic, TRIES[-1][0]), rounded_away(spelled, value)
    exact = spelled.exact and result.exact and spelled.value == result.value
    return f"{spelled.text} {'=' if exact else '≈'} {result.text}"


def comes_to(spelled: Spelled, result: Spelled) -> bool:
    """True where what is printed gives the printed result, to its last digit."""
    if spelled.value.is_nan() or spelled.value.is_infinite() or result.value.is_infinite():
        return spelled.value.is_nan() or spelled.value == result.value
    off = AS_PRINTED.abs(AS_PRINTED.subtract(spelled.value, result.value))
    return off <= result.unit / 2


def rounded_away(spelled: Spelled, value: float) -> Spelled:
    """The result where larger numbers cancel, with as many decimals as its arithmetic confirms."""
    for decimals in DECIMALS_LEFT:
        printed = Decimal(f"{value:.{decimals}f}")
        text = f"{printed if printed else abs(printed):f}"
        result = signed(text, printed, False, Decimal(1).scaleb(-decimals))
        if comes_to(spelled, result):
            break
    return result
