"""A count never stands before the wrong form: “1 minutes”, “1 of 12 entries differ”."""

import string
from functools import cache

import pytest
from babel.messages.pofile import read_po

from attention_core.base.randomness import generator
from attention_core.measured.measures import D_K_MEASURED
from attention_ui.classroom.plan import plan_choice
from attention_ui.classroom.vote import rooms
from attention_ui.controls import learnt, model_view
from attention_ui.page import derivation
from classes import keeper
from lessons.example.real_layer import shipped_layer
from lessons.learning.backward.one_prediction import sentence_with_pronoun
from lessons.one_head.tokens import cutting
from lessons.shared.questions import sizes
from lessons.teachers.class_plan import own_question, plan, plan_file
from lessons.teachers.class_plan.ready_made import READY_MADE
from lessons.teachers.homework import certificate, table
from lessons.teachers.take_home import sheet
from lessons.today.cost import questions as cost
from tests.counts import COUNTED, WRONG
from words import CATALOGUES, FIRST, LANGUAGES, language_of

# The beginnings of templates whose number stands before several things and is never 1, by why it is not.
NEVER_ONE = {
    "said only of more than a limit, which is more than 1": (
        "The text has {count} characters;",
        "the text has {distinct} different",
        "This field takes at most {most}",
        "All {count} steps, from the inputs",
        "Your code has {count} characters;",
        "The link says {name} = {asked}, which has",
        "It has {count} bytes; a file",
        "The largest number in W_q W_kᵀ,",
        "The numbers changed by hand take",
        "The other {count} tokens, to",
        "Largest weight where there is",
        "This is not a worksheet code: it",
        "expected a row of the embedding",
    ),
    "a limit of ours": (
        "each position appears once, as in {like},",
        "Our solution appears beside yours",
        "expected a model that sees at",
        "One network may open at most",
        "{count} classes of your network",
        "If nobody joins within {minutes}",
        "A question has 2 to {most_cards}",
        "{most_questions} questions were",
        "{most_classes} classes are open",
        "An answer has 1 to {most_answer}",
        "{count} others",
        "A multiple-choice question needs",
        "Type a word of 1 to {most} letters.",
        "A plan has at most {most} bytes,",
        "A plan has at most {most} stops,",
        "Without its pictures, a plan has",
        "The file of a plan has at most",
        "{most_edits} numbers have already",
        "The picture shows the first {most}",
        "It ran longer than {seconds}",
        "A certificate has at most {most}",
        "Only the first {most} files have",
        "It reads the first {most} tokens.",
        "This page reads {most} tokens,",
        "A worksheet needs a sentence",
        "There is room for only {most}",
        "This is not a worksheet code: a",
        "it has taken more than {seconds}",
    ),
    "a size of a real model": (
        "The model's own: {d_model} features",
        "All {count} heads: point at one",
        "With the model, all {count} heads",
        "{model} was trained to read at",
        "{model} keeps only a window of",
        "{model} sees {context} tokens",
        "The embedding is used twice:",
        "For the {count} tokens here,",
        "For each token, the cache keeps {kept} numbers: a key and a value of",
        "For each token, the cache keeps {kept} numbers: a key and a value for",
        "The model sees {n} tokens at",
        "{name} has n_layers = {layers},",
        "one of its {count} attention",
        "The model itself turns {which}",
        "Each token's {d_model} numbers",
        "Every {each} of the {all} heads",
        "Measured job: {job}, with {share}",
        "MiniLM sees what comes after “it”,",
        "MiniLM sees what comes after “it”.",
        "In {model}, “it” cannot see the",
        "Each id fetches one of {size}",
    ),
    "a number of ours, the same on every screen": (
        "Fixed: {d_model} features, seed",
        "Fixed: {d_model} features, {n_heads}",
        "Finite differences need two runs",
        "Only {right} has a negative d_logit:",
        "The loss looks at only one prediction,",
        "Trained to find the word that",
        "Here the model is asked for the",
        "The {count} masked scores get",
        "{count} other sentences",
        "On {count} other sentences the",
        "probability of {word}: its part",
        "At least {goal} on {count} other",
        "Less than {goal} on {count} other",
        "Trained for {updates} training",
        "knowing {known} of the {all}",
        "W_q, W_k and W_v hold {projected}",
        "In {count} test sentences, {share} of the",
        "In {count} sentences like “Mary",
        "In {count} test sentences, {share} of its attention goes to commas",
        "In {count} test sentences, {share} of its attention goes to the token",
        "In {count} test sentences, {share} of its attention goes to the first",
        "Waves over the positions: the",
        "Median of {runs} runs on this",
        "{count} random cases, with {tokens}",
        "Measured on {draws} random queries,",
        "These are the notebook's settings.",
        "Through {layers} layers, {alone}",
        "Two small models of one text",
        "Four small models of one text",
    ),
    "of one, something else is said, or nothing": (
        "with {share} of {n} characters",
        "{n_heads} heads. Look at head",
        "{asked} heads cannot share {count}",
        "d_logit of {word} at {token}:",
        "The right answer must be one",
        "The model sees {n} characters",
        "This model sees {most} tokens",
        "It was trained on {window} tokens",
        "It was drawn from {kept} of {size}",
        "At temperature 1 and without",
        "The number of heads does not",
        "Q has {d_model} features and",
        "{query} receives a weighted mix",
        "The causal mask hides {hidden}",
        "{first} sees only itself, {last}",
        "Someone takes the softmax over",
        "To read {query}, this head looks equally",
        "To read {query}, this head looks almost",
        "{query} looks almost equally",
        "In head 1 the score of {key}",
        "Here the model guesses {one}, there {other}. With only these",
        "Of {count} groups of {n} heads",
        "{query} may look at {keys} keys.",
        "The weight is spread as widely",
        "The window hides {hidden} of",
        "Heads {heads} share one set of",
        "Heads {heads} of this model already",
        "They are the same {count} numbers,",
        "It is {apart} steps away, and",
    ),
    "a question draws it, from 2 up": (
        "The same layer with n = {tokens}",
        "With {tokens} tokens, Q Kᵀ takes",
        "How many numbers does the cache",
        "{tokens} keys are read in blocks",
        "The query of one head has {d_model}",
        "In another model d_model is {d_model},",
        "nn.MultiheadAttention keeps W_q,",
        "q · k is a sum of {d_k} products,",
        "Another sentence has {tokens}",
        "A model gives each of {size}",
    ),
    "two numbers together, or one with decimals, are several": (
        "{step} takes {n} multiplications.",
        "Right answers: {share} in both",
        "Right answers: {one} in the first",
        "After {steps} training steps",
    ),
    "a word stands there": ("{token} changes by {change}.",),
}


@cache
def templates():
    """One and many of each template; of those without a plural, the template alone."""
    with (CATALOGUES / "de.po").open("rb") as file:
        return [(one.id,) if isinstance(one.id, str) else tuple(one.id) for one in read_po(file) if one.id]


def excepted(template):
    return [start for starts in NEVER_ONE.values() for start in starts if template.startswith(start)]


def filled(template, number):
    """The template with this number in place of each of its names."""
    return "".join(
        text + (str(number) if name is not None else "") for text, name, _, _ in string.Formatter().parse(template)
    )


@pytest.mark.parametrize("count", [0, 1, 2])
def test_no_count_stands_before_the_wrong_form(count):
    """Filled with 0, 1 and 2, in the form for this count: no “1 tokens”, but where the number can never be 1."""
    wrong = []
    for forms in templates():
        said = forms[0] if count == 1 else forms[-1]
        others = [name for match in COUNTED.finditer(said) for name in match.groups() if name and name != "count"]
        counted = COUNTED.search(said) if len(forms) == 1 else others
        if counted and WRONG.search(filled(said, count)) and not excepted(forms[-1]):
            wrong.append(said)
    assert not wrong, "\n".join(wrong)


def test_every_exception_is_one_and_has_its_reason():
    """Each beginning is that of one template, in which a number does stand before several things."""
    for starts in NEVER_ONE.values():
        for start in starts:
            found = [forms[-1] for forms in templates() if forms[-1].startswith(start)]
            assert len(found) == 1 and COUNTED.search(found[0]), (start, found)


@pytest.mark.parametrize("code", [code for code in LANGUAGES if code != FIRST])
def test_a_language_with_two_forms_says_the_one_for_1(code):
    """And names the count there only where it may: what it says of 1 is what its catalogue has for one."""
    language = language_of(code)
    for one, many in (forms for forms in templates() if len(forms) == 2):
        of_one, of_two = language.template(one, many, 1), language.template(one, many, 2)
        assert of_one == language.texts.ngettext(one, many, 1) and of_two == language.texts.ngettext(one, many, 2)
        assert of_one != one and of_two != many


def test_the_numbers_that_are_never_1():
    limits = (
        *(own_question.MOST_PROMPT, own_question.MOST_CARDS, own_question.MOST_WORD, plan_file.MOST_BYTES),
        *(plan.MOST_STOPS, plan_file.MOST_WITHOUT),
        *(keeper.MOST_CARDS, keeper.MOST_TEXT, keeper.MOST_ANSWER, certificate.MOST_BYTES, table.MOST_CERTIFICATES),
        *(sheet.FEWEST_ON_PAPER, sheet.MOST_ON_PAPER, sheet.CODE_LENGTH, cutting.MOST_LETTERS, learnt.MOST_TYPED),
        *(rooms.MOST_OPENINGS, rooms.OPENING_MINUTES, rooms.MOST_OPEN, derivation.LAST_STEPS, model_view.LONGEST_TEXT),
        *(cost.FEWEST_ASKED, *READY_MADE, *D_K_MEASURED[1:]),
    )
    assert min(limits) > 1 and plan_choice.READY_MADE is READY_MADE
    config = shipped_layer().config
    assert min(config.n_layers, config.n_heads, config.kv_heads, config.d_model, config.context) > 1
    assert all(min(sizes(3, random)) > 1 for random in map(generator, range(20)))
    assert sentence_with_pronoun(0).inputs.shape == (1, 7)
