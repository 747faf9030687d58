"""Products: of vectors, of matrices, and sums over any axes."""

from single import product as product_in_javascript

from .kinds import bool_, float32
from .pointwise import add, multiply
from .shapes import broadcast_shape, product
from .storage import Maker, made
from .table import both, only_function


def must_be_tensor(x, name, argument, position):
    if not isinstance(x, Maker.tensor):
        words = "{}(): argument '{}' (position {}) must be Tensor, not {}"
        raise TypeError(words.format(name, argument, position, type(x).__name__))


@both("dot", "vdot")
def dot(input, other):
    must_be_tensor(other, "dot", "tensor", 2)
    if input.ndim != 1 or other.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {input.ndim}D and {other.ndim}D tensors")
    if input.dtype is not other.dtype:
        words = "dot : expected both vectors to have same dtype, but found {} and {}"
        raise RuntimeError(words.format(input.dtype.called, other.dtype.called))
    if input._shape != other._shape:
        words = "inconsistent tensor size, expected tensor [{0}] and src [{1}] to have the same number of elements, "
        raise RuntimeError((words + "but got {0} and {1} elements respectively").format(len(input), len(other)))
    if input.dtype is bool_:
        raise NotImplementedError("\"dot\" not implemented for 'Bool'")
    return made([sum([x * y for x, y in zip(input._flat(), other._flat(), strict=True)])], (), input.dtype)


def product_of(a, b, n, k, m, kind):
    """One matrix times another, both as lists of numbers of this kind."""
    if kind is float32:
        return product_in_javascript(a, b, n, k, m)
    columns = [b[j::m] for j in range(m)]
    result = []
    for i in range(n):
        row = a[i * k : (i + 1) * k]
        for column in columns:
            added = 0
            for x, y in zip(row, column, strict=True):
                added += x * y
            result.append(added)
    return result


def same_kind(a, b):
    if a.dtype is not b.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {a.dtype.word} != {b.dtype.word}")
    if a.dtype is bool_:
        raise NotImplementedError("\"addmm_impl_cpu_\" not implemented for 'Bool'")


def same_kind_in_batches(a, b):
    """What several matrices at once are refused for: the kind of the first, before that of the second."""
    if a.dtype is bool_:
        raise NotImplementedError("\"bmm\" not implemented for 'Bool'")
    if a.dtype is not b.dtype:
        raise RuntimeError(f"expected scalar type {a.dtype.called} but found {b.dtype.called}")


def is_one_matrix(x):
    """True where all rows lie one after the other, so that torch multiplies them at once."""
    return all([x._strides[d] == x._strides[d + 1] * x._shape[d + 1] for d in range(x.ndim - 2)])


@both("matmul")
def matmul(input, other):
    must_be_tensor(other, "matmul", "other", 2)
    a, b = input, other
    if a.ndim == 0 or b.ndim == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D")
    if a.ndim == 1 and b.ndim == 1:
        return dot(a, b)
    if a.ndim == 1:
        if b.ndim > 2 and a.dtype is not b.dtype:
            same_kind(a, b)
        return matmul(a.unsqueeze(0), b).squeeze(-2)
    if b.ndim == 1:
        same_kind(a, b)
        if a._shape[-1] != b._shape[0]:
            words = "size mismatch, got input ({0}), mat ({0}x{1}), vec ({2})"
            raise RuntimeError(words.format(product(a._shape[:-1]), a._shape[-1], b._shape[0]))
        return matmul(a, b.unsqueeze(1)).squeeze(-1)
    n, k = a._shape[-2:]
    also, m = b._shape[-2:]
    if b.ndim == 2 and is_one_matrix(a):
        n *= product(a._shape[:-2])
        if k != also:
            raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({n}x{k} and {also}x{m})")
        same_kind(a, b)
        return made(product_of(a._flat(), b._flat(), n, k, m, a.dtype), (*a._shape[:-1], m), a.dtype)
    batch = broadcast_shape(a._shape[:-2], b._shape[:-2])
    count = product(batch)
    if k != also:
        words = "Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but got: [{}, {}]."
        raise RuntimeError(words.format(count, k, count, also))
    same_kind_in_batches(a, b)
    of_a, of_b = a._spread((*batch, n, k)), b._spread((*batch, k, m))
    result = []
    for i in range(count):
        parts = of_a[i * n * k : (i + 1) * n * k], of_b[i * k * m : (i + 1) * k * m]
        result += product_of(*parts, n, k, m, a.dtype)
    return made(result, (*batch, n, m), a.dtype)


@both("mm")
def mm(input, mat2):
    must_be_tensor(mat2, "mm", "mat2", 2)
    if input.ndim != 2 or mat2.ndim != 2:
        raise RuntimeError("self must be a matrix" if input.ndim != 2 else "mat2 must be a matrix")
    return matmul(input, mat2)


@both("mv")
def mv(input, vec):
    if input.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {input.ndim}, {vec.ndim}")
    return matmul(input, vec)


@both("bmm")
def bmm(input, mat2):
    must_be_tensor(mat2, "bmm", "mat2", 2)
    if input.ndim != 3 or mat2.ndim != 3:
        raise RuntimeError(f"batch{1 if input.ndim != 3 else 2} must be a 3D tensor")
    (batch, _, k), (also, wide, _) = input._shape, mat2._shape
    if batch != also or k != wide:
        words = "Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but got: [{}, {}]."
        raise RuntimeError(words.format(batch, k, also, wide))
    return matmul(input, mat2)


@both("outer", "ger")
def outer(input, vec2):
    for name, x in (("self", input), ("vec2", vec2)):
        if x.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {x.ndim}-D")
    return multiply(input.unsqueeze(1), vec2)


@both("inner")
def inner(input, other):
    if input.ndim == 0 or other.ndim == 0:
        return multiply(input, other)
    if input._shape[-1] != other._shape[-1]:
        words = "inner() the last dimension must match on both input tensors but got shapes {} and {}"
        raise RuntimeError(words.format(list(input._shape), list(other._shape)))
    if input.ndim == 1 and other.ndim == 1:
        return dot(input, other)
    return tensordot(input, other, ([-1], [-1]))


@both("addmm")
def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    return plus_product(input, mm(mat1, mat2), beta, alpha)


@both("baddbmm")
def baddbmm(input, batch1, batch2, *, beta=1, alpha=1):
    return plus_product(input, bmm(batch1, batch2), beta, alpha)


def plus_product(input, found, beta, alpha):
    return add(multiply(found, alpha), multiply(input, beta)) if beta else multiply(found, alpha)


@both("tensordot", method=False)
def tensordot(input, other, dims=2):
    if input.dtype is not other.dtype:
        raise RuntimeError("both inputs should have same dtype")
    if isinstance(dims, int):
        dims = (list(range(input.ndim - dims, input.ndim)), list(range(dims)))
    of_a, of_b = (
        [d % x.ndim for d in ([given] if isinstance(given, int) else given)]
        for x, given in zip((input, other), dims, strict=True)
    )
    left, right = ([d for d in range(x.ndim) if d not in used] for x, used in ((input, of_a), (other, of_b)))
    for x, y in zip(of_a, of_b, strict=True):
        if input._shape[x] != other._shape[y]:
            words = (
                "contracted dimensions need to match, but first has size {} in dim {} and second has size {} in dim {}"
            )
            raise RuntimeError(words.format(input._shape[x], x, other._shape[y], y))
    summed = product([input._shape[d] for d in of_a])
    a = input.permute(left + of_a).reshape(product([input._shape[d] for d in left]), summed)
    b = other.permute(of_b + right).reshape(summed, product([other._shape[d] for d in right]))
    return matmul(a, b).reshape([input._shape[d] for d in left] + [other._shape[d] for d in right])


@only_function("einsum")
def einsum(equation, *operands):
    """The sum of products that the letters say; letters that the right side leaves out are summed over."""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    if not isinstance(equation, str) or not operands:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    for place, x in enumerate(operands):
        if not isinstance(x, Maker.tensor):
            raise TypeError(f"expected Tensor as element {place} in argument 1, but got {type(x).__name__}")
    letters, output, operands = letters_of(equation.replace(" ", ""), list(operands))
    sizes = sizes_of(letters, operands)
    order = output + sorted({letter for each in letters for letter in each if letter not in output})
    lined = [lined_up(x, each, order) for x, each in zip(operands, letters, strict=True)]
    seen = [set(each) for each in letters]
    result = lined[0]
    for place, other in enumerate(lined[1:], start=1):
        later = set(output).union(*seen[place + 1 :])
        summed = [d for d, letter in enumerate(order) if letter not in later]
        result = sum_of_products(result, other, summed)
    if len(lined) == 1 and len(order) > len(output):
        result = result.sum(dim=tuple(range(len(output), len(order))), keepdim=True)
    kept = result._shape[: len(output)]
    full = tuple([sizes[letter] for letter in output])
    result = result._seen(kept, result._strides[: len(output)])
    return result if kept == full else result.expand(full)


def letters_of(equation, operands):
    """The letters of each tensor and those of the result; of three dots, digits."""
    left, arrow, right = equation.partition("->")
    letters = left.split(",")
    if len(letters) > len(operands):
        raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
    if len(letters) < len(operands):
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    most = 0
    for place, (each, x) in enumerate(zip(letters, operands, strict=True)):
        named = len(each.replace("...", ""))
        if named != x.ndim and not ("..." in each and named <= x.ndim):
            words = "einsum(): the number of subscripts in the equation ({}) {} the number of dimensions ({}) for operand {}"  # noqa: E501
            how = "is more than" if "..." in each else "does not match"
            raise RuntimeError(
                words.format(named, how, x.ndim, place) + (" and no ellipsis was given" if "..." not in each else "")
            )
        most = max(most, x.ndim - named)
    dots = "0123456789"[:most]
    letters = [
        each.replace("...", dots[most - (x.ndim - len(each.replace("...", ""))) :] if "..." in each else "")
        for each, x in zip(letters, operands, strict=True)
    ]
    if arrow:
        output = list(right.replace("...", dots))
    else:
        used = "".join(letters)
        output = list(dots) + sorted([x for x in set(used) if used.count(x) == 1 and x not in dots])
    for letter in output:
        if output.count(letter) > 1:
            raise RuntimeError(f"einsum(): output subscript {letter} appears more than once in the output")
        if not any([letter in each for each in letters]):
            raise RuntimeError(
                f"einsum(): output subscript {letter} does not appear in the equation for any input operand"
            )
    for place, each in enumerate(letters):
        for letter in sorted(set(each)):
            if each.count(letter) > 1:  # the diagonal of two axes of the same letter
                a = each.index(letter)
                b = each.index(letter, a + 1)
                sizes = [operands[place].size(d) for d in (a, b)]
                if sizes[0] != sizes[1]:
                    words = "einsum(): subscript {} is repeated for operand {} but the sizes don't match, {} != {}"
                    raise RuntimeError(words.format(letter, place, *reversed(sizes)))
                operands[place] = operands[place].diagonal(0, a, b)
                each = each[:a] + each[a + 1 : b] + each[b + 1 :] + letter
        letters[place] = each
    return letters, output, operands


def sizes_of(letters, operands):
    """How many numbers each letter goes through."""
    sizes = {}
    for place, (each, x) in enumerate(zip(letters, operands, strict=True)):
        for letter, n in zip(each, x._shape, strict=True):
            before = sizes.get(letter, 1)
            if before != n and 1 not in (before, n):
                words = "einsum(): subscript {} has size {} for operand {} which does not broadcast with previously seen size {}"  # noqa: E501
                raise RuntimeError(words.format(letter, n, place, before))
            sizes[letter] = n if before == 1 else before
    return sizes


def lined_up(x, letters, order):
    """A tensor with an axis for every letter, in this order."""
    x = x.permute([letters.index(letter) for letter in order if letter in letters])
    for d, letter in enumerate(order):
        if letter not in letters:
            x = x.unsqueeze(d)
    return x


def sum_of_products(a, b, summed):
    """The products of two tensors with the same axes, summed along some; these stay, with size 1."""
    last = [
        max([d for d in range(x.ndim) if x._shape[d] != 1 and y._shape[d] == 1 and d not in summed], default=-1)
        for x, y in ((a, b), (b, a))
    ]
    if last[0] > last[1] >= 0:
        a, b = b, a  # as torch does, so that the numbers lie in the order of the result
    both_have, of_a, of_b, together = [], [], [], []
    for d in range(a.ndim):
        in_a, in_b = a._shape[d] != 1, b._shape[d] != 1
        if d in summed:
            if in_a and in_b:
                together.append(d)
            elif in_a:
                a = a.sum(dim=d, keepdim=True)
            elif in_b:
                b = b.sum(dim=d, keepdim=True)
            if not (in_a and in_b):
                together.append(d)
        else:
            (both_have if in_a and in_b else of_a if in_a else of_b).append(d)
    if all([a._shape[d] == 1 for d in together]):
        return multiply(a, b)
    count, m, k, n = (
        product([x._shape[d] for d in dims]) for x, dims in ((a, both_have), (a, of_a), (a, together), (b, of_b))
    )
    left = a.permute(both_have + of_a + together + of_b).reshape(count, m, k)
    right = b.permute(both_have + together + of_b + of_a).reshape(count, k, n)
    order = both_have + of_a + together + of_b
    sizes = [1 if d in together else a._shape[d] if a._shape[d] != 1 else b._shape[d] for d in order]
    found = bmm(left, right).view(sizes)
    return found.permute([order.index(d) for d in range(len(order))])


Maker.tensor.__matmul__ = lambda self, other: matmul(self, other) if isinstance(other, Maker.tensor) else NotImplemented


def linear(input, weight, bias=None):
    """x Wᵀ + b."""
    must_be_tensor(input, "linear", "input", 1)
    must_be_tensor(weight, "linear", "weight", 2)
    if input.ndim == 0 or weight.ndim == 0:
        words = "both arguments to linear need to be at least 1D, but they are {}D and {}D"
        raise RuntimeError(words.format(input.ndim, weight.ndim))
    if bias is not None and input.dtype is not weight.dtype:
        words = "mat1 and mat2 must have the same dtype, but got {} and {}"
        raise RuntimeError(words.format(input.dtype.called, weight.dtype.called))
    found = matmul(input, weight.t())
    return found if bias is None else add(found, bias)
