"""What goes in?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_core.base.arrays import Array, namespace
from attention_core.text.embeddings import embed
from attention_core.text.tokens import Unit, Vocabulary, clean_text, tokenize
from lessons.example.example import ExampleTrace, whose_vectors
from lessons.example.real_model import MAX_TOKENS
from lessons.example.source import DEFAULT_SENTENCE
from lessons.example.task_models import Trained
from lessons.one_head.tokens.questions import QUESTIONS
from lessons.screen import (
    Axis,
    Cells,
    Fixed,
    ListOf,
    Matrices,
    Matrix,
    Message,
    Screen,
    Table,
    Text,
    message,
    names,
    plural,
    visible_text,
)
from lessons.shared.formulas import stage_formula
from lessons.shared.matrices import TOKENS, traced_matrix
from lessons.shared.questions import question_picker
from lessons.trace.computation import Computation
from lessons.trace.story import Names

TOPIC = message("Tokens and embeddings")
POINT = message(
    "Text is cut into tokens, pieces such as words, and a table gives each of them a row of numbers: its embedding."
)


WORDS = Text("stranger", message("Try a word outside the vocabulary"), 100, "dog")


@dataclass(frozen=True)
class Choices:
    """What the learner chose on this page: words to look up in the table, which may not hold them."""

    words: WORDS.type = WORDS.begin


@dataclass(frozen=True, eq=False)
class RowsOfText:
    """A text's tokens, and the row of each."""

    tokens: list[str]
    x: Float[Array, "tokens d_model"]


def look_up_text(text: str, unit: Unit, n_tokens: int, table: Float[Array, "row d_model"]) -> RowsOfText:
    """From a text to its tokens; each has the row of the table that its first appearance in the text has."""
    tokens = tokenize(text, unit)[:n_tokens]
    vocabulary = [*dict.fromkeys(tokens)]
    rows = namespace(table).asarray([vocabulary.index(token) for token in tokens])
    return RowsOfText(tokens, embed(rows, table))


@dataclass(frozen=True, eq=False)
class RowsOfTokens:
    """The row of each token."""

    x: Float[Array, "tokens d_model"]


def look_up_tokens(rows: Int[Array, " tokens"], table: Float[Array, "row d_model"]) -> RowsOfTokens:
    """Of tokens that are numbered: their rows of the table."""
    return RowsOfTokens(embed(rows, table))


SENTENCES = {
    "x": message("x of {token}, feature {feature}: its row of the table"),
    "table": message("row {row} of the table, feature {feature}"),
}


def screen(trace: ExampleTrace, head: int, choices: Choices) -> Screen:
    """Tokens, their ids and their rows of one table; and what becomes of words that it does not know."""
    lookup = compute_rows(trace)
    shown = ("x",) if "rows" in lookup.inputs else ("tokens", "x")
    figure = Matrices(
        key="tokens_figure",
        name=message("Tokens, ids and rows"),
        first="x",
        notice=(*notice_tokens(trace), *what_is_added(trace)),
        bands=(rows_of_x(trace, lookup),),
        weights=whose_vectors(trace),
    )
    return Screen(
        formula=stage_formula("x", trace),
        figures=(figure, *words_looked_up(trace, choices.words)),
        code=lookup.code(shown, tokenize, embed, attention=trace.heads.select(0), scale=trace.scale),
        ask=question_picker("tokens", QUESTIONS, trace.example.seed, trace),
    )


def compute_rows(trace: ExampleTrace) -> Computation:
    """The rows of the tokens; of a sentence of one's own, from its text on."""
    ids, chosen = trace.ids, trace.example
    rows = sorted(set(ids))
    table = trace.fetched[[ids.index(token_id) for token_id in rows]]
    names = Names(SENTENCES, {"tokens": trace.names, "row": rows})
    if not chosen.given_by.cuts_text:  # a notebook, or a task, gives the tokens
        numbered = torch.tensor([rows.index(token_id) for token_id in ids])
        return Computation(look_up_tokens, {"rows": numbered, "table": table}, names)
    text = clean_text(chosen.text).text
    text = text if tokenize(text, chosen.unit) else DEFAULT_SENTENCE
    inputs = {"text": text, "unit": chosen.unit, "n_tokens": len(ids), "table": table}
    return Computation(look_up_text, inputs, names)


def rows_of_x(trace: ExampleTrace, lookup: Computation) -> tuple[Matrix, Matrix]:
    """Each token with its id and its row of X; beside it the table, with one row for each different token."""
    ids, tokens = trace.ids, tuple(map(visible_text, trace.tokens))
    rows = sorted(set(ids))

    def lit(looked_up: Sequence[int], i: int, j: int) -> Iterable[Cells]:
        same = (Cells("x", row=position) for position, other in enumerate(ids) if other == looked_up[i])
        return Cells("table", row=rows.index(looked_up[i])), *same

    def labels(looked_up: Sequence[int]) -> tuple[str, ...]:
        return tuple(f"{token_id}  {tokens[ids.index(token_id)]}" for token_id in looked_up)

    x = traced_matrix(
        lookup,
        "x",
        message("X"),
        trace.tokens,
        rows=Axis(message("ids"), labels(ids), named=True),
        sources=partial(lit, ids),
    )
    table = traced_matrix(
        lookup,
        "table",
        message("their rows of the embedding table"),
        trace.tokens,
        rows=Axis(TOKENS, labels(rows), named=True),
        given=True,
        sources=partial(lit, rows),
    )
    return x, table


def notice_tokens(trace: ExampleTrace) -> tuple[Message, ...]:
    """How many rows there are, and which tokens share theirs."""
    n, d_model = trace.fetched.shape
    numbers = plural("{count} number", "{count} numbers", d_model)
    size = plural(
        "{count} token becomes a row of {numbers}.",
        "{count} tokens become {count} rows of {numbers} each.",
        n,
        numbers=numbers,
    )
    positions = {token_id: [i for i, other in enumerate(trace.ids) if other == token_id] for token_id in trace.ids}
    shared = [ListOf(tuple(trace.names[i] for i in same)) for same in positions.values() if len(same) > 1]
    repeated = [message("{tokens} are the same token, so they get the same row.", tokens=tokens) for tokens in shared]
    if repeated:
        return size, *repeated
    if n == 1:
        return (size,)
    if len(trace.fetched.unique(dim=0)) == n:
        return size, message("No token repeats, so every row is different.")
    return size, message("No token repeats, so each has its own row.")


def what_is_added(trace: ExampleTrace) -> tuple[Message, ...]:
    """What a model makes of these rows before they enter its head."""
    return () if trace.trained is None or trace.row_ids == trace.ids else trace.trained.input_description


@dataclass(frozen=True, eq=False)
class Lookup:
    """What becomes of words that the text may not hold: its vocabulary lacks them, or a row takes all unknown ones."""

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    rows: Float[Tensor, "tokens d_model"]
    unknown_id: int

    @property
    def unknown(self) -> tuple[str, ...]:
        """Each token that has no row, once."""
        pairs = zip(self.tokens, self.ids, strict=True)
        return tuple(dict.fromkeys(token for token, i in pairs if i == self.unknown_id))


def words_looked_up(trace: ExampleTrace, text: str) -> tuple[Table, ...]:
    """Words and the rows they get. A model that cuts words into pieces knows every one: see `cutting`."""
    return () if trace.example.given_by.cuts_words else (lookup_table(look_up(trace, text)),)


def look_up(trace: ExampleTrace, text: str) -> Lookup:
    """Look words up in the table of the example, as it is and with a row more. At most MAX_TOKENS of them."""
    tokens = tuple(tokenize(clean_text(text).text, trace.example.unit)[:MAX_TOKENS])
    vocabulary, table = table_of(trace)
    ids = vocabulary.encode_with_unknown(tokens)
    rows = embed(torch.tensor(ids, dtype=torch.long), with_unknown_row(table))
    return Lookup(tokens, tuple(ids), rows, len(vocabulary))


def with_unknown_row(table: Float[Tensor, "vocabulary d_model"]) -> Float[Tensor, "larger_vocabulary d_model"]:
    """The table with one row more, for tokens it does not know: the mean of all others, so it prefers none."""
    return torch.cat([table, table.mean(dim=0, keepdim=True)])


def table_of(trace: ExampleTrace) -> tuple[Vocabulary, Float[Tensor, "vocabulary d_model"]]:
    """All words with a row in the embedding table, and the rows; of a sentence alone its own words have one."""
    if isinstance(trace.trained, Trained):
        return trace.trained.vocabulary, trace.trained.table
    vocabulary = Vocabulary.in_order_of_appearance(trace.tokens)
    return vocabulary, trace.fetched[[trace.tokens.index(token) for token in vocabulary.tokens]]


def lookup_table(lookup: Lookup) -> Table:
    """The words that were looked up, with the rows they get."""
    rows = zip(lookup.tokens, lookup.ids, lookup.rows.tolist(), strict=True)
    cells = tuple((token, token_id, *map(Fixed, row)) for token, token_id, row in rows)
    features = (message("feature {feature}", feature=feature + 1) for feature in range(lookup.rows.shape[1]))
    return Table(
        key="lookup",
        name=message("Words and their rows"),
        notice=(notice_lookup(lookup),),
        columns=(message("token"), message("row"), *features),
        cells=cells,
    )


def notice_lookup(lookup: Lookup) -> Message:
    """Whether the vocabulary knows the words, and what a row for unknown ones would do."""
    if not lookup.tokens:
        return message("Type a word to look it up.")
    strangers = names(lookup.unknown)
    if not strangers:
        return message("The table knows every one of these words: each gets its row.")
    return plural(
        "The table has no row for {words}. If it had one more, shared by all unknown words (row {row}, the mean of the "
        "others), the word would get that row.",
        "The table has no rows for {words}. If it had one more, shared by all unknown words (row {row}, the mean of "
        "the others), all {count} words would get that row.",
        len(strangers),
        words=ListOf(tuple(strangers)),
        row=lookup.unknown_id,
    )
