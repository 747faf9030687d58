"""What is said of a character just written is computed again from the scores, with plain Python."""

import math
import re
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from screens import (
    JUDGE,
    Case,
    Ranked,
    by_largest,
    by_thought,
    check_case,
    check_conditions,
    chosen,
    holds,
    token_on,
)

from attention_core.base.randomness import generator
from attention_core.learning.tasks import CharacterTask
from attention_core.model.generation import GeneratedToken, NewToken, generate
from attention_core.model.sampling import Sampling, draw_token
from attention_core.model.small_model import ModelConfig, draw_model
from lessons.example.prompt import beginning_of
from lessons.model.generate.lesson import Writing, generate_screen, training_steps, unread_characters
from lessons.screen import percent, render, render_all

HELLO = CharacterTask("hello world")
VOCABULARY = HELLO.vocabulary.tokens
SAMPLINGS = st.builds(
    Sampling,
    temperature=st.sampled_from([0.0, 0.5, 1.0, 2.0]),
    top_k=st.none() | st.integers(1, 9),
    top_p=st.sampled_from([0.3, 0.9, 1.0]),
)
LOGITS = st.lists(st.integers(-2000, 2000).map(lambda n: n / 100) | st.sampled_from([0.0, 1.0]), min_size=8, max_size=8)
LOOKS = st.lists(st.integers(-900, 900).map(lambda n: n / 100) | st.just(0.0), min_size=2 * 3 * 5, max_size=2 * 3 * 5)


def written_by(model, start="wor", length=11, seed=17, sampling=None, task=HELLO):
    sampling = sampling or Sampling()
    new = generate(model, task.vocabulary, tuple(start), length, sampling, seed)
    return Writing(task, tuple(start), new, new[-1], sampling, seed)


def untrained(n_layers=2, n_heads=3):
    config = ModelConfig(vocabulary=8, context=5, d_model=6, n_layers=n_layers, n_heads=n_heads)
    return draw_model(config, generator(3))


@st.composite
def writings(draw):
    """A text as a model writes it; half of the time with scores and looks as no model has them: ties, certainty."""
    model = untrained(draw(st.integers(1, 2)), draw(st.sampled_from([1, 3])))
    start = draw(st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=7))
    sampling, seed = draw(SAMPLINGS), draw(st.integers(0, 99))
    writing = written_by(model, start, draw(st.integers(1, 9)), seed, sampling)
    if draw(st.booleans()):
        return writing
    new, logits = writing.newest, torch.tensor(draw(LOGITS), dtype=torch.float64)
    looks = torch.tensor(draw(LOOKS)).reshape(2, 3, 5)[..., : len(new.window)].softmax(-1)
    drawn = draw_token(logits, sampling, generator(seed))
    newest = GeneratedToken(VOCABULARY[drawn.token], new.position, new.first, new.window, drawn, tuple(looks))
    last = NewToken(newest.token, new.position, new.first, new.window)
    return Writing(HELLO, writing.start, (*writing.written[:-1], last), newest, sampling, seed)


def softmax(logits, temperature=1.0):
    if temperature == 0:
        return [float(i == ranking(logits)[0]) for i in range(len(logits))]
    powers = [math.exp((v - max(logits)) / temperature) for v in logits]
    return [p / sum(powers) for p in powers]


def ranking(logits):
    return sorted(range(len(logits)), key=lambda i: (-logits[i], i))


def cut(writing):
    """The chances after both cuts, token by token."""
    logits, sampling = writing.newest.draw.logits.tolist(), writing.sampling
    tempered, order = softmax(logits, sampling.temperature), ranking(logits)
    kept = order[: sampling.top_k]
    total, reached, stays = sum(tempered[i] for i in kept), 0.0, []
    for token in kept:
        if reached < sampling.top_p or sampling.top_p == 1:
            stays.append(token)
        reached += tempered[token] / total
    left = sum(tempered[i] for i in stays)
    return [tempered[i] / left if i in stays else 0.0 for i in range(len(logits))], stays


def logits_of(case):
    return case.choices.newest.draw.logits.tolist()


def given_share(case, sentence):
    logits, token = logits_of(case), case.choices.newest.draw.token
    rank = 1 + sum(v > logits[token] for v in logits)
    return {"token": token, "share": softmax(logits)[token], "rank": rank, "size": 8}


def stretch(case, sentence):
    final, token = cut(case.choices)[0], case.choices.newest.draw.token
    uniform = case.choices.newest.draw.uniform
    start, end = sum(final[:token]), sum(final[: token + 1])
    assert start - 1e-9 <= uniform <= end + 1e-9
    assert VOCABULARY[token] == case.choices.newest.token
    return {"token": token, "start": start, "end": end, "uniform": uniform}


def character(case, sentence):
    token, logits = sentence.arguments["token"].position, logits_of(case)
    final = cut(case.choices)[0]
    return {
        "token": token,
        "score": logits[token],
        "said": softmax(logits)[token],
        "tempered": softmax(logits, case.choices.sampling.temperature)[token],
        "final": final[token],
    }


def cells(case):
    """(layer, head, key) and weight, in the order in which they are read."""
    return [
        ((layer, head, key), weight)
        for layer, heads in enumerate(case.choices.newest.attention)
        for head, row in enumerate(heads.tolist())
        for key, weight in enumerate(row)
    ]


def read_cell(key, head):
    """(layer, head, key) as a sentence names it."""
    n = head.arguments
    return n["layer"] - 1, n["head"] - 1, key


def key_of(case, sentence):
    last = len(case.choices.newest.window) - 1
    if render(sentence) == "itself":
        return last
    assert sentence.arguments["back"] == last - sentence.arguments["key"].position
    return sentence.arguments["key"].position


def several_looks(case, sentence):
    places, values = zip(*cells(case), strict=True)
    said = [(key_of(case, s.arguments["key"]), s.arguments["head"]) for s in sentence.arguments["cells"].items]
    named = [places.index(read_cell(*pair)) for pair in said]
    return {
        "query": len(case.choices.newest.window) - 1,
        "cells": [...] * len(named),
        "count": len(named),
        "weight": values[named[0]],
        "ranked": Ranked(values, named, percent),
    }


def steps_taken(case, sentence):
    text = "".join((*case.choices.start, *(new.token for new in case.choices.written)))
    first = len(case.choices.start)
    legal = sum(text[i - 1 : i + 1] in "hello world" for i in range(first, len(text)))
    total = len(text) - first
    return {"count": legal, "total": total, "share": legal / total}


def window(case, sentence):
    new = case.choices.newest
    text = [*case.choices.start, *(n.token for n in case.choices.written)][:-1]
    seen = text[-5:]
    assert list(new.window) == seen
    hidden = len(text) - len(seen)
    whole = {"count": len(seen)}
    return whole if hidden == 0 else {"n": 5, "first": hidden + 1, "last": len(text), "count": hidden}


def unread(case, sentence):
    """Of “hello world” only “d” is never read: it stands at its end."""
    if "unseen" in sentence.arguments:
        return {"count": 1, "unseen": [VOCABULARY.index("d")]}
    text = "".join((*case.choices.start, *(new.token for new in case.choices.written)))
    resting = [i for i in range(len(case.choices.start), len(text)) if "d" in text[max(0, i - 5) : i]]
    return {"resting": len(resting), "total": len(case.choices.written)}


def only_one_left(case):
    return max(cut(case.choices)[0]) > 1 - 1e-9


ORACLE = {
    "{token}: score {score}; probability {said} from the model, {tempered} after the temperature, "
    "{final} in the draw.": character,
    "The new token is {token}: the model gave it {share} (rank {rank} of {size}).": given_share,
    "It was drawn with a chance of {final}.": lambda case, sentence: {
        "final": cut(case.choices)[0][case.choices.newest.draw.token]
    },
    "It was drawn from {kept} of {size} tokens, with a chance of {final}.": lambda case, sentence: {
        "kept": len(cut(case.choices)[1]),
        "size": 8,
        "final": cut(case.choices)[0][case.choices.newest.draw.token],
    },
    "On the line from 0 to 1, in the order of the vocabulary, {token} covers {start} to {end}; the random number was "
    "{uniform}.": stretch,
    "{query} looks at": chosen,
    "{query} looks at, in layer {layer}": chosen,
    "layer {layer}, head {head}": chosen,
    "{key}, {back} back": chosen,
    "{key} ({head})": chosen,
    "Only {query} comes before it.": lambda case, sentence: {"query": len(case.choices.newest.window) - 1},
    "{query}, the last token read, looked most at {cells}: {weight}.": several_looks,
    "The model read the whole text before it: {count} token.": window,
    "The model sees {n} tokens at once: it read tokens {first} to {last}, and the first is out of sight.": window,
    "Steps from one character to the next that occur in the training text: {count} of {total} ({share}).": steps_taken,
    "No other token could be drawn.": holds(only_one_left),
    "No training window has {unseen} as an input, so the model never learned to read it.": unread,
    "New characters written with such a character in the window: {resting} of {total}.": unread,
}


# Questions.


def says(case):
    return softmax(logits_of(case))


def token_named(sentence):
    return sentence.arguments["token"].position


def probability_of(case, sentence):
    """The prompt is not known here, so the card's own number must be that of some character."""
    said = sentence.arguments["probability"]
    assert any(p == pytest.approx(said.value, abs=5e-4) for p in says(case))
    return {"probability": said.value}


def was_drawn(case, sentence):
    return {"drawn": case.choices.newest.draw.token, "concept": True}


def answer_likeliest(case, prompt):
    logits, new = logits_of(case), case.choices.newest
    best = ranking(logits)[0]
    assert prompt.arguments["drawn"].position == new.draw.token
    return {
        "Its probability is {probability}, and no other token has one as high.": best,
        "This token was drawn, but a draw can pick unlikely tokens, too.": new.draw.token,
        "This is the last token read. The scores are for the next one.": VOCABULARY.index(new.window[-1]),
        "{token} has the probability {probability}; another token has a higher one.": ...,
        JUDGE: by_largest(says(case)),
    }


def answer_warmer(case, prompt):
    logits = logits_of(case)
    best = ranking(logits)[0]
    assert token_named(prompt) == best
    now, hot, cold = (softmax(logits, heat)[best] for heat in (1.0, 2.0, 0.5))
    numbers = {
        "the scores, divided by the temperature": hot,
        "the probability, divided by the temperature": now / 2,
        "the scores, multiplied by the temperature": cold,
        "the likeliest token stays as likely": now,
        "a higher temperature makes all tokens equally likely": 1 / 8,
    }
    reply = "All differences between the scores are halved, so likely tokens lose and unlikely ones gain."
    return {reply: ..., JUDGE: by_thought(numbers)}


def surviving(case, p):
    reached, count = 0.0, 0
    for token in ranking(logits_of(case)):
        if reached < p:
            count, reached = count + 1, reached + says(case)[token]
    return count, reached


def answer_survivors(case, prompt):
    p = prompt.arguments["p"].value
    count, _ = surviving(case, p)
    numbers = {
        "the likeliest, until their sum reaches p": count,
        "those with p or more, each on its own": sum(value >= p for value in says(case)),
        "the likeliest, while their sum is below p": count - 1,
        "the share p of all tokens": round(8 * p),
        "all of them, as they sum to 1": 8,
    }
    return {
        "The likeliest {right} are needed to reach {p}: together they have {reached}.": ...,
        JUDGE: by_thought(numbers),
    }


def answer_only_one(case, prompt):
    logits = logits_of(case)
    come = {
        heat: {max(range(8), key=lambda token: (math.exp(logits[token] / heat), -token))} for heat in (0.5, 1.0, 2.0)
    }
    each = set.union(*come.values())
    judge = {
        "{token}, every time": lambda card: each == {token_on(card)},
        "it depends on the seed": lambda card: any(len(kept) > 1 for kept in come.values()),
        "it depends on the temperature": lambda card: len(each) > 1,
    }
    return {
        "Only the likeliest is kept, whatever the seed and the temperature.": ...,
        JUDGE: lambda card: judge[card.text.template](card),
    }


def answer_same_seed(case, prompt):
    """What comes is what was drawn: a card is right if it says that this comes, and nothing else."""
    drawn, logits = case.choices.newest.draw.token, logits_of(case)
    every = set(range(8))
    come = {
        "{token} again": lambda card: {token_on(card)},
        "anything but {token}": lambda card: every - {token_on(card)},
        "it could be anything": lambda card: every,
        "always the likeliest": lambda card: {token for token in every if logits[token] == max(logits)} & {drawn},
    }
    return {
        "The same seed gives the same random numbers, so everything repeats.": ...,
        JUDGE: lambda card: come[card.text.template](card) == {drawn},
    }


WARMER = "At temperature 1, {token} has the probability {now}. What is it at temperature 2, with no cut?"
SAME_SEED = "Write the text up to here again with the same settings and seed. Which token comes at this position?"
ANSWERS = {
    "{drawn} was drawn. Which token did the model find likeliest, before temperature and cuts?": (answer_likeliest),
    WARMER: answer_warmer,
    "At temperature 1 and without top-k: how many of the {size} tokens survive top-p {p}?": answer_survivors,
    "Set top-k to 1 and draw this token again with other seeds and temperatures. Which token comes?": answer_only_one,
    SAME_SEED: answer_same_seed,
}
ORACLE |= {
    "{drawn} was drawn. Which token did the model find likeliest, before temperature and cuts?": was_drawn,
    WARMER: lambda case, sentence: {
        "token": ranking(logits_of(case))[0],
        "now": max(says(case)),
    },
    "At temperature 1 and without top-k: how many of the {size} tokens survive top-p {p}?": lambda case, sentence: {
        "size": 8,
        "p": sentence.arguments["p"].value,
    },
    "The likeliest {right} are needed to reach {p}: together they have {reached}.": lambda case, sentence: dict(
        zip(("right", "reached"), surviving(case, sentence.arguments["p"].value), strict=True),
        p=sentence.arguments["p"].value,
    ),
    "Its probability is {probability}, and no other token has one as high.": lambda case, sentence: {
        "probability": max(says(case))
    },
    "{token} has the probability {probability}; another token has a higher one.": lambda case, sentence: {
        "token": sentence.arguments["token"].position,
        "probability": says(case)[sentence.arguments["token"].position],
    },
}


@given(writing=writings())
def test_every_number_on_the_screen_is_computed_again(writing):
    case = Case(None, 0, writing, generate_screen(writing))
    check_case(case, ORACLE, ANSWERS)
    check_conditions(case, ORACLE)


def test_what_is_said_without_a_number_holds_for_texts_read_whole():
    repeated = CharacterTask("hello world hello world")
    writing = written_by(untrained(), task=repeated)
    check_conditions(Case(None, 0, writing, generate_screen(writing)), ORACLE)


@given(writing=writings())
def test_every_part_has_the_shares_and_the_fate_that_plain_python_finds(writing):
    parts = generate_screen(writing).figures[0].parts
    logits, (final, kept) = writing.newest.draw.logits.tolist(), cut(writing)
    stages = (softmax(logits), softmax(logits, writing.sampling.temperature), final)
    by_top_k = set(ranking(logits)[: writing.sampling.top_k])
    for part, token in zip(parts, ranking(logits), strict=True):
        assert part.name == VOCABULARY[token].replace(" ", "␣")
        assert part.shares == pytest.approx([stage[token] for stage in stages], abs=1e-9)
        assert part.chosen == (token == writing.newest.draw.token)
        remark = (
            "drawn" if part.chosen else "" if token in kept else f"dropped by top-{'p' if token in by_top_k else 'k'}"
        )
        assert (render(part.remark) if part.remark else "") == remark


def test_where_few_fit_the_likeliest_and_the_drawn_token_are_listed_and_what_is_left_is_said():
    (writing,) = [one for one in map(written_late, range(40)) if likeliness_of_drawn(one) >= 3][:1]
    whole, few = (generate_screen(writing, most).figures[0] for most in (None, 3))
    listed = [part.name for part in whole.parts]
    drawn = listed[likeliness_of_drawn(writing)]
    assert [part.name for part in few.parts] == [*listed[:3], drawn]
    (left,) = [sentence for sentence in few.notice if sentence.template.startswith("The other")]
    rest = [part.shares[0] for part in whole.parts if part.name not in (*listed[:3], drawn)]
    assert left.arguments["count"].value == len(rest)
    assert left.arguments["share"].value == pytest.approx(sum(rest), abs=1e-6)


def written_late(seed):
    return written_by(untrained(), "h", 5, seed)


def likeliness_of_drawn(writing):
    """How many tokens the model found likelier than the newest one."""
    logits = writing.newest.draw.logits.tolist()
    return ranking(logits).index(writing.newest.draw.token)


def test_the_notebooks_model_runs_into_the_character_it_never_read():
    written = written_by(untrained(), "h", 60, 0).written
    resting = sum("d" in new.window for new in written)
    said = render_all(tuple(unread_characters(written, HELLO)))
    assert "No training window has “d” as an input" in said and f"in the window: {resting} of 60." in said
    assert not [*unread_characters(written, CharacterTask("hello world hello world"))]


def test_every_token_that_is_drawn_changes_the_text_that_is_seen_also_a_space():
    """A space at the end would not be seen: it has a sign, and one between words has none."""
    seen = [replace(written_by(untrained(), start="hello"), written=()).text_to_see]
    for text in ("hello ", "hello  ", "hello  w"):
        seen.append(replace(written_by(untrained(), start=text), written=()).text_to_see)
    assert seen == ["hello", "hello␣", "hello␣␣", "hello  w"]


@given(start=st.text("helo wrd", min_size=1, max_size=6), seed=st.integers(0, 99))
def test_legal_steps_are_counted_as_a_loop_does(start, seed):
    writing = written_by(untrained(), start, 9, seed)
    text = start + "".join(new.token for new in writing.written)
    legal = sum(text[i - 1 : i + 1] in "hello world" for i in range(len(start), len(text)))
    assert f"{legal} of 9 (" in render(*training_steps(writing))


@pytest.mark.parametrize(
    ("raw", "tokens", "notes"),
    [
        ("", ("h",), 0),
        ("wor", ("w", "o", "r"), 0),
        ("hello ", tuple("hello "), 0),
        ("wXoYr", ("w", "o", "r"), 1),
        ("XYZ", ("h",), 2),
        ("   ", ("h",), 0),
        ("<b>\x07h", ("h",), 2),
        ("o" * 1000, ("o",) * 200, 1),
    ],
)
def test_any_start_becomes_one_that_the_model_can_read(raw, tokens, notes):
    start = beginning_of(raw, HELLO)
    assert start.tokens == tokens
    assert len(start.notes) == notes


@given(raw=st.text(max_size=30))
def test_no_start_is_ever_empty_or_unknown(raw):
    tokens = beginning_of(raw, HELLO).tokens
    assert tokens and set(tokens) <= set(VOCABULARY)


def test_no_sentence_speaks_of_places_or_layers_counted_from_zero():
    said = render(generate_screen(written_by(untrained())).figures[1].notice[0])
    assert re.search(r"layer [12], head [123]", said)
