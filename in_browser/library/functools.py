"""What of Python's `functools` answers use."""


def reduce(function, iterable, *initial):
    steps = iter(iterable)
    result = initial[0] if initial else next(steps)
    for item in steps:
        result = function(result, item)
    return result


def partial(function, *given, **named):
    return lambda *more, **others: function(*given, *more, **(named | others))


def wraps(function, *_):
    return lambda wrapper: wrapper


def cache(function):
    known = {}

    def remembered(*given):
        if given not in known:
            known[given] = function(*given)
        return known[given]

    return remembered


def lru_cache(maxsize=128, typed=False):
    return cache(maxsize) if callable(maxsize) else cache


def cached_property(function):
    return property(function)
