"""What of Python's `operator` answers use."""

add, sub, mul, truediv, matmul = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / b,
    lambda a, b: a @ b,
)
neg, getitem = (lambda a: -a), (lambda a, b: a[b])
eq, ne, lt, le, gt, ge = (
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
)


def itemgetter(*keys):
    return lambda x: x[keys[0]] if len(keys) == 1 else tuple([x[key] for key in keys])


def attrgetter(name):
    return lambda x: getattr(x, name)
