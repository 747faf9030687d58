"""Whether a printed line of arithmetic gives its result, computed again from what is printed and nothing else."""

import math
import re
from decimal import Context, Decimal

from printed_lines import wrong

from lessons.screen.format import equation
from lessons.screen.screen import TracedLine

EXACTLY = Context(prec=40, traps=[])
NUMBER = re.compile(r"\d+(?:\.\d+)?")
PRINTED = re.compile(r"−?\d+(?:\.\d+)?(?:·10\^\(−?\d+\))?|−?∞")
SINGLE_PRECISION = 1.2e-7


class Printed:
    """A printed number, with which Python can compute in decimals."""

    def __init__(self, text):
        self.value = Decimal(text)

    def by(method):
        return lambda self, *others: Printed(getattr(EXACTLY, method)(self.value, *(other.value for other in others)))

    __add__, __sub__, __mul__, __truediv__ = by("add"), by("subtract"), by("multiply"), by("divide")
    __pow__, __neg__, exp, root = by("power"), by("minus"), by("exp"), by("sqrt")


def largest(*numbers):
    return max(numbers, key=lambda number: number.value)


def computed(text):
    """What arithmetic comes to, in decimals: 0.1 + 0.2 is 0.3."""
    for sign, meaning in {"^": "**", "·": "*", "÷": "/", "−": "-"}.items():
        text = text.replace("e^(", "exp(").replace(sign, meaning)
    assert re.fullmatch(r"(?:exp|max|√|∞|[\d.,+*/() -])*", text), text
    text = re.sub(NUMBER, r"N('\g<0>')", text).replace("∞", "N('inf')")
    text = re.sub(r"√(N\('\d+'\))", r"\1.root()", text)
    return eval(text, {"__builtins__": {}, "N": Printed, "exp": Printed.exp, "max": largest}).value


def evaluate(text):
    """The same as a float."""
    return float(computed(text))


def unit(text):
    """That of the last printed digit; a number without decimals is as good as one with four."""
    mantissa, _, exponent = text.partition("·10^(")
    decimals = len(mantissa.partition(".")[2]) or 4
    return Decimal(1).scaleb(int(exponent.rstrip(")").replace("−", "-") or 0) - decimals)


def is_right(line):
    """“=” where the printed digits give exactly the printed result, “≈” where they give it to its last digit."""
    arithmetic, sign, result = re.fullmatch(r"(.*) ([=≈]) (.*)", line).groups()
    found, said = computed(arithmetic), computed(result)
    if sign == "=":
        return found == said
    return found == said or abs(EXACTLY.subtract(found, said)) <= unit(result) / 2


def leaves(arithmetic):
    """The numbers of some arithmetic, from left to right."""
    return [leaf for part in arithmetic.parts for leaf in leaves(part)] or [arithmetic.value]


def as_they_are(step, line):
    """Each number is printed rounded, or exact; and one that is no whole number does not look like one."""
    arithmetic, result = re.fullmatch(r"(?:(.*) [=≈] )?(.*)", line).groups()
    texts = PRINTED.findall((arithmetic or result).replace(" − ", " - "))
    numbers = leaves(step.arithmetic)
    assert len(texts) == len(numbers), line
    return all(map(is_number, texts, numbers)) and abs(evaluate(result) - step.value) <= float(unit(result)) * 0.51


def is_number(text, number):
    if math.isinf(number):
        return evaluate(text) == number
    exact = math.isclose(evaluate(text), number, rel_tol=SINGLE_PRECISION)
    return exact or ("." in text and abs(evaluate(text) - number) <= float(unit(text)) * 0.51)


def evaluates(step):
    """Both for a step of a derivation; what has no value, such as 0 ÷ 0, is said to have none."""
    line = equation(step)
    if isinstance(step.arithmetic, TracedLine):
        return wrong(step.arithmetic, step.value) is None
    if math.isnan(step.value):
        return line in ("0 ÷ 0 = not a number", "not a number")
    infinite = math.isinf(step.value)
    return (not step.arithmetic.parts or is_right(line)) and (infinite or as_they_are(step, line))
