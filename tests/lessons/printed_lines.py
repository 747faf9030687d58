"""Printed lines of arithmetic, evaluated with a parser and an interval arithmetic that share nothing with the product.

A printed number with decimals stands for all numbers within half a unit of its last digit; a whole number for itself.
A line is right when all of this holds:

    computed again from exactly what is printed, the result is off by no more than half a unit of its last digit;
    after "=", by nothing
    the interval of the result holds the value that was computed
    the interval of the arithmetic holds it, too
"""

import math
import re
from typing import NamedTuple


class Interval(NamedTuple):
    """What a printed expression may stand for, and what it is when its digits are taken as they are."""

    low: float
    exact: float
    high: float


TOKEN = re.compile(
    r"\s*(the other \d+:|\d+(?:\.\d+)?(?:·10\^\(−?\d+\))?|∞|e\^\(|√\d+|[a-zln√]+\(|and|or|not|[-+−·÷^()\[\],><≥≤=≠])"
)


def times(a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else a * b


def product(a: Interval, b: Interval) -> Interval:
    ends = [times(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return Interval(min(ends), times(a.exact, b.exact), max(ends))


def inverse(a: Interval) -> Interval:
    if a.low <= 0 <= a.high:
        return Interval(-math.inf, 1 / a.exact if a.exact else math.nan, math.inf)
    return Interval(1 / a.high, 1 / a.exact, 1 / a.low)


def power(a: Interval, b: Interval) -> Interval:
    if a.low == a.exact == a.high > 1:  # such as 10000^(−0.5)
        return Interval(*(a.exact**exponent for exponent in b))
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
        here = float(test[sign](float(a.exact), float(b.exact)))
        apart = a.high < b.low or b.high < a.low or (a.low == a.high == b.low == b.high)
        return Interval(here, here, here) if apart else Interval(0.0, here, 1.0)
    here = float(bool(a.exact) and bool(b.exact)) if sign == "and" else float(bool(a.exact) or bool(b.exact))
    return Interval(here, here, here)


def rising(f, a: Interval) -> Interval:
    return Interval(*map(f, a))


def wave(f, a: Interval) -> Interval:
    width = (a.high - a.low) / 2
    return Interval(max(-1, f(a.exact) - width), f(a.exact), min(1, f(a.exact) + width))


FUNCTIONS = {
    "e^(": lambda a: rising(math.exp, a),
    "tanh(": lambda a: rising(math.tanh, a),
    "ln(": lambda a: rising(lambda x: math.log(x) if x > 0 else -math.inf, a),
    "√(": lambda a: rising(lambda x: math.sqrt(max(x, 0)), a),
    "sin(": lambda a: wave(math.sin, a),
    "cos(": lambda a: wave(math.cos, a),
    "max(": lambda *a: Interval(*(max(column) for column in zip(*a, strict=True))),
}


def number(text: str) -> Interval:
    if text == "∞":
        return Interval(math.inf, math.inf, math.inf)
    mantissa, _, exponent = text.partition("·10^(")
    scale = 10.0 ** int(exponent.rstrip(")").replace("−", "-")) if exponent else 1.0
    half = 0.5 * 10.0 ** -len(mantissa.partition(".")[2]) if "." in mantissa else 0.0
    value = float(mantissa)
    return Interval(
        (value - half) * scale,
        float(f"{mantissa}e{exponent.rstrip(')').replace('−', '-') or 0}"),
        (value + half) * scale,
    )


class Parser:
    """One printed expression; `largest` is the size of the largest number in it."""

    def __init__(self, text: str):
        self.tokens, at = [], 0
        while at < len(text.rstrip()):
            found = TOKEN.match(text, at)
            if not found:
                raise SyntaxError(f"cannot read {text[at:]!r} in {text!r}")
            self.tokens.append(found[1])
            at = found.end()
        self.at, self.largest, self.numbers, self.others = 0, 1.0, [], []

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
            total = Interval(*(a + b for a, b in zip(total, term, strict=True)))
        return total

    def product(self) -> Interval:
        result = self.power()
        while self.peek() in ("·", "÷"):
            sign = self.take()
            factor = self.power()
            if sign == "÷":
                exact = result.exact / factor.exact if factor.exact else math.nan
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
            return Interval(root, root, root)
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
        if math.isfinite(result.exact):
            self.largest = max(self.largest, abs(result.exact))
        return result


EQUALS = re.compile(r" ([=≈]) (?=(?:not a number|[−\d.∞·10^()]+)$)")


def wrong(text: str, value: float) -> str | None:
    """What is wrong with a line for a number of this value, or None."""
    left, sign, right = EQUALS.split(text) if EQUALS.search(text) else (text, "", text)
    if math.isnan(value):
        return None if right == "not a number" else "not a number"
    try:
        parser = Parser(left)
        said, result = parser.whole(), Parser(right).whole()
    except (SyntaxError, ValueError, TypeError, ZeroDivisionError) as problem:
        return f"unreadable: {problem}"
    noise = 1e-12 * parser.largest**2
    if math.isinf(value):
        return None if said.exact == result.exact == value else "infinite"
    if not result.low - noise <= value <= result.high + noise:
        return "the value is not within half a unit of the printed result"
    half = (result.high - result.low) / 2
    if not abs(said.exact - result.exact) <= (0 if sign == "=" else half) + noise:
        return "computed again from the printed digits, another result comes out"
    if not said.low - noise <= value <= said.high + noise:
        return "the interval of the arithmetic does not hold the value"
    return None
