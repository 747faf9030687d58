"""Checks of what is given to attention: each error says what is expected, what was given, and what to do.

The conventions are those on which ONNX's operator Attention, PyTorch's `scaled_dot_product_attention` and
FlashAttention agree: a boolean mask is True where a query may attend, a float mask is added, even one of zeros and
ones, and a soft cap of 0 is none. What they read in different ways is refused. The numbers in q, k and v are not
checked: a NaN in a query makes its row NaN, as in PyTorch, so that a model whose training has failed shows it.
"""

import math
from collections.abc import Collection, Iterable
from numbers import Integral
from typing import Any

import numpy as np

from attention_core.base.arrays import Array, namespace, numbers_of
from attention_core.base.errors import TechnicalError


def check_inputs(
    q: Array, k: Array, v: Array, may_attend: Array | None, scale: object, soft_cap: object, sink: object
) -> None:
    """Raise InputError unless `attend` can compute with these arguments."""
    check_arrays(q, k, v)
    check_shapes(q.shape, k.shape, v.shape)
    if may_attend is not None:
        check_mask(may_attend, q, k, may_see_nothing=sink is not None)
    check_scale(scale, q)
    check_soft_cap(soft_cap, q)
    if sink is not None:
        check_sink(sink, q)


def check_arrays(q: Array, k: Array, v: Array) -> None:
    """Raise InputError unless q, k and v are floating-point arrays of one library and one precision."""
    if hasattr(q, "dtype") and is_float(q) and q.dtype == getattr(k, "dtype", None) == getattr(v, "dtype", None):
        return
    for name, x in (("q", q), ("k", k), ("v", v)):
        if not hasattr(x, "dtype"):
            raise TechnicalError(
                "{name} is a NumPy array or a torch tensor, but got a {kind}; convert it, for example with np.array",
                name=name,
                kind=type(x).__name__,
            )
        if not is_float(x):
            raise TechnicalError(
                "{name} holds floating-point numbers, but its type is {kind}; convert it, for example to float32",
                name=name,
                kind=str(x.dtype),
            )
        if x.dtype != q.dtype:
            raise TechnicalError(
                "q, k and v are arrays of one library with one type of number, but q is {one} and {name} is {other}; "
                "convert one of them",
                one=described(q),
                name=name,
                other=described(x),
            )


def check_shapes(q: tuple[int, ...], k: tuple[int, ...], v: tuple[int, ...]) -> None:
    """Raise InputError unless q and k have equally many features, each key has a value, and the batch axes agree.

    There must be at least one feature and one key. The arguments are the shapes of the arrays.
    """
    if min(len(q), len(k), len(v)) < 2:
        raise TechnicalError(
            "q, k and v have a row for each token and a column for each feature, but their shapes are {q}, {k} and "
            "{v}; a single vector is written x[None]",
            q=str((*q,)),
            k=str((*k,)),
            v=str((*v,)),
        )
    if q[-1] != k[-1]:
        raise TechnicalError(
            "queries and keys need the same number of features, but q has {q} and k has {k}", q=q[-1], k=k[-1]
        )
    if q[-1] == 0:
        raise TechnicalError("queries and keys need at least one feature, but they have none")
    if k[-2] == 0:
        raise TechnicalError("every query needs at least one key it may look at, but there are no keys")
    if k[-2] != v[-2]:
        raise TechnicalError(
            "every key needs one value, but there are {keys} keys and {values} values", keys=k[-2], values=v[-2]
        )
    if not q[:-2] == k[:-2] == v[:-2]:
        raise TechnicalError(
            "q, k and v need the same axes before tokens and features, but theirs are {q}, {k} and {v}; where heads "
            "share keys and values, share_heads repeats them",
            q=str((*q[:-2],)),
            k=str((*k[:-2],)),
            v=str((*v[:-2],)),
        )


def check_mask(may_attend: Array, q: Array, k: Array, *, may_see_nothing: bool = False) -> None:
    """Raise InputError unless a mask fits the scores, is boolean or can be added, and leaves each query a key.

    With `may_see_nothing` a query may be left without any key.
    """
    if not hasattr(may_attend, "dtype"):
        raise TechnicalError(
            "a mask is an array with a row for each query and a column for each key, but got {mask}; "
            "causal_mask makes one",
            mask=shown(may_attend),
        )
    shape, scores_shape = may_attend.shape, (*q.shape[:-1], k.shape[-2])
    if shape != scores_shape[-2:] and not fits(shape, scores_shape):
        raise misfit(tuple(shape), scores_shape)
    boolean = is_boolean(may_attend)
    if of_numpy(may_attend) != of_numpy(q) or not (boolean or may_attend.dtype == q.dtype):
        raise TechnicalError(
            "a mask is boolean, or added to scores and then of their type, but q is {q} and the mask is {mask}; "
            "convert the mask",
            q=described(q),
            mask=described(may_attend),
        )
    if not boolean:
        check_added(may_attend)
    if not may_see_nothing:
        check_visible(may_attend if boolean else may_attend > -math.inf)


def check_added(mask: Array) -> None:
    """Raise InputError unless a float mask holds finite numbers, and −∞ where it hides a key."""
    below = mask < math.inf  # as NaN is not
    if not below.all():
        place = first(~below)
        raise TechnicalError(
            "a float mask is added to the scores, so it holds finite numbers, and −∞ to hide a key, but at {place} it "
            "holds {number}; replace it",
            place=str(place),
            number=str(float(mask[place])),
        )


def check_visible(visible: Array) -> None:
    """Raise InputError unless each query has a key that it may attend to: the softmax of nothing is 0/0."""
    if visible[..., 0].all():  # as under most masks, the causal one among them: one test instead of two
        return
    sees_something = visible.any(axis=-1)
    if not sees_something.all():
        *batch, query = first(~sees_something)
        if batch:
            raise TechnicalError(
                "every query needs at least one key it may look at, but the mask hides all keys from query {query} of "
                "batch entry {entry}",
                query=query,
                entry=batch[0] if len(batch) == 1 else str(tuple(batch)),
            )
        raise TechnicalError(
            "every query needs at least one key it may look at, but the mask hides all keys from query {query}",
            query=query,
        )


def is_boolean(may_attend: Array) -> bool:
    """Return whether a mask is boolean. Raises InputError for whole numbers and other types that are not floats.

    A boolean mask hides a key where it is False; a float mask is added to the scores. Whole numbers have no clear
    meaning: ONNX adds zeros and ones of any type, while models with an attention mask of whole numbers hide where there
    is a 0.
    """
    if may_attend.dtype == namespace(may_attend).bool:
        return True
    if is_float(may_attend):
        return False
    raise TechnicalError(
        "a mask is boolean, True where a query may look, or floating-point and added to the scores, but its type is "
        "{kind}; where 1 means that a query may look, write mask == 1",
        kind=str(may_attend.dtype),
    )


def misfit(shape: tuple[int, ...], scores_shape: tuple[int, ...]) -> TechnicalError:
    """Return an InputError that says why a mask does not fit: its rows and columns, or the axes before them."""
    scores, missing = str(tuple(scores_shape)), len(scores_shape) - len(shape)
    if not has_rows(shape, scores_shape):
        return TechnicalError(
            "to fit scores of shape {scores}, the mask needs {rows} rows (queries) and {columns} columns (keys), but "
            "its shape is {shape}; 1 row holds for all queries",
            scores=scores,
            rows=scores_shape[-2],
            columns=scores_shape[-1],
            shape=str(shape),
        )
    if missing > 0 and shape[:-2] == scores_shape[: len(shape) - 2]:
        return TechnicalError(
            "to fit scores of shape {scores}, the mask of shape {shape} lacks an axis for the heads; write "
            "mask[{index}]",
            scores=scores,
            shape=str(shape),
            index=", ".join([":"] * (len(shape) - 2) + ["None"] * missing),
        )
    return TechnicalError(
        "before its rows and columns, a mask has the axes of the scores (or 1, to hold for all) or none, but "
        "the scores have {axes} and the mask has {own}",
        axes=str(tuple(scores_shape[:-2])),
        own=str(shape[:-2]),
    )


def fits(shape: tuple[int, ...], scores_shape: tuple[int, ...]) -> bool:
    """Return whether the rows and columns of a mask match the scores, and its other axes broadcast over their batch."""
    return has_rows(shape, scores_shape) and repeats(shape[:-2], scores_shape[:-2])


def has_rows(shape: tuple[int, ...], scores_shape: tuple[int, ...]) -> bool:
    """Return whether a mask has a column for each key, and a row for each query or one for all, as for padding."""
    return len(shape) > 1 and shape[-2] in (1, scores_shape[-2]) and shape[-1] == scores_shape[-1]


def repeats(axes: tuple[int, ...], batch: tuple[int, ...]) -> bool:
    """Return whether an array with these axes broadcasts over a batch."""
    ends = zip(reversed(axes), reversed(batch), strict=False)
    return len(axes) <= len(batch) and all(size in (1, whole) for size, whole in ends)


def check_scale(scale: Any, q: Array) -> None:
    """Raise InputError unless the scale is None or a number that is finite in the type of q."""
    scale = numbers_of(scale)
    if scale is not None and not (is_number(scale) and abs(scale) <= largest(q)):
        raise TechnicalError(
            "scale is the finite number that multiplies the scores, or None for 1/√d_k, but got {scale}",
            scale=shown(scale),
        )


def check_soft_cap(soft_cap: Any, q: Array) -> None:
    """Raise InputError unless the soft cap is None or 0 (no cap), or a positive number that the type of q can hold."""
    soft_cap = numbers_of(soft_cap)
    if soft_cap is None or (is_number(soft_cap) and (soft_cap == 0 or smallest(q) <= soft_cap <= largest(q))):
        return
    raise TechnicalError(
        "a soft cap is a number above 0 that no score exceeds, or 0 or None for no cap, but got {cap}",
        cap=shown(soft_cap),
    )


def check_sink(sink: Any, q: Array) -> None:
    """Raise InputError unless a sink is a number below ∞, or an array of such numbers that fits the batch axes of q.

    A sink of −∞ collects nothing.
    """
    sink = numbers_of(sink)
    if not hasattr(sink, "dtype") or sink.shape == ():
        if not (is_number(sink) and (sink == -math.inf or abs(sink) <= largest(q))):
            raise TechnicalError(
                "a sink is a score: one number, or one for each head, but got {sink}", sink=shown(sink)
            )
    elif sink.dtype != q.dtype:
        raise TechnicalError(
            "sinks are scores and have the type of q, but q is {q} and the sinks are {sink}; convert them",
            q=described(q),
            sink=described(sink),
        )
    elif not repeats(tuple(sink.shape), tuple(q.shape[:-2])):
        raise TechnicalError(
            "there is one sink for all heads or one for each, but the sinks have the shape {sink} and q has the axes "
            "{axes} before its tokens",
            sink=str((*sink.shape,)),
            axes=str((*q.shape[:-2],)),
        )
    elif not (sink < math.inf).all():
        place = first(~(sink < math.inf))
        raise TechnicalError(
            "sinks are scores: numbers, or −∞ to collect nothing, but at {place} there is {number}; replace it",
            place=str(place),
            number=str(float(sink[place])),
        )


def check_past(past: tuple[Array, Array], k: Array, v: Array) -> None:
    """Raise InputError unless kept keys and values have equally many tokens and otherwise the shapes of k and v."""
    kept = tuple(x.shape[:-2] + x.shape[-1:] for x in past)
    if past[0].shape[-2] != past[1].shape[-2] or kept != (k.shape[:-2] + k.shape[-1:], v.shape[:-2] + v.shape[-1:]):
        raise TechnicalError(
            "kept keys and values have the shapes of the new ones, except for the number of tokens, which is "
            "the same for both; they are {keys} and {values}, and the new ones {k} and {v}",
            keys=str((*past[0].shape,)),
            values=str((*past[1].shape,)),
            k=str((*k.shape,)),
            v=str((*v.shape,)),
        )


def check_alike(what: str, x: Array, like: Array) -> None:
    """Raise InputError unless an array has the shape, the library and the type of number of another."""
    if getattr(x, "shape", None) != like.shape or x.dtype != like.dtype:
        raise TechnicalError(
            "{what} has the shape {shape} and is {kind}, but got {got}",
            what=what,
            shape=str((*like.shape,)),
            kind=described(like),
            got=f"{(*x.shape,)}, {described(x)}" if hasattr(x, "dtype") else shown(x),
        )


def check_gradient(d_output: Array, output: Array) -> None:
    """Raise InputError unless the gradient of an output has its shape: a smaller one would be broadcast."""
    if d_output.shape != output.shape:
        raise TechnicalError(
            "the gradient of an output of shape {output} has its shape, but got {gradient}",
            output=str((*output.shape,)),
            gradient=str((*d_output.shape,)),
        )


def check_whole(what: str, number: object, least: int) -> None:
    """Raise InputError unless a number is whole and at least `least`."""
    if not (is_whole(number) and number >= least):
        raise TechnicalError(
            "{what} is a whole number of at least {least}, but got {number}",
            what=what,
            least=least,
            number=shown(number),
        )


def check_share(what: str, number: object) -> None:
    """Raise InputError unless a number lies between 0 and 1."""
    if not (is_number(number) and 0 <= number <= 1):
        raise TechnicalError("{what} is a number from 0 to 1, but got {number}", what=what, number=shown(number))


def check_ids(ids: Array, size: int, least: int = 0) -> None:
    """Raise InputError unless ids are an array of whole numbers from `least` to size − 1.

    Used as an index, a boolean array would select rows, and −1 the last row: neither is a token.
    """
    ids = numbers_of(ids)
    if not hasattr(ids, "dtype") or not holds_ids(ids):
        raise TechnicalError(
            "ids are an array of whole numbers, in torch int32 or int64, but got {ids}; convert them",
            ids=described(ids) if hasattr(ids, "dtype") else shown(ids),
        )
    known = (ids >= least) & (ids < size)
    if not known.all():
        place = first(~known)
        raise TechnicalError(
            "ids go from {least} to {last}, but at {place} there is {number}",
            least=least,
            last=size - 1,
            place=str(place),
            number=int(ids[place]),
        )


def check_each_id(ids: Iterable[object], size: int) -> None:
    """Raise InputError unless each of several separate ids is a whole number from 0 to size − 1."""
    unknown = [i for i in ids if not (is_whole(i) and 0 <= i < size)]
    if unknown:
        raise TechnicalError("ids go from 0 to {last}, but got {number}", last=size - 1, number=shown(unknown[0]))


def check_heads(pairs: Collection[Any], n_layers: int, n_heads: int) -> None:
    """Raise InputError unless each pair is the (layer, head), counted from 0, of a head that the model has."""
    for pair in pairs:
        if not (isinstance(pair, tuple | list) and len(pair) == 2 and all(map(is_whole, pair))):
            raise TechnicalError(
                "a head is named by two whole numbers, (layer, head), but got {pair}", pair=shown(pair)
            )
        layer, head = pair
        if not (0 <= layer < n_layers and 0 <= head < n_heads):
            raise TechnicalError(
                "layers go from 0 to {layer} and heads from 0 to {head}, but got {pair}",
                layer=n_layers - 1,
                head=n_heads - 1,
                pair=shown(pair),
            )


def check_each_head(heads: Iterable[Any], n_heads: int) -> None:
    """Raise InputError unless each head is a whole number from 0 to n_heads − 1."""
    for head in heads:
        if not (is_whole(head) and 0 <= head < n_heads):
            raise TechnicalError(
                "the heads of this layer are 0 to {last}, but got {head}", last=n_heads - 1, head=shown(head)
            )


def shown(value: object) -> str:
    """Return a value as Python writes it, on one line, cut off after 60 characters."""
    line = " ".join(repr(value).split())
    return line if len(line) <= 60 else line[:59] + "…"


def is_whole(value: object) -> bool:
    """Return whether a value is one whole number, not True or False: Python's, NumPy's, or an array without axes."""
    if hasattr(value, "dtype"):
        return value.shape == () and holds_whole(value)
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Return whether a value is one real number, not True or False: Python's, NumPy's, or an array without axes."""
    if hasattr(value, "dtype"):
        return value.shape == () and (is_float(value) or holds_whole(value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def holds_whole(x: Array) -> bool:
    """Return whether an array holds whole numbers: neither fractions nor True and False."""
    if of_numpy(x):
        return x.dtype.kind in "iu"
    return not (x.dtype.is_floating_point or x.dtype.is_complex or str(x.dtype) == "torch.bool")


def holds_ids(ids: Array) -> bool:
    """Return whether an array can serve as an index: torch takes bytes for a mask, and refuses other small integers."""
    return holds_whole(ids) and (of_numpy(ids) or ids.dtype.itemsize >= 4)


def largest(x: Array) -> float:
    """Return the largest finite number of the type of an array."""
    return float((np if of_numpy(x) else namespace(x)).finfo(x.dtype).max)


def smallest(x: Array) -> float:
    """Return the smallest positive number that the type of an array holds with all its digits."""
    return float((np if of_numpy(x) else namespace(x)).finfo(x.dtype).tiny)


def is_float(x: Array) -> bool:
    """Return whether an array holds floating-point numbers, of whatever precision."""
    return x.dtype.kind == "f" if of_numpy(x) else x.dtype.is_floating_point


def of_numpy(x: Array) -> bool:
    """Return whether the numbers of an array are NumPy's, as those of a traced array are."""
    return isinstance(x.dtype, np.dtype)


def described(x: Array) -> str:
    """Return the library and the type of an array for an error message, such as “torch float32”."""
    library = "NumPy" if of_numpy(x) else "torch"
    return f"{library} {str(x.dtype).removeprefix('torch.')}"


def first(found: Array) -> tuple[int, ...]:
    """Return the index of the first True."""
    return tuple(map(int, namespace(found).argwhere(found)[0]))
