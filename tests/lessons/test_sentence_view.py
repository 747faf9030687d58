"""The first screen: where a head looks, in a headline, in ribbons and in words, at every moment of its training."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from learnt_oracle import measured
from screens import Case, Ranked
from test_matrices_view import ORACLE as OVERVIEW
from test_output import ORACLE as OUTPUT
from test_output import visible, weights_of

from attention_core.model.transformer import Transformer
from lessons.example.example import Example, learnt_example, model_settings, run_example
from lessons.example.task_models import TASK_SOURCES, recorded
from lessons.screen import percent, render, render_all
from lessons.start.overview.sentence_view import (
    NEARLY_EVEN,
    Choices,
    last_tokens,
    place_to_change,
    screen,
    sentence_with,
    words_that_fit,
)
from tests.printed import ABSOLUTE, lead, read_alike


def cases(trace):
    return [Choices(), Choices(len(trace.tokens) // 2)]


def figure_of(case):
    return case.screen.figures[0]


def updates_of(case):
    """After how many updates this moment is: those of every evaluation so far."""
    example = case.trace.example
    settings = model_settings(example)
    kept = sorted({*range(0, example.updates, 20), example.updates})
    assert len(figure_of(case).moments) <= 31
    step = -(-(len(kept) - 1) // 30) if len(kept) > 31 else 1
    shown = [*kept[:-1][::step], kept[-1]]
    return settings, (shown[-1] if case.moment is None else shown[case.moment])


def row_of(case, query):
    """The weights of a query at the moment, over the keys that it may look at, computed anew."""
    if case.moment is None or len(figure_of(case).moments) == 1:
        weights = weights_of(case)
    else:
        _, updates = updates_of(case)
        weights = weights_after(replace(case.trace.example, updates=updates), case.head)
    return weights[query, visible(case, query)].tolist()


@cache
def weights_after(example, head):
    return weights_of(Case(run_example(example), head, None, None))


def is_even(row):
    return all(abs(weight * len(row) - 1) <= NEARLY_EVEN for weight in row)


def lone(case, sentence):
    query = sentence.arguments["query"].position
    seen = visible(case, query)
    assert len(seen) == 1
    return {name: query if name == "query" else seen[0] for name in sentence.arguments}


def all_alike(case, sentence):
    query = sentence.arguments["query"].position
    row = row_of(case, query)
    assert read_alike(row, percent) and len(row) > 1
    found = {"query": query, "share": max(row)}
    if "count" in sentence.arguments:
        return found | {"count": len(row)}
    return found | {"keys": list(visible(case, query)), "ranked": Ranked(row, range(len(row)), percent)}


def nearly_alike(case, sentence):
    query = sentence.arguments["query"].position
    row = row_of(case, query)
    assert is_even(row) and len(row) > 1
    return {"query": query, "count": len(row), "low": min(row), "high": max(row)}


def several_lead(case, sentence):
    query = sentence.arguments["query"].position
    row, seen = row_of(case, query), list(visible(case, query))
    named = [token.position for token in sentence.arguments["keys"].items]
    assert 1 < len(named) < len(row) and not is_even(row)
    ranked = Ranked(row, [seen.index(key) for key in named], percent)
    return {"query": query, "keys": named, "share": max(row), "ranked": ranked}


def leads(case, sentence):
    query, key = (sentence.arguments[name].position for name in ("query", "key"))
    row, seen = row_of(case, query), list(visible(case, query))
    assert not is_even(row)
    assert ("most at" in sentence.template) == (max(row) <= 0.5)
    return {"query": query, "key": key, "share": max(row), "ranked": Ranked(row, [seen.index(key)], percent)}


def next_to(case, sentence):
    query, key = (sentence.arguments[name].position for name in ("query", "key"))
    row, seen = row_of(case, query), list(visible(case, query))
    others = [token.position for token in sentence.arguments["others"].items]
    rest = [weight if one != key else -1.0 for one, weight in zip(seen, row, strict=True)]
    assert lead([seen.index(other) for other in others], rest, percent)
    return {
        "query": query,
        "key": key,
        "share": max(row),
        "others": others,
        "next": max(rest),
        "count": len(others),
        "ranked": Ranked(row, [seen.index(key)], percent),
    }


def nearly_all(case, sentence):
    query, key = (sentence.arguments[name].position for name in ("query", "key"))
    row, seen = row_of(case, query), list(visible(case, query))
    assert row[seen.index(key)] == pytest.approx(max(row)) and max(row) >= 0.995 - ABSOLUTE
    return {"query": query, "key": key, "share": max(row)}


def how_good(case, sentence):
    settings, updates = updates_of(case)
    right, count, _ = measured(settings, updates)
    return {"updates": updates, "steps": settings.steps, "right": right, "count": count}


ORACLE = (
    OVERVIEW
    | OUTPUT
    | {
        "{query} has nowhere else to look: all of its weight goes to {key}.": lone,
        "{query} may look only at {key}, so all of its weight goes there.": lambda case, sentence: (
            lone(case, sentence) | {"key": "itself"}
        ),
        "To read {query}, this head looks equally at {count} tokens: {share} of its weight goes to each.": all_alike,
        "{query} looks equally at {keys}, {share} each.": all_alike,
        "To read {query}, this head looks almost equally at {count} tokens: between {low} and {high} of its "
        "weight goes to each.": nearly_alike,
        "{query} looks almost equally at {count} tokens: each gets between {low} and "
        "{high} of its weight.": nearly_alike,
        "To read {query}, this head looks most at {keys}: {share} of its weight goes to each.": several_lead,
        "{query} puts the most weight on {keys}, {share} each.": several_lead,
        "To read {query}, this head looks at {key}: {share} of its weight goes there.": leads,
        "To read {query}, this head looks most at {key}: {share} of its weight goes there.": leads,
        "{query} looks most at {key} ({share}), then at {others} ({next}).": next_to,
        "{query} looks at {key} and hardly anywhere else: {share} of its weight is there.": nearly_all,
        "Training steps so far: {updates} of {steps}. New answers that are right: {right} of {count}.": how_good,
    }
)
ANSWERS: dict = {}


def shown(head=0, query=None, **choices):
    return screen(run_example(Example(**choices)), head, Choices(query))


def learnt(source="pronouns", query=None, **choices):
    return screen(run_example(learnt_example(source, **choices)), 0, Choices(query))


def test_without_a_click_the_first_screen_says_what_the_head_does_and_how_well_it_was_measured_to():
    first = learnt()
    assert render(first.headline).startswith("To read “he”, this head looks at “boy”: over 99% of its weight")
    assert "has learned to find the word that the pronoun stands for: in 64 new sequences" in render_all(first.lead)
    assert "New answers that are right: 64 of 64." in render_all(first.lead)


@pytest.mark.parametrize("seed", range(7))
def test_an_untrained_head_that_happens_to_have_its_largest_weight_right_is_not_said_to_look_there(seed):
    untrained = learnt(updates=0, seed=seed)
    row = untrained.figures[0].moments[0].rows[-1]
    assert max(row.shares) < 0.19, "even would be 0.143"
    assert "equally at" in render(untrained.headline)
    assert row.leads == ()
    assert "Untrained" in render_all(untrained.lead)


def test_each_moment_has_the_weights_of_the_model_after_so_many_updates():
    figure, example = learnt().figures[0], learnt_example("pronouns")
    assert len(figure.moments) == 16
    for moment, updates in zip(figure.moments, range(0, 301, 20), strict=True):
        model: Transformer = recorded(model_settings(example)).model(updates)
        ids = TASK_SOURCES["pronouns"].task.vocabulary.encode([token.text for token in figure.tokens])
        weights = model(np.array(ids)).layers[0].attention.heads.weights[0]
        assert np.allclose([row.shares for row in moment.rows], weights, atol=1e-6)


def test_fewer_updates_have_fewer_moments_and_the_present_one_is_the_last():
    figure = learnt(updates=50).figures[0]
    assert [moment.says.arguments["updates"] for moment in figure.moments] == [0, 20, 40]
    assert len(shown(source="sentence", text="a b").figures[0].moments) == 1


def test_the_mask_and_numbers_set_by_hand_act_at_every_moment():
    figure = learnt(causal=False).figures[0]
    assert all(all(row.visible) for moment in figure.moments for row in moment.rows)
    masked = learnt().figures[0]
    assert all(row.shares[key] == 0 for m in masked.moments for q, row in enumerate(m.rows) for key in range(q + 1, 7))


@pytest.mark.parametrize("source", TASK_SOURCES)
def test_every_word_that_fits_asks_in_the_sentence_it_makes(source):
    trace = run_example(learnt_example(source))
    fitting = words_that_fit(trace)
    assert len(fitting) > 1 and set(fitting) <= set(trace.trained.vocabulary.tokens)
    for word in fitting:
        other = run_example(learnt_example(source, text=sentence_with(trace, word)))
        place = place_to_change(trace)
        assert other.tokens == (*trace.tokens[:place], word, *trace.tokens[place + 1 :])


def test_what_fits_are_words_that_the_task_asks_about():
    assert set(last_tokens(TASK_SOURCES["pronouns"].task)) == {"he", "she", "it"}
    assert words_that_fit(run_example(learnt_example("stories"))) == ("She", "He")
    assert words_that_fit(run_example(Example(source="sentence", text="a b"))) == ()


def test_another_pronoun_is_read_from_another_word():
    words = ["boy", "found", "lamp", "near", "girl", "when"]
    for pronoun, word in (("he", "boy"), ("she", "girl"), ("it", "lamp")):
        headline = render(learnt(text=" ".join([*words, pronoun])).headline)
        assert headline.startswith(f"To read “{pronoun}”, this head looks at “{word}”:")
