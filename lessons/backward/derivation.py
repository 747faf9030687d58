"""How each gradient comes about, line by line: the chain rule, with the numbers of one sentence.

The gradient of a matrix has the name of the matrix with d_ before it. Each is made of the gradient of what comes after
it on the way forwards; `before` follows that back to the logits.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lessons.backward.one_prediction import PRONOUN_WORDS, NumbersByName, Prediction
from lessons.screen.arithmetic import Arithmetic, divided, power, sum_of, sum_of_products, term
from lessons.screen.message import Token, message
from lessons.screen.screen import Cells, Step

VECTOR_ROLES = ("q", "k", "v")
PAIR_GRADIENTS = ("d_weights", "d_scores")  # a number for each query and key


@dataclass(frozen=True, eq=False)
class ChainRule:
    """Follows the gradients of one sentence. `asked` are the positions whose predictions count in the loss."""

    names: tuple[Token, ...]
    numbers: NumbersByName
    visible: list[list[bool]]
    asked: Sequence[int]
    divisor: str | None

    def step(self, matrix: str, i: int, j: int) -> Step:
        """The arithmetic of one gradient, or of a number that the model computed on its way forwards."""
        if matrix in PAIR_GRADIENTS and not self.visible[i][j]:
            return self._masked(matrix, i, j)
        if matrix in ("d_W_q", "d_W_k", "d_W_v"):
            return self._of_map(matrix, i, j)
        known = {
            "after": self._sum,
            "logits": self._logit,
            "probabilities": self._probability,
            "targets": self._target,
            "d_logits": self._of_logit,
            "d_after": self._of_sum,
            "d_output": self._of_output,
            "d_weights": self._of_weight,
            "d_scores": self._of_score,
            "d_q": self._of_query,
            "d_k": self._of_key,
            "d_v": self._of_value,
            "d_x": self._of_x,
        }
        return known[matrix](i, j)

    def before(self, matrix: str, i: int, j: int) -> Iterator[Step]:
        """All that leads to a gradient, from the gradient of the logits on."""
        if matrix == "probabilities":
            yield self._logit(i, j)
        elif matrix == "d_logits":
            yield self._logit(i, j)
            yield self._probability(i, j)
        elif matrix == "d_output":
            yield from self._row("d_after", i)
        elif matrix in PAIR_GRADIENTS and self.visible[i][j]:
            yield from self._before_pair(matrix, i, j)
        elif matrix == "d_q":
            yield from self._to_scores(i)
        elif matrix in ("d_k", "d_v"):
            yield from self._before_key(matrix, i)
        elif matrix.startswith("d_W_"):
            role = matrix.removeprefix("d_W_")
            yield from (self.step(f"d_{role}", m, j) for m in range(len(self.names)) if self._moves(role, m))
        elif matrix == "d_x":
            yield from (step for role in VECTOR_ROLES if self._moves(role, i) for step in self._row(f"d_{role}", i))

    def derive(self, matrix: str, i: int, j: int) -> Iterator[Step]:
        """All that leads to a gradient, itself last."""
        yield from self.before(matrix, i, j)
        yield self.step(matrix, i, j)

    def sources(self, matrix: str, i: int, j: int) -> tuple[Cells, ...]:
        """The cells that a gradient is made of."""
        role = matrix[-1]
        if matrix.startswith("d_W_"):
            return Cells("x", column=i), Cells(f"d_{role}", column=j)
        return {
            "d_output": (Cells("output", i, j),),
            "d_weights": (Cells("d_output", row=i), Cells("v", row=j), Cells("weights", i, j)),
            "d_scores": (Cells("d_weights", row=i), Cells("weights", row=i), Cells("scores", i, j)),
            "d_q": (Cells("d_scores", row=i), Cells("k", column=j), Cells("q", i, j)),
            "d_k": (Cells("d_scores", column=i), Cells("q", column=j), Cells("k", i, j)),
            "d_v": (Cells("weights", column=i), Cells("d_output", column=j), Cells("v", i, j)),
            "after": (Cells("x", i, j), Cells("d_after", i, j)),
            "d_x": (*(Cells(f"d_{role}", row=i) for role in VECTOR_ROLES), Cells("d_after", i, j), Cells("x", i, j)),
        }.get(matrix, ())

    # The loss, and from it to the output.

    def _sum(self, i: int, c: int) -> Step:
        column = [row[c] for row in self.numbers["W_o"]]
        says = message(
            "{token} after the attention, feature {feature}: x + output · a column of W_o",
            token=self.names[i],
            feature=c + 1,
        )
        arithmetic = term(self.numbers["x"][i][c]) + sum_of_products(self.numbers["output"][i], column)
        return Step(says, arithmetic, self.numbers["after"][i][c])

    def _logit(self, i: int, t: int) -> Step:
        column = [row[t] for row in self.numbers["W_unembed"]]
        says = message(
            "logit of {word}: what stands at {token} after the attention, times a column of W_unembed, plus b",
            word=word_of(t),
            token=self.names[i],
        )
        arithmetic = sum_of_products(self.numbers["after"][i], column) + self.numbers["b_unembed"][0][t]
        return Step(says, arithmetic, self.numbers["logits"][i][t])

    def _probability(self, i: int, t: int) -> Step:
        logits = self.numbers["logits"][i]
        says = message(
            "probability of {word}: its part of the sum over all {count} words", word=word_of(t), count=len(logits)
        )
        arithmetic = power(logits[t]) / math.fsum(map(math.exp, logits))
        return Step(says, arithmetic, self.numbers["probabilities"][i][t])

    def _target(self, i: int, t: int) -> Step:
        value = self.numbers["targets"][i][t]
        says = message("the answer that was wanted") if value else message("not the answer that was wanted")
        return Step(says, term(value), value)

    def _of_logit(self, i: int, t: int) -> Step:
        value = self.numbers["d_logits"][i][t]
        if i not in self.asked:
            return self._nothing(i, value)
        probability, target = self.numbers["probabilities"][i][t], self.numbers["targets"][i][t]
        difference = term(probability) - target
        if len(self.asked) == 1:
            says = message("d_logit of {word}: its probability, minus 1 for the right word", word=word_of(t))
            return Step(says, difference, value)
        says = message(
            "d_logit of {word} at {token}: its probability, minus 1 for the right word; the loss is a mean over "
            "{count} positions",
            word=word_of(t),
            token=self.names[i],
            count=len(self.asked),
        )
        return Step(says, difference / len(self.asked), value)

    def _of_sum(self, i: int, c: int) -> Step:
        says = message(
            "d_after of {token}, feature {feature}: d_logits · row {feature} of W_unembed",
            token=self.names[i],
            feature=c + 1,
        )
        arithmetic = sum_of_products(self.numbers["d_logits"][i], self.numbers["W_unembed"][c])
        return Step(says, arithmetic, self.numbers["d_after"][i][c])

    def _of_output(self, i: int, c: int) -> Step:
        value = self.numbers["d_output"][i][c]
        if i not in self.asked:
            return self._nothing(i, value)
        says = message(
            "d_output of {token}, feature {feature}: d_after · row {feature} of W_o", token=self.names[i], feature=c + 1
        )
        return Step(says, sum_of_products(self.numbers["d_after"][i], self.numbers["W_o"][c]), value)

    def _nothing(self, i: int, value: float) -> Step:
        says = message(
            "the prediction at {token} does not count, so nothing comes back to its output", token=self.names[i]
        )
        return Step(says, term(value), value)

    # Through the softmax.

    def _of_weight(self, i: int, j: int) -> Step:
        value = self.numbers["d_weights"][i][j]
        if i not in self.asked:
            return self._nothing(i, value)
        says = message("d_weight of {key} for {query}: d_output · value of {key}", **self._pair(i, j))
        return Step(says, sum_of_products(self.numbers["d_output"][i], self.numbers["v"][j]), value)

    def mean(self, i: int) -> Step:
        """What a query's d_weights are compared with: their mean, weighted by the weights themselves."""
        seen = self._seen_by(i)
        weights, gradients = ([self.numbers[name][i][m] for m in seen] for name in ("weights", "d_weights"))
        value = math.fsum(w * d for w, d in zip(weights, gradients, strict=True))
        says = message("mean of the d_weights of {query}, weighted by its weights", query=self.names[i])
        return Step(says, sum_of_products(weights, gradients), value)

    def _less_mean(self, i: int, j: int) -> Arithmetic:
        weight, gradient = (term(self.numbers[name][i][j]) for name in ("weights", "d_weights"))
        return weight * (gradient - self.mean(i).value)

    def _of_score(self, i: int, j: int) -> Step:
        value = self.numbers["d_scores"][i][j]
        if i not in self.asked:
            return self._nothing(i, value)
        if self.divisor is None:
            says = message("d_score of {key} for {query}: weight · (d_weight − mean)", **self._pair(i, j))
            return Step(says, self._less_mean(i, j), value)
        says = message(
            "d_score of {key} for {query}: weight · (d_weight − mean), ÷ {divisor}",
            divisor=self.divisor,
            **self._pair(i, j),
        )
        return Step(says, divided(self._less_mean(i, j), self.divisor), value)

    def _masked(self, matrix: str, i: int, j: int) -> Step:
        value = self.numbers[matrix][i][j]
        says = message("{key} is masked for {query}: weight 0, so its score has gradient 0", **self._pair(i, j))
        if matrix == "d_weights":
            says = message("{key} is masked for {query}: its weight is 0 whatever happens", **self._pair(i, j))
        return Step(says, term(value), value)

    # Queries, keys, values, and what they are made of.

    def _of_query(self, i: int, c: int) -> Step:
        value, seen = self.numbers["d_q"][i][c], self._seen_by(i)
        if i not in self.asked:
            return self._nothing(i, value)
        says = message("d_q of {query}, feature {feature}: d_scores · keys", query=self.names[i], feature=c + 1)
        arithmetic = sum_of_products(
            [self.numbers["d_scores"][i][m] for m in seen], [self.numbers["k"][m][c] for m in seen]
        )
        return Step(says, arithmetic, value)

    def _of_key(self, j: int, c: int) -> Step:
        return self._over_queries("d_k", "d_scores", "q", j, c)

    def _of_value(self, j: int, c: int) -> Step:
        return self._over_queries("d_v", "weights", "d_output", j, c)

    def _over_queries(self, matrix: str, pairs: str, rows: str, j: int, c: int) -> Step:
        value, asking = self.numbers[matrix][j][c], self.asking(j)
        about = {"key": self.names[j], "feature": c + 1}
        if not asking:
            says = message("no query that counts may look at {key}, so nothing comes back", key=self.names[j])
            return Step(says, term(value), value)
        if matrix == "d_k":
            says = message("d_k of {key}, feature {feature}: summed over the queries, d_score · query", **about)
        else:
            says = message("d_v of {key}, feature {feature}: summed over the queries, weight · d_output", **about)
        arithmetic = sum_of_products(
            [self.numbers[pairs][i][j] for i in asking], [self.numbers[rows][i][c] for i in asking]
        )
        return Step(says, arithmetic, value)

    def _of_map(self, matrix: str, a: int, c: int) -> Step:
        role = matrix.removeprefix("d_W_")
        rows = [m for m in range(len(self.names)) if self._moves(role, m)]
        says = message(
            "{matrix}, row {row}, column {column}: summed over the tokens, feature {row} of x · feature "
            "{column} of {gradient}",
            matrix=matrix,
            gradient=f"d_{role}",
            row=a + 1,
            column=c + 1,
        )
        arithmetic = sum_of_products(
            [self.numbers["x"][m][a] for m in rows], [self.numbers[f"d_{role}"][m][c] for m in rows]
        )
        return Step(says, arithmetic, self.numbers[matrix][a][c])

    def _of_x(self, i: int, a: int) -> Step:
        ways = [
            sum_of_products(self.numbers[f"d_{role}"][i], self.numbers[f"W_{role}"][a])
            for role in VECTOR_ROLES
            if self._moves(role, i)
        ]
        about, value = {"token": self.names[i], "feature": a + 1}, self.numbers["d_x"][i][a]
        if i in self.asked:
            ways = [term(self.numbers["d_after"][i][a]), *ways]
            says = message(
                "d_x of {token}, feature {feature}: d_after over the shortcut, and what comes through q, k, v", **about
            )
            return Step(says, sum_of(ways), value)
        says = message("d_x of {token}, feature {feature}: what comes through k and v", **about)
        return Step(says, sum_of(ways), value)

    # What leads there.

    def _row(self, matrix: str, i: int) -> Iterator[Step]:
        return (self.step(matrix, i, c) for c in range(len(self.numbers[matrix][i])))

    def _before_pair(self, matrix: str, i: int, j: int) -> Iterator[Step]:
        if i not in self.asked:
            return
        yield from self._row("d_after", i)
        yield from self._row("d_output", i)
        if matrix != "d_weights":
            yield from (self._of_weight(i, m) for m in self._seen_by(i))
            yield self.mean(i)

    def _to_scores(self, i: int) -> Iterator[Step]:
        seen = self._seen_by(i)
        if i in self.asked:
            yield from self._before_pair("d_scores", i, seen[0])
            yield from (self._of_score(i, m) for m in seen)

    def _before_key(self, matrix: str, j: int) -> Iterator[Step]:
        for i in self.asking(j):
            yield from self._row("d_after", i)
            yield from self._row("d_output", i)
            if matrix == "d_k":
                yield self.mean(i)
                yield self._of_score(i, j)

    def asking(self, j: int) -> list[int]:
        """The queries that count in the loss and may look at a key."""
        return [i for i in self.asked if self.visible[i][j]]

    def _moves(self, role: str, i: int) -> bool:
        """True where the gradient of a token's query, key or value has a reason not to be 0."""
        return i in self.asked if role == "q" else bool(self.asking(i))

    def _seen_by(self, i: int) -> list[int]:
        return [m for m, visible in enumerate(self.visible[i]) if visible]

    def _pair(self, i: int, j: int) -> dict[str, Token]:
        return {"query": self.names[i], "key": self.names[j]}


def chain_rule(correction: Prediction) -> ChainRule:
    """For all gradients of a correction."""
    visible = correction.attention.visible.tolist()
    return ChainRule(correction.names, correction.numbers, visible, correction.asked, correction.divisor)


def word_of(index: int) -> Token:
    """A word of the vocabulary, as sentences name it."""
    return Token(PRONOUN_WORDS[index], index)
