"""Printed lines of arithmetic, evaluated with a parser and an interval arithmetic that share nothing with the product.

A printed number with decimals stands for all numbers within half a unit of its last digit; a whole number for itself.
A line is right when all of this holds:

    computed again in decimals from exactly what is printed, the result is off by no more than half a unit of its last
    digit; after "=", by nothing
    the interval of the result holds the value that was computed
    the interval of the arithmetic holds it, too; its ends are rounded outwards, in proportion to what was added up
"""

import math
import re
from decimal import Context, Decimal, localcontext
from typing import NamedTuple

DECIMALS = Context(prec=40, traps=[])
ROUNDED = 1e-14  # the share of a number by which a computation with 16 digits may be off


class Interval(NamedTuple):
    """What a printed expression may stand for, and what it is when its digits are taken as they are."""

    low: float
    exact: Decimal
    high: float


def rounded(a: Interval, size: float = 0.0) -> Interval:
    """An interval whose ends are rounded outwards, as far as numbers of such a size have rounding errors."""
    low, high = (ROUNDED * max(size, abs(end)) if math.isfinite(end) else 0.0 for end in (a.low, a.high))
    return Interval(a.low - low, a.exact, a.high + high)


TOKEN = re.compile(
    r"\s*(the other \d+:|\d+(?:\.\d+)?(?:·10\^\(−?\d+\))?|∞|e\^\(|√\d+|[a-zln√]+\(|and|or|not|[-+−·÷^()\[\],><≥≤=≠])"
)


def times(a, b):
    return type(a)(0) if a == 0 or b == 0 else a * b


def product(a: Interval, b: Interval) -> Interval:
    ends = [times(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return rounded(Interval(min(ends), times(a.exact, b.exact), max(ends)))


def inverse(a: Interval) -> Interval:
    exact = 1 / a.exact if a.exact else Decimal("nan")
    if a.low <= 0 <= a.high:
        return Interval(-math.inf, exact, math.inf)
    return Interval(1 / a.high, exact, 1 / a.low)


def power(a: Interval, b: Interval) -> Interval:
    if a.low == a.high > 1:  # such as 10000^(−0.5)
        return rounded(Interval(a.low**b.low, a.exact**b.exact, a.low**b.high))
    if b.exact != 2 or b.low != b.high:
        raise SyntaxError("only squares, and powers of a whole number, are expected")
    square = product(a, a)
    return Interval(max(0.0, square.low), square.exact, square.high)


def truth(sign: str, a: Interval, b: Interval) -> Interval:
    test = {
        ">": float.__gt__,
        "≥": float.__ge__,
        "<": float.__lt__,
        "≤": float.__le__,
        "=": float.__eq__,
        "≠": float.__ne__,
    }
    if sign in test:
        here = test[sign](float(a.exact), float(b.exact))
        apart = a.high < b.low or b.high < a.low or (a.low == a.high == b.low == b.high)
        return certain(here) if apart else Interval(0.0, Decimal(here), 1.0)
    return certain(bool(a.exact) and bool(b.exact) if sign == "and" else bool(a.exact) or bool(b.exact))


def certain(number) -> Interval:
    return Interval(float(number), Decimal(number), float(number))


def rising(f, exact, a: Interval) -> Interval:
    return rounded(Interval(f(a.low), exact(a.exact), f(a.high)))


def in_sixteen_digits(f):
    return lambda x: Decimal(f(float(x)))


def wave(f, a: Interval) -> Interval:
    width, here = (a.high - a.low) / 2, f(float(a.exact))
    return rounded(Interval(max(-1, here - width), Decimal(here), min(1, here + width)), size=1.0)


FUNCTIONS = {
    "e^(": lambda a: rising(math.exp, Decimal.exp, a),
    "tanh(": lambda a: rising(math.tanh, in_sixteen_digits(math.tanh), a),
    "ln(": lambda a: rising(lambda x: math.log(x) if x > 0 else -math.inf, Decimal.ln, a),
    "√(": lambda a: rising(lambda x: math.sqrt(max(x, 0)), Decimal.sqrt, a),
    "sin(": lambda a: wave(math.sin, a),
    "cos(": lambda a: wave(math.cos, a),
    "max(": lambda *a: Interval(*(max(column) for column in zip(*a, strict=True))),
}


def number(text: str) -> Interval:
    if text == "∞":
        return certain(math.inf)
    mantissa, _, exponent = text.partition("·10^(")
    scale = 10.0 ** int(exponent.rstrip(")").replace("−", "-")) if exponent else 1.0
    half = 0.5 * 10.0 ** -len(mantissa.partition(".")[2]) if "." in mantissa else 0.0
    value = float(mantissa)
    return Interval(
        (value - half) * scale,
        Decimal(f"{mantissa}e{exponent.rstrip(')').replace('−', '-') or 0}"),
        (value + half) * scale,
    )


class Parser:
    """One printed expression."""

    def __init__(self, text: str):
        self.tokens, at = [], 0
        while at < len(text.rstrip()):
            found = TOKEN.match(text, at)
            if not found:
                raise SyntaxError(f"cannot read {text[at:]!r} in {text!r}")
            self.tokens.append(found[1])
            at = found.end()
        self.at, self.numbers, self.others = 0, [], []

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str | None = None) -> str:
        token = self.peek()
        if expected is not None and token != expected:
            raise SyntaxError(f"{expected!r} expected, but there is {token!r} in {' '.join(self.tokens)}")
        self.at += 1
        return token

    def whole(self) -> Interval:
        result = self.sum()
        if self.peek():
            raise SyntaxError(f"{self.peek()!r} is left over in {' '.join(self.tokens)}")
        return result

    def sum(self) -> Interval:
        total = self.product()
        while self.peek() in ("+", "−"):
            sign = self.take()
            term = self.product()
            term = term if sign == "+" else Interval(-term.high, -term.exact, -term.low)
            size = max((abs(x) for x in (*total, *term) if math.isfinite(x)), default=0.0)
            total = rounded(Interval(*(a + b for a, b in zip(total, term, strict=True))), float(size))
        return total

    def product(self) -> Interval:
        result = self.power()
        while self.peek() in ("·", "÷"):
            sign = self.take()
            factor = self.power()
            if sign == "÷":
                exact = result.exact / factor.exact if factor.exact else Decimal("nan")
                result = product(result, inverse(factor))._replace(exact=exact)
            else:
                result = product(result, factor)
        return result

    def power(self) -> Interval:
        base = self.atom()
        if self.peek() == "^":
            self.take()
            base = power(base, self.atom())
        return base

    def atom(self) -> Interval:
        token = self.take()
        if token == "−":
            inner = self.power()
            return Interval(-inner.high, -inner.exact, -inner.low)
        if token.startswith("the other"):
            self.others.append(int(token.split()[2].rstrip(":")))
            return self.power()
        if re.fullmatch(r"√\d+", token):
            root = math.sqrt(int(token[1:]))
            return Interval(root, Decimal(token[1:]).sqrt(), root)
        if token == "(":
            inner = self.sum()
            self.take(")")
            return inner
        if token == "[":
            if self.peek() == "not":
                self.take()
                inner = self.power()
                self.take("]")
                return Interval(1 - inner.high, 1 - inner.exact, 1 - inner.low)
            left, sign, right = self.sum(), self.take(), self.sum()
            self.take("]")
            return truth(sign, left, right)
        if token in FUNCTIONS:
            arguments = [self.sum()]
            while self.peek() == ",":
                self.take()
                arguments.append(self.sum())
            self.take(")")
            return FUNCTIONS[token](*arguments)
        result = number(token)
        self.numbers.append(result)
        return result


EQUALS = re.compile(r" ([=≈]) (?=(?:not a number|[−\d.∞·10^()]+)$)")


def wrong(text: str, value: float) -> str | None:
    """What is wrong with a line for a number of this value, or None."""
    with localcontext(DECIMALS):
        return wrong_in_decimals(text, value)


LEAST_DOUBLE = Decimal("4.94e-324")  # above 0


def wrong_in_decimals(text: str, value: float) -> str | None:
    left, sign, right = EQUALS.split(text) if EQUALS.search(text) else (text, "", text)
    if math.isnan(value):
        return None if right == "not a number" else "not a number"
    try:
        said, result = Parser(left).whole(), Parser(right).whole()
    except (SyntaxError, ValueError, TypeError, ZeroDivisionError) as problem:
        return f"unreadable: {problem}"
    if math.isinf(value):
        return None if said.exact == result.exact == value else "infinite"
    wide = rounded(result)
    if not wide.low <= value <= wide.high:
        return "the value is not within half a unit of the printed result"
    if value == 0 and sign != "=" and abs(said.exact) < LEAST_DOUBLE / 2:
        return None  # no double is nearer
    half = 0 if sign == "=" else Decimal((result.high - result.low) / 2)
    if not abs(said.exact - result.exact) <= half + abs(result.exact) * Decimal("1e-15"):
        return "computed again from the printed digits, another result comes out"
    if not said.low <= value <= said.high:
        return "the interval of the arithmetic does not hold the value"
    return None
