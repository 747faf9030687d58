"""The table of functions: what is called as `torch.name(x)` and as `x.name()` is written once."""

from .storage import Maker

FUNCTIONS = {}
OTHER_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}


def both(*names, method=True, function=True, checks=True, numbers=False):
    """Put a function into the table under these names; as a method of tensors as well. Its first argument is a tensor
    or, with `numbers`, one of Python's numbers.
    """

    def put(compute):
        for name in names:
            called = calling(compute, name, checks, numbers)
            if function:
                FUNCTIONS[name] = called
            if method:
                setattr(Maker.tensor, name, called)
        return compute

    return put


def only_function(*names):
    """Put a function into the table that no tensor has as a method, and that takes more than a tensor first."""
    return both(*names, method=False, checks=False)


def calling(compute, name, checks=True, numbers=False):
    """The function as torch calls it: keywords have a second name, and what is no tensor is named."""
    first = (Maker.tensor, int, float) if numbers else Maker.tensor

    def called(*given, **named):
        if named:
            named = {OTHER_NAMES.get(key, key): value for key, value in named.items()}
            if checks and not given and "input" in named:
                given = (named.pop("input"),)
        if checks and not (given and isinstance(given[0], first)):
            if not given:
                raise TypeError(f'{name}() missing 1 required positional arguments: "input"')
            kind = type(given[0]).__name__
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {kind}")
        try:
            return compute(*given, **named)
        except TypeError as error:
            raise TypeError(in_words_of_torch(str(error), compute.__name__, name)) from None

    called.__name__ = name
    return called


def in_words_of_torch(text, ours, name):
    """What Python says of the arguments, as torch says it."""
    if text.startswith("argument '"):
        return f"{name}(): {text}"
    if text.startswith(f"{ours}() missing 1 required positional argument: "):
        return f'{name}() missing 1 required positional arguments: "{text.split(": ")[1][1:-1]}"'
    return text.replace(f"{ours}()", f"{name}()")
