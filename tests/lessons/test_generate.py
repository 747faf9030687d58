"""What is said of a character just written is computed again from the scores, with plain Python."""

import math
import re
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from screens import JUDGE, Case, Ranked, by_largest, check_case, check_conditions, chosen, holds, token_on

from attention_core.generation import GeneratedToken, NewToken, generate
from attention_core.model import ModelConfig, TinyTransformer
from attention_core.randomness import generator
from attention_core.sampling import Sampling, draw_token
from attention_core.tasks import CharacterTask
from lessons.example.prompt import beginning_of
from lessons.generate.lesson import Writing, generate_screen, strongest_look, training_steps, unread_characters
from lessons.screen.format import percent, render
from tests.printed import largest

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
    return TinyTransformer.draw(config, generator(3))


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


def one_look(case, sentence):
    said, places = sentence.arguments, [place for place, _ in cells(case)]
    named = places.index(read_cell(key_of(case, said["key"]), said["head"]))
    values = [weight for _, weight in cells(case)]
    return {
        "query": len(case.choices.newest.window) - 1,
        "key": ...,
        "weight": values[named],
        "head": ...,
        "ranked": Ranked(values, [named], percent),
    }


def several_looks(case, sentence):
    places, values = zip(*cells(case), strict=True)
    said = [(key_of(case, s.arguments["key"]), s.arguments["head"]) for s in sentence.arguments["cells"].items]
    named = [places.index(read_cell(*pair)) for pair in said]
    return {
        "query": len(case.choices.newest.window) - 1,
        "cells": [...] * len(named),
        "weight": values[named[0]],
        "ranked": Ranked(values, named, percent),
    }


def many_looks(case, sentence):
    values = [weight for _, weight in cells(case)]
    tied = largest(values, sentence.arguments["count"])
    return {
        "query": len(case.choices.newest.window) - 1,
        "weight": max(values),
        "count": len(tied),
        "ranked": Ranked(values, tied, percent),
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
    d, said = VOCABULARY.index("d"), {"count": 1, "unseen": [VOCABULARY.index("d")]}
    text = "".join((*case.choices.start, *(new.token for new in case.choices.written)))
    resting = [i for i in range(len(case.choices.start), len(text)) if "d" in text[max(0, i - 5) : i]]
    if not resting:
        return said
    return said | {"position": resting[0] + 1, "token": d, "resting": len(resting), "total": len(case.choices.written)}


def only_one_left_by_cuts(case):
    sampling = case.choices.sampling
    return len(cut(case.choices)[1]) == 1 and (sampling.top_k is not None or sampling.top_p < 1)


def every_character_followed(case):
    """Each character is followed by another within the part that is trained on, so some window has it as an input."""
    task = case.choices.task
    return set(task.tokens[: task.n_trained - 1]) == set(task.vocabulary.tokens)


NEVER_READ = "No training window has {unseen} as an input, only as an answer, so the model never learned to read it. "
ORACLE = {
    "{token}: score {score}; the model says {said}, after the temperature {tempered}, drawn from {final}.": character,
    "The new token is {token}: the model gave it {share} (rank {rank} of {size}).": given_share,
    "It was drawn from the {kept} of {size} tokens that the cuts left, with a "
    "chance of {final}.": lambda case, sentence: {
        "kept": len(cut(case.choices)[1]),
        "size": 8,
        "final": cut(case.choices)[0][case.choices.newest.draw.token],
    },
    "After the temperature its chance was {final}.": lambda case, sentence: {
        "final": cut(case.choices)[0][case.choices.newest.draw.token]
    },
    "It was drawn from all {size}.": lambda case, sentence: {"size": 8},
    "On the line from 0 to 1, in the order of the vocabulary, {token} covers {start} to {end}; the random number was "
    "{uniform}.": stretch,
    "{query} looks at": chosen,
    "{query} looks at, in layer {layer}": chosen,
    "layer {layer}, head {head}": chosen,
    "{key}, {back} back": chosen,
    "{key} ({head})": chosen,
    "Only {query} comes before it: what a head does not give to it, its sink collects.": chosen,
    "Only {query} comes before it, so every head puts all its weight there.": lambda case, sentence: {
        "query": len(case.choices.newest.window) - 1
    },
    "{query}, the last token read, looked most at {key}: {weight}, by {head}.": one_look,
    "{query}, the last token read, looked most at {cells}: {weight} each.": several_looks,
    "{query}, the last token read, put its largest weight, {weight}, on each of {count} cells.": many_looks,
    "The model read the whole text before it: {count} token.": window,
    "The model sees {n} tokens at once: it read tokens {first} to {last}, and the first is out of sight.": window,
    "{count} of the {total} steps from one character to the next occurs in the training text ({share}).": steps_taken,
    "No other token could be drawn: the cuts left only this one.": holds(only_one_left_by_cuts),
    "No other token could be drawn: at temperature 0 one token takes the whole probability.": holds(
        lambda case: case.choices.sampling.temperature == 0
    ),
    "Every character of the vocabulary is an input of some training window, so the model could learn to read "
    "each.": holds(every_character_followed),
    NEVER_READ + "It has not had to read it in this text yet.": unread,
    NEVER_READ + "Before character {position} it read {token} for the first time; {resting} of the {total} new "
    "characters depend on such a reading.": unread,
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
        "Its probability is {probability}: no other has as much.": best,
        "This token was drawn. A draw takes unlikely tokens too, as often as their probability says.": new.draw.token,
        "That is the last token read. The scores are for the token that follows it.": VOCABULARY.index(new.window[-1]),
        "Its probability is {probability}; another token has more.": ...,
        JUDGE: by_largest(says(case)),
    }


def answer_how_sure(case, prompt):
    chances = sorted(says(case), reverse=True)
    assert prompt.arguments["drawn"].position == case.choices.newest.draw.token
    return {
        "That token is {token}; all others together have the rest.": chances[0],
        "That would be true if all were equal. What the model has learned makes some likelier.": 1 / 8,
        "Then no other token could ever be drawn. A softmax leaves every token something.": 1.0,
        "That is the probability of {token}, which comes second.": chances[1],
        "The likeliest token has more than any other; that may be more than a half or less.": 0.5,
    }


def answer_warmer(case, prompt):
    logits = logits_of(case)
    best = ranking(logits)[0]
    assert token_named(prompt) == best
    now = softmax(logits)[best]
    return {
        "All differences between the scores are halved, so likely tokens lose and unlikely ones gain.": softmax(
            logits, 2.0
        )[best],
        "The scores are divided, not the probabilities: halved, the probabilities would sum to a half.": now / 2,
        "That is its probability at temperature 0.5, which makes the differences larger.": softmax(logits, 0.5)[best],
        "Only a temperature of 1 changes nothing.": now,
        "That is an equal share for each token: no temperature gets there.": 1 / 8,
    }


def surviving(case, p):
    reached, count = 0.0, 0
    for token in ranking(logits_of(case)):
        if reached < p:
            count, reached = count + 1, reached + says(case)[token]
    return count, reached


def answer_survivors(case, prompt):
    p = prompt.arguments["p"].value
    count, _ = surviving(case, p)
    return {
        "The likeliest {right} have {reached} together; fewer do not reach {p}.": count,
        "That many tokens reach {p} on their own. Top-p adds probabilities up.": sum(
            value >= p for value in says(case)
        ),
        "The token whose probability reaches the sum is kept too.": count - 1,
        "Top-p is a share of the probability, not of the vocabulary.": round(8 * p),
        "All tokens together have 1; top-p stops as soon as its sum is reached.": 8,
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
        "Only the likeliest is kept, and no temperature changes the order.": ranking(logits_of(case))[0],
        "This token was just drawn, but it is not the likeliest.": case.choices.newest.draw.token,
        "A seed chooses among the tokens that are left, and only one is left.": ...,
        "A temperature keeps the order, so the likeliest stays the likeliest.": ...,
        JUDGE: lambda card: judge[card.text.template](card),
    }


def answer_same_seed(case, prompt):
    """What comes is what was drawn: a card is right if it says that this comes, and nothing else."""
    drawn, logits = case.choices.newest.draw.token, logits_of(case)
    every = set(range(8))
    come = {
        "{token} again": lambda card: {token_on(card)},
        "anything but {token}": lambda card: every - {token_on(card)},
        "anything may come": lambda card: every,
        "always the likeliest": lambda card: {token for token in every if logits[token] == max(logits)} & {drawn},
    }
    return {
        "The same seed gives the same random numbers, so everything repeats.": drawn,
        "A random number is computed from its seed: same seed, same number.": ...,
        "The draw works as before: it takes the token on which its random number falls.": ...,
        "A draw uses nothing up: the same seed gives the same random number, and so the same token.": drawn,
        JUDGE: lambda card: come[card.text.template](card) == {drawn},
    }


ANSWERS = {
    "{drawn} was drawn. Which token did the model find likeliest there, before temperature and cuts?": (
        answer_likeliest
    ),
    "{drawn} was drawn. What probability did the model give its likeliest token there, before temperature and cuts?": (
        answer_how_sure
    ),
    "At temperature 1, {token} has the probability {now}. What is it at temperature 2, with no cut?": answer_warmer,
    "At temperature 1 and without top-k: how many of the {size} tokens survive top-p {p}?": answer_survivors,
    "Set top-k to 1 and draw this token again with other seeds and temperatures. What comes?": answer_only_one,
    "Start again with the same model, beginning, settings and seed, and write up to here. What comes at this "
    "position?": answer_same_seed,
}
ORACLE |= {
    "That token is {token}; all others together have the rest.": lambda case, sentence: {
        "token": ranking(logits_of(case))[0]
    },
    "That is the probability of {token}, which comes second.": lambda case, sentence: {
        "token": ranking(logits_of(case))[1]
    },
    "{drawn} was drawn. Which token did the model find likeliest there, before temperature and cuts?": was_drawn,
    "{drawn} was drawn. What probability did the model give its likeliest token there, before temperature and "
    "cuts?": was_drawn,
    "At temperature 1, {token} has the probability {now}. What is it at temperature 2, with no "
    "cut?": lambda case, sentence: {
        "token": ranking(logits_of(case))[0],
        "now": max(says(case)),
    },
    "At temperature 1 and without top-k: how many of the {size} tokens survive top-p {p}?": lambda case, sentence: {
        "size": 8,
        "p": sentence.arguments["p"].value,
    },
    "The likeliest {right} have {reached} together; fewer do not reach {p}.": lambda case, sentence: dict(
        zip(("right", "reached"), surviving(case, sentence.arguments["p"].value), strict=True),
        p=sentence.arguments["p"].value,
    ),
    "That many tokens reach {p} on their own. Top-p adds probabilities up.": lambda case, sentence: {
        "p": sentence.arguments["p"].value
    },
    "Its probability is {probability}: no other has as much.": lambda case, sentence: {"probability": max(says(case))},
    "Its probability is {probability}; another token has more.": probability_of,
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


def test_the_notebooks_model_runs_into_the_character_it_never_read():
    written = written_by(untrained(), "h", 60, 0).written
    text = "h" + "".join(new.token for new in written)
    first = text.index("d") + 2  # counted from 1, the one after it
    said = render(unread_characters(written, HELLO))
    assert f"Before character {first} it read “d” for the first time" in said
    repeated = CharacterTask("hello world hello world")
    assert render(unread_characters(written, repeated)).startswith("Every character of the vocabulary is an input")


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
    assert render(*training_steps(writing)).startswith(f"{legal} of the 9 steps")


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


@pytest.mark.parametrize(("sink", "ending"), [(False, "puts all its weight there."), (True, "its sink collects.")])
def test_a_token_that_stands_alone_gets_all_the_weight_only_where_no_sink_collects_any(sink, ending):
    config = ModelConfig(vocabulary=8, context=5, d_model=6, n_heads=3, n_layers=1, sink=sink)
    newest = written_by(TinyTransformer.draw(config, generator(3)), "w", 1).newest
    assert all(bool((weights < 1 - 1e-6).any()) == sink for weights in newest.attention)
    assert render(strongest_look(newest)).endswith(ending)
