"""Nobody gets an answer right by where it stands, by its size among the others, or because it is always the same.

Each lesson is asked with 100 seeds: those of its example where that is cheap, else of a few examples taken in turns.
"""

import re
from collections import Counter, defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from arithmetic_checks import evaluates
from finding import part_of

from attention_core.base.randomness import generator
from attention_core.learning.tasks import CharacterTask
from attention_core.learning.training import recommended
from attention_core.measured.parity import compare_with_pytorch
from attention_core.measured.permutation import random_permutation
from attention_core.model.generation import generate
from attention_core.model.sampling import Sampling
from attention_core.model.small_model import ModelConfig, draw_model
from attention_core.one_head.attention import attend
from attention_core.one_head.masks import causal_mask
from lessons.code.pytorch import lesson as pytorch
from lessons.example.example import Example, run_example
from lessons.learning.backward import lesson as backward
from lessons.learning.backward.one_prediction import PRONOUNS, predict_one, settings_of_learner
from lessons.learning.train.lesson import questions_about
from lessons.model.heads import lesson as heads
from lessons.model.heads.example import HeadsChosen, run_heads
from lessons.model.positions import lesson as positions
from lessons.one_head.dot_product import lesson as dot_product
from lessons.one_head.mask import lesson as mask
from lessons.one_head.output import lesson as output
from lessons.one_head.projections import lesson as projections
from lessons.one_head.scores import lesson as scores
from lessons.one_head.softmax import lesson as softmax
from lessons.one_head.tokens import lesson as tokens
from lessons.screen import Fixed, format_value, names, render
from lessons.shared.questions import question_picker
from lessons.today.cost import lesson as cost
from lessons.today.cost.counted_view import sizes_of_example
from lessons.today.variants import lesson as variants
from lessons.today.variants.compute import COMPUTE, vary
from tests.printed import readings, with_decimals

SEEDS, NUMBERS = 100, 9  # the first questions of each: every step three times
pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")

FEW = 12  # examples, where one takes long to compute
NUMBER = re.compile(r"−?[\d,]+(\.\d+)?")
LONGEST_REASON = 60  # characters
ROOT = Path(__file__).parents[2]


def drawn_at_random(seed):
    """With dot products of either sign: those of the usual words are all above 0."""
    return run_example(Example(source="sentence", text="a b c d e f", seed=seed))


def example_of(seed):
    return run_example(Example(seed=seed))


def scored(seed, mask=None):
    """An example, and its head with two scales, or without a mask and with one."""
    trace = example_of(seed)
    a = trace.heads.select(0)
    causal = causal_mask(len(trace.tokens))
    if mask is None:
        return trace, *(attend(a.q, a.k, a.v, causal, scale=scale) for scale in (1.0, trace.scale))
    return trace, *(attend(a.q, a.k, a.v, hidden, scale=trace.scale) for hidden in (None, causal))


@cache
def several_heads(seed):
    return run_heads(Example(seed=seed), HeadsChosen())


@cache
def parity(seed):
    trace = several_heads(seed)
    return compare_with_pytorch(trace.x, causal_mask(len(trace.tokens)), trace.module), names(trace.tokens)


@cache
def mistake(seed):
    return predict_one(settings_of_learner(Example(seed=seed % 2)), backward.Choices().updates, seed)


@cache
def newest_character(seed):
    task = CharacterTask("hello world", 5)
    config = ModelConfig(vocabulary=len(task.vocabulary), context=5, d_model=6, n_layers=1)
    model = draw_model(config, generator(seed))
    return generate(model, task.vocabulary, tuple("wor"), 3, Sampling(), seed)[-1], task.vocabulary


@cache
def varied_head(seed):
    """Every variant in turn, of sentences of other lengths and with other reaches; of seed 1 the first screen."""
    if seed == 1:
        return vary(example_of(1), 0, "window", 2.0)
    words = ["the", "cat", "saw", "an", "old", "dog", "and", "ran", "off"][: 4 + seed // 7 % 6]
    sizes = {"n_heads": 2 + 2 * (seed % 2), "d_k": 2 + 2 * (seed % 3), "causal": seed % 5 > 0}
    trace = run_example(Example(source="sentence", text=" ".join(words), seed=seed, **sizes))
    kind, reach = list(COMPUTE)[seed % len(COMPUTE)], 1 + seed // 7 % 4
    return vary(trace, seed % 2, kind, {"window": float(reach), "sink": 1.0, "cap": 0.5}.get(kind, 0.0))


def positions_order(seed):
    """Of seed 1 that of the first screen, else a shuffle of its own."""
    return (5, 4, 3, 2, 1, 0) if seed == 1 else random_permutation(6, seed)


# What the questions of a lesson are about, for a seed.
ABOUT = {
    "tokens": lambda seed: (example_of(seed),),
    "dot_product": lambda seed: (drawn_at_random(seed),),
    "projections": lambda seed: (example_of(seed), 0),
    "scores": scored,
    "mask": lambda seed: scored(seed, mask="causal"),
    "softmax": lambda seed: (example_of(seed), 0, 5, 1.0),
    "output": lambda seed: (example_of(seed), 0, 5),
    "heads": lambda seed: (several_heads(seed % FEW), 0),
    "positions": lambda seed: (example_of(seed), 0, positions_order(seed)),
    "pytorch": lambda seed: parity(seed % FEW),
    "backward": lambda seed: (mistake(seed % FEW),),
    "cost": lambda seed: (sizes_of_example(example_of(seed)),),
    "generate": lambda seed: newest_character(seed % FEW),
    "train": lambda seed: (recommended(PRONOUNS, seed),),
    "variants": lambda seed: (varied_head(seed),),
}
FIRST_SCREENS = {
    "tokens": tokens.Choices(),
    "dot_product": dot_product.Choices("all", 0),
    "projections": projections.Choices(),
    "scores": scores.Choices(),
    "mask": mask.Choices(causal_mask(6)),
    "softmax": softmax.Choices(5),
    "output": output.Choices("all", 5),
    "heads": heads.Choices(HeadsChosen()),
    "positions": positions.Choices((5, 4, 3, 2, 1, 0)),
    "pytorch": pytorch.Choices(HeadsChosen(), causal_mask(6)),
    "backward": backward.Choices(sentence=1),
    "cost": cost.Choices(),
    "variants": variants.Choices(),
}


def asked(lesson, seed):
    makers = part_of(lesson, "questions").QUESTIONS
    return question_picker(lesson, makers, seed, *ABOUT[lesson](seed))


@cache
def questions(lesson):
    """The first questions of every seed, one list for each number."""
    asks = [asked(lesson, seed) for seed in range(SEEDS)]
    return [[ask(number) for ask in asks] for number in range(NUMBERS)]


def every_question(lesson):
    return [question for several in questions(lesson) for question in several]


def right_text(question):
    return render(question.cards[question.right].text)


def as_number(text):
    return float(text.replace(",", "").replace("−", "-")) if NUMBER.fullmatch(text) else None


def test_every_lesson_with_questions_is_here():
    folders = {path.parent.name for path in (ROOT / "lessons").glob("*/*/questions.py")}
    assert folders == {*ABOUT, "read"}, "which has a model of its own: see test_read"
    assert {*FIRST_SCREENS} == {*ABOUT} - {"generate", "train"}


@pytest.mark.parametrize("lesson", ABOUT)
def test_these_are_the_questions_that_the_screen_asks(lesson):
    if lesson == "generate":
        pytest.skip("its screen is made of a text, and its questions are made as here")
    if lesson == "train":
        ask = questions_about(recommended(PRONOUNS, 1))
    else:
        shown = drawn_at_random if lesson == "dot_product" else example_of
        ask = part_of(lesson, "lesson").screen(shown(1), 0, FIRST_SCREENS[lesson]).ask
    for number in range(NUMBERS):
        assert [render(card.text) for card in ask(number).cards] == [
            render(card.text) for card in asked(lesson, 1)(number).cards
        ]


@pytest.mark.part(2)
@pytest.mark.parametrize("lesson", ABOUT)
def test_the_right_answer_of_the_first_question_stands_anywhere(lesson):
    """With two cards, at most 65%."""
    places = defaultdict(Counter)
    for question in questions(lesson)[0]:
        places[len(question.cards)][question.right] += 1
    assert sum(places[3].values()) + sum(places[4].values()) > SEEDS / 2
    for cards, most in ((4, 0.45), (3, 0.55), (2, 0.65)):
        asked_so = places[cards].total()
        if asked_so >= 20:  # of fewer, chance alone may have its way
            assert max(places[cards].values()) <= most * asked_so, (cards, places[cards])
    over_all = sum(places.values(), Counter())
    assert max(over_all.values()) <= 0.45 * SEEDS, over_all


@pytest.mark.parametrize("lesson", ABOUT)
def test_the_right_number_is_no_more_often_between_the_others_than_beyond_them(lesson):
    stands = Counter()
    for question in every_question(lesson):
        numbers = [as_number(render(card.text)) for card in question.cards]
        if len(numbers) > 2 and None not in numbers:
            right = sorted(numbers).index(numbers[question.right])
            stands[{0: "smallest", len(numbers) - 1: "largest"}.get(right, "between")] += 1
    assert lesson in ("tokens", "heads") or stands.total() > 50
    assert not stands or max(stands.values()) <= 0.45 * stands.total(), stands
    assert stands["between"] <= 0.4 * stands.total(), stands


@pytest.mark.parametrize("lesson", ABOUT)
def test_answers_with_numbers_differ_and_a_single_kind_always_has_the_same_answer(lesson):
    kinds = defaultdict(list)
    for question in every_question(lesson):
        kinds[question.prompt.template].append(question)
    always_the_same = []
    for several in kinds.values():
        rights = {right_text(question) for question in several}
        if len(rights) == 1 and len(several) > 10:
            always_the_same.append(several)
        elif len(several) > 10 and any(map(says_a_number, several)):
            assert len(rights) >= 5, rights
    assert len(always_the_same) <= 1, [several[0].prompt.template for several in always_the_same]
    for question in (question for several in always_the_same for question in several):
        assert not re.search(r"\d", "".join(render(card.text) for card in question.cards).replace("exactly 0", ""))
        assert re.search(r"\d", render(question.cards[question.right].reply)), "its reply says the numbers"


def says_a_number(question):
    """Whether a card does, other than as the name of a head."""
    return any(re.search(r"\d", re.sub(r"Head \d", "", render(card.text))) for card in question.cards)


@pytest.mark.parametrize("lesson", ABOUT)
def test_no_prompt_says_the_right_number(lesson):
    for question in every_question(lesson):
        told = re.findall(r"−?\d+\.\d+", render(question.prompt))
        assert right_text(question) not in told, render(question.prompt)


@pytest.mark.parametrize("lesson", ABOUT)
def test_each_card_says_why_it_is_right_or_what_its_mistake_is(lesson):
    """In words of its own: nobody who is wrong is told only what whoever is right is told."""
    for question in every_question(lesson):
        said = [render(card.reply) for card in question.cards]
        assert len(set(said)) == len(said), (render(question.prompt), said)


@pytest.mark.parametrize("lesson", ABOUT)
def test_no_question_prints_powers_of_ten(lesson):
    for question in every_question(lesson):
        said = [question.prompt, *(text for card in question.cards for text in (card.text, card.reason, card.reply))]
        for sentence in filter(None, said):
            assert not re.search(r"\de[−-]?\d", render(sentence)), render(sentence)


def reasons(question):
    return [render(card.reason) for card in question.cards if card.reason is not None]


def with_reasons(lesson):
    return [question for question in every_question(lesson) if reasons(question)]


@pytest.mark.parametrize("lesson", ABOUT)
def test_all_cards_of_a_kind_of_question_have_a_reason_or_none(lesson):
    kinds = defaultdict(set)
    for question in every_question(lesson):
        assert len(reasons(question)) in (0, len(question.cards)), render(question.prompt)
        kinds[question.prompt.template].add(bool(reasons(question)))
    assert all(len(either) == 1 for either in kinds.values()), kinds
    assert {True} in kinds.values()


@pytest.mark.parametrize("lesson", ABOUT)
def test_reasons_differ_are_short_and_look_alike(lesson):
    """One line, as one thinks it: no capital, no full stop."""
    for question in with_reasons(lesson):
        assert len(set(reasons(question))) == len(question.cards), reasons(question)
        for reason in reasons(question):
            assert len(reason) <= LONGEST_REASON, reason
            assert reason[0] == reason[0].lower() or reason.split()[0] in SYMBOLS, reason
            assert not reason.endswith("."), reason


SYMBOLS = {"True", "False", "X", "W_q"}


@pytest.mark.parametrize("lesson", ABOUT)
def test_no_reason_says_an_answer(lesson):
    for question in with_reasons(lesson):
        said = {render(card.text) for card in question.cards}
        for reason in reasons(question):
            assert not said & set(re.findall(r"−?\d[\d,]*(?:\.\d+)?", reason)), (render(question.prompt), reason)


@pytest.mark.parametrize("lesson", ABOUT)
def test_the_right_reason_stands_out_by_its_length_no_more_than_the_others(lesson):
    """As often as by chance it is the longest, or the shortest, as near as a few kinds of question can have it."""
    asked_so, stands, chance = with_reasons(lesson), Counter(), 0.0
    for question in asked_so:
        lengths = [len(reason) for reason in reasons(question)]
        right = lengths[question.right]
        stands["longest"] += right == max(lengths) and lengths.count(right) == 1
        stands["shortest"] += right == min(lengths) and lengths.count(right) == 1
        chance += 1 / len(lengths)
    assert max(stands.values()) <= chance + 0.15 * len(asked_so), (stands, chance, len(asked_so))


@pytest.mark.parametrize("lesson", ABOUT)
def test_a_shape_stays_on_one_line(lesson):
    """Between its numbers stand spaces at which no line breaks."""
    for question in every_question(lesson):
        for sentence in (question.prompt, *(card.text for card in question.cards)):
            assert not re.search(r"\d ×|× \d", render(sentence)), render(sentence)


DERIVED = {
    "dot_product",
    "projections",
    "scores",
    "mask",
    "softmax",
    "output",
    "positions",
    "pytorch",
    "backward",
    "variants",
}


def shown_and_asked(lesson):
    """A few screens of a lesson, and the first questions of each."""
    for seed in range(FEW // 2):
        choices = FIRST_SCREENS[lesson]
        if lesson == "variants":
            choices = replace(choices, variant=list(COMPUTE)[seed % len(COMPUTE)])
        shown = part_of(lesson, "lesson").screen(example_of(seed), 0, choices)
        yield from ((shown, shown.ask(number)) for number in range(18))


@pytest.mark.parametrize("lesson", sorted(DERIVED))
def test_a_number_asked_for_is_derived_to_the_right_answer(lesson):
    """The last line of the derivation comes to what stands on the right card, and every line evaluates."""
    derived = 0
    for shown, question in shown_and_asked(lesson):
        if question.about is None:
            continue
        *before, last = shown.derive(*question.about)
        assert all(map(evaluates, (*before, last))), render(question.prompt)
        right = question.cards[question.right].text.arguments.get("number")
        if right is not None:
            assert format_value(right) in readings(last.value, writes_as(right)), render(question.prompt)
            derived += 1
    assert derived >= 5


def writes_as(argument):
    """How a number or a count is written."""
    if isinstance(argument, Fixed):
        return with_decimals(argument.decimals)
    return lambda value: format_value(replace(argument, value=round(value)))


MEASURED = (  # no line of arithmetic leads to this number: the model ran once more
    "One step at learning rate {rate} takes the loss from {before} to {after}. What is the loss after one step at "
    "twice that rate, from the same weights?"
)


@pytest.mark.parametrize("lesson", ["positions", "pytorch", "backward", "variants"])
def test_every_number_asked_for_is_derived(lesson):
    for _, question in shown_and_asked(lesson):
        if "number" in question.cards[question.right].text.arguments:
            assert question.about or question.prompt.template == MEASURED, render(question.prompt)
