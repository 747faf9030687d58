"""What a question of a plan needs is on the screen on which it is asked, and its answer stands clear of the others."""

import pytest

from attention_ui.classroom.vote.asked import asked_here
from lessons.example.example import run_example
from lessons.screen import Fixed, Matrices, render
from lessons.teachers.class_plan.ready_made import READY_MADE, ready_plan
from lessons.teachers.class_vote.question_link import read_asked

CLEAR = 3  # units of the last place that is printed
STANDS_OUT = 1.5  # times as much weight as each key would have of an even row
NOTHING: set[str] = set()  # all that is needed is in the question itself, or is a rule
# By the template of a question: the matrices without whose numbers nobody can answer it.
NEEDS = {
    "Where in X is the vector of {token}?": NOTHING,
    "Make the vector of {token} {longer} times as long. What happens to its dot product with itself?": NOTHING,
    "What is feature {feature} of the query of {token}?": {"x", "W_q"},
    "The sentence gets one more token. Which matrices of this head get one more row?": NOTHING,
    "The dot product of the query of {one} and the key of {other} is {score}. What is that of the query of {other} "
    "and the key of {one}?": {"q", "k"},
    "The query of {query} and the key of {key} have the score {score}, and d_k is {d_k}. What is the scaled score?": (
        NOTHING
    ),
    "The mask hides {key} from {query}. How much weight does {query} put on {key}?": NOTHING,
    "{query} puts the weight {weight} on {key}. {change}, just before the softmax. What happens to this weight?": (
        NOTHING
    ),
    "The tokens are {tokens}. The answer at {query} is “{answer}”, and a trained head finds it among them. On which "
    "token will the row of {query} put its weight?": NOTHING,
    "What is feature {feature} of the output of {query}?": {"weight", "v"},
    "{mask}, no positions. The shuffle moves {token} to row {row}. How does its output compare with before?": NOTHING,
    "From {query}, how much of its weight does head {head} give to the first token?": NOTHING,  # read off its picture
    "With all heads, {token} has the probability {whole}. What is it without head {head}?": NOTHING,
}


def stops():
    for minutes in READY_MADE:
        for place, stop in enumerate(ready_plan(minutes).stops):
            if "ask" in stop.actions:
                lesson = read_asked(stop.screen).lesson
                yield pytest.param(minutes, place, id=f"{minutes}-{place}-{lesson}")


def asked_at(minutes, place, request):
    text = ready_plan(minutes).stops[place].screen
    if read_asked(text).lesson == "read":
        request.getfixturevalue("smollm2")
    return read_asked(text), asked_here(text)


@pytest.mark.parametrize(("minutes", "place"), [*stops()])
def test_what_a_question_needs_is_on_the_screen_while_it_is_asked(minutes, place, request):
    asked, here = asked_at(minutes, place, request)
    template = here.question.prompt.template
    assert template in NEEDS, f"what does it need? {template!r}"
    matrices = [matrix for figure in here.figures if isinstance(figure, Matrices) for matrix in figure.matrices]
    seen = {m.key for m in matrices if m.drawn and (m.given or not here.question.in_figure)}
    assert NEEDS[template] <= seen, (render(here.question.prompt), seen)
    if NEEDS[template]:
        trace = run_example(asked.example)
        whole = {"x": trace.x.shape, "W_q": (trace.x.shape[1], trace.example.d_k)}
        for matrix in matrices:
            if matrix.key in NEEDS[template] & whole.keys():
                assert matrix.values.shape == whole[matrix.key], "all of it, not some features"


@pytest.mark.parametrize(("minutes", "place"), [*stops()])
def test_the_right_number_stands_clear_of_the_others(minutes, place, request):
    _, here = asked_at(minutes, place, request)
    numbers = [next(iter(card.text.arguments.values()), None) for card in here.question.cards]
    if not all(isinstance(number, Fixed) for number in numbers):
        return
    units = [round(number.value * 10**number.decimals) for number in numbers]
    others = [abs(unit - units[here.question.right]) for unit in units]
    assert min(others[: here.question.right] + others[here.question.right + 1 :]) >= CLEAR, [
        render(card.text) for card in here.question.cards
    ]


@pytest.mark.parametrize(("minutes", "place"), [stop.values for stop in stops()])
def test_a_mix_is_asked_of_a_row_that_is_not_nearly_even(minutes, place, request):
    asked, here = asked_at(minutes, place, request)
    if "output of {query}" not in here.question.prompt.template:
        return
    row = run_example(asked.example).heads.select(asked.head).weights[here.question.prompt.arguments["query"].position]
    seen = row[row > 0].tolist()
    assert max(seen) >= STANDS_OUT / len(seen)
