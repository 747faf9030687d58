"""What is computed number by number: of one tensor, and of two."""

import math

from .kinds import FLOAT, INT, bool_, float32, inf, int64, of_number, together
from .storage import Maker, made, new, spread
from .table import FUNCTIONS, both

NAN = inf - inf


def weight_of(x):
    """A kind and how much it counts when kinds come together."""
    return (x.dtype, 2 if x.ndim else 1)


def operand(x):
    """A tensor as it is; one of Python's numbers as a tensor that does not count."""
    if isinstance(x, Maker.tensor):
        return x, weight_of(x)
    kind = of_number(x)
    return new([x], (), kind), (kind, 0)


def is_number(x):
    return isinstance(x, (int, float, Maker.tensor))


def kind_together(*operands):
    """The kind of what is computed from tensors and numbers."""
    return together([operand(x)[1] for x in operands])


def pairwise(compute, a, b, dtype=None):
    """Number by number of two."""
    (x, of_x), (y, of_y) = operand(a), operand(b)
    kind = dtype or together([of_x, of_y])
    shape, (left, right) = spread(x, y)
    return made([compute(p, q) for p, q in zip(left, right, strict=True)], shape, kind, (x, y))


def written(input, result, name):
    """A result in the place of the numbers it was computed from."""
    if result.dtype.rank > input.dtype.rank:
        words = "result type {} can't be cast to the desired output type {}"
        raise RuntimeError(words.format(result.dtype.called, input.dtype.called))
    if result._shape != input._shape:
        words = "output with shape {} doesn't match the broadcast shape {}"
        raise RuntimeError(words.format(list(input._shape), list(result._shape)))
    return input._write(result)


def also_in_place(name, compute):
    """The method of the same name that writes its result into its own tensor."""

    def in_place(input, *given, **named):
        return written(input, compute(input, *given, **named), name)

    both(name + "_", function=False)(in_place)


# Of one tensor


def exponential(x):
    """e to the x; infinity where that is too large."""
    try:
        return math.exp(x)
    except OverflowError:
        return inf


def logarithm(log):
    return lambda x: log(x) if x > 0 else NAN if x != 0 else -inf


def finite(function):
    """A function of mathematics that stops at what is not finite or not allowed, where processors have nan."""

    def computed(x):
        try:
            return function(x)
        except (ValueError, OverflowError):
            return NAN

    return computed


def half_to_even(x):
    return (
        x
        if x != x or abs(x) == inf
        else math.floor(x) + (0 if x - math.floor(x) < 0.5 else 1)
        if (x - math.floor(x) != 0.5)
        else 2 * math.floor((math.floor(x) + 1) / 2)
    )


def sigmoid(x):
    return 1 / (1 + exponential(-x)) if exponential(-x) != inf else 0.0


TO_FRACTIONS = {
    "exp": exponential,
    "exp2": lambda x: power(2.0, x),
    "expm1": lambda x: exponential(x) - 1 if abs(x) > 1e-5 else x,
    "log": logarithm(math.log),
    "log2": logarithm(lambda x: math.log(x) / math.log(2.0)),
    "log10": logarithm(lambda x: math.log(x) / math.log(10.0)),
    "log1p": lambda x: logarithm(math.log)(1 + x) if abs(x) > 1e-5 else x,
    "sqrt": lambda x: math.sqrt(x) if x >= 0 else NAN,
    "rsqrt": lambda x: 1 / math.sqrt(x) if x > 0 else inf if x == 0 else NAN,
    "reciprocal": lambda x: divided(1.0, x),
    "sin": finite(math.sin),
    "cos": finite(math.cos),
    "tan": finite(math.tan),
    "atan": math.atan,
    "tanh": math.tanh,
    "erf": math.erf,
    "sigmoid": sigmoid,
}
OF_THE_SAME_KIND = {
    "abs": abs,
    "neg": lambda x: -x,
    "square": lambda x: x * x,
    "relu": lambda x: x if x > 0 or x != x else 0,
    "sign": lambda x: (x > 0) - (x < 0),
    "floor": lambda x: x if x != x or abs(x) == inf else math.floor(x),
    "ceil": lambda x: x if x != x or abs(x) == inf else math.ceil(x),
    "trunc": lambda x: x if x != x or abs(x) == inf else int(x),
    "round": half_to_even,
}
TRUE_OR_FALSE = {
    "isnan": lambda x: x != x,
    "isinf": lambda x: x in (inf, -inf),
    "isfinite": lambda x: x == x and abs(x) != inf,
    "isneginf": lambda x: x == -inf,
    "isposinf": lambda x: x == inf,
    "logical_not": lambda x: x == 0,
}


def define_of_one(name, compute, kind):
    def of_one(input):
        if kind is None and input.dtype is bool_ and name != "square":
            if name == "neg":
                raise RuntimeError(BOOL_NEGATED)
            raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'")
        wanted = input.dtype if kind is None else kind
        if kind is float32 and input.dtype.rank == FLOAT:
            wanted = input.dtype
        if name == "square" and input.dtype is bool_:
            wanted = int64
        return made([compute(x) for x in input._flat()], input._shape, wanted, (input,))

    both(name)(of_one)
    also_in_place(name, of_one)
    if name in ("exp", "exp2", "sqrt", "relu", "sigmoid", "tanh", "rsqrt", "neg", "abs"):
        FUNCTIONS[name + "_"] = FUNCTIONS[name]


INVERT = "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
BOOL_NEGATED = "Negation, the `-` operator, on a bool tensor is not supported. " + INVERT
for _name, _compute in TO_FRACTIONS.items():
    define_of_one(_name, _compute, float32)
for _name, _compute in OF_THE_SAME_KIND.items():
    define_of_one(_name, _compute, None)
for _name, _compute in TRUE_OR_FALSE.items():
    define_of_one(_name, _compute, bool_)
both("absolute")(lambda input: input.abs())
both("negative")(lambda input: input.neg())


# Of two


def whole_division(name, input, other):
    """Raise where one cannot divide and keep whole numbers: truths, and by 0 what is whole."""
    kind = kind_together(input, other)
    if kind is bool_:
        spread(operand(input)[0], operand(other)[0])
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'")
    if kind.rank == INT and 0 in operand(other)[0]._flat():
        raise RuntimeError("ZeroDivisionError")


def divided(x, y):
    """x / y as numbers in a processor have it: by zero, infinity or nan."""
    if y == 0:
        if x == 0 or x != x:
            return NAN
        return math.copysign(inf, x) * math.copysign(1.0, y)
    return x / y


def power(x, y):
    """x to the y; nan and infinity where Python would stop."""
    try:
        result = x**y
    except (ZeroDivisionError, OverflowError):
        return inf
    return NAN if isinstance(result, complex) else result


def remainder(x, y):
    try:
        return x % y
    except ZeroDivisionError:
        return NAN


def floored(x, y):
    quotient = divided(x, y) if y == 0 or abs(x) != inf else NAN
    return quotient if quotient != quotient or abs(quotient) == inf else math.floor(quotient)


@both("add", numbers=True)
def add(input, other, *, alpha=1):
    if alpha != 1:
        other = multiply(other, alpha)
    truth = kind_together(input, other) is bool_
    return pairwise((lambda x, y: x or y) if truth else (lambda x, y: x + y), input, other)


@both("sub", "subtract", numbers=True)
def sub(input, other, *, alpha=1):
    kinds = [operand(x)[1][0] for x in (input, other)]
    if bool_ in kinds:
        two = kinds == [bool_, bool_]
        words = "Subtraction, the `-` operator, with {} not supported. "
        more = "Use the `^` or `logical_xor()` operator instead." if two else INVERT
        raise RuntimeError(words.format("two bool tensors is" if two else "a bool tensor is") + more)
    return pairwise(lambda x, y: x - y, input, multiply(other, alpha) if alpha != 1 else other)


@both("mul", "multiply", numbers=True)
def multiply(input, other):
    truth = kind_together(input, other) is bool_
    return pairwise((lambda x, y: x and y) if truth else (lambda x, y: x * y), input, other)


def fraction_kind(*operands):
    """The kind of a quotient: fractions, whatever is divided."""
    kind = kind_together(*operands)
    return kind if kind.rank == FLOAT else float32


@both("div", "divide", "true_divide", numbers=True)
def div(input, other, *, rounding_mode=None):
    if rounding_mode is None:
        return pairwise(divided, input, other, fraction_kind(input, other))
    if rounding_mode == "floor":
        return floor_divide(input, other)
    whole_division("div_trunc", input, other)
    truncated = OF_THE_SAME_KIND["trunc"]
    return pairwise(lambda x, y: truncated(divided(x, y)), input, other)


@both("floor_divide", numbers=True)
def floor_divide(input, other):
    whole_division("div_floor", input, other)
    return pairwise(floored, input, other)


@both("remainder", numbers=True)
def remainder_of(input, other):
    whole_division("remainder", input, other)
    return pairwise(remainder, input, other)


@both("fmod")
def fmod(input, other):
    whole_division("fmod", input, other)
    return pairwise(lambda x, y: math.fmod(x, y) if y else NAN, input, other)


@both("pow", numbers=True)
def pow_of(input, exponent):
    if not isinstance(input, Maker.tensor) and not isinstance(exponent, Maker.tensor):
        names = f"{type(input).__name__}, {type(exponent).__name__}"
        raise TypeError(f"pow() received an invalid combination of arguments - got ({names}), but expected one of:")
    kind = kind_together(input, exponent)
    if kind is bool_ and isinstance(exponent, Maker.tensor):
        spread(operand(input)[0], exponent)
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")
    if kind.rank == INT and not isinstance(exponent, Maker.tensor) and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    found = pairwise(power, input, exponent, kind)
    return found if isinstance(input, Maker.tensor) else found.contiguous()


def either(input, other, choose):
    return pairwise(lambda x, y: x if x != x else y if y != y else choose(x, y), input, other)


@both("maximum")
def maximum(input, other):
    return either(input, other, max)


@both("minimum")
def minimum(input, other):
    return either(input, other, min)


both("atan2")(lambda input, other: pairwise(math.atan2, input, other, float32))
COMPARED = {
    ("eq",): lambda x, y: x == y,
    ("ne", "not_equal"): lambda x, y: x != y,
    ("lt", "less"): lambda x, y: x < y,
    ("le", "less_equal"): lambda x, y: x <= y,
    ("gt", "greater"): lambda x, y: x > y,
    ("ge", "greater_equal"): lambda x, y: x >= y,
    ("logical_and",): lambda x, y: x != 0 and y != 0,
    ("logical_or",): lambda x, y: x != 0 or y != 0,
    ("logical_xor",): lambda x, y: (x != 0) != (y != 0),
}


def define_compared(names, compute):
    def compared(input, other):
        return pairwise(compute, input, other, bool_)

    both(*names)(compared)
    for name in names:
        also_in_place(name, lambda input, other: compared(input, other)._as(input.dtype))


for _names, _compute in COMPARED.items():
    define_compared(_names, _compute)
BITS = {"and": lambda x, y: x & y, "or": lambda x, y: x | y, "xor": lambda x, y: x ^ y}


def define_bits(name, compute):
    def bitwise(input, other):
        kind = kind_together(input, other)
        spread(*[operand(x)[0] for x in (input, other)])
        if kind.rank == FLOAT:
            raise NotImplementedError(f"\"bitwise_{name}_cpu\" not implemented for '{kind.called}'")
        if kind is bool_:
            return pairwise(lambda x, y: bool(compute(int(x), int(y))), input, other)
        return pairwise(lambda x, y: compute(int(x), int(y)), input, other)

    both("bitwise_" + name, numbers=True)(bitwise)
    return bitwise


BITWISE = {name: define_bits(name, compute) for name, compute in BITS.items()}


@both("bitwise_not")
def bitwise_not(input):
    if input.dtype.rank == FLOAT:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    truth = input.dtype is bool_
    return made([not x if truth else ~x for x in input._flat()], input._shape, input.dtype, (input,))


for _name, _compute in {
    "add": add,
    "sub": sub,
    "mul": multiply,
    "div": div,
    "multiply": multiply,
    "divide": div,
    "subtract": sub,
    "floor_divide": floor_divide,
    "remainder": remainder_of,
    "pow": pow_of,
}.items():
    also_in_place(_name, _compute)


@both("clamp", "clip")
def clamp(input, min=None, max=None):
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    bounds = [bound for bound in (min, max) if bound is not None]
    kind = kind_together(input, *bounds)
    if min is not None:
        input = pairwise(lambda x, y: x if x != x or x > y else y, input, min, kind)
    if max is not None:
        input = pairwise(lambda x, y: x if x != x or x < y else y, input, max, kind)
    return input


also_in_place("clamp", clamp)
both("clamp_min")(lambda input, min: clamp(input, min))
both("clamp_max")(lambda input, max: clamp(input, None, max))


@both("lerp")
def lerp(input, end, weight):
    return add(input, multiply(sub(end, input), weight))


@both("addcmul")
def addcmul(input, tensor1, tensor2, *, value=1):
    return add(input, multiply(multiply(tensor1, tensor2), value))


# Python's operators


def define_operator(sign, name, compute, turned=True):
    def operated(self, other):
        if not is_number(other):
            if isinstance(other, str) and sign == "*":
                raise TypeError("only integer tensors of a single element can be converted to an index")
            return NotImplemented
        return compute(self, other)

    def from_the_right(self, other):
        if not is_number(other):
            return NotImplemented
        return compute(other, self)

    def in_place(self, other):
        if not is_number(other):
            return NotImplemented
        return written(self, compute(self, other), name)

    setattr(Maker.tensor, f"__{name}__", operated)
    if turned:
        setattr(Maker.tensor, f"__r{name}__", from_the_right)
        setattr(Maker.tensor, f"__i{name}__", in_place)


for _sign, _name, _compute in (
    ("+", "add", add),
    ("-", "sub", sub),
    ("*", "mul", multiply),
    ("/", "truediv", div),
    ("//", "floordiv", floor_divide),
    ("%", "mod", remainder_of),
    ("**", "pow", pow_of),
    ("&", "and", BITWISE["and"]),
    ("|", "or", BITWISE["or"]),
    ("^", "xor", BITWISE["xor"]),
):
    define_operator(_sign, _name, _compute)
for _names, _compute in COMPARED.items():
    if len(_names[0]) == 2:
        define_operator(
            _names[0], _names[0], lambda self, other, compute=_compute: pairwise(compute, self, other, bool_), False
        )
Maker.tensor.__neg__ = lambda self: self.neg()
Maker.tensor.__pos__ = lambda self: self
Maker.tensor.__abs__ = lambda self: self.abs()
Maker.tensor.__invert__ = bitwise_not
