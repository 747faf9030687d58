"""Whether a line of arithmetic gives its value."""

import math
import re


def evaluate(text):
    """The value of a line's arithmetic, with nothing but Python's own mathematics."""
    python = re.sub(r"√(\d+)", r"sqrt(\1)", text.replace("e^(", "exp("))
    for sign, meaning in {"^": "**", "·": "*", "÷": "/", "−": "-", "∞": "inf"}.items():
        python = python.replace(sign, meaning)
    assert re.fullmatch(r"(?:exp|sqrt|inf|[\d.+*/() -])*", python), python
    return eval(python, {"__builtins__": {}, "exp": math.exp, "sqrt": math.sqrt, "inf": math.inf})


def is_right(line):
    """Whether the arithmetic gives the value, but for the rounding of the numbers that are shown."""
    found = evaluate(line.text)
    return found == line.value or abs(found - line.value) <= 2e-3 + 2e-3 * abs(line.value)


def evaluates(step):
    """The same for a step of a derivation; what has no value, such as 0 ÷ 0, is said to have none."""
    if math.isnan(step.value):
        return step.arithmetic in ("0 ÷ 0", "not a number")
    found = evaluate(step.arithmetic)
    return found == step.value or abs(found - step.value) <= 2e-3 + 2e-3 * abs(step.value)
