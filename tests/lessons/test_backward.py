"""The lesson on the way back: everything its screens say, found again by autograd through a forward pass of our own."""

import math
from collections import Counter
from decimal import Decimal, localcontext
from functools import lru_cache
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from arithmetic_checks import evaluates
from hypothesis import strategies as st
from screens import (
    JUDGE,
    Case,
    Ranked,
    by_largest,
    by_thought,
    check_sentence,
    chosen,
    holds,
    token_on,
)
from torch.nn.functional import cross_entropy

from attention_core.learning.steps import gradient_of
from attention_core.learning.tasks import PronounTask
from attention_core.learning.training import held_out_batch
from lessons.example.example import Example, run_example
from lessons.learning.backward.check_view import CHECKED, STEP_SIZES, places_of
from lessons.learning.backward.gradients_view import STAGES_BACK
from lessons.learning.backward.lesson import Choices, screen
from lessons.learning.backward.one_prediction import (
    UPDATES,
    learner_after,
    predict_one,
    sentence_with_pronoun,
    settings_of_learner,
)
from lessons.learning.backward.questions import QUESTIONS
from lessons.learning.backward.softmax_view import NEARLY_CERTAIN, measured_sizes
from lessons.learning.backward.sums_view import sentence_that_shares
from lessons.learning.backward.update_view import RATES, TRIED, notice_update
from lessons.screen import equation, magnitude, percent, render, render_all
from lessons.shared.questions import question_picker
from lessons.trace.story import sources_among

WORDS = PronounTask().vocabulary.tokens
EXAMPLES = st.sampled_from([Example(), Example(seed=7, causal=False), Example(seed=3, scaling=False)])
MAPS = ("W_q", "W_k", "W_v")
MATRICES = ("x", "q", "k", "v", "scores", "weights", "output", "after", "logits")


def cases(trace):
    for place, stage in enumerate(STAGES_BACK):
        yield Choices(40, place, "way", stage)
    yield from (Choices(updates, 2, "way", stage) for updates in (0, 300) for stage in ("loss", "scores", "qkv"))
    yield from (
        Choices(updates, 3, "softmax", size=size) for updates, size in ((0, 20), (40, 0.125), (80, 4), (300, 1))
    )
    yield from (Choices(60, 1, "sums", key=key) for key in (0, 3, 6))
    yield from (
        Choices(updates, 5, "update", rate=rate)
        for updates, rate in ((0, 3), (20, 0.3), (40, 0.001), (40, 1), (300, 0.1))
    )
    yield from (Choices(20, 4, "check", matrix=matrix) for matrix in CHECKED)


# The model once more, in PyTorch, with its own gradients.


def learner_of(case):
    return learner_after(settings_of_learner(case.trace.example), case.choices.updates)


@lru_cache(maxsize=64)
def weights_of(learner):
    """The weights by their names, as leaves of autograd."""
    model = learner.model
    heads = model.layers[0].attention
    arrays = {"table": model.token_table, "W_unembed": model.W_unembed, "b_unembed": model.b_unembed}
    arrays |= {name: getattr(heads, name) for name in (*MAPS, "W_o")}
    return {name: torch.tensor(array, dtype=torch.float64) for name, array in arrays.items()}


def forward(weights, ids, causal, scaling):
    """Every matrix of the model for one sentence."""
    found = {"x": weights["table"][ids]}
    for role in "qkv":
        found[role] = found["x"] @ weights[f"W_{role}"]
    found["scores"] = found["q"] @ found["k"].T
    found["scaled"] = found["scores"] / math.sqrt(found["q"].shape[1]) if scaling else found["scores"] * 1
    hidden = torch.ones(len(ids), len(ids)).triu(1).bool() if causal else torch.zeros(len(ids), len(ids)).bool()
    found["weights"] = found["scaled"].masked_fill(hidden, -math.inf).softmax(dim=-1)
    found["output"] = found["weights"] @ found["v"]
    found["after"] = found["x"] + found["output"] @ weights["W_o"]
    found["logits"] = found["after"] @ weights["W_unembed"] + weights["b_unembed"]
    return found


class Anew:
    """One correction by autograd. `d[name]` is the gradient of a matrix or of a weight."""

    def __init__(self, learner, sentences):
        config = learner.settings.model
        self.weights = {name: weight.clone().requires_grad_() for name, weight in weights_of(learner).items()}
        losses = []
        for ids, targets in sentences:
            self.found = forward(self.weights, torch.tensor(ids), config.causal, config.scaling)
            for tensor in self.found.values():
                tensor.retain_grad()
            losses.append(cross_entropy(self.found["logits"], torch.tensor(targets), ignore_index=-100))
        self.loss = torch.stack(losses).mean()
        self.loss.backward()
        everything = self.found | self.weights
        self.d = {name: tensor.grad.numpy() for name, tensor in everything.items()}
        self.number = {name: tensor.detach().numpy() for name, tensor in everything.items()}

    @property
    def gradient(self):
        return {name: weight.grad for name, weight in self.weights.items()}


def sentence_of(number):
    batch = sentence_with_pronoun(number)
    return batch.inputs[0].tolist(), batch.targets[0].tolist()


@lru_cache(maxsize=256)
def anew_of(learner, number, everywhere=False):
    ids, targets = sentence_of(number)
    return Anew(learner, [(ids, [*ids[1:], targets[-1]] if everywhere else targets)])


def anew(case, everywhere=False):
    return anew_of(learner_of(case), case.choices.sentence, everywhere)


@lru_cache(maxsize=256)
def losses_anew(learner, number, rates, others=False):
    """The loss after a step at each learning rate: of the sentence, or the mean of the sentences held out."""
    first = anew_of(learner, number)
    config, sentences = learner.settings.model, [sentence_of(number)]
    if others:
        batch = held_out_batch(learner.settings)
        sentences = list(zip(batch.inputs.tolist(), batch.targets.tolist(), strict=True))
    losses = []
    for rate in rates:
        moved = {name: weight - rate * first.gradient[name] for name, weight in weights_of(learner).items()}
        each = [
            -forward(moved, torch.tensor(ids), config.causal, config.scaling)["logits"][-1].log_softmax(0)[targets[-1]]
            for ids, targets in sentences
        ]
        losses.append(float(torch.stack(each).mean()))
    return losses


def losses(case, *rates, others=False):
    return losses_anew(learner_of(case), case.choices.sentence, rates, others)


def right_of(case):
    return sentence_of(case.choices.sentence)[1][-1]


def probabilities(case):
    return torch.tensor(anew(case).number["logits"][-1]).softmax(0).tolist()


def positions(argument):
    return [token.position for token in argument.items]


def lowest_below(values):
    return [place for place, value in enumerate(values) if value < 0]


def last(case, name):
    """The gradient of the row of the query that was asked."""
    return anew(case).d[name][-1]


# What is said on the way back.


def answer(case, sentence):
    share = probabilities(case)[right_of(case)]
    return {"query": 6, "right": right_of(case), "share": share, "loss": -math.log(share)}


def only_negative(case, sentence):
    d_logits = last(case, "logits")
    assert lowest_below(d_logits) == [right_of(case)] and abs(d_logits.sum()) < 1e-12
    return {"right": right_of(case), "count": 27}


def one_prediction(case, sentence):
    assert not anew(case).d["output"][:-1].any() and anew(case).d["output"][-1].any()
    return {"query": 6, "others": 6}


def lowest_weight(case, sentence):
    keys = positions(sentence.arguments["keys"])
    row = last(case, "weights")
    return {
        "query": 6,
        "keys": keys,
        "count": len(keys),
        "least": row.min(),
        "ranked": Ranked((-row).tolist(), keys, magnitude),
    }


def raised(case, sentence):
    keys, d_scores = positions(sentence.arguments["keys"]), last(case, "scores")
    assert keys == lowest_below(d_scores) and abs(d_scores.sum()) < 1e-12
    return {"keys": keys, "count": len(keys)}


def asked_alone(case, sentence):
    d = anew(case).d
    assert not d["q"][:-1].any() and d["q"][-1].any() and d["k"].any(axis=-1).all() and d["v"].any(axis=-1).all()
    return {"query": 6}


def rows_of_values(case, sentence):
    weights, rows = anew(case).number["weights"][-1], anew(case).d["v"]
    assert rows == pytest.approx(np.outer(weights, anew(case).d["output"][-1]))
    if "keys" not in sentence.arguments:
        assert len(set(map(percent, weights))) == 1
        return {"share": weights.max()}
    keys = positions(sentence.arguments["keys"])
    assert np.linalg.norm(rows, axis=-1).argmax() == weights.argmax() in keys
    return {"keys": keys, "count": len(keys), "share": weights.max(), "ranked": Ranked(weights.tolist(), keys, percent)}


def lengths_of_maps(case):
    return [float(np.linalg.norm(anew(case).d[name])) for name in MAPS]


def lengths(case, sentence):
    return dict(zip("qkv", lengths_of_maps(case), strict=True))


def rank_one(case, sentence):
    assert np.linalg.matrix_rank(anew(case).d["W_q"], tol=1e-12) == 1
    return {"query": 6}


def longest_row(case, sentence):
    tokens, long = positions(sentence.arguments["tokens"]), np.linalg.norm(anew(case).d["x"], axis=-1)
    return {
        "tokens": tokens,
        "count": len(tokens),
        "length": long.max(),
        "ranked": Ranked(long.tolist(), tokens, magnitude),
    }


def trained(case, sentence):
    """How many of the sentences held out the model of ours gets right."""
    learner = learner_of(case)
    batch, config = held_out_batch(learner.settings), learner.settings.model
    right = [
        int(forward(weights_of(learner), ids, config.causal, config.scaling)["logits"][-1].argmax()) == int(targets[-1])
        for ids, targets in zip(batch.inputs, batch.targets, strict=True)
    ]
    return {"updates": case.choices.updates, "seed": case.trace.example.seed, "share": np.mean(right), "count": 64}


def feature_by_feature(case, sentence):
    """Move a feature of the output a little both ways: the loss changes by so many times as much, or its negative."""
    found, weights, last_row = anew(case), weights_of(learner_of(case)), anew(case).number["output"][-1]

    def loss_at(row):
        after = found.number["x"][-1] + row @ weights["W_o"].numpy()
        logits = torch.tensor(after) @ weights["W_unembed"] + weights["b_unembed"]
        return -float(logits.log_softmax(-1)[right_of(case)])

    for gradient, little in zip(found.d["output"][-1], 1e-5 * np.eye(len(last_row)), strict=True):
        assert (loss_at(last_row + little) - loss_at(last_row - little)) / 2e-5 == pytest.approx(gradient, abs=1e-7)
    assert loss_at(last_row - 1e-3 * found.d["output"][-1]) <= loss_at(last_row)
    return {}


def gains_and_losses(case):
    """The row sums to 0, and after a step of these scores the weights still sum to 1."""
    d_scores, scaled = last(case, "scores"), anew(case).number["scaled"][-1]
    gained = np.exp(scaled - d_scores) / np.exp(scaled - d_scores).sum() - anew(case).number["weights"][-1]
    return abs(d_scores.sum()) < 1e-12 and abs(gained.sum()) < 1e-12 and gained.min() < 0 < gained.max()


def shown_with_every_position_asked(case):
    weights, d_scores = next(figure for figure in case.screen.figures if figure.key == "mask_back").matrices
    found = anew(case, everywhere=True)
    return np.allclose(weights.values, found.number["weights"]) and np.allclose(d_scores.values, found.d["scores"])


# The softmax.


def row_at(case, size):
    """Weights, their gradients, and the gradient of the scores times the size, by the Jacobian of the softmax."""
    scaled, d_weights = anew(case).number["scaled"][-1], last(case, "weights")
    weights = torch.tensor(scaled * size).softmax(0).numpy()
    jacobian = np.diag(weights) - np.outer(weights, weights)
    return weights, d_weights, jacobian @ d_weights


def mean(case, sentence):
    weights, d_weights, _ = row_at(case, case.choices.size)
    return {"mean": weights @ d_weights}


def from_the_mean(case):
    """How far each d_weight lies from the mean weighted by the weights, to 50 digits; and what counts as nothing."""
    with localcontext(prec=50):
        if case.choices.view == "softmax":
            matrices = {matrix.key: matrix.values for matrix in case.screen.figures[0].matrices}
            sized, d_weights = (list(map(Decimal, matrices[key][0].tolist())) for key in ("sized", "d_weights"))
        else:
            sized, d_weights = (
                list(map(Decimal, row.tolist())) for row in (anew(case).number["scaled"][-1], last(case, "weights"))
            )
        powers = [(score - max(sized)).exp() for score in sized]
        mean = sum(power * d for power, d in zip(powers, d_weights, strict=True)) / sum(powers)
        return [d - mean for d in d_weights], max(map(abs, d_weights)) * Decimal("1e-14")


def others_go(case):
    """Whether all others surely go down; none may go up by more than nothing."""
    apart, nothing = from_the_mean(case)
    return all(one > nothing for one in apart if one >= -nothing)


def below_mean(case, sentence):
    apart, nothing = from_the_mean(case)
    keys = [place for place, one in enumerate(apart) if one < -nothing]
    assert all(apart[key] < 0 for key in keys)
    return {"keys": keys, "count": len(keys)}


def at_size(case, sentence):
    weights, _, d_scaled = row_at(case, case.choices.size)
    return {"size": case.choices.size, "share": weights.max(), "value": np.abs(d_scaled).max(), "concept": True}


def certain(case, sentence):
    size = next(size for size in measured_sizes() if row_at(case, size)[0].max() >= NEARLY_CERTAIN)
    then, now = (np.abs(row_at(case, one)[2]).max() for one in (size, 1))
    assert size > 1 and then < now / 2
    return {"size": size, "nearly": 0.99, "then": then, "now": now, "concept": True}


def times_as_large(case, sentence):
    assert case.trace.example.scaling
    return {"d_k": 2, "factor": 2**0.5}


# What is summed.


def masked_scores(case, sentence):
    d_scores = anew(case, everywhere=True).d["scores"]
    hidden = np.triu(np.ones((7, 7), bool), 1)
    assert (d_scores[hidden] == 0).all() and case.trace.example.causal
    return {"count": int(hidden.sum())}


def rows_added(case):
    found = anew(case, everywhere=True)
    return found.number["weights"][:, [case.choices.key]] * found.d["output"]


def looked(case, sentence):
    added, key = rows_added(case), case.choices.key
    assert added.sum(axis=0) == pytest.approx(anew(case, everywhere=True).d["v"][key])
    return {"key": key, "count": 7 - key if case.trace.example.causal else 7}


def no_word_twice(case, sentence):
    ids, _ = sentence_of(case.choices.sentence)
    assert len(set(ids)) == len(ids)
    other, _ = sentence_of(sentence_that_shares(case.choices.sentence))
    said = {"sentence": ids, "other": other}
    return {name: " ".join(WORDS[i] for i in one) for name, one in said.items()}


def word_in_both(case, sentence):
    word, numbers = (
        sentence.arguments["word"].position,
        (case.choices.sentence, sentence_that_shares(case.choices.sentence)),
    )
    assert all(word in sentence_of(number)[0] for number in numbers)
    whole = Anew(learner_of(case), [sentence_of(number) for number in numbers]).d["table"][word]
    alone = [anew_of(learner_of(case), number) for number in numbers]
    parts = [one.d["x"][sentence_of(number)[0].index(word)] for one, number in zip(alone, numbers, strict=True)]
    assert whole == pytest.approx((parts[0] + parts[1]) / 2, abs=1e-12)
    row = next(f for f in case.screen.figures if f.key == "word_back").matrices[-1]
    assert row.values[0] == pytest.approx(whole, abs=1e-12)
    return {"word": word}


# One update.


def before_and_after(case, sentence):
    before, after = losses(case, 0.0, float(case.choices.rate))
    return {"rate": case.choices.rate, "before": before, "after": after}


def line_of(case, rate):
    squared = sum(float(gradient.square().sum()) for gradient in anew(case).gradient.values())
    return float(anew(case).loss.detach()) - rate * squared


def promise(case, sentence):
    line = line_of(case, case.choices.rate)
    assert line >= 0
    return {"promised": line}


def probability(case, sentence):
    before, after = (math.exp(-loss) for loss in losses(case, 0.0, float(case.choices.rate)))
    return {"right": right_of(case), "before": before, "after": after}


def worse_at(case):
    before, *tried = losses(case, 0.0, *map(float, TRIED))
    return [rate for rate, loss in zip(TRIED, tried, strict=True) if loss > before]


def first_worse(case, sentence):
    return {"rate": worse_at(case)[0]}


def others(case, sentence):
    before, after = losses(case, 0.0, float(case.choices.rate), others=True)
    return {"count": 64, "before": before, "after": after}


def others_get_worse(case):
    before, after = losses(case, 0.0, float(case.choices.rate), others=True)
    return after > before


# Is it right?


def entries_of(case):
    return anew(case).d[case.choices.matrix]


def heaviest(case):
    gradients = entries_of(case)
    return divmod(int(np.abs(gradients).argmax()), gradients.shape[1])


def counted(case, sentence):
    return {"count": sum(gradient.numel() for gradient in anew(case).gradient.values())}


def one_weight(case, sentence):
    row, column = heaviest(case)
    return {
        "matrix": case.choices.matrix,
        "row": row + 1,
        "column": column + 1,
        "gradient": entries_of(case)[row, column],
    }


def quotient(case, step):
    """The central difference of one weight, by two runs of the model of ours."""
    learner, place, sides = learner_of(case), heaviest(case), []
    ids, targets = sentence_of(case.choices.sentence)
    for sign in (1, -1):
        weights = {name: weight.clone() for name, weight in weights_of(learner).items()}
        weights[case.choices.matrix][place] += sign * step
        config = learner.settings.model
        logits = forward(weights, torch.tensor(ids), config.causal, config.scaling)["logits"][-1]
        sides.append(float(-logits.log_softmax(0)[targets[-1]]))
    return (sides[0] - sides[1]) / (2 * step)


def table_of_steps(case):
    return [row[2].value for row in next(f for f in case.screen.figures if f.key == "by_step").cells]


def too_large_and_too_small(case, sentence):
    """Where the loss bends, ours agree to some digits; where rounding decides, only the size can be expected."""
    large = abs(quotient(case, STEP_SIZES[0]) - entries_of(case)[heaviest(case)])
    small = sentence.arguments["small"].value
    assert small == table_of_steps(case)[-1] < 1e-4
    return {"large": large, "last": 10, "small": small}


def concept(case, sentence):
    return chosen(case, sentence) | {"concept": True}


MOST_RAISED = (
    "The model takes one small step against d_scores, the gradient of the scores. Which key's score "
    "does {query} raise most?"
)
HIDDEN = (
    "Suppose every position is asked for its next word. Which of these keys gets a d_score of exactly 0 from {query}?"
)
TWICE = (
    "One step at learning rate {rate} takes the loss from {before} to {after}. What is the loss after one step at "
    "twice that rate, from the same weights?"
)
LOGIT = (
    "The model gives the right word, {right}, the probability {p}. What is its d_logit, the gradient of the loss with "
    "respect to its logit?"
)


def twice(case, sentence):
    rate = sentence.arguments["rate"].value
    before, after = losses(case, 0.0, float(rate))
    return {"rate": rate, "before": before, "after": after}


def asked_of_right(case, sentence):
    return {"right": right_of(case), "p": probabilities(case)[right_of(case)]}


def weight_of_lowest(case, sentence):
    return {"weight": anew(case).number["weights"][-1][last(case, "weights").argmin()], "concept": True}


def another_is_lower(case, sentence):
    key, d_scores = sentence.arguments["key"].position, last(case, "scores")
    assert d_scores[key] > d_scores.min()
    return {"key": key, "gradient": d_scores[key]}


def visible_weight(case, sentence):
    said = sentence.arguments["weight"].value
    key = sentence.arguments["key"].position
    assert any(np.isclose(said, anew(case).number["weights"][:, key]).tolist())
    return {"key": key, "weight": said}


ORACLE = {
    "After {query} the right word is {right}. The model gives it {share}, so the loss is −ln of that, {loss}.": answer,
    "Only {right} has a negative d_logit: a step raises its logit and lowers those of the others. "
    "Of the {count} words, only the likeliest and the right one are shown.": only_negative,
    "The loss looks at only one prediction, that at {query}, so the other {others} rows of d_output "
    "are 0.": one_prediction,
    "The lowest d_weight of {query} is {least}, at {keys}: weight moved there lowers the loss most.": lowest_weight,
    "{keys} has a d_score below 0: a step raises that score.": raised,
    "d_q is nonzero only in the row of {query}; d_k and d_v have a nonzero row for each key that {query} looked at.": (
        asked_alone
    ),
    "Each row of d_v is a weight times the same d_output: {keys} has the largest weight, {share}.": rows_of_values,
    "The gradients of W_q, W_k and W_v have lengths {q}, {k} and {v}.": lengths,
    "Only the prediction at {query} counts, so d_W_q is x of {query} times d_q of {query}: a matrix of rank "
    "1.": rank_one,
    "The longest row of d_x belongs to {tokens}, with length {length}.": longest_row,
    "Trained to find the word that a pronoun stands for, {updates} training steps from seed {seed}: right on {share} "
    "of "
    "{count} newly drawn sentences.": trained,
    "score × {size}": lambda case, sentence: {"size": case.choices.size},
    "largest |d_scaled|": concept,
    "largest weight": concept,
    "The d_weights of the row, weighted by its weights, have the mean {mean}. Only what differs "
    "from that mean moves a score.": mean,
    "{keys} is below the mean: a step raises its score.": below_mean,
    "The others go down.": holds(others_go),
    "The others go down or stay.": holds(lambda case: not others_go(case)),
    "With scores times {size}, the largest weight is {share} and the largest gradient {value}.": at_size,
    "Once the scores are {size} times as large, one weight is {nearly} or more, and the largest "
    "gradient goes from {now} to {then}: a row that is certain hardly learns.": certain,
    "Without the division by √{d_k} these scores would be {factor} times as large.": times_as_large,
    "Here the model is asked for the next word at all {count} positions; the loss is the mean.": (
        lambda case, sentence: {"count": 7}
    ),
    "The {count} masked scores get a gradient of exactly 0, as their weight is 0.": masked_scores,
    "One query may look at {key}, so one row makes its d_v.": looked,
    "sum: d_v of {key}": lambda case, sentence: {"key": case.choices.key},
    "sentence {which}": chosen,
    "No word repeats in “{sentence}”, so take two sentences at once: the second is “{other}”.": no_word_twice,
    "Both read the same row of the embedding table for {word}: it gets the sum of both gradients, each "
    "half as large as before, because the loss is the mean of two.": word_in_both,
    "{count} other sentences": lambda case, sentence: {"count": 64},
    "At learning rate {rate} the loss is {before} before the step and {after} after it.": before_and_after,
    "The gradient promised {promised}: a straight line, loss − rate · |gradient|². The loss itself bends.": promise,
    "The probability of the right word, {right}, goes from {before} to {after}.": probability,
    "Of many learning rates tried, {rate} is the first that makes this prediction worse.": first_worse,
    "On {count} other sentences the mean loss is {before} before the step and {after} after it.": others,
    "These get worse, which is why training takes small steps and uses many sentences at once.": holds(
        others_get_worse
    ),
    "d_output says how the loss changes as a feature of the output grows. A step goes the other way.": (
        feature_by_feature
    ),
    "The row sums to 0: what some keys gain, others lose.": holds(gains_and_losses),
    "Weights and the gradients of the scores, with every position asked": holds(shown_with_every_position_asked),
    "finite differences of {matrix} differ by at most": chosen,
    "PyTorch's autograd differs by at most": concept,
    "Finite differences need two runs of the model for every weight; the chain rule finds all {count} "
    "gradients in one pass back.": counted,
    "The weight of {matrix} in row {row}, column {column}, has the gradient {gradient}.": one_weight,
    "With h = 1e−1 the quotient is off by {large}, because the loss bends; with h = 1e−{last} it is "
    "off by {small}, because of rounding.": too_large_and_too_small,
    MOST_RAISED: concept,
    HIDDEN: chosen,
    TWICE: twice,
    LOGIT: asked_of_right,
    "weight · (d_weight − mean) is lowest there, and a step goes against it.": concept,
    "Its d_weight is the lowest, but its weight, a factor of the gradient, is only {weight}.": weight_of_lowest,
    "It has the largest weight, but how far its d_weight is below the mean counts, too.": concept,
    "The d_score of {key} is {gradient}; another is lower.": another_is_lower,
    "{key} is visible, with weight {weight}, so its score gets a gradient.": visible_weight,
}


def answer_most_raised(case, prompt):
    d_scores, d_weights = last(case, "scores"), last(case, "weights")
    weights, right = anew(case).number["weights"][-1], sentence_of(case.choices.sentence)[0].index(right_of(case))
    return {
        "weight · (d_weight − mean) is lowest there, and a step goes against it.": d_scores.argmin(),
        "Its d_weight is the lowest, but its weight, a factor of the gradient, is only {weight}.": d_weights.argmin(),
        "It has the largest weight, but how far its d_weight is below the mean counts, too.": weights.argmax(),
        "The answer is there, but another score lowers the loss of this model more.": right,
        "The d_score of {key} is {gradient}; another is lower.": ...,
        JUDGE: by_largest((-d_scores).tolist()),
    }


def answer_hidden(case, prompt):
    d_scores = anew(case, everywhere=True).d["scores"][prompt.arguments["query"].position]
    return {
        "The mask hides it: its weight, a factor of the gradient, is 0.": ...,
        "{key} is visible, with weight {weight}, so its score gets a gradient.": ...,
        JUDGE: lambda card: d_scores[token_on(card)] == 0,
    }


def answer_twice(case, prompt):
    rate = float(prompt.arguments["rate"].value)
    before, after, then = losses(case, 0.0, rate, 2 * rate)
    numbers = {
        "twice the step, along a curve": then,
        "twice the step, twice the change": before - 2 * (before - after),
        "down the straight line of the gradient": line_of(case, 2 * rate),
        "the same direction, the same loss": after,
        "twice the rate, half the change": (before + after) / 2,
        "the same factor once more": after**2 / before,
        "a longer step arrives at the bottom": 0.0,
    }
    reply = "The step is twice as long, but the loss bends on the way."
    return {reply: ..., JUDGE: by_thought(numbers)}


def answer_logit(case, prompt):
    p = probabilities(case)[right_of(case)]
    assert last(case, "logits")[right_of(case)] == pytest.approx(p - 1)
    numbers = {
        "the probability, minus 1": p - 1,
        "the probability, just as it is": p,
        "1, minus the probability": 1 - p,
        "minus ln of the probability": -math.log(p),
        "ln of the probability": math.log(p),
        "minus 1, whatever the probability": -1.0,
    }
    return {"Probability minus 1: negative, so a step against it raises the logit.": ..., JUDGE: by_thought(numbers)}


LIKELIEST = "The sentence is “{sentence}”. Which word does the model find likeliest to come next?"
ITS_LOSS = "The model gives the right word, {right}, the probability {p}. The loss is −ln of it. How large is it?"
RIGHT_GETS = "That is the right word, but the model gives it only {probability}."
BEST_GETS = "Its probability is {probability}."
LESS_GETS = "The model gives {word} the probability {probability}, and another word more."


def some_probability(case, sentence):
    """Of which word, its card says."""
    said = sentence.arguments["probability"].value
    return {"probability": min(probabilities(case), key=lambda p: abs(p - said))}


def answer_likeliest(case, prompt):
    p = probabilities(case)
    assert prompt.arguments["sentence"] == " ".join(WORDS[i] for i in sentence_of(case.choices.sentence)[0])
    return {
        BEST_GETS: int(np.argmax(p)),
        RIGHT_GETS: right_of(case),
        LESS_GETS: ...,
        JUDGE: lambda card: p[card.text.arguments["thing"].position] == max(p),
    }


def answer_loss(case, prompt):
    p = probabilities(case)[right_of(case)]
    numbers = {
        "minus the logarithm of p": losses(case, 0.0)[0],
        "the logarithm of p": math.log(p),
        "the probability of the wrong words": 1 - p,
        "1, divided by p": 1 / p,
        "only a wrong guess costs anything": 0.0,
    }
    return {"−ln grows without limit as the probability of the right word goes to 0.": ..., JUDGE: by_thought(numbers)}


ORACLE |= {
    LIKELIEST: chosen,
    ITS_LOSS: asked_of_right,
    RIGHT_GETS: lambda case, sentence: {"probability": probabilities(case)[right_of(case)]},
    BEST_GETS: lambda case, sentence: {"probability": max(probabilities(case))},
    LESS_GETS: lambda case, sentence: {
        "word": sentence.arguments["word"].position,
        "probability": probabilities(case)[sentence.arguments["word"].position],
    },
}
ANSWERS = {
    LIKELIEST: answer_likeliest,
    ITS_LOSS: answer_loss,
    MOST_RAISED: answer_most_raised,
    HIDDEN: answer_hidden,
    TWICE: answer_twice,
    LOGIT: answer_logit,
}


# More than the sentences say.


def correction_of(example=Example(), updates=20, number=0):  # noqa: B008
    return predict_one(settings_of_learner(example), updates, number)


@pytest.mark.parametrize("example", [Example(), Example(seed=7, causal=False), Example(seed=3, scaling=False)])
@pytest.mark.parametrize("updates", [0, 60])
def test_every_gradient_is_that_of_autograd(example, updates):
    correction = correction_of(example, updates, 1)
    way, found = correction.way, anew_of(correction.learner, 1)
    for name in (*MATRICES, *MAPS):
        ours, gradient = getattr(way, f"d_{name}"), found.d[name]
        if name == "weights":  # of a masked weight too, but that one cannot move
            gradient = np.where(way.attention.visible, gradient, ours)
        assert ours == pytest.approx(gradient, abs=1e-12), name


@pytest.mark.parametrize("stage", STAGES_BACK)
@pytest.mark.parametrize(("causal", "scaling"), [(True, True), (False, False)])
def test_the_arithmetic_of_every_cell_gives_its_gradient(stage, causal, scaling):
    """To the digits that are written: gradients may be so small that any number nearby would do."""
    made = screen(run_example(Example(causal=causal, scaling=scaling)), 0, Choices(40, 2, "way", stage))
    for matrix in made.figures[0].matrices:
        if matrix.scale == "gradient" and matrix.drawn:
            for i, j in np.ndindex(matrix.values.shape):
                step = matrix.step(i, j)
                assert step.value == matrix.values[i][j]
                assert evaluates(step), (matrix.key, i, j)


def test_what_is_not_reached_is_a_frame():
    for reached, stage in enumerate(("output", "weights", "scores", "qkv")):
        figure = screen(run_example(Example()), 0, Choices(stage=stage)).figures[0]
        drawn = {matrix.key for matrix in figure.matrices if matrix.drawn and matrix.key.startswith("d_")}
        everything = [{"d_output"}, {"d_weights"}, {"d_scores"}, {"d_q", "d_k", "d_v"}]
        assert drawn == set().union(*everything[: reached + 1])
        assert figure.first in drawn


@pytest.mark.parametrize("sentence", [0, 2, 3])
def test_the_likeliest_words_and_the_right_one_are_shown(sentence):
    made = screen(run_example(Example()), 0, Choices(20, sentence, "way", "loss"))
    correction = correction_of(Example(), 20, sentence)
    by_probability = sorted(range(27), key=lambda word: -correction.probabilities[word])
    wanted = sorted({*by_probability[:6], correction.right})
    for matrix in made.figures[0].matrices:
        assert list(matrix.columns.labels) == [WORDS[word] for word in wanted]
    d_logits = made.figures[0].matrices[-1]
    assert d_logits.values[0].tolist() == [correction.way.d_logits[correction.asked[0]][word] for word in wanted]


def lit(figure, key, i, j):
    """What pointing at a cell lights: what it is made of, and its twin."""
    matrices = {matrix.key: matrix for matrix in figure.matrices}
    matrix = matrices[key]
    own = [tuple(cells) for cells in matrix.sources(i, j)]
    traced = sources_among({name: each.traced.array for name, each in matrices.items()}, key)
    found = own or list(traced[i * matrix.values.shape[1] + j])
    return {*found, (matrix.twin, i, j)} if matrix.twin in matrices else {*found}


def test_a_gradient_lights_what_it_is_made_of():
    inside, ends, maps = (
        screen(run_example(Example()), 0, Choices(stage=stage)).figures[0] for stage in ("qkv", "x", "maps")
    )
    assert lit(inside, "d_k", 3, 1) == {("d_scores", 6, 3), ("q", 6, 1), ("k", 3, 1)}, "one query alone counts"
    assert lit(inside, "d_q", 6, 1) == {("d_scores", 6, None), ("k", None, 1), ("q", 6, 1)}
    assert lit(inside, "d_weights", 6, 1) == {("d_output", 6, None), ("v", 1, None), ("weights", 6, 1)}
    rows = {(name, 6, None) for name in ("weights", "d_weights")}
    cells = {(name, 6, 1) for name in ("weights", "d_weights", "scores")}
    assert lit(inside, "d_scores", 6, 1) == rows | cells
    assert lit(inside, "weights", 4, 1) == {("scores", 4, None), ("d_weights", 4, 1)}
    assert lit(maps, "d_W_v", 2, 1) == {("x", None, 2), ("d_v", None, 1), ("W_v", 2, 1)}
    gradients = {(f"d_{role}", 6, None) for role in "qkv"}
    assert lit(ends, "d_x", 6, 1) == {("x", 6, 1), ("d_after", 6, 1), *gradients}


def test_a_story_begins_with_what_the_model_said_and_says_where_nothing_comes():
    (figure,) = screen(run_example(Example()), 0, Choices(stage="scores")).figures
    (d_scores,) = (matrix for matrix in figure.matrices if matrix.key == "d_scores")
    assert {step.meaning.template.split()[0] for step in d_scores.derive(6, 2)} == {
        *("d_logit", "d_after", "d_output", "d_weight", "mean", "d_score")
    }
    (d_output,) = (matrix for matrix in figure.matrices if matrix.key == "d_output")
    (nothing,) = d_output.derive(2, 1)
    assert equation(nothing) == "0" and "does not count" in render(nothing.meaning)
    (hidden,) = d_scores.derive(2, 4)
    assert "is masked" in render(hidden.meaning)


def test_the_lesson_goes_back_as_the_core_does():
    for example in (Example(), Example(seed=7, causal=False), Example(seed=3, scaling=False)):
        mistake = correction_of(example, 60, 1)
        _, gradient = gradient_of(mistake.learner.model, mistake.batch)
        for role, name in enumerate(MAPS):
            which, shape = places_of(mistake, CHECKED[role])
            assert getattr(mistake.way, f"d_{name}") == pytest.approx(gradient[which].reshape(shape), abs=1e-14)


STEPS_TAKEN = [  # losses that rise, of this sentence or of others, or of both; long steps and short ones
    (Example(seed=31337, causal=False, scaling=False), 80),
    (Example(seed=5, causal=False), 20),
    (Example(), 0),
    (Example(), 300),
]


@pytest.mark.parametrize(("example", "updates"), STEPS_TAKEN)
def test_what_is_said_of_a_step_is_true_of_every_step(example, updates):
    learner, seen = learner_after(settings_of_learner(example), updates), set()
    for number in (0, 3, 6):
        mistake = predict_one(settings_of_learner(example), updates, number)
        for rate in (0.001, 0.03, 0.3, 10):
            case = Case(SimpleNamespace(example=example), 0, Choices(updates, number, "update", rate=rate), None)
            assert learner_of(case) is learner
            for sentence in notice_update(mistake, rate):
                seen |= check_sentence(case, sentence, ORACLE)
                ORACLE[sentence.template](case, sentence)
    assert any("get worse" in template for template in seen)


def test_the_key_without_gradient_is_masked_and_the_others_have_one():
    for number in range(4):
        case = run_example(Example()), Choices(40, number)
        d_scores = anew_of(correction_of().learner, number, everywhere=True).d["scores"]
        for question in filter(lambda q: q.prompt.template == HIDDEN, map(screen(case[0], 0, case[1]).ask, range(60))):
            query = question.prompt.arguments["query"].position
            keys = [card.text.arguments["token"].position for card in question.cards]
            assert [d_scores[query, key] == 0 for key in keys] == [
                place == question.right for place in range(len(keys))
            ]


def test_all_kinds_of_question_come_up_and_the_right_card_stands_anywhere():
    prompts, right = set(), set()
    for number in range(3):
        for question in map(question_picker("backward", QUESTIONS, 42, correction_of(number=number)), range(40)):
            prompts.add(question.prompt.template)
            right.add(question.right)
    assert prompts == set(ANSWERS) and right >= {0, 1, 2}


@pytest.mark.parametrize("example", [Example(seed=7, causal=False), Example()])
def test_there_is_always_a_question(example):
    for updates in UPDATES:
        for number in range(3):
            ask = question_picker("backward", QUESTIONS, example.seed, correction_of(example, updates, number))
            assert all(ask(count).cards for count in range(8))


@pytest.mark.parametrize("rate", RATES)
def test_the_figures_of_an_update_are_measured(rate):
    facts, curves = screen(run_example(Example()), 0, Choices(rate=rate, view="update")).figures
    learner = correction_of().learner
    before, after = losses_anew(learner, Choices().sentence, (0.0, float(rate)))
    squared = sum(float(g.square().sum()) for g in anew_of(learner, Choices().sentence).gradient.values())
    assert [fact.value for _, fact in facts.facts] == pytest.approx([before, after, before - rate * squared])
    lines = {line.key: line for line in curves.lines}
    assert curves.chosen in lines["loss"].x and curves.chosen == pytest.approx(rate)
    assert lines["loss"].y[[0, 30, 60]] == pytest.approx(
        losses_anew(learner, Choices().sentence, (0.0, float(rate), 2.0 * rate)), abs=1e-6
    )
    assert lines["others"].y[[0, 30]] == pytest.approx(
        losses_anew(learner, Choices().sentence, (0.0, float(rate)), True), abs=1e-6
    )
    assert (lines["promise"].y > 0).all() and lines["promise"].x[-1] <= 2 * rate
    assert lines["promise"].y == pytest.approx(before - lines["promise"].x * squared)


@pytest.mark.parametrize("matrix", CHECKED)
def test_finite_differences_are_close_and_autograd_is_closer(matrix):
    facts, table = screen(run_example(Example()), 0, Choices(view="check", matrix=matrix)).figures
    differences, autograd = (fact.value for _, fact in facts.facts)
    assert 0 < autograd < 1e-12 < differences < 1e-8
    errors = [row[2].value for row in table.cells]
    assert errors[0] / errors[1] == pytest.approx(100, rel=0.1), "a tenth of the step, a hundredth of the error"
    assert errors[-1] > 100 * min(errors), "rounding takes over"


def test_the_curves_of_the_softmax_are_the_rows_at_every_size():
    _, gradients, weights = screen(run_example(Example()), 0, Choices(80, 3, "softmax", size=8)).figures
    assert 8 in gradients.lines[0].x and gradients.chosen == weights.chosen == 8
    found = anew_of(correction_of(updates=80).learner, 3)
    for place in (0, 40, len(gradients.lines[0].x) - 1):
        size = gradients.lines[0].x[place]
        row = torch.tensor(found.number["scaled"][-1] * size).softmax(0).numpy()
        d_scores = row * (found.d["weights"][-1] - row @ found.d["weights"][-1])
        assert gradients.lines[0].y[place] == pytest.approx(np.abs(d_scores).max())
        assert weights.lines[0].y[place] == pytest.approx(row.max())


def test_the_training_of_the_sentence_goes_on_as_long_as_it_is_told():
    accuracies = [learner_after(settings_of_learner(Example()), updates).accuracy for updates in UPDATES]
    assert accuracies[0] < 0.2 and accuracies[-1] > 0.95
    assert "right on" in render(screen(run_example(Example()), 0, Choices(200)).figures[0].weights)


def test_a_large_step_is_paid_for_by_other_sentences():
    said = render_all(screen(run_example(Example()), 0, Choices(rate=3, view="update")).figures[1].notice)
    assert "promised" not in said and "These get worse" in said
    gain = render_all(screen(run_example(Example()), 0, Choices(0, rate=0.3, view="update")).figures[1].notice)
    assert "64 other sentences" in gain


def test_a_score_whose_gradient_is_exactly_0_is_not_said_to_go_down():
    """As with sentence 3 at 8 times its scores: the weighted mean is the d_weight of the likeliest key, to the last
    digit.
    """
    said = Counter()
    for sentence, size in product(range(12), (0.125, 1.0, 8.0, 20.0)):
        case = case_at(Choices(300, sentence, "softmax", size=size))
        for one in case.screen.figures[0].notice:
            check_sentence(case, one, ORACLE)
            if one.template.startswith("The others"):
                ORACLE[one.template](case, one)
        said.update(one.template for one in case.screen.figures[0].notice)
    assert said["The others go down."] > 9 and said["The others go down or stay."] > 9
    assert "or stay" in render_all(case_at(Choices(300, 3, "softmax", size=8.0)).screen.figures[0].notice)


def case_at(choices):
    trace = run_example(Example())
    return Case(trace, 0, choices, screen(trace, 0, choices))
