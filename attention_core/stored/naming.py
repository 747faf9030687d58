"""Names of weights in files and in the core: a table has one line for each weight, with * for the layer's number."""

import re
from collections.abc import Collection, Iterable, Mapping

from attention_core.base.errors import TechnicalError

LAYER = re.compile(r"(?<=\.)\d+(?=\.)")


def name_there(name: str, table: Mapping[str, str]) -> str:
    """Return the name in a file of one of our weights. Raises InputError for a weight that the file cannot hold."""
    number = LAYER.search(name)
    line = LAYER.sub("*", name)
    if line not in table:
        raise TechnicalError(
            "a file of this architecture has the weights {known}, but this model needs {name}",
            known=", ".join(table),
            name=name,
        )
    return table[line].replace("*", number.group() if number else "")


def is_map(name: str) -> bool:
    """Return whether a weight is used as x @ W: most files store such a map transposed."""
    return name.split(".")[-1].startswith("W_")


def check_layers(n_layers: int, n_tensors: int) -> None:
    """Raise InputError where the settings ask for more layers than the file has tensors."""
    if n_layers > n_tensors:
        raise TechnicalError(
            "each layer has tensors of its own, but there are {n_layers} layers and {n_tensors} tensors: the file is "
            "not whole, or its settings are not its own",
            n_layers=n_layers,
            n_tensors=n_tensors,
        )


def check_names(came: Iterable[str], expected: Collection[str]) -> None:
    """Raise InputError for a tensor of the file without a place in the model: it would change what is computed."""
    unknown = sorted(set(came) - set(expected))
    if unknown:
        raise TechnicalError(
            "each tensor of the file has a place in the model, but for {n} there is none, such as {name}; it belongs "
            "to another architecture, or to a part of this one that is not computed here",
            n=len(unknown),
            name=unknown[0],
        )


def check_stored(name: str, came: tuple[int, ...] | None, expected: tuple[int, ...]) -> None:
    """Raise InputError unless the file has the tensor, in the expected shape."""
    if came is None:
        raise TechnicalError("the file holds the tensor {name}, but there is none: it is not whole", name=name)
    if tuple(came) != tuple(expected):
        raise TechnicalError(
            "the settings of the file give {name} the shape {expected}, but it has {came}; they do not belong together",
            name=name,
            expected=str(tuple(expected)),
            came=str(tuple(came)),
        )
