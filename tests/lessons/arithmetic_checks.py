"""Whether a printed line of arithmetic gives its result, computed again from what is printed and nothing else."""

import re
from decimal import Context, Decimal

from printed_lines import wrong

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


def evaluates(step):
    """A step of a derivation: its line comes to its value."""
    return wrong(step.text, step.value) is None
