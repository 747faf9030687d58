"""What of Python's `itertools` answers use."""


def accumulate(iterable, function=None, *, initial=None):
    steps = iter(iterable)
    try:
        total = next(steps) if initial is None else initial
    except StopIteration:
        return
    yield total
    for item in steps:
        total = total + item if function is None else function(total, item)
        yield total


class chain:
    """One after the other."""

    def __new__(cls, *iterables):
        return cls.from_iterable(iterables)

    @staticmethod
    def from_iterable(iterables):
        for each in iterables:
            yield from each


def product(*iterables, repeat=1):
    rows = [()]
    for pool in [list(each) for each in iterables] * repeat:
        rows = [(*row, item) for row in rows for item in pool]
    return iter(rows)


def combinations(iterable, r):
    pool = list(iterable)

    def chosen(start, left):
        if left == 0:
            yield ()
            return
        for i in range(start, len(pool) - left + 1):
            for rest in chosen(i + 1, left - 1):
                yield (pool[i], *rest)

    return chosen(0, r)


def combinations_with_replacement(iterable, r):
    pool = list(iterable)
    return (tuple([pool[i] for i in at]) for at in product(range(len(pool)), repeat=r) if list(at) == sorted(at))


def permutations(iterable, r=None):
    pool = list(iterable)
    r = len(pool) if r is None else r
    return (tuple([pool[i] for i in at]) for at in product(range(len(pool)), repeat=r) if len(set(at)) == r)


def count(start=0, step=1):
    while True:
        yield start
        start += step


def repeat(item, times=None):
    while times is None or times > 0:
        yield item
        times = None if times is None else times - 1


def cycle(iterable):
    items = list(iterable)
    while items:
        yield from items


def starmap(function, iterable):
    return (function(*given) for given in iterable)


def islice(iterable, *bounds):
    cut = slice(*bounds)
    start, step, at, steps = cut.start or 0, cut.step or 1, 0, iter(iterable)
    while cut.stop is None or at < cut.stop:
        try:
            item = next(steps)
        except StopIteration:
            return
        if at >= start and (at - start) % step == 0:
            yield item
        at += 1


def takewhile(predicate, iterable):
    for item in iterable:
        if not predicate(item):
            return
        yield item


def dropwhile(predicate, iterable):
    dropped = True
    for item in iterable:
        dropped = dropped and predicate(item)
        if not dropped:
            yield item


def zip_longest(*iterables, fillvalue=None):
    lists = [list(each) for each in iterables]
    for i in range(max([len(each) for each in lists], default=0)):
        yield tuple([each[i] if i < len(each) else fillvalue for each in lists])


def pairwise(iterable):
    items = list(iterable)
    return iter([(items[i], items[i + 1]) for i in range(len(items) - 1)])
