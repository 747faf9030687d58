"""How a number is written in a cell, and how many travel to the browser."""

import base64

import numpy as np

from lessons.screen import localised, power_of_ten


def sent_as_text(numbers: np.ndarray) -> str:
    """Return numbers as a text of 32 bits each, which the browser turns into numbers again."""
    return base64.b64encode(numbers.astype("<f4").tobytes()).decode()


def cell_text(value: float) -> str:
    """The number as it fits a cell: two decimals, one from 10 on, none from 100 on, then powers of ten."""
    size = abs(value)
    digits = f"{value:.2f}" if size < 9.995 else f"{value:.1f}" if size < 99.95 else f"{value:.0f}"
    if size >= 9999.5:
        digits = f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
    return signed_digits(value, digits)


def short_text(value: float) -> str:
    """The number where two decimals and a sign would not fit its cell: one decimal, none from 10 on."""
    return signed_digits(value, f"{value:.1f}" if abs(value) < 9.95 else f"{value:.0f}")


def signed_digits(value: float, digits: str) -> str:
    """Digits as a cell has them: with a minus sign, which 0 never has, in the way of the language."""
    signed = float(value) and digits.strip("-0.")
    return localised(digits.replace("-", "−") if signed else digits.removeprefix("-"))


def tiny_text(value: float) -> str:
    """The number as it fits a cell, where small ones count: what two decimals would hide is a power of ten, and only 0
    itself reads 0.
    """
    if 0 < abs(value) < 0.005:
        return localised(power_of_ten(value))
    return cell_text(value) if value else "0"
