"""What of Python's `dataclasses` answers use."""

MISSING = object()


class Field:
    """What begins a field."""

    def __init__(self, default=MISSING, default_factory=MISSING):
        self.default, self.default_factory = default, default_factory

    def begin(self):
        return self.default if self.default_factory is MISSING else self.default_factory()


def field(*, default=MISSING, default_factory=MISSING, **_):
    return Field(default, default_factory)


def dataclass(cls=None, **_):
    """A class that is made from its annotated fields."""
    if cls is None:
        return dataclass
    names = []
    for each in reversed(cls.__mro__):
        names += [name for name in getattr(each, "__annotations__", {}) if name not in names]
    begins = {name: getattr(cls, name) for name in names if hasattr(cls, name)}

    def __init__(self, *given, **named):
        if len(given) > len(names):
            raise TypeError(f"{cls.__name__}.__init__() takes {len(names) + 1} positional arguments")
        values = dict(zip(names, given)) | named  # noqa: B905
        for name in names:
            if name not in values and name not in begins:
                raise TypeError(f"{cls.__name__}.__init__() missing 1 required positional argument: '{name}'")
            value = values[name] if name in values else begins[name]
            setattr(self, name, value.begin() if isinstance(value, Field) else value)
        if hasattr(self, "__post_init__"):
            self.__post_init__()

    def __repr__(self):
        return f"{cls.__name__}(" + ", ".join([f"{name}={getattr(self, name)!r}" for name in names]) + ")"

    def __eq__(self, other):
        return type(other) is cls and all([getattr(self, name) == getattr(other, name) for name in names])

    for name, method in (("__init__", __init__), ("__repr__", __repr__), ("__eq__", __eq__)):
        if name not in cls.__dict__:
            setattr(cls, name, method)
    return cls


def asdict(made):
    return dict(made.__dict__)


def replace(made, **changes):
    return type(made)(**(asdict(made) | changes))
