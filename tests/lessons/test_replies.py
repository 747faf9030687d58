"""What is said to whoever chooses a card is true of the numbers on the screen, whether the card is right or wrong.

`CLAIMS` has for every reply a function that computes its claim again, by plain loops, from what the question is about;
a reply that is not there fails. Each lesson is asked about many random examples, extremes among them.
"""

import math
import random
from dataclasses import dataclass
from functools import cache

import pytest
from finding import part_of
from mistakes import is_mistake
from strategies import EXTREMES, SENTENCES
from test_questions_worth_asking import ABOUT

from attention_core.learning.tasks import TASKS
from attention_core.learning.training import recommended
from attention_core.measured.permutation import random_permutation
from attention_core.one_head.attention import attend
from attention_core.one_head.masks import causal_mask
from lessons.example.example import Example, learnt_example, run_example
from lessons.screen import Card, Fixed, Integer, ListOf, Magnitude, Percent, Question, Token, format_value, render
from lessons.shared.questions import question_picker
from tests.printed import readings, with_decimals

ROUNDS, NUMBERS = 60, 6  # of each lesson: examples, and questions about each
NEAR = 1e-4  # of a number in single precision
DOWN = "That reads down the column, but the rows are the queries."


@dataclass(frozen=True)
class Said:
    """A reply, the card it is said to, the question, and what this is about."""

    about: tuple
    question: Question
    card: Card

    def __getitem__(self, name):
        """An argument by its name: a token's position, a number; of the reply, else of the prompt."""
        said = self.card.reply.arguments
        return plainly(said[name] if name in said else self.question.prompt.arguments[name])

    @property
    def right(self):
        return self.question.cards[self.question.right]

    def says(self, name, value):
        """Whether the reply writes this number so."""
        argument = self.card.reply.arguments[name]
        if isinstance(argument, Fixed):
            return format_value(argument) in readings(value, with_decimals(argument.decimals))
        return math.isclose(plainly(argument), value, rel_tol=NEAR, abs_tol=1e-6)

    def number(self, card=None):
        """What stands on a card."""
        return plainly(next(iter((card or self.card).text.arguments.values())))

    def shows(self, value):
        """Whether the card shows this number."""
        argument = next(iter(self.card.text.arguments.values()))
        return format_value(argument) in readings(value, with_decimals(argument.decimals))


def plainly(argument):
    match argument:
        case Token(_, position):
            return position
        case Fixed(value) | Integer(value) | Percent(value) | Magnitude(value):
            return value
        case ListOf(items):
            return [*map(plainly, items)]
    return argument


# Plain arithmetic.


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def length(a):
    return math.sqrt(dot(a, a))


def softmax(scores):
    """Of a row in which a hidden key has the score −∞."""
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers]


def column(rows, j):
    return [row[j] for row in rows]


def at_most(value, values):
    return all(value <= one + NEAR * max(1, abs(one)) for one in values)


def at_least(value, values):
    return all(value >= one - NEAR * max(1, abs(one)) for one in values)


def rows_of(said):
    return said.about[0].x.double().tolist()


@dataclass(frozen=True)
class Head:
    """One head of an example once more, from its queries, keys and values."""

    q: list
    k: list
    v: list
    causal: bool
    scale: float

    def scores(self, i, *, scale=None):
        scale = self.scale if scale is None else scale
        return [dot(self.q[i], key) * scale for key in self.k]

    def visible(self, i, causal=None):
        causal = self.causal if causal is None else causal
        return [j <= i or not causal for j in range(len(self.k))]

    def weights(self, i, *, causal=None, times=1.0, plus=0.0, scale=None):
        seen = self.visible(i, causal)
        scores = self.scores(i, scale=scale)
        return softmax([s * times + plus if sees else -math.inf for s, sees in zip(scores, seen, strict=True)])


def head_of(said):
    """The head that a question is about."""
    trace = said.about[0]
    head = said.about[1] if len(said.about) > 1 and isinstance(said.about[1], int) else 0
    a = trace.heads.select(head)
    heat = said.about[3] if len(said.about) > 3 else 1.0
    q, k, v = (one.double().tolist() for one in (a.q, a.k, a.v))
    return Head(q, k, v, trace.example.causal, trace.scale / heat)


def always(said):
    """It tells how something is computed, whatever the numbers: what it comes to stands on the cards."""
    return True


# What a token or a vector is.


def same_row_again(said):
    rows, ids = said.about[0].fetched.tolist(), said.about[0].ids
    again = [row for row, one in zip(rows, ids, strict=True) if one == ids[said["token"]]]
    return said.says("number", again[0][0]) and all(row == again[0] for row in again)


def different_rows(said):
    one, other = (said.about[0].fetched[said[name]].tolist() for name in ("one", "other"))
    return one != other and said.says("first", one[0]) and said.says("second", other[0])


def looked_up(said):
    rows = said.about[0].fetched.tolist()
    return rows[said["one"]] == rows[said["other"]]


def differ(said):
    """The rows of the prompt's two tokens: in how many numbers they differ."""
    one, other = (said.about[0].fetched[said[name]].tolist() for name in ("one", "other"))
    return sum(a != b for a, b in zip(one, other, strict=True))


TOKENS = {
    "Each token has a row of its own, and these two differ.": lambda said: differ(said) > 0,
    "No feature counts the position, and more than one number differs.": lambda said: differ(said) > 1,
    "A column is one feature of all tokens.": always,
    "{id} is its id, its row in the table.": lambda said: said.about[0].ids[said["token"]] == said["id"],
    "The tokens are the rows of X, in the order of the sentence.": lambda said: (
        len(rows_of(said)) == len(said.about[0].tokens)
    ),
    "That is one number. A vector is a row.": always,
    "Different tokens have different rows of the table: one starts with {first}, the other with {second}.": (
        different_rows
    ),
    "A row is looked up by its token; the position is not in it.": looked_up,
    "A row for each token, even one that appears twice; a column for each feature.": always,
    "The vectors move with their tokens, and no number in them changes.": always,
    "The same token gets the same row again: it starts with {number}.": same_row_again,
}


# Dot products.


def with_query(said):
    """The dot products of the query with all other tokens, by their positions."""
    x = rows_of(said)
    return {j: dot(x[said["query"]], row) for j, row in enumerate(x) if j != said["query"]}


def similar_or_long(said):
    """Not where every other vector points away from it."""
    dots = with_query(said)
    return dots[said.number()] == max(dots.values()) > 0


def smaller_product(said):
    dots = with_query(said)
    return said.says("score", dots[said["key"]]) and dots[said["key"]] < max(dots.values())


def longest_but_one(said):
    lengths = {j: length(row) for j, row in enumerate(rows_of(said)) if j != said["query"]}
    return at_least(lengths[said.number()], lengths.values())


def signs(positive):
    def check(said):
        products = [a * b for a, b in zip(*(rows_of(said)[said[name]] for name in ("one", "other")), strict=True)]
        like, unlike = sum(p for p in products if p > 0), -sum(p for p in products if p < 0)
        return said.says("score", like - unlike) and (like > unlike) == positive

    return check


def cosine(said):
    a, b = (rows_of(said)[said[name]] for name in ("query", "key"))
    return said.shows(dot(a, b) / max(length(a) * length(b), 1e-9))


def longer_once(said):
    """With any other token the dot product grows as this vector does."""
    x, token, times = rows_of(said), said["token"], said["longer"]
    stretched = [times * number for number in x[token]]
    return all(
        math.isclose(dot(stretched, row), times * dot(x[token], row), abs_tol=1e-9)
        for j, row in enumerate(x)
        if j != token
    )


DOT_PRODUCT = {
    "Its vector points in a similar direction, or it is long, or both.": similar_or_long,
    "The dot product of {query} and {key} is {score}; another is larger.": smaller_product,
    "None of the other tokens has a longer vector, but the direction counts as well.": longest_but_one,
    "Their dot product is {score}, above 0: the products of like signs win.": signs(True),
    "Their dot product is {score}, below 0: the products of unlike signs win.": signs(False),
    "Then their dot product would be below 0, and it is {score}.": signs(True),
    "Then their dot product would be above 0, and it is {score}.": signs(False),
    "Then their dot product would be 0, and it is {score}.": lambda said: (
        said["score"] != 0 and said.says("score", dot(*(rows_of(said)[said[name]] for name in ("one", "other"))))
    ),
    "Multiply the numbers in pairs and add the products.": always,
    "That is the cosine: the dot product divided by both lengths.": cosine,
    "Only the cosine does not change.": always,
    "Both factors become longer: {longer} × {longer} = {times}.": lambda said: said["longer"] ** 2 == said["times"],
    "That would hold for another token. Here both factors become longer.": longer_once,
    "Both are {score}: they add up the same products, so X Xᵀ is symmetric.": lambda said: said.says(
        "score", dot(*(rows_of(said)[said[name]] for name in ("one", "other")))
    ),
}


# Queries, keys and values.


def vectors(said):
    """Q, K or V, as the prompt names it."""
    name = (
        said.question.prompt.arguments.get("matrix")
        or "qkv"[["query", "key", "value"].index(render(said.question.prompt.arguments["vector"]).split()[0])]
    )
    return getattr(head_of(said), name.lower())


def longest_vector(said):
    sums = [dot(row, row) for row in vectors(said)]
    return (
        sums[said.number()] == max(sums) and said.says("sum", max(sums)) and said.says("length", math.sqrt(max(sums)))
    )


def shorter_vector(said):
    sums = [dot(row, row) for row in vectors(said)]
    return said.says("sum", sums[said["token"]]) and sums[said["token"]] < max(sums)


def longest_in_x(said):
    return at_least(length(rows_of(said)[said.number()]), map(length, rows_of(said)))


def shown_in(rows):
    """That the number on the card is that of one of these (row, column)."""
    return lambda said: any(said.shows(number) for number in rows(said, said["token"], said["feature"] - 1))


def product_with_map(said):
    """The right number is the sum of these products."""
    trace, head = said.about
    W = trace.W_q.double().tolist()
    width = len(head_of(said).q[0])
    entries = column(W, head * width + said["feature"] - 1)
    return Said(said.about, said.question, said.right).shows(dot(rows_of(said)[said["token"]], entries))


PROJECTIONS = {
    "Its squared numbers add up to {sum}; the root of that, {length}, is its length.": longest_vector,
    "The squared numbers of {token} add up to {sum}; those of another token add up to more.": shorter_vector,
    "It has the longest row in X, but {matrix} stretches only some directions.": longest_in_x,
    "It is in the row of its token and in that column.": shown_in(lambda said, i, f: [vectors(said)[i][f]]),
    "That is feature {feature} of this token.": lambda said: (
        said["feature"] != said.question.prompt.arguments["feature"]
        and said.shows(vectors(said)[said["token"]][said["feature"] - 1])
    ),
    "That is this feature of {token}.": lambda said: (
        said["token"] != said.question.prompt.arguments["token"].position
        and said.shows(vectors(said)[said["token"]][said["feature"] - 1])
    ),
    "That is the score of {token} for itself, on the diagonal of Q Kᵀ.": lambda said: said.shows(
        dot(head_of(said).q[said["token"]], head_of(said).k[said["token"]])
    ),
    "That is the number in X.": shown_in(lambda said, i, f: [rows_of(said)[i][f]]),
    "Another query meets another key, so Q Kᵀ need not be symmetric.": always,
    "That would make Q Kᵀ symmetric, as X Xᵀ is. But a token's query is not its key.": lambda said: said.shows(
        dot(head_of(said).q[said["one"]], head_of(said).k[said["other"]])
    ),
    "Its row of X times column {feature} of W_q: multiply in pairs, then add.": product_with_map,
    "That is its row of X. W_q mixes all its features into new ones.": shown_in(
        lambda said, i, f: [rows_of(said)[i][f]]
    ),
    "Each row of X makes a row of Q, K and V. W_q stays {W_q} however long the sentence is.": lambda said: (
        render(said.card.reply.arguments["W_q"]) == f"{len(rows_of(said)[0])}\u00a0×\u00a0{len(head_of(said).q[0])}"
    ),
    "Each token keeps its row; its features are mixed into {d_k} new ones.": always,
}


# Scores, mask and softmax.


def seen_scores(said):
    """The scores, before they are divided, of the keys that the query sees, by their positions."""
    head, i = head_of(said), said["query"]
    return {j: s for j, s in enumerate(head.scores(i, scale=1.0)) if head.visible(i)[j]}


def lower_score(said):
    scores = seen_scores(said)
    return said.says("score", scores[said["key"]]) and scores[said["key"]] < max(scores.values())


def largest_in_column(said):
    """Of the column of the query's own token, from all queries that see it."""
    head, i = head_of(said), said["query"]
    down = {j: head.scores(j, scale=1.0)[i] for j in range(len(head.q)) if head.visible(j)[i]}
    return at_least(down[said.number()], down.values())


def heaviest_in_column(said):
    head, i = head_of(said), said["query"]
    down = [head.weights(j)[i] for j in range(len(head.q))]
    return at_least(down[said.number()], down)


def flatter(said):
    """The largest weight falls."""
    head, i = head_of(said), said["query"]
    return max(head.weights(i, scale=len(head.q[0]) ** -0.5)) <= max(head.weights(i, scale=1.0)) + 1e-9


def root_of(said):
    return said.says("root", math.sqrt(said["d_k"]))


SCORES = {
    "The order stays, but smaller differences bring the weights closer together.": flatter,
    "It has the largest number in the row of {query}.": lambda said: (
        seen_scores(said)[said.number()] == max(seen_scores(said).values())
    ),
    "The score of {key} for {query} is {score}; another is larger.": lower_score,
    "A query need not fit the key of its own token.": lambda said: said.number() == said["query"],
    "The score is divided by √{d_k} ≈ {root}.": root_of,
    "The score is divided by √{d_k} = {root}.": root_of,
    "Divide by √d_k, not by d_k: the standard deviation of the scores grows only with √d_k.": always,
    "That is the variance. The standard deviation is its square root.": lambda said: said.number() == said["d_k"],
    "q · k is a sum of {d_k} products, each of variance 1, so its variance is {d_k}.": always,
    "The differences between scores become smaller, so the row becomes flatter.": flatter,
    "The scores are divided, not the weights: a row must still sum to 1.": always,
}


def weights_of_traces(said):
    """The rows without the mask and with it, of the query that is asked about."""
    _, free, masked = said.about
    query = said["query"]
    return free.weights[query].tolist(), masked.weights[query].tolist(), masked.visible[query].tolist()


def hidden_before(said):
    free, masked, seen = weights_of_traces(said)
    key = said["key"]
    return not seen[key] and masked[key] == 0 and said.says("before", free[key])


def grow_by_one_factor(said):
    free, masked, seen = weights_of_traces(said)
    kept = sum(weight for weight, sees in zip(free, seen, strict=True) if sees)
    return kept < 1 and all(
        math.isclose(after, before / kept, rel_tol=1e-3, abs_tol=1e-6)
        for before, after, sees in zip(free, masked, seen, strict=True)
        if sees
    )


def taken_share(said):
    free, _, seen = weights_of_traces(said)
    return sum(weight for weight, sees in zip(free, seen, strict=True) if not sees) > 0


MASK = {
    "With fewer keys to share the whole, visible weights grow.": grow_by_one_factor,
    "The other visible keys get their share of it, too.": lambda said: sum(weights_of_traces(said)[2]) > 1,
    "Count the visible cells of its row.": always,
    "That is its column: this many queries may look at {token}.": lambda said: (
        said.number() == sum(row[said["token"]] for row in said.about[2].visible.tolist())
    ),
    "Its score is −∞ before the softmax, and exp(−∞) is exactly 0. Without the mask the weight was {before}.": (
        hidden_before
    ),
    "The hidden keys have already taken their share. A mask must come before the softmax.": taken_share,
    "That holds if the mask comes first: then the visible keys share the whole.": lambda said: math.isclose(
        sum(weights_of_traces(said)[1]), 1, abs_tol=1e-5
    ),
    "The softmax divides by a smaller sum, so each visible weight grows by the same factor.": grow_by_one_factor,
    "The score does not change, but now fewer keys share the whole.": lambda said: not all(weights_of_traces(said)[2]),
}


def row_of_weights(said):
    return head_of(said).weights(said["query"])


def gets_less(said):
    row = row_of_weights(said)
    return said.says("weight", row[said["key"]]) and row[said["key"]] < max(row)


def order_kept(said):
    head, i = head_of(said), said["query"]
    seen = {j: s for j, s in enumerate(head.scores(i)) if head.visible(i)[j]}
    row = head.weights(i)
    return row[said.number()] == max(row) and seen[said.number()] == max(seen.values())


def hidden_leader(said):
    head, i = head_of(said), said["query"]
    return not head.visible(i)[said.number()] and at_least(head.scores(i)[said.number()], head.scores(i))


def changed_row(said):
    """The row of weights after the change that the prompt tells of, and before."""
    head, i, change = head_of(said), said["query"], said.question.prompt.arguments["change"]
    number = change.arguments["number"]
    how = {"times": number} if "Multiply" in change.template else {"plus": number}
    return head.weights(i), head.weights(i, **how)


def falls_behind(said):
    """No score is larger than this one, so all differences to it grow; its weight, too."""
    key, (before, after) = said["key"], changed_row(said)
    return at_least(before[key], before) and after[key] > before[key]


def same_for_a_constant(said):
    head, i, key = head_of(said), said["query"], said["key"]
    return math.isclose(head.weights(i, plus=3.0)[key], head.weights(i)[key], rel_tol=1e-9)


def all_alike(said):
    before, after = changed_row(said)
    return all(math.isclose(one, other, rel_tol=1e-9) for one, other in zip(before, after, strict=True))


SOFTMAX = {
    "Softmax keeps the order: the largest visible score gets the largest weight.": order_kept,
    "No other score is larger, but the mask hides this one.": hidden_leader,
    "A query need not match its own key.": lambda said: said.number() == said["query"],
    "{key} gets {weight} from {query}; another key gets more.": gets_less,
    "e to its score, divided by the sum of e to each visible score in the row.": always,
    "That is what {key} puts on {query}. Rows are queries.": lambda said: said.shows(
        head_of(said).weights(said["key"])[said["query"]]
    ),
    "Keys that the mask hides get no weight.": lambda said: not all(head_of(said).visible(said["query"])),
    "e to this score becomes e ≈ 2.72 times as large, and the sum grows by the same amount.": always,
    "That would hold if 1 were added to every score of the row.": same_for_a_constant,
    "e to one score, divided by e to the other, is e to their difference, whatever the other scores.": always,
    "The weights that a key gets from all queries have no fixed sum.": always,
    "Rows sum to 1, columns need not.": always,
    "Every power of e becomes e^{number} times as large, and so does their sum.": all_alike,
    "Every lower score falls further behind this one, so this weight grows.": falls_behind,
    "No other score gains on this one, so its share cannot become smaller.": falls_behind,
    "Its power of e grows, but the sum grows by the same factor.": all_alike,
    "The sum grows, but its power of e grows by the same factor.": all_alike,
    "In this head the scores are not divided before the softmax.": lambda said: not said.about[0].example.scaling,
    "In this head the scores are divided by √d_k before the softmax.": lambda said: said.about[0].example.scaling,
    "That would hold if a constant were added.": same_for_a_constant,
}


# Outputs.


def terms(said):
    """The weights of the row and the lengths of the values."""
    head = head_of(said)
    return head.weights(said["query"]), [length(value) for value in head.v]


def longest_term(said):
    weights, lengths = terms(said)
    return at_least(weights[said.number()] * lengths[said.number()], map(math.prod, zip(weights, lengths, strict=True)))


def shorter_term(said):
    weights, lengths = terms(said)
    parts = [weight * one for weight, one in zip(weights, lengths, strict=True)]
    return said.says("length", parts[said["key"]]) and parts[said["key"]] < max(parts)


def heaviest_but_short(said):
    weights, lengths = terms(said)
    here, best = said.number(), said.number(said.right)
    return at_least(weights[here], weights) and lengths[here] < lengths[best]


def longest_but_light(said):
    weights, lengths = terms(said)
    here, best = said.number(), said.number(said.right)
    return at_least(lengths[here], lengths) and weights[here] < weights[best]


def value_of_winner(said):
    head = head_of(said)
    weights = head.weights(said["query"])
    return weights[said["key"]] < 1 and said.shows(head.v[said["key"]][said["feature"] - 1])


def mixed(head, weights, feature):
    return dot(weights, column(head.v, feature))


def by_column(said):
    head = head_of(said)
    down = [head.weights(j)[said["query"]] for j in range(len(head.q))]
    return said.shows(mixed(head, down, said["feature"] - 1))


def times_larger(said):
    head, times = head_of(said), said["times"]
    row = head.weights(said["query"])
    return math.isclose(sum(row), 1, rel_tol=1e-9) and times > 1 and any(value for value in map(length, head.v))


OUTPUT = {
    "The length of a term is the weight times the length of the value.": longest_term,
    "The term of {key} has length {length}; another is longer.": shorter_term,
    "No other key has more weight, but the value of this one is shorter.": heaviest_but_short,
    "No other value is longer, but the weight of this one in the row is too small.": longest_but_light,
    "Multiply each value by its weight in the row and add up.": always,
    "The weights of a query are in its row, not down its column.": by_column,
    "That is only the value of {key}. The others are mixed in too.": value_of_winner,
    "At its new position it may look at other tokens: the mask makes the order matter.": lambda said: (
        head_of(said).causal and said["one"] != said["other"]
    ),
    "The same queries meet the same keys and mix the same values: only the rows move.": lambda said: (
        not head_of(said).causal
    ),
    "The mask does not leave it the same keys at its new position.": lambda said: (
        head_of(said).causal and said["one"] != said["other"]
    ),
    "Without a mask it meets all keys, wherever it stands, so nothing changes for it.": lambda said: (
        not head_of(said).causal
    ),
    "It brings its own query along, so its output is not that of {token}.": lambda said: said["token"] == said["other"],
    "Keys that the mask hides add nothing to the mix.": lambda said: not all(head_of(said).visible(said["query"])),
    "The values of other keys are mixed in as well.": lambda said: sum(head_of(said).visible(said["query"])) > 1,
    "Weights come only from queries and keys.": always,
    "The weights stay the same, so the mix grows as its values do.": times_larger,
    "The weights sum to 1, but the values are larger.": times_larger,
    "Each query has a row with as many features as a value.": always,
}


# Several heads.


def of_heads(said):
    """What each head gives to the key of the prompt."""
    return [float(weight) for weight in said.about[0].heads.weights[:, said["query"], said["key"]]]


def row_in_head(said):
    trace, head = said.about
    return trace.heads.weights[head, said["query"]].tolist()


def neighbours(said):
    trace = said.about[0]
    feature, width = said.question.prompt.arguments["feature"] - 1, trace.d_head
    place, head = feature_and_head(said.right)
    return said.card.reply.count == width and feature + 1 == (head - 1) * width + place


def feature_and_head(card):
    thing = card.text.arguments["thing"]
    return [thing.arguments[name] for name in ("feature", "head")]


HEADS = {
    "Each head has its own W_q and W_k.": lambda said: len({*of_heads(said)}) > 1,
    "It gives {weight}: each head has its own W_q and W_k.": lambda said: said.says("weight", max(of_heads(said))),
    "Head {head} gives {weight}; another head gives more.": lambda said: (
        said["head"] == said.number()
        and said.says("weight", of_heads(said)[said.number() - 1])
        and said["weight"] < max(of_heads(said))
    ),
    "The features are divided among the heads.": lambda said: said.about[0].n_heads > 1,
    "That swaps head and feature.": lambda said: feature_and_head(said.card) == feature_and_head(said.right)[::-1],
    "Each head has one feature.": neighbours,
    "Features are not dealt out in turn: each head takes neighbouring ones.": always,
    "It stays {total}: the same projections are cut into more or fewer pieces.": lambda said: (
        said["total"]
        == sum(getattr(said.about[0].module, name).numel() for name in ("W_q", "W_k", "W_v", "W_o"))
        + sum(
            bias.numel()
            for name in ("b_q", "b_k", "b_v", "b_o")
            if (bias := getattr(said.about[0].module, name)) is not None
        )
    ),
    "In its row, this key has the largest weight.": lambda said: (
        row_in_head(said)[said.number()] == max(row_in_head(said))
    ),
    "The query of one head has {d_model} ÷ {heads} features: that is d_k.": lambda said: (
        not said["d_model"] % said["heads"]
    ),
}


# Positions.


def alone(said):
    """The head's weights and outputs on the rows in their order, then in another, without positions or a mask."""
    trace, head, order = said.about
    one = head_of(Said((trace, head), said.question, said.card))
    return one, order


def outputs(head, order, causal):
    """Of each row when the tokens stand in this order."""
    mixed_rows = []
    for i, token in enumerate(order):
        keys = order[: i + 1] if causal else order
        weights = softmax([dot(head.q[token], head.k[key]) * head.scale for key in keys])
        mixed_rows.append([dot(weights, [head.v[key][f] for key in keys]) for f in range(len(head.v[0]))])
    return mixed_rows


def before_and_after(said):
    """The output of the token that is asked about, before the shuffle and after it."""
    (head, order), row = alone(said), said["row"] - 1
    causal = render(said.question.prompt.arguments["mask"]) == "Causal mask"
    own = outputs(head, range(len(order)), causal)
    return own[order[row]], outputs(head, order, causal)[row]


def apart(rows):
    one, other = rows
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


def moves_with_tokens(said):
    """That the rows are the same in another order holds without a mask; else they only stand at other places."""
    return [*said.about[2]] != [*range(len(said.about[2]))]


def same_vector(said):
    return said["one"] != said["other"] and rows_of(said)[said["one"]] == rows_of(said)[said["other"]]


POSITIONS = {
    "It is in row {row} now.": lambda said: said.about[2][said.card.reply.arguments["row"] - 1] == said.number(),
    "The shuffle moves it here from row {row}.": lambda said: said.card.reply.arguments["row"] - 1 == said.number(),
    "It sees the same keys as before, or keys that give the same mixture.": lambda said: (
        apart(before_and_after(said)) < 1e-4
    ),
    "Now other tokens come later and are hidden: the mask reveals the order.": lambda said: (
        apart(before_and_after(said)) > 1e-3
    ),
    "The output rows move with their tokens.": moves_with_tokens,
    "The distance is the same, and so is the angle between query and key.": lambda said: (
        said.number(said.right) - said["moved"]
        == said.question.prompt.arguments["key"] - said.question.prompt.arguments["query"]
    ),
    "The weight has moved with its two tokens: it does not depend on their positions.": always,
    "Its own vector, plus that of the position where {b} was: positions do not move with tokens.": always,
    "The shuffle brings it no new mixture of values.": lambda said: apart(before_and_after(said)) < 1e-4,
    "The mask hides what comes later, and those are other tokens now.": lambda said: (
        apart(before_and_after(said)) > 1e-3
    ),
    "The two positions make no difference here.": same_vector,
    "The vectors of X are the same, but what was added to them is not.": lambda said: (
        same_vector(said) and render(said.question.prompt.arguments["positions"]) == "sinusoidal positions"
    ),
    "The sine belongs to the first feature.": lambda said: said["feature"] == 2,
    "The cosine belongs to the second feature.": lambda said: said["feature"] == 1,
    "The same vector makes the same query, and both see the same keys and values.": same_vector,
    "Different positions were added to the same vector.": same_vector,
    "The first feature is the sine of the position, an angle in radians.": lambda said: said["feature"] == 1,
    "The second feature is the cosine of the position, an angle in radians.": lambda said: said["feature"] == 2,
}


# PyTorch.


def by_rounding(said):
    """No number differs by more than is said, as it is written."""
    parity = said.about[0]
    ours, theirs = parity.trace.output.flatten().tolist(), parity.module.flatten().tolist()
    largest = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
    size, parts = max(map(abs, ours)), said["parts"]
    return 0 < largest <= size / parts * (1 + 1e-6) and largest > size / parts / 10 * (1 - 1e-6) and parts >= 10_000


def averaged(said):
    found = said.about[0].per_head[:, said["query"], said["key"]].tolist()
    return Said(said.about, said.question, said.right).shows(sum(found) / len(found))


PYTORCH = {
    "They differ by at most one part in {parts} of the largest number: both add up the same products, but in a "
    "different order.": by_rounding,
    "It reports the average over the heads, which may match no single head.": averaged,
    "nn.MultiheadAttention blocks where the mask is True.": lambda said: (
        said.number(said.right) == said["count"] - said["true"]
    ),
    "q was divided by √{d_head}, and the function divides by √{d_head} again.": lambda said: (
        said["d_head"] == said.about[0].trace.heads.q.shape[-1] > 1
    ),
    "The three projections lie one below the other, each transposed: nn.Linear computes x @ W.T.": always,
}


# The way back.


def likelihood(said):
    """What the model gives to the word on the card."""
    return float(said.about[0].probabilities[said.number()])


def gradients(said):
    """The row of weights, their gradients, and those of the scores."""
    way, asked = said.about[0].way, said.about[0].asked[-1]
    weights, d_weights = way.attention.weights[asked].tolist(), way.d_weights[asked].tolist()
    mean = dot(weights, d_weights)
    scale = way.d_scores[asked].tolist()
    return weights, d_weights, [weight * (d - mean) for weight, d in zip(weights, d_weights, strict=True)], scale


def raised_most(said):
    _, _, d_scaled, d_scores = gradients(said)
    here = said.number()
    return d_scaled[here] == min(d_scaled) < 0 and d_scores[here] == min(d_scores)


def another_is_lower(said):
    d_scores = gradients(said)[3]
    return said.says("gradient", d_scores[said["key"]]) and d_scores[said["key"]] > min(d_scores)


def lowest_but_light(said):
    """The one that is raised most has more weight, so that the weight alone explains it."""
    weights, d_weights, _, _ = gradients(said)
    here, best = said.number(), said.number(said.right)
    return d_weights[here] == min(d_weights) and said.says("weight", weights[here]) and weights[here] < weights[best]


def heaviest_but_near_the_mean(said):
    weights, d_weights, _, _ = gradients(said)
    here, best = said.number(), said.number(said.right)
    return weights[here] == max(weights) and d_weights[here] > d_weights[best]


def answer_but_lowers_less(said):
    d_scores = gradients(said)[3]
    mistake = said.about[0]
    word = mistake.learner.settings.task.vocabulary.tokens[mistake.right]
    return mistake.tokens[said.number()] == word and d_scores[said.number()] > min(d_scores)


def hidden_key(said):
    attention, query, key = said.about[0].way.attention, said["query"], said.number()
    return not attention.visible[query][key] and attention.weights[query][key] == 0


def visible_key(said):
    attention, query, key = said.about[0].way.attention, said["query"], said.number()
    return bool(attention.visible[query][key]) and said.says("weight", float(attention.weights[query][key]))


def bends(said):
    """Twice the step does not change the loss by twice as much."""
    before, after, then = said["before"], said["after"], said.number(said.right)
    return not math.isclose(before - then, 2 * (before - after), rel_tol=1e-9)


BACKWARD = {
    "Its probability is {probability}.": lambda said: (
        said.says("probability", likelihood(said)) and likelihood(said) == max(said.about[0].probabilities)
    ),
    "That is the right word, but the model gives it only {probability}.": lambda said: (
        said.number() == said.about[0].right
        and said.says("probability", likelihood(said))
        and likelihood(said) < max(said.about[0].probabilities)
    ),
    "The model gives {word} the probability {probability}, and another word more.": lambda said: (
        said["word"] == said.number()
        and said.says("probability", likelihood(said))
        and likelihood(said) < max(said.about[0].probabilities)
    ),
    "−ln grows without limit as the probability of the right word goes to 0.": always,
    "Probability minus 1: negative, so a step against it raises the logit.": lambda said: said.number(said.right) < 0,
    "weight · (d_weight − mean) is lowest there, and a step goes against it.": raised_most,
    "The d_score of {key} is {gradient}; another is lower.": another_is_lower,
    "Its d_weight is the lowest, but its weight, a factor of the gradient, is only {weight}.": lowest_but_light,
    "It has the largest weight, but how far its d_weight is below the mean counts, too.": heaviest_but_near_the_mean,
    "The answer is there, but another score lowers the loss of this model more.": answer_but_lowers_less,
    "The mask hides it: its weight, a factor of the gradient, is 0.": hidden_key,
    "{key} is visible, with weight {weight}, so its score gets a gradient.": lambda said: (
        said["key"] == said.number() and visible_key(said)
    ),
    "The step is twice as long, but the loss bends on the way.": bends,
}


# Cost, writing, training.


def steps_counted(said):
    """Each step's multiplications, as their lines of arithmetic have them."""
    s = said.about[0]
    n, d, h, g = s.tokens, s.d_model, s.n_heads, s.n_kv_heads
    return {
        "Q K V": n * d * (h * s.d_k + g * (s.d_k + s.d_v)),
        "scores": h * n * n * s.d_k,
        "softmax": 2 * h * n * n,
        "output": h * n * n * s.d_v,
        "W_o": n * h * s.d_v * d,
    }


COST = {
    "{step} takes {n} multiplication.": lambda said: (
        said["n"] in steps_counted(said).values()
        and (said.card is said.right) == (said["n"] == max(steps_counted(said).values()))
    ),
    "More queries meet more keys, so the number of pairs grows with the square.": lambda said: (
        said.number(said.right) == said["count"] * said["times"] ** 2
    ),
    "Each of the n·n pairs takes a dot product of d_k products, in each head.": always,
    "A key and a value for each token and key/value head. Later tokens need no earlier query or score.": always,
}


def shares(said):
    """The probabilities before temperature and cuts."""
    return softmax(said.about[0].draw.logits.double().tolist())


def of_tokens(temperature, said):
    return softmax([score / temperature for score in said.about[0].draw.logits.double().tolist()])


def likely_lose(said):
    """Every token that loses is likelier than every one that gains."""
    now, then = shares(said), of_tokens(2.0, said)
    lose = [a for a, b in zip(now, then, strict=True) if b < a - 1e-9]
    gain = [a for a, b in zip(now, then, strict=True) if b > a + 1e-9]
    return not lose or not gain or min(lose) > max(gain)


def needed(said):
    falling, total, count = sorted(shares(said), reverse=True), 0.0, 0
    while total < said["p"] - 1e-6:
        total, count = total + falling[count], count + 1
    return said.card.reply.arguments["right"].value == count and said.says("reached", total)


GENERATE = {
    "Its probability is {probability}, and no other token has one as high.": lambda said: (
        said.says("probability", shares(said)[said.number()])
        and sorted(shares(said))[-2] < shares(said)[said.number()] == max(shares(said))
    ),
    "{token} has the probability {probability}; another token has a higher one.": lambda said: (
        said["token"] == said.number()
        and said.says("probability", shares(said)[said.number()])
        and shares(said)[said.number()] < max(shares(said))
    ),
    "The same draw comes again, and that was not the likeliest.": lambda said: (
        shares(said)[said.about[0].draw.token] < max(shares(said))
    ),
    "This token was drawn, but a draw can pick unlikely tokens, too.": lambda said: (
        said.number() == said.about[0].draw.token and shares(said)[said.number()] < max(shares(said))
    ),
    "This is the last token read. The scores are for the next one.": lambda said: (
        said.about[1].tokens[said.number()] == said.about[0].window[-1]
    ),
    "All differences between the scores are halved, so likely tokens lose and unlikely ones gain.": likely_lose,
    "The likeliest {right} are needed to reach {p}: together they have {reached}.": needed,
    "Only the likeliest is kept, whatever the seed and the temperature.": always,
    "The same seed gives the same random numbers, so everything repeats.": always,
}


def finds_another(said):
    tokens = said.about[0].task.example.tokens
    return tokens[said.number()] == said["found"] != said["answer"] == tokens[said.number(said.right)]


TRAIN = {
    "At {token} the head would find “{found}”, but the answer is “{answer}”.": lambda said: (
        said["token"] == said.number() and finds_another(said)
    ),
    "“{answer}” is here, at position {position}: its value can be passed on.": lambda said: (
        said.about[0].task.example.tokens[said.number()] == said["answer"] and said["position"] - 1 == said.number()
    ),
    "The mask hides {token} from {query}.": lambda said: (
        said.about[0].model.causal and said["token"] == said.number() > said["query"]
    ),
    "−ln(1/{size}) = ln {size}. A loss above this is worse than knowing nothing.": lambda said: Said(
        said.about, said.question, said.right
    ).shows(-math.log(1 / said["size"])),
    "Tables of vectors: {tables}; layers: {layers}; after the layers: {after}.": lambda said: (
        sum(said.card.reply.arguments[name].value for name in ("tables", "layers", "after")) == said.number(said.right)
    ),
}


# Variants.


def in_first_and_second(said):
    """The row of the query in both matrices, over the keys that the first shows."""
    varied, query = said.about[0], said["query"]
    return varied.plain.weights[query].tolist(), varied.changed.weights[query].tolist()


def change_of(said, key):
    """How much weight a key loses; below 0 where it gains."""
    before, after = in_first_and_second(said)
    return before[key] - after[key]


def most_lost(said):
    lost = [before - after for before, after in zip(*in_first_and_second(said), strict=True)]
    return said.says("lost", max(lost)) and sum(one > max(lost) - 1e-4 for one in lost) == 1


def gains_what_others_lose(said):
    lost = [before - after for before, after in zip(*in_first_and_second(said), strict=True)]
    return (
        said.says("gained", -lost[said["token"]]) and -lost[said["token"]] <= sum(one for one in lost if one > 0) + NEAR
    )


def loses_less(said):
    lost = change_of(said, said["token"])
    return said.says("lost", lost) and lost < change_of(said, said.number(said.right))


def row_in_second(said):
    varied = said.about[0]
    return varied.changed.weights[said["query"] - varied.cut].tolist()


def first_choice(said):
    varied, here = said.about[0], said.number()
    row, seen = varied.plain.weights[said["query"]].tolist(), varied.plain.visible[said["query"]].tolist()
    return row[here] == max(weight for weight, sees in zip(row, seen, strict=True) if sees)


def shared_keys(said):
    one, other, *_ = said.about[0].group
    first, second = (said.about[0].computation.result.changed.select(place) for place in (0, 1))
    assert one != other
    return first.k.tolist() == second.k.tolist() and said["count"] == first.k.numel()


def differ_in_all(said):
    first, second = (said.about[0].computation.result.changed.select(place) for place in (0, 1))
    elsewhere = [
        sum(max(0.0, a - b) for a, b in zip(one, other, strict=True))
        for one, other in zip(first.weights.tolist(), second.weights.tolist(), strict=True)
    ]
    share = sum(elsewhere) / len(elsewhere)
    return (
        share > 0
        and ("share" not in said.card.reply.arguments or said.says("share", share))
        and first.q.tolist() != second.q.tolist()
        and first.output.tolist() != second.output.tolist()
    )


def shrink_by_the_sink(said):
    before, after = in_first_and_second(said)
    left = 1 - float(said.about[0].computation.result.collected[said["query"]])
    return all(math.isclose(b, a * left, rel_tol=1e-3, abs_tol=1e-6) for a, b in zip(before, after, strict=True))


def bent_below_the_cap(said):
    varied = said.about[0]
    seen = varied.plain.visible
    scaled, capped = varied.plain.scaled[seen].tolist(), varied.changed.masked[seen].tolist()
    return all(
        math.isclose(b, varied.amount * math.tanh(a / varied.amount), rel_tol=1e-3, abs_tol=1e-5)
        and abs(b) <= varied.amount
        for a, b in zip(scaled, capped, strict=True)
    )


VARIANTS = {
    "It is {apart} steps away, and the window reaches {reach}.": lambda said: (
        abs(said["query"] - said.number()) == said["apart"] > said["reach"] == said.about[0].amount
    ),
    "{token} is at the edge of the window: near enough.": lambda said: (
        said["token"] == said.number() and abs(said["query"] - said.number()) == said.about[0].amount
    ),
    "The first token is global: all see it.": lambda said: (
        said.number() == 0 and bool(said.about[0].changed.visible[:, 0].all())
    ),
    "A query sees its own key in every window.": lambda said: (
        said.number() == said["query"] and bool(said.about[0].changed.visible[said["query"], said["query"]])
    ),
    "It loses {lost}; no other key loses as much.": most_lost,
    "{token} gains {gained}, some of what others lose.": gains_what_others_lose,
    "{token} keeps its weight, or nearly so.": lambda said: abs(change_of(said, said["token"])) < 0.005,
    "{token} loses {lost}; another key loses more.": loses_less,
    "It gets {weight}: no other key in this row has more.": lambda said: (
        said.says("weight", max(row_in_second(said))) and row_in_second(said)[said.number()] == max(row_in_second(said))
    ),
    "{token} gets {weight}; another key gets more.": lambda said: (
        said.says("weight", row_in_second(said)[said["token"]])
        and row_in_second(said)[said["token"]] < max(row_in_second(said))
    ),
    "In the first matrix it gets the largest weight of this row.": first_choice,
    "They are the same {count} numbers, and the cache keeps them once.": shared_keys,
    "Each head still has a W_q of its own, so the queries differ.": differ_in_all,
    "Other queries meet the same keys, so the weights differ: {share} of the weight lies elsewhere.": differ_in_all,
    "They mix the same values by other weights, so the outputs differ.": differ_in_all,
    "Every weight of the row shrinks by the same factor: 1 minus the share of the sink.": shrink_by_the_sink,
    "The cap times tanh of the score over the cap: every score is bent, and none reaches the cap.": bent_below_the_cap,
    "The slope is subtracted once for each step between the two: neighbours are one step apart.": always,
    "Each token that asks has a row, each token of the other sentence a column.": always,
    "A key and a value for each token, once for each set. Queries and weights are not kept.": always,
}

CLAIMS = {
    "tokens": TOKENS,
    "dot_product": DOT_PRODUCT,
    "projections": PROJECTIONS,
    "scores": SCORES | {DOWN: largest_in_column},
    "mask": MASK,
    "softmax": SOFTMAX | {DOWN: heaviest_in_column},
    "output": OUTPUT,
    "heads": HEADS
    | {
        DOWN: lambda said: at_least(
            said.about[0].heads.weights[said.about[1], said.number(), said["query"]].item(),
            said.about[0].heads.weights[said.about[1], :, said["query"]].tolist(),
        ),
        "{key} gets {weight} from {query}; another key gets more.": lambda said: (
            said.says("weight", row_in_head(said)[said["key"]]) and said["weight"] < max(row_in_head(said))
        ),
    },
    "positions": POSITIONS,
    "pytorch": PYTORCH,
    "backward": BACKWARD,
    "cost": COST,
    "generate": GENERATE,
    "train": TRAIN,
    "variants": VARIANTS,
}


# What each lesson is asked about.


def drawn_example(seed):
    """The first ones are extreme; then any text, sizes and switches; now and then a trained model."""
    if seed < len(EXTREMES):
        return EXTREMES[seed]
    draw = random.Random(seed)
    switches = {"causal": draw.random() < 0.6, "scaling": draw.random() < 0.7}
    if seed % 5 == 0:
        return learnt_example(draw.choice(("pronouns", "stories")), updates=draw.choice((0, 40, 300)), **switches)
    if seed % 7 == 0:
        return Example(seed=seed, **switches)
    kinds = {"weight_kind": draw.choice(("normal", "small", "linear")), "text": draw.choice(SENTENCES[1:8])}
    widths = {"d_model": draw.randint(1, 12), "d_k": draw.randint(1, 8), "d_v": draw.randint(1, 8)}
    return Example(source="sentence", seed=seed, n_heads=draw.randint(1, 3), **kinds, **widths, **switches)


@cache
def drawn(seed):
    return run_example(drawn_example(seed))


@cache
def any_direction(seed):
    """Words without a meaning that is shared: their vectors point anywhere."""
    return run_example(Example(source="sentence", text="a b c", seed=seed))


def two_traces(seed, masks):
    """An example, and its head twice: with either scale, or without its mask and with it."""
    trace = drawn(seed)
    a, causal = trace.heads.select(0), causal_mask(len(trace.tokens))
    if masks:
        return trace, *(attend(a.q, a.k, a.v, mask, scale=trace.scale) for mask in (None, causal))
    mask = causal if trace.example.causal else None
    return trace, *(attend(a.q, a.k, a.v, mask, scale=scale) for scale in (1.0, a.q.shape[-1] ** -0.5))


def last_of(seed):
    return len(drawn(seed).tokens) - 1 - seed % min(3, len(drawn(seed).tokens))


def settings_drawn(seed):
    names = sorted(TASKS)
    return (recommended(TASKS[names[seed % len(names)]], seed),)


DRAWN = ABOUT | {
    "tokens": lambda seed: (drawn(seed),),
    "dot_product": lambda seed: (drawn(seed) if seed % 2 else any_direction(seed),),
    "projections": lambda seed: (drawn(seed), drawn(seed).example.n_heads - 1),
    "scores": lambda seed: two_traces(seed, masks=False),
    "mask": lambda seed: two_traces(seed, masks=True),
    "softmax": lambda seed: (drawn(seed), drawn(seed).example.n_heads - 1, last_of(seed), (0.3, 1.0, 3.0)[seed % 3]),
    "output": lambda seed: (drawn(seed), 0, last_of(seed)),
    "positions": lambda seed: (drawn(seed), 0, random_permutation(len(drawn(seed).tokens), seed)),
    "train": settings_drawn,
}


def replies(lesson):
    """All that is said to whoever is asked about the drawn examples."""
    makers = part_of(lesson, "questions").QUESTIONS
    for seed in range(ROUNDS):
        about = DRAWN[lesson](seed)
        if lesson == "dot_product" and not about[0].x.any():
            continue  # nothing is asked there
        ask = question_picker(lesson, makers, seed, *about)
        for number in range(NUMBERS):
            question = ask(number)
            yield from (Said(about, question, card) for card in question.cards)


def test_every_lesson_with_questions_is_here():
    assert CLAIMS.keys() == ABOUT.keys() == DRAWN.keys()


@pytest.mark.usefixtures("shapes_taken_for_granted")
@pytest.mark.parametrize("lesson", CLAIMS)
def test_every_reply_is_true(lesson):
    met = set()
    for said in replies(lesson):
        template = said.card.reply.template
        if is_mistake(said.card):
            assert said.card is not said.right
            if template not in CLAIMS[lesson]:
                continue
        assert template in CLAIMS[lesson], f"nobody computes this claim again: {template!r}"
        assert CLAIMS[lesson][template](said), (
            f"{render(said.question.prompt)} [{render(said.card.text)}] {render(said.card.reply)} {said.about[0]}"
        )
        met.add(template)
    assert len(met) > 0.6 * len(CLAIMS[lesson]), CLAIMS[lesson].keys() - met
