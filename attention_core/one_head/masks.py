"""Masks: True where the query of the row may attend to the key of the column.

PyTorch's `scaled_dot_product_attention` reads a boolean mask in the same sense; `nn.MultiheadAttention` reads it in the
opposite one (True blocks). Masks of this kind combine with `&`.
"""

from jaxtyping import Bool

from attention_core.base.arrays import Array, namespace
from attention_core.base.errors import InputError, TechnicalError
from attention_core.base.inputs import check_whole, is_whole, shown


def full_mask(n_tokens: int, like: Array | None = None) -> Bool[Array, "queries keys"]:
    """Return a mask that lets every query attend to every key, in the library of `like`; without it, torch's.

    Raises InputError unless the number of tokens is whole and not below 0.
    """
    check_whole("n_tokens", n_tokens, least=0)
    xp = namespace(like)
    return xp.ones((n_tokens, n_tokens), dtype=xp.bool)


def causal_mask(n_tokens: int, like: Array | None = None) -> Bool[Array, "queries keys"]:
    """Return a mask that lets each token attend to itself and to earlier tokens: key j ≤ query i.

    The library is that of `like`; without it, torch's. Raises InputError as `full_mask` does.
    """
    return namespace(like).tril(full_mask(n_tokens, like))


def sliding_window_mask(n_tokens: int, width: int) -> Bool[Array, "queries keys"]:
    """Return a mask that lets each token attend to those less than `width` positions away, on both sides.

    `sliding_window_mask(n, w) & causal_mask(n)` leaves the last w tokens. Raises InputError when the width is less than
    1, which would hide every key.
    """
    if not (is_whole(width) and width >= 1):
        raise InputError(
            "a window needs a width of at least 1, but got {width}; to let every key be seen, use full_mask",
            width=width,
        )
    return full_mask(n_tokens).triu(1 - width).tril(width - 1)


def padding_mask(n_tokens: int, n_real: int) -> Bool[Array, "queries keys"]:
    """Return a mask that hides padding, which fills the positions from `n_real` on, from every query.

    Raises InputError unless 1 ≤ n_real ≤ n_tokens.
    """
    if not (is_whole(n_real) and 1 <= n_real <= n_tokens):
        raise InputError(
            "a padded sentence has at least 1 real token, and at most {n_tokens}, its whole length, but got {n_real}",
            n_tokens=n_tokens,
            n_real=n_real,
        )
    return full_mask(n_tokens) & (namespace(None).arange(n_tokens) < n_real)


def drawn_mask(rows: list[list[bool]]) -> Bool[Array, "queries keys"]:
    """Return a mask drawn by hand, given as one list of cells for each query.

    Raises InputError unless it is square, its cells are True or False (or 1 and 0), and each query may attend to a key.
    """
    sizes = {len(row) for row in rows}
    if sizes != {len(rows)}:
        raise TechnicalError(
            "a mask for {n} tokens needs {n} cells in every row, but got {sizes}", n=len(rows), sizes=str(sorted(sizes))
        )
    for query, row in enumerate(rows):
        if wrong := [cell for cell in row if cell not in (0, 1)]:
            raise TechnicalError("a cell of a mask is True or False, but got {cell}", cell=shown(wrong[0]))
        if not any(row):
            raise InputError("query {query} has no key to look at; allow it at least one", query=query + 1)
    xp = namespace(None)
    return xp.asarray(rows, dtype=xp.bool)  # also where it was drawn with 0 and 1
