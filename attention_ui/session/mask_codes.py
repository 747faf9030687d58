"""A mask drawn by hand as a short text for a link, and back."""

from jaxtyping import Bool
from torch import Tensor

from attention_core.base.errors import InputError
from attention_core.one_head.masks import drawn_mask


def mask_code(rows: list[list[bool]]) -> str:
    """A mask as a short text for a link: one hexadecimal number for each row, a 1 for each key that may be seen.

    The first key is the leftmost binary digit: with 3 tokens, the causal mask is "4-6-7".
    """
    return "-".join(f"{int(''.join(str(int(may)) for may in row), base=2):x}" for row in rows)


def mask_from_code(code: str, n_tokens: int) -> Bool[Tensor, "queries keys"]:
    """The mask with this code. Raises ValueError for what is no code, or the code of another number of tokens."""
    rows = code.strip().lower().split("-")
    if not all(1 <= len(row) <= 8 and set(row) <= set("0123456789abcdef") for row in rows):
        raise InputError(
            "a mask code has one number for each row, written with the digits 0 to 9 and a to f, and - "
            "between the numbers"
        )
    numbers = [int(row, base=16) for row in rows]
    if len(rows) != n_tokens:
        raise InputError(
            "a mask has a row for each token, {n_tokens} in all, but the code describes {n_rows}",
            n_tokens=n_tokens,
            n_rows=len(rows),
        )
    if max(numbers) >= 2**n_tokens:
        raise InputError("a row of the code has more keys than there are tokens, {n_tokens}", n_tokens=n_tokens)
    return drawn_mask([[digit == "1" for digit in f"{number:0{n_tokens}b}"] for number in numbers])
