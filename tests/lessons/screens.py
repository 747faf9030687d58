"""What holds for every screen of every lesson, and how a test recomputes what its sentences say.

A test file of a lesson offers

- `cases(example)`: all the choices worth trying on an example;
- `ORACLE`: for each template with numbers or tokens in it, a function of the case and the sentence that computes its
  arguments again. A superlative needs a `Ranked` among them: the numbers it ranks, and those it names;
- `ANSWERS`: for the template of each question's prompt, a function of the case and the prompt. It gives, by the
  template of the reply to it, what each card must say (a number, a position, a text, or several by the names of the
  card's arguments), the right one first. Where a card says no number, or anything may stand on it (`...`), `JUDGE` is
  a function of a card that finds out whether it is right on this screen.
"""

import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from arithmetic_checks import evaluates
from learnt_oracle import ORACLE as LEARNT
from mistakes import is_mistake

from lessons.example.example import ExampleTrace
from lessons.screen import (
    Arcs,
    Card,
    Curves,
    Facts,
    Figure,
    Film,
    Fixed,
    HeadMaps,
    Integer,
    Listing,
    ListOf,
    Magnitude,
    Matrices,
    Matrix,
    Message,
    OnlineSoftmaxFigure,
    Parts,
    Percent,
    Points,
    Question,
    Ribbons,
    Screen,
    Sharing,
    Step,
    Strips,
    Table,
    Token,
    equation,
    format_value,
    render,
)
from tests.counts import WRONG
from tests.printed import lead, readings, with_decimals

SUPERLATIVE = re.compile(
    r"\b(most|least|largest|smallest|longest|shortest|strongest|best|worst|furthest|highest|lowest)\b", re.I
)
QUESTIONS = 12  # asked of every screen
FOLLOWED = 1  # of five cells of a matrix, which take turns, how many are followed down; `conftest.py` says all
GENERALISES = re.compile(
    r"\b(so|because|nothing|no|none|every|alone|only|all|same|small|large|as well|already|always|never|alike|cannot|"
    r"therefore|equal|stays?|still|too|whatever|as)\b",
    re.I,
)
LONGEST_TITLE = 25  # characters
ALWAYS = {  # whatever the numbers: how it is computed, or what a figure shows
    "Each step's share of all multiplications and of all numbers moved",
    "n tokens, h query heads, g key/value heads. Each step reads what it needs once and writes its "
    "result once. A division counts as a multiplication, an exponential does not count.",
    "This counts a key and a value of every layer, in 16-bit numbers, for one sequence. Mistral 7B "
    "keeps no token older than its window; the layers of GPT-3 that see only a band of tokens are "
    "counted as if they saw all.",
    "Slope 1: twice as much for twice the size; slope 2: four times as much. Memory that PyTorch’s own "
    "function holds only for a moment is not measured.",
    "Rows are queries, columns are keys. Click a heatmap to see it large.",
    "No number changes, and no head knows yet what another has found.",
    "W_o mixes the heads: every number of the output is made from all of them.",
    "Over many draws a row sums to 1 on average. Outside training nothing is dropped.",
    "Nothing is added: queries and keys are turned.",
    "Nothing is added to X.",
    "The same weights, under PyTorch's names",
    "How much every head gives to the first token, and what that adds",
    "The guesses for the next token, with all heads and without one",
    "The map to the vocabulary is used at every step, but only the output of the last layer was trained for it.",
    "Parameters: the entries of W_q, W_k and W_v, and the sinks. The cache: keys and values of all "
    "heads of this layer.",
    "Queries and keys are turned by their positions, so a score depends on the distance between the "
    "two, not on where they are.",
    "A weight says where a head looks, not why the model answers as it does.",
    "Lists and repeated sentences were put into its training so that looking back pays: such heads need not "
    "form by themselves, and other models need not have them.",  # see training/curriculum.py
    "{start} is out of sight by now, but every text it was trained on began with it.",  # see draw_batch there
}
NO_WORDS = re.compile(r"(\{\w+\}|[^a-zA-Z])*")  # a card with numbers or things alone
JUDGE = "is a card right?"
AS_GOOD = 0.005  # what differs by less reads alike, or as good as alike: half of what makes a clear lead


@dataclass(frozen=True, eq=False)
class Case:
    """A screen and all that it was made from. `moment` is the frame of a film while what is said of it is checked."""

    trace: ExampleTrace
    head: int
    choices: object
    screen: Screen
    moment: int | None = None

    @property
    def attention(self):
        return self.trace.heads.select(self.head)


@dataclass(frozen=True)
class Ranked:
    """Numbers of which a sentence names the largest: all whose writing reads the same, and no others."""

    values: Sequence[float]
    named: Sequence[int]
    write: Callable[[float], str]


Oracle = dict[str, Callable[[Case, Message], dict[str, object]]]
Answers = dict[str, Callable[[Case, Message], dict[str, object]]]


def chosen(case: Case, sentence: Message) -> dict[str, object]:
    """For sentences whose tokens and counts were drawn or chosen, not computed: they are what they are."""
    return {name: as_expected(value) for name, value in sentence.arguments.items()}


def as_expected(value: object) -> object:
    assert not isinstance(value, Fixed | Percent | Magnitude), "a number is computed, not chosen"
    return (
        value.position
        if isinstance(value, Token)
        else [*map(as_expected, value.items)]
        if isinstance(value, ListOf)
        else (... if isinstance(value, Message) else value)
    )


def part_of_features(case: Case, sentence: Message) -> dict[str, object]:
    """Of many features eight are shown, or eight of their pairs."""
    own = case.trace.example
    assert sentence.arguments["all"] in {own.d_model, own.d_k, own.d_v, own.d_k // 2} and own.d_k > 16
    return {"shown": 8, "all": sentence.arguments["all"]}


def unit_of_differences(case: Case, sentence: Message) -> dict[str, object]:
    """A power of ten of which the largest difference in the matrix that says it is 10 to 100 times as much."""
    matrices = [matrix for figure in case.screen.figures for matrix in getattr(figure, "matrices", ())]
    (gap,) = (matrix for matrix in matrices if matrix.remark == sentence)
    largest = max(abs(float(value)) for row in gap.values for value in row)
    power = next(power for power in range(-40, 0) if largest / 10.0**power < 100)
    assert gap.unit == pytest.approx(10.0**power)
    return {"unit": f"1e−{-power}"}


# What many lessons say.
SHARED: Oracle = {
    "{shown} of {all}": part_of_features,
    "{rows} × {columns}": chosen,
    "in units of {unit}": unit_of_differences,
    "Untrained: random weights (seed {seed}).": lambda case, sentence: {"seed": case.trace.example.seed},
    "Untrained: random weights (seed {seed}), some of them changed by hand.": lambda case, sentence: {
        "seed": case.trace.example.seed
    },
    "Untrained: random vectors (seed {seed}).": chosen,
    "Untrained: random vectors (seed {seed}), some of them changed by hand.": chosen,
    **LEARNT,
}


def check_case(case: Case, oracle: Oracle, answers: Answers) -> set[str]:
    """Check one screen; the templates that it used."""
    example = getattr(case.trace, "example", None)  # a run of training has none
    first = getattr(example, "seed", 0)
    for place, figure in enumerate(figures(case.screen.figures), first):
        check_figure(figure, place)
    return check_said(case, oracle, answers)


def holds(is_true: Callable[[Case], bool]) -> Callable[[Case, Message], dict[str, object]]:
    """The oracle of a sentence without numbers, which is true where this is."""

    def oracle(case: Case, sentence: Message) -> dict[str, object]:
        assert is_true(case), render(sentence)
        return {}

    return oracle


def check_conditions(case: Case, oracle: Oracle) -> None:
    """A sentence that generalises without a number in it is true, too: an oracle looks, or it is so on every screen."""
    for sentence in sentences(case.screen):
        template = sentence.template
        if not computed(sentence) and GENERALISES.search(template) and len(template) > LONGEST_TITLE:
            assert template in oracle or template in ALWAYS, f"is this so on every screen? {template!r}"
            if template in oracle:
                oracle[template](case, sentence)


def check_said(case: Case, oracle: Oracle, answers: Answers) -> set[str]:
    """Check all that a screen says and asks; the templates that it used."""
    used, oracle = set(), SHARED | oracle
    for sentence in sentences(case.screen):
        used |= check_sentence(case, sentence, oracle)
    for moment, sentence in said_of_moments(case.screen):
        used |= check_sentence(replace(case, moment=moment), sentence, oracle)
    if case.screen.ask is not None:
        for number in range(QUESTIONS):
            question = case.screen.ask(number)
            check_question(case, question, answers)
            assert render(question.prompt) == render(case.screen.ask(number).prompt)
            for sentence in words(question):
                used |= check_sentence(case, sentence, oracle)
    return used


def figures(several: Sequence[Figure], *, frames: bool = True) -> Iterator[Figure]:
    for figure in several:
        yield figure
        if isinstance(figure, Film):
            yield from figure.curves
            yield from figure.frames if frames else ()


def sentences(screen: Screen) -> Iterator[Message]:
    """All that the screen says, but for the moments of films, and the words of derivations and questions."""
    yield from filter(None, (screen.headline, *screen.lead))
    yield from screen.remarks
    yield from said_in(figures(screen.figures, frames=False))


def said_of_moments(screen: Screen) -> Iterator[tuple[int, Message]]:
    """What the films of the screen say of each of their moments."""
    for film in screen.figures:
        if isinstance(film, Film):
            assert len(film.frames) == len(film.moments) and (not film.curves or len(film.at) == len(film.frames))
            for moment, (frame, said) in enumerate(zip(film.frames, film.moments, strict=True)):
                yield from ((moment, sentence) for sentence in (said, *said_in([frame])))
        if isinstance(film, Ribbons):
            last = len(film.moments) - 1
            yield from ((moment, film.moments[moment].says) for moment in {0, last})
            yield from ((moment, row.says) for moment in {0, last // 2, last} for row in film.moments[moment].rows)


def said_in(several: Iterable[Figure]) -> Iterator[Message]:
    """What these figures say."""
    for figure in several:
        yield figure.name
        yield from figure.notice
        yield from filter(None, (figure.heading, figure.weights))
        match figure:
            case Matrices():
                yield from filter(None, [figure.hint])
                for matrix in figure.matrices:
                    yield matrix.title
                    yield from filter(None, [matrix.remark])
            case Curves():
                yield from (figure.x, figure.y, *(line.name for line in figure.lines))
                yield from (name for name, _ in figure.levels)
                yield from (name for name, _ in figure.marks if name is not None)
            case Points():
                yield from (figure.x, figure.y, *figure.says)
            case Arcs() | HeadMaps():
                yield figure.hint
                yield from (figure.head,) if isinstance(figure, Arcs) else (one.name for one in figure.maps)
                yield from filter(None, (one.score for one in getattr(figure, "maps", ())))
            case Parts():
                yield from figure.rows
                yield from (said for part in figure.parts for said in part.says)
                yield from (part.remark for part in figure.parts if part.remark is not None)
            case Sharing():
                yield from (said for line in figure.lines for said in line)
                yield from (figure.asks, *(portion.says for portion in figure.portions))
            case OnlineSoftmaxFigure():
                yield from figure.titles
                for known in figure.moments:
                    yield from (*known.lines, *known.says, *known.output_says)
            case Strips():
                yield from (one.shape for one in figure.strips)
            case Table():
                yield from figure.columns
                yield from (cell for row in figure.cells for cell in row if isinstance(cell, Message))
            case Facts():
                yield from (what for what, _ in figure.facts)
            case Listing():
                yield from (figure.title, figure.note)


def words(question: Question) -> Iterator[Message]:
    """What a question says, but for the answers on its cards, which `check_question` computes again."""
    yield question.prompt
    for card in question.cards:
        yield card.reply
        if card.reason is not None:
            yield card.reason


def check_sentence(case: Case, sentence: Message, oracle: Oracle) -> set[str]:
    """Its arguments are those that the oracle computes, ties are named, and nothing reads the same that is not."""
    text = render(sentence)
    assert "{" not in text or "{" in "".join(map(format_value, sentence.arguments.values())), text
    assert "  " not in text, text
    assert not WRONG.search(text), text
    check_names(sentence)
    check_shares(sentence)
    template = sentence.template
    if computed(sentence) or SUPERLATIVE.search(template):
        assert template in oracle, f"no oracle recomputes: {template!r}"
        expected = oracle[template](case, sentence)
        ranked = expected.pop("ranked", None)
        if SUPERLATIVE.search(template) and "at most" not in template and ranked is None:
            assert expected.pop("concept", False), f"what does this superlative rank? {template!r}"
        if ranked is not None:
            check_ranked(ranked, text)
        expected.pop("concept", None)
        assert expected.keys() == sentence.arguments.keys(), template
        for name, value in expected.items():
            check_argument(sentence.arguments[name], value, f"{template!r}: {name}")
    used = {template}
    for argument in sentence.arguments.values():
        for inner in argument.items if isinstance(argument, ListOf) else (argument,):
            if isinstance(inner, Message):
                used |= check_sentence(case, inner, oracle)
    return used


def check_names(sentence: Message) -> None:
    """Whatever its count, it has all that its templates name: languages with one form for all counts need it."""
    for template in filter(None, (sentence.template, sentence.many)):
        if sentence.arguments:
            names = {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}
            assert names <= set(sentence.arguments), template


def computed(sentence: Message) -> bool:
    """True where a sentence says a number or names a token, which must be computed again."""
    kinds = (int, Fixed, Percent, Magnitude, Integer, Token, ListOf)
    return any(isinstance(argument, kinds) for argument in sentence.arguments.values())


CLOSE = 1e-4  # of a number: how near it must be to that of its oracle


def check_argument(said: object, expected: object, where: str) -> None:
    match said:
        case Fixed(value) | Percent(value) | Magnitude(value):
            atol = max(1e-6, 0.01 * last_place(said))
            assert np.isclose(value, float(expected), rtol=CLOSE, atol=atol, equal_nan=True), (
                f"{where}: {said}, {expected}"
            )
        case Integer(value):
            assert value == expected, f"{where}: {said}, {expected}"
        case Token(_, position):
            assert position == expected, f"{where}: {said}, {expected}"
        case ListOf(items):
            assert len(items) == len(expected), f"{where}: {said}, {expected}"
            for item, one in zip(items, expected, strict=True):
                check_argument(item, one, where)
        case Message():
            assert expected is ... or render(said) == expected, f"{where}: {render(said)!r}, {expected!r}"
        case _:
            assert said == expected, f"{where}: {said!r}, {expected!r}"


def last_place(said: Fixed | Percent | Magnitude) -> float:
    """A unit of the last place that is printed; 0 where the number itself decides what is."""
    match said:
        case Fixed():
            return 10.0**-said.decimals
        case Percent():
            return 0.01
    return 0.0


def check_ranked(ranked: Ranked, text: str) -> None:
    """All that read like the largest are named, and nothing else."""
    assert lead(ranked.named, ranked.values, ranked.write), f"{text}: {ranked.named} do not lead {ranked.values}"


def check_shares(sentence: Message) -> None:
    """No percentage stands twice as if it were two; and “mostly” is more than half."""
    shares = [a.value for a in sentence.arguments.values() if isinstance(a, Percent)]
    for i, one in enumerate(shares):
        for other in shares[:i]:
            assert abs(one - other) < 1e-6 or format_value(Percent(one)) != format_value(Percent(other)), render(
                sentence
            )
    if "mostly" in sentence.template.lower():
        assert shares and max(shares) > 0.5, render(sentence)


def check_question(case: Case, question: Question, answers: Answers) -> None:
    """The cards read differently, each says what its reply speaks of, and the right one is right."""
    texts = [render(card.text) for card in question.cards]
    assert 2 <= len(texts) <= 4
    assert len(set(texts)) == len(texts), texts
    said = [render(card.reply) for card in question.cards]
    assert len(set(said)) == len(said), f"each card has a reply of its own: {said}"
    assert question.prompt.template in answers, f"no answer is computed again for: {question.prompt.template!r}"
    expected = answers[question.prompt.template](case, question.prompt)
    check_cards(question, expected.pop(JUDGE, None), expected)
    right = question.cards[question.right]
    assert right.reply.template == next(iter(expected)), (render(question.prompt), texts)
    for card in question.cards:
        value = expected[card.reply.template] if not is_mistake(card) else ...
        for name, argument in card.text.arguments.items() if value is not ... else ():
            said = value[name] if isinstance(value, dict) else value
            if isinstance(argument, Fixed):  # a card is written with few decimals, and so is what it must be
                assert format_value(argument) in readings(said, with_decimals(argument.decimals)), (
                    f"{render(question.prompt)} {render(card.reply)} {argument} {said}"
                )
            else:
                check_argument(argument, said, render(question.prompt))


def check_cards(question: Question, judge: Callable[[Card], bool] | None, expected: dict[str, object]) -> None:
    """The right card is right, and every other is wrong: by a judge, or since each says a number of its own."""
    right = question.cards[question.right]
    for place, card in enumerate(question.cards):
        said = f"{render(question.prompt)} {render(card.text)}"
        if judge is not None:
            assert judge(card) == (place == question.right), f"{said} (right: {place == question.right})"
        else:
            assert expected[card.reply.template] is not ..., f"nobody judges this card: {said}"
            assert card.text.template == right.text.template or NO_WORDS.fullmatch(card.text.template), (
                f"its words, not only its numbers, may be right: {said}"
            )


def token_on(card: Card) -> int:
    """The position of the one token that a card names."""
    (position,) = (argument.position for argument in card.text.arguments.values() if isinstance(argument, Token))
    return position


def by_largest(values: Sequence[float]) -> Callable[[Card], bool]:
    """Judges cards that each name a token: right are all whose value is the largest, or as good as that."""
    return lambda card: values[token_on(card)] >= max(values) - AS_GOOD


def by_text(right: Mapping[str, bool]) -> Callable[[Card], bool]:
    """Judges cards by the template of what they say."""
    return lambda card: bool(right[card.text.template])


def by_thought(numbers: Mapping[str, object]) -> Callable[[Card], bool]:
    """Judges cards by the thoughts on them, the right one first: each says the number, or the shape, it leads to."""
    right = next(iter(numbers))

    def judge(card: Card) -> bool:
        thought, said = card.reason.template, numbers[card.reason.template]
        for name, argument in card.text.arguments.items():
            one = said[name] if isinstance(said, dict) else said
            if isinstance(argument, Fixed):  # written with few decimals
                assert format_value(argument) in readings(one, with_decimals(argument.decimals)), thought
            else:
                check_argument(argument, one, thought)
        return thought == right

    return judge


def check_figure(figure: Figure, turn: int) -> None:
    """What a figure shows agrees with itself; the turn says which cells of its matrices are looked at."""
    if isinstance(figure, Curves):
        for line in figure.lines:
            assert len(line.x) == len(line.y) and all(np.diff(np.asarray(line.x, float)) > 0), line.key
    if isinstance(figure, Matrices):
        keys = [matrix.key for matrix in figure.matrices]
        assert len(set(keys)) == len(keys)
        assert figure.first in keys
        for place, matrix in enumerate(figure.matrices):
            check_matrix(matrix, turn + place)
    if isinstance(figure, Sharing):
        assert np.isclose(sum(portion.share for portion in figure.portions), 1.0, atol=1e-5)
        sizes = np.asarray([portion.size for portion in figure.portions])
        assert np.allclose(sizes / sizes.sum(), [portion.share for portion in figure.portions], atol=1e-5)
        assert sizes.max() == 1, "the longest bar has the height that there is"


def check_matrix(matrix: Matrix, turn: int) -> None:
    """Its axes have its shape; a sample of its cells is followed down, each line evaluated."""
    rows, columns = matrix.values.shape
    assert (len(matrix.rows.labels), len(matrix.columns.labels)) == (rows, columns), matrix.key
    for name in ("visible", "marked", "was"):
        other = getattr(matrix, name)
        assert other is None or np.asarray(other).shape == (rows, columns), (matrix.key, name)
    if matrix.step is None:
        return
    values = np.asarray(matrix.values.tolist(), float)
    sample = [(0, 0), (rows - 1, columns - 1), (rows - 1, 0), (0, columns - 1), (rows // 2, columns // 2)]
    for i, j in {sample[(turn + following) % len(sample)] for following in range(FOLLOWED)}:
        steps = matrix.derive(i, j)
        assert np.isclose(steps[-1].value, values[i, j], rtol=1e-4, atol=1e-6, equal_nan=True), (matrix.key, i, j)
        for step in steps:
            check_step(step)
        if not matrix.sees(i, j):
            assert "masked" in render(steps[-1].meaning) or "hidden" in render(steps[-1].meaning), matrix.key


def check_step(step: Step) -> None:
    assert "{" not in render(step.meaning) or "{" in "".join(map(format_value, step.meaning.arguments.values()))
    assert evaluates(step), (render(step.meaning), equation(step), step.value)
