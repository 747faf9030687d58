"""The kinds of numbers a tensor holds, which kind comes of two, and how numbers become another kind."""

from single import single

inf = float("inf")


class dtype:
    """A kind of number: its name, its class (bool, int or float), and what some messages of torch call it."""

    def __init__(self, name, rank, word, called, least=None, most=None):
        self.name, self.rank, self.word, self.called = name, rank, word, called
        self.least, self.most = least, most
        self.is_floating_point = rank == FLOAT

    def __repr__(self):
        return "torch." + self.name


BOOL, INT, FLOAT = 0, 1, 2
bool_ = dtype("bool", BOOL, "bool", "Bool")
uint8 = dtype("uint8", INT, "unsigned char", "Byte", 0, 255)
int8 = dtype("int8", INT, "signed char", "Char", -128, 127)
int16 = dtype("int16", INT, "short int", "Short", -(2**15), 2**15 - 1)
int32 = dtype("int32", INT, "int", "Int", -(2**31), 2**31 - 1)
int64 = dtype("int64", INT, "long int", "Long", -(2**63), 2**63 - 1)
float32 = dtype("float32", FLOAT, "float", "Float", -3.4028234663852886e38, 3.4028234663852886e38)
float64 = dtype("float64", FLOAT, "double", "Double", -1.7976931348623157e308, 1.7976931348623157e308)
WIDER = [bool_, uint8, int8, int16, int32, int64, float32, float64]
OF_PYTHON = {bool: bool_, int: int64, float: float32}


def kind_of(wanted):
    """A kind from what was given as one: also Python's bool, int and float."""
    if wanted is None or isinstance(wanted, dtype):
        return wanted
    if wanted is float:
        return float64
    if wanted in OF_PYTHON:
        return OF_PYTHON[wanted]
    raise TypeError("dtype must be torch.dtype, not " + type(wanted).__name__)


def of_number(number):
    """The kind of one of Python's numbers."""
    return OF_PYTHON.get(type(number), float32)


def wider(a, b):
    """The kind that holds the numbers of both."""
    if a is b:
        return a
    if {a, b} == {uint8, int8}:
        return int16
    return WIDER[max(WIDER.index(a), WIDER.index(b))]


def together(parts):
    """The kind of what is computed from these: pairs of a kind and how much it counts (2: a tensor with axes, 1: one
    without, 0: a number of Python's). What counts less changes the kind only where it is of a higher class.
    """
    found = None
    for counts in (2, 1, 0):
        for kind in [kind for kind, weight in parts if weight == counts]:
            if found is None or found[1] == counts:
                found = (kind if found is None else wider(found[0], kind), counts)
            elif kind.rank > found[0].rank:
                found = (wider(found[0], kind) if kind.rank == found[0].rank else kind, counts)
    return found[0]


def as_kind(values, kind):
    """These numbers as that kind holds them."""
    if kind is float32:
        return single(values)
    if kind is float64:
        return [float(x) for x in values]
    if kind is bool_:
        return [x != 0 for x in values]
    if kind is int64:
        return [x if type(x) is int else whole(x) for x in values]
    span = kind.most - kind.least + 1
    values = [x if type(x) is int else whole(x, int32) for x in values]
    return [(x - kind.least) % span + kind.least for x in values]


def whole(x, kind=int64):
    """A number without its fraction; the least of its kind where it is not among them, as processors have it."""
    most = 2.0**63 if kind is int64 else 2.0**31
    return int(x) if -most <= x < most else kind.least


class finfo:
    """The limits of a kind of fractions."""

    def __init__(self, kind=float32):
        self.dtype, self.min, self.max = kind.name, kind.least, kind.most
        self.eps = 2.0**-23 if kind is float32 else 2.0**-52
        self.tiny = self.smallest_normal = 2.0**-126 if kind is float32 else 2.0**-1022
        self.bits = 32 if kind is float32 else 64


class iinfo:
    """The limits of a kind of whole numbers."""

    def __init__(self, kind):
        self.dtype, self.min, self.max = kind.name, kind.least, kind.most
