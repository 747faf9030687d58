"""What takes long and is asked for by many: computed once, whoever asks."""

import functools
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def computed_once(maxsize: int) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Keeps the latest results of a function: equal questions that thirty students ask at once are computed once.

    One thread computes at a time, as more would only share the same processor.
    """

    def keep(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        cached, lock = functools.lru_cache(maxsize)(function), threading.RLock()

        @functools.wraps(function)
        def once(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
            with lock:
                return cached(*arguments, **named)

        return once

    return keep
