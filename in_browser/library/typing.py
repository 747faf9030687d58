"""Annotations mean nothing when code runs: every name of `typing` can be written, called and indexed."""


class Annotation:
    """Stands for whatever an annotation says."""

    def __getitem__(self, _):
        return self

    def __call__(self, *given, **_):
        return given[-1] if given else self

    def __or__(self, _):
        return self

    __ror__ = __or__


Any = Callable = ClassVar = Dict = Final = Generic = Iterable = Iterator = List = Literal = Mapping = Annotation()
NamedTuple = Optional = Sequence = Set = Tuple = Type = TypeVar = Union = Annotated = Self = NoReturn = Annotation()
TYPE_CHECKING = False
cast = overload = final = Annotation()
