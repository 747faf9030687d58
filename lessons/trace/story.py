"""How numbers came about, told to a reader from the trace of the computation that made them.

Nothing about attention is known here. What a reader is told:

    a copy is no step, nor what a mask keeps as it is: a line names the cell that was copied
    short arithmetic without a name stands in the line that needs it, up to three signs deep: e^(a − m) ÷ Σ
    a sum or a maximum without a name has a line of its own, but x·W + b is one sum
    factors of a constant 1, terms that a constant or a hidden cell makes 0, and guards that change nothing are left out
    beyond 16 terms the six largest are told, and what the others come to

What the arrays are called comes from the lesson: `name_arrays` gives each the name of its field, and `Names` has a
sentence for each name.
"""

import math
import string
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple, get_args

import numpy as np

from attention_core.base.traced import (
    Cells,
    Elementwise,
    Input,
    Numbers,
    Provenance,
    Rearranged,
    Traced,
    arrays_behind,
    sources_of,
)
from lessons.screen import Argument, Message, Step, message
from lessons.trace.lines import COMPARED, Term, digits, flat, taken, texts_of, write_all, write_lines

DEPTH = 3  # signs of arithmetic without a name that stand in one line
ANY_DEPTH, EVERY_DIGIT = 99, 17
STEPS_BETWEEN = {
    "max": message("the largest of these"),
    "sum": message("the sum of these"),
    "products": message("the sum of these"),
}
BETWEEN = message("a step in between")


# From cells to terms.


def settled(cells: Cells, *, through_names: bool = False) -> Cells:
    """What copies are copies of: where that was computed; but if only a copy of it has a name, that copy.

    Copies of cells of several arrays stay what they are.
    """
    named = here = cells
    while (source := copied(here)) is not None:
        here = source
        named = here if here.array.name else named
    return here if here.array.name or not named.array.name or through_names else named


def copied(cells: Cells) -> Cells | None:
    """What cells of one array are copies of; None where they were computed, or are copies of several arrays' cells."""
    rule = cells.array.rule
    if isinstance(rule, Rearranged):
        made = cells.made
        first = part_of(made)
        return None if first is None else made.parts[first]
    if isinstance(rule, Elementwise) and rule.sign in ("·", "+"):  # times a number 1, or plus a number 0
        for kept, other in (rule.sources, rule.sources[::-1]):
            if is_number(other, 1 if rule.sign == "·" else 0) and kept.shape == cells.array.shape:
                return Cells(kept, cells.at)
    return None


def part_of(made: Provenance) -> int | None:
    """The one part that all of these copies are copies of; None where they are copies of several."""
    if made.which is None or not made.which.size:
        return 0
    first = int(made.which.flat[0])
    return None if (made.which != first).any() else first


def is_number(array: Traced, value: float) -> bool:
    """True for a number of a formula that has this value and is written as it is."""
    rule = array.rule
    return isinstance(rule, Input) and array.ndim == 0 and rule.text is None and float(array.values) == value


def called(cells: Cells) -> Cells:
    """The copies under the first name that they have on their way; where they have none, where they were computed."""
    here = cells
    while here.array.name is None and (source := copied(here)) is not None:
        here = source
    return here


def uniform_groups(cells: Cells, places: np.ndarray) -> Iterator[np.ndarray]:
    """The places of a row of cells, in groups of which each came about in one and the same way."""
    here = Cells(cells.array, cells.at[places])
    while isinstance(here.array.rule, Rearranged):
        made = here.made
        first = part_of(made)
        if first is None:
            for kind in np.unique(np.asarray(made.which)):
                yield from uniform_groups(cells, places[made.which == kind])
            return
        here = made.parts[first]
    yield places


def number(cells: Cells) -> Term:
    """Cells as numbers in a line."""
    rule = cells.array.rule
    return Term("number", cells.values, cells=cells, text=rule.text if isinstance(rule, Input) else None)


def term_of(cells: Cells) -> Term:
    """The arithmetic of cells that came about alike: their own, or that of what they copy, unless this has a name."""
    cells = called(cells)
    source = settled(cells)
    named_already = source.array is cells.array and (source.at == cells.at).all()
    return number(source) if source.array.name and not named_already else grown(source, 0)


def grown(cells: Cells, depth: int) -> Term:
    """A sign with its operands."""
    if isinstance(cells.array.rule, Input):
        return number(cells)
    made, values = cells.made, cells.values
    if made.sign == "copy":
        source = settled(cells, through_names=True)
        return number(cells) if isinstance(source.array.rule, Rearranged) else grown(source, depth)
    if made.sign == "products":
        return sum_of_products(made.parts, values, depth)
    if made.sign == "sum":
        terms = operand(settled(made.parts[0]), depth + 1, "sum")
        return Term("+", values, (terms,), kept=~vanishing(made.parts[0]))
    if made.sign == "max" and made.parts[0].at.ndim > cells.at.ndim:
        terms = number(settled(made.parts[0]))
        seen = terms.values > -math.inf  # what is hidden is never the largest, unless all are
        return Term("max", values, (terms,), kept=seen | ~seen.any(axis=-1, keepdims=True))
    parts = tuple(operand(settled(part), depth, made.sign) for part in made.parts)
    if made.sign in ("+", "·"):
        parts = tuple(part for part in parts if not changes_nothing(part, made.sign)) or parts[:1]
        if len(parts) == 1:
            return parts[0]
        if made.sign == parts[0].sign == "+" and parts[0].kept is not None:  # x·W + b is one sum
            return Term("+", values, (*parts[0].parts, *parts[1:]), kept=parts[0].kept)
    if made.sign == "+":  # a + b + c is one sum, too
        parts = tuple(
            one for part in parts for one in (part.parts if part.sign == "+" and part.kept is None else (part,))
        )
    return Term(made.sign, values, parts, cells=cells)


def whole_arithmetic(array: Traced) -> str:
    """The arithmetic of a single number in one line, from what was given on, such as "h·n·n·d_k"."""
    texts, _ = texts_of(grown(Cells(array, np.array([0])), -ANY_DEPTH), EVERY_DIGIT)
    return texts[0]


def operand(cells: Cells, depth: int, sign: str) -> Term:
    """An operand: written out where it is short, else a number that has a line of its own."""
    rule = cells.array.rule
    if cells.array.name or isinstance(rule, Input | Rearranged):
        return number(cells)
    made = cells.made
    long = made.sign in ("sum", "products") or (made.sign == "max" and made.parts[0].at.ndim > cells.at.ndim)
    fits = depth == 0 and sign == "+" if long else depth < DEPTH
    return grown(cells, depth + 1) if fits else number(cells)


def sum_of_products(parts: Sequence[Cells], values: np.ndarray, depth: int) -> Term:
    """Σ left · right, without factors that are a constant 1, and without terms that are nothing."""
    factors = tuple(settled(part) for part in parts)
    kept = ~(vanishing(factors[0]) | vanishing(factors[1]))
    written = tuple(cells for cells in factors if not changes_nothing(number(cells), "·", kept)) or factors[:1]
    if len(written) == 1:  # as e^(a − m) in the sum of a softmax
        term = operand(written[0], depth + 1, "sum")
    else:
        term = Term("·", factors[0].values * factors[1].values, tuple(map(number, written)))
    return Term("+", values, (term,), kept=kept)


def vanishing(cells: Cells) -> np.ndarray:
    """True where a number is 0 and no input."""
    source = settled(cells, through_names=True).array.rule
    if isinstance(source, Input) and source.kind == "input":
        return np.zeros(cells.at.shape, bool)
    return cells.values == 0


def changes_nothing(term: Term, sign: str, kept: np.ndarray | bool = True) -> bool:
    """True for a condition or a constant of the core that is added as 0 or multiplied as 1, such as + [Σ = 0].

    In a sum only the terms that are `kept` matter.
    """
    if term.cells is None or not ((term.values == (sign == "·")) | ~np.asarray(kept)).all():
        return False
    if sign == "+" and term.sign == "·":  # 0 times whatever it is, where nothing was added up yet
        return any(changes_nothing(part, sign) for part in term.parts)
    source = settled(term.cells, through_names=True).array
    return getattr(source.rule, "sign", "") in COMPARED or made_of_constants(source)


def made_of_constants(array: Traced) -> bool:
    """True where no input has a part in an array, such as the share of each position in a mean."""
    rules = (behind.rule for behind in arrays_behind(array))
    return all(rule.kind != "input" for rule in rules if isinstance(rule, Input))


def hidden(cells: Cells) -> np.ndarray:
    """True where a mask has made a score −∞, and for the 0 that follows from it."""
    values, made = cells.values, cells.made
    found = np.zeros(values.shape, bool)
    if made.sign == "copy" and made.because is not None:  # a condition chose; what is hidden comes from a plain number
        plain = np.array([isinstance(part.array.rule, Input) and part.array.ndim == 0 for part in made.parts])
        found |= ((values == -math.inf) | (values == 0)) & plain[made.which]
    if made.sign in ("copy", "·", "÷", "−", "exp", "+") and ((values == 0) | (values == -math.inf)).any():
        for i, part in enumerate(made.parts if made.sign in ("copy", "+") else made.parts[:1]):
            mine = True if made.which is None else made.which == i
            found |= mine & ((values == 0) | (values == -math.inf)) & hidden_number(part)
    return found


def hidden_number(cells: Cells) -> np.ndarray:
    """The same; what was given hides nothing but by −∞."""
    return cells.values == -math.inf if isinstance(cells.array.rule, Input) else hidden(cells)


def without_terms(cells: Cells) -> Numbers:
    """True for a sum of products that has no term left to tell: see `vanishing`."""
    made = settled(cells, through_names=True).made
    if made.sign != "products":
        return np.zeros(cells.at.shape, bool)
    return (vanishing(made.parts[0]) | vanishing(made.parts[1])).all(axis=-1)


def kinds_of(cells: Cells) -> np.ndarray:
    """What is added to the name of an array, for the sentence about each of its cells: see `Names`."""
    nothing = np.where(without_terms(cells), " nothing", "")
    return np.where(hidden_number(cells), " hidden", np.where(np.isnan(cells.values), " undefined", nothing))


# What they are called.


@dataclass(frozen=True, eq=False)
class Names:
    """What a reader calls cells.

    `sentences` has one for each name of an array, with what counts its axes as arguments, also within a sentence that
    is an argument itself: {query}, {key}, {token}, {head}, {feature}, {word}; "masked hidden" is said of cells of
    `masked` that a mask hides, "weights undefined" of those of `weights` that are no number, "d_q nothing" of cells of
    `d_q` that are sums without a term that counts, and "max of masked" of a maximum of it that has no name of its own.
    `things` are what the entries of an axis are called, by the name of the axis; those of others are counted from 1.
    "shuffled.keys" are those of the keys in the part `shuffled` of a result, "shuffled.masked.keys" those of one array.
    `known` are arrays, by the last part of their names, whose cells a story takes as they are, unless it is about one
    of them.
    """

    sentences: Mapping[str, Message]
    things: Mapping[str, Sequence[Argument]]
    known: Collection[str] = ()

    def know(self, array: Traced) -> bool:
        """True for an array whose cells a story takes as they are."""
        return (array.name or "").rpartition(".")[2] in self.known

    def call(self, cells: Cells) -> list[Message]:
        """The sentence for each of these cells."""
        entries, kinds = self.entries(cells.array, cells.at.ravel()), kinds_of(cells).ravel()
        said: list[Any] = [None] * kinds.size
        for kind in dict.fromkeys(kinds.tolist()):
            places = np.flatnonzero(kinds == kind).tolist()
            here = {name: [those[place] for place in places] for name, those in entries.items()}
            for place, one in zip(places, filled(self.sentence(cells.array, kind), here, len(places)), strict=True):
                said[place] = one
        return said

    def sentence(self, array: Traced, kind: str) -> Message:
        """The sentence of an array, and of this kind of its cells where they have one of their own."""
        path = array.name or ""
        name = path.rpartition(".")[2]
        if name:
            keys = [path + kind, name + kind, path, name]
            fallback = message("{name}", name=name)
        else:
            sign = getattr(array.rule, "sign", "products")
            step, of = "sum" if sign == "products" else sign, name_behind(array)
            keys, fallback = [f"{step} of {of}", f"{step} of {of.rpartition('.')[2]}"], STEPS_BETWEEN.get(sign, BETWEEN)
        return next((self.sentences[key] for key in keys if key in self.sentences), fallback)

    def entries(self, array: Traced, at: np.ndarray) -> dict[str, list[Argument]]:
        """What cells are called along each axis, by the argument of sentences that it is."""
        found, index = {}, np.unravel_index(at, array.shape) if array.ndim else ()
        name = array.name or name_behind(array)
        for axis, places in zip(reversed(axes_of(array)), reversed(index), strict=False):
            things = self.things_of(name, axis)
            one = ONE.get(axis, "feature" if axis.startswith("d_") else axis)
            if one in found:
                continue
            found[one] = [i + 1 if things is None else things[i] for i in places.tolist()]
        return found

    def things_of(self, name: str, axis: str) -> Sequence[Argument] | None:
        """What the entries of an axis are called: in this array, in the part it belongs to, or anywhere."""
        path = name.split(".") if name else []
        keys = (".".join((*path[:n], axis)) for n in range(len(path), -1, -1))
        return next((self.things[key] for key in keys if key in self.things), None)


def filled(sentence: Message, entries: Mapping[str, Sequence[Argument]], count: int) -> list[Message]:
    """A sentence of so many cells, and those within it, with what the entries of each axis are called."""
    varied = {name: entries[name] for name in names_in(sentence.template) if name in entries}
    for name, part in sentence.arguments.items():
        if isinstance(part, Message) and name not in varied:
            varied[name] = filled(part, entries, count)
    if not varied:
        return [sentence] * count
    template, same, many, number = sentence
    return [
        Message(template, {**same, **dict(zip(varied, here, strict=True))}, many, number)
        for here in zip(*varied.values(), strict=True)
    ]


ONE = {
    "*batch": "head",
    "queries": "query",
    "keys": "key",
    "tokens": "token",
    "heads": "head",
    "features": "feature",
    "pairs": "pair",
    "visible": "key",
    "vocabulary": "word",
}


@lru_cache(maxsize=1024)
def names_in(template: str) -> tuple[str, ...]:
    """The names in braces of a template."""
    return tuple(name for _, name, _, _ in string.Formatter().parse(template) if name)


def axes_of(array: Traced) -> tuple[str, ...]:
    """What the axes of an array count: its own, or those of what it was made of, less one where that was added up.

    Where the last axis has another length, it counts something without a name.
    """
    if array.axes or array.name:
        return array.axes
    behind = named_behind(array)
    if behind is None:
        return ()
    if array.shape == behind.shape:
        return behind.axes
    if array.shape == behind.shape[:-1]:
        return behind.axes[:-1]
    return (*behind.axes[:-1], "") if array.shape[:-1] == behind.shape[:-1] else ()


def named_behind(array: Traced) -> Traced | None:
    """The array with a name that one without was made of first of all."""
    waiting = list(sources_of(array))
    while waiting:
        here = waiting.pop(0)
        if here.name:
            return here
        waiting.extend(sources_of(here))
    return None


def name_behind(array: Traced) -> str:
    """Its name; empty where there is none."""
    behind = named_behind(array)
    return "" if behind is None else behind.name or ""


def axes_of_annotation(kind: object) -> tuple[str, ...]:
    """The names of axes in an annotation of jaxtyping; "*batch" are any in front, of which the last counts heads."""
    kinds = (kind, *get_args(kind))
    words = next((dims.split() for one in kinds if (dims := getattr(one, "dim_str", ""))), [])
    return tuple(word for word in words if word != "...")


def name_arrays(part: Any, prefix: str = "", annotation: Any = None) -> None:
    """Give each array of a result the name of its field, and its axes the names that jaxtyping has for them."""
    if isinstance(part, Traced):
        part.name, part.axes = part.name or prefix or None, part.axes or axes_of_annotation(annotation)
    elif is_dataclass(part):
        for field in fields(part):
            name_arrays(getattr(part, field.name), f"{prefix}.{field.name}".strip("."), field.type)
    elif isinstance(part, tuple | list):
        hints, labels = getattr(part, "__annotations__", {}), getattr(part, "_fields", range(len(part)))
        for label, child in zip(labels, part, strict=True):
            name_arrays(child, f"{prefix}.{label}".strip("."), hints.get(label))
    elif isinstance(part, dict):
        for label, child in part.items():
            name_arrays(child, f"{prefix}.{label}".strip("."))


# What is told.


def step_of_given(meaning: Message, value: float) -> Step:
    """A number with nothing before it to tell."""
    return Step(meaning, digits(value), value)


def lines_of(array: Traced, names: Names, *, computed: bool = False) -> list[Step]:
    """The line of each cell of an array, in reading order: what pointing at it shows.

    Copies are told as such where they have a name of their own, or as what was `computed`.
    """
    return lines_together([array], names, computed=computed)[0]


def lines_together(arrays: Sequence[Traced], names: Names, *, computed: bool = False) -> list[list[Step]]:
    """The lines of several arrays: cells that are copies of one array, and came about alike, are told in one go."""
    lines: list[list[Any]] = [[None] * array.values.size for array in arrays]
    alike: dict[tuple, list[tuple[list[Any], np.ndarray, Cells]]] = {}
    for told, array in zip(lines, arrays, strict=True):
        for places in uniform_groups(Cells(array, np.arange(array.values.size)), np.arange(array.values.size)):
            group = Cells(array, places)
            group = called(settled(group) if computed else group)
            alike.setdefault(way_of(group), []).append((told, places, group))
    all_cells = [
        Cells(those[0][2].array, np.concatenate([cells.at for _, _, cells in those])) for those in alike.values()
    ]
    written = write_all([term_of(cells) for cells in all_cells])
    for those, cells, texts in zip(alike.values(), all_cells, written, strict=True):
        each = map(Step, names.call(cells), texts, cells.values.tolist())
        for told, places, _ in those:
            for place in places.tolist():
                told[place] = next(each)
    return lines


def way_of(cells: Cells) -> tuple[int, ...]:
    """The array of cells that came about alike, and of which parts they are copies, one after the other."""
    way, here = [id(cells.array)], cells
    while isinstance(here.array.rule, Rearranged):
        made = here.made
        way.append(part_of(made) or 0)
        here = made.parts[way[-1]]
    return tuple(way)


def line_of(cells: Cells, names: Names) -> tuple[Step, Term]:
    """The line of one cell, and its arithmetic."""
    term = term_of(cells)
    value = float(cells.values)
    return Step(names.call(called(cells))[0], write_lines(term)[0], value), term


def story_of(array: Traced, index: Sequence[int], names: Names, *, computed: bool = False) -> list[Step]:
    """All lines that lead to a cell, from the inputs on, each once, sources first and its own last; see `lines_of`."""
    lines: dict[tuple[int, int], Step] = {}
    at = np.ravel_multi_index(tuple(index), array.shape) if array.ndim else 0
    told = Cells(array, np.asarray(at))
    asks_for_known = names.know(called(told).array)

    def add_lines(cells: Cells, *, asked: bool = False) -> None:
        cells = called(cells) if asked else settled(cells)
        key = (id(cells.array), int(cells.at))
        there_from_the_start = isinstance(settled(cells, through_names=True).array.rule, Input)
        untold = there_from_the_start and not (cells.array.name and hidden_number(cells))
        if key in lines or (names.know(cells.array) and not asks_for_known) or untold:
            return
        line, term = line_of(cells, names)
        for source in told_first(term):
            if not hidden_number(cells) or hidden_number(source):
                add_lines(source)
        lines[key] = line

    add_lines(told, asked=not computed)
    return list(lines.values())


def told_first(term: Term) -> Iterator[Cells]:
    """Each cell that is written as a number in the arithmetic of one cell."""
    if term.sign == "number":
        if term.cells is not None and term.text is None:
            yield from (Cells(term.cells.array, np.asarray(at)) for at in term.cells.at.ravel().tolist())
        return
    for part in term.parts:
        if term.kept is not None and part.values.ndim > term.values.ndim:
            yield from told_first(taken(flat(part), np.flatnonzero(term.shown)))
        else:
            yield from told_first(part)


# What lights up.


class Place(NamedTuple):
    """A matrix on the screen whose cells are copies of an array's, and which of them: −1 where none is."""

    key: str
    shown_at: np.ndarray
    columns: int


def places_of(shown: Mapping[str, Traced]) -> dict[int, list[Place]]:
    """Where the cells of each array stand on the screen, by the array's identity."""
    places: dict[int, list[Place]] = {}
    for key, array in shown.items():
        every = np.arange(array.values.size)
        for group in uniform_groups(Cells(array, every), every):
            cells = Cells(array, group)
            for base in {id(one.array): one for one in (called(cells), settled(cells))}.values():
                shown_at = np.full(base.array.values.size, -1)
                shown_at[base.at] = group
                places.setdefault(id(base.array), []).append(Place(key, shown_at, array.shape[-1]))
    return places


Lit = tuple[str, int | None, int | None]  # a matrix, and a cell, a row or a column of it


def sources_among(
    shown: Mapping[str, Traced], key: str, places: Mapping[int, list[Place]] | None = None
) -> list[tuple[Lit, ...]]:
    """For each cell of a matrix on the screen, the cells of the others that it was made of.

    Whoever asks for several matrices finds the `places` of all of them once.
    """
    array, places = shown[key], places_of(shown) if places is None else places
    is_shown = cache(lambda array: any(id(behind) in places for behind in arrays_behind(array)))
    found: list[tuple[Lit, ...]] = [()] * array.values.size
    for group in uniform_groups(Cells(array, np.arange(array.values.size)), np.arange(array.values.size)):
        lit = [[] for _ in group]
        for cells, kept in numbers_in(term_of(Cells(array, group)), is_shown):
            for place in places.get(id(cells.array), ()):
                if place.key != key:
                    add_lit(lit, place, np.where(kept, place.shown_at[cells.at], -1))
        for at, those in zip(group.tolist(), lit, strict=True):
            found[at] = tuple(dict.fromkeys(those))
    return found


def numbers_in(term: Term, wanted: Callable[[Traced], bool]) -> Iterator[tuple[Cells, np.ndarray]]:
    """The cells that arithmetic names, with one axis of terms, and which count; of a sum without a name its own.

    Only of arrays that are `wanted`: of a real head that is turned, each value is a sum of sums of 37,000 terms in all.
    """
    if term.sign == "number":
        if term.cells is None or not wanted(term.cells.array):
            return
        if isinstance(term.cells.array.rule, Input) and term.cells.array.name is None:
            return
        at = term.cells.at.reshape(len(term.cells.at), -1)
        cells = Cells(term.cells.array, at)
        if term.cells.array.name is None:
            whole = grown(Cells(cells.array, at.ravel()), 0)
            if whole.sign != "number":
                for inner, kept in numbers_in(whole, wanted):
                    yield Cells(inner.array, inner.at.reshape(len(at), -1)), kept.reshape(len(at), -1)
                return
        yield settled(cells), np.full(at.shape, True)
        return
    for part in term.parts:
        many = part.values.ndim > term.values.ndim
        for cells, kept in numbers_in(flat(part), wanted):
            rows = len(term.values)
            counts = kept & term.kept.reshape(-1, 1) if many else kept
            yield Cells(cells.array, cells.at.reshape(rows, -1)), counts.reshape(rows, -1)


def add_lit(lit: list[list[Lit]], place: Place, at: np.ndarray) -> None:
    """Light up what each row of cell numbers names (−1 names none): a cell, a row, a column, or else whole rows."""
    rows, columns, none = at // place.columns, at % place.columns, at < 0
    ends = [
        (np.where(none, at.max() + 1, index).min(axis=1).tolist(), np.where(none, -1, index).max(axis=1).tolist())
        for index in (rows, columns)
    ]
    for i, (those, top, bottom, left, right) in enumerate(zip(lit, *ends[0], *ends[1], strict=True)):
        if top == bottom:
            those.append((place.key, top, left if left == right else None))
        elif bottom >= 0 and left == right:
            those.append((place.key, None, left))
        elif bottom >= 0:
            those += [(place.key, row, None) for row in np.unique(rows[i][~none[i]]).tolist()]
