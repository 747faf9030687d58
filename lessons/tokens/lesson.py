"""What goes in?"""

from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.embeddings import embed
from attention_core.language_model import language_model
from attention_core.tokens import Vocabulary, clean_text, tokenize
from lessons.example.example import ExampleTrace, whose_vectors
from lessons.example.language_model_text import shown
from lessons.example.source import DEFAULT_SENTENCE, MAX_TOKENS
from lessons.kit.formulas import stage_formula
from lessons.kit.matrices import TOKENS, feature_axis
from lessons.kit.questions import question_picker
from lessons.screen.arithmetic import term
from lessons.screen.format import visible_text
from lessons.screen.message import Argument, Fixed, ListOf, Message, message, plural, reason
from lessons.screen.program import Ran
from lessons.screen.screen import Axis, Cells, Code, Matrices, Matrix, Screen, Step, Table
from lessons.tokens.questions import QUESTIONS

HEADING = message("What goes in?")
OPENING = message(
    "A text is split into tokens. Each token has an id, and each id picks one row of the embedding table. Those rows "
    "are all that attention ever sees."
)


@dataclass(frozen=True)
class Choices:
    """What the learner chose on this page: words to look up in the table."""

    words: str = "dog"


def screen(example: ExampleTrace, head: int, choices: Choices) -> Screen:
    """Tokens, their ids and their rows of one table; and what becomes of words that it does not know."""
    figure = Matrices(
        key="tokens_figure",
        name=message("Tokens, ids and rows"),
        first="x",
        notice=(*notice_tokens(example), *what_is_added(example)),
        bands=(rows_of_x(example),),
        weights=whose_vectors(example),
        numbered=True,
        height=480,
    )
    return Screen(
        formula=stage_formula("x", example),
        figures=(figure, lookup_table(look_up(example, choices.words))),
        code=Code((tokenize, embed), example.heads.select(0), example.scale, partial(ran_lookup, example)),
        ask=question_picker("tokens", QUESTIONS, example.example.seed, example),
    )


def rows_of_x(example: ExampleTrace) -> tuple[Matrix, Matrix]:
    """Each token with its id and its row of X; beside it the table, with one row for each different token."""
    x, ids, names = example.fetched, example.ids, example.names
    first = {token_id: position for position, token_id in reversed(list(enumerate(ids)))}
    rows = sorted(first)
    features = feature_axis(x.shape[1])

    def value(position: int, feature: int, meaning: Message) -> Step:
        number = float(x[position, feature])
        return Step(meaning, term(number), number)

    def of_x(i: int, j: int) -> Step:
        says = message(
            "x of {token}, feature {feature}: row {row} of the table", token=names[i], feature=j + 1, row=ids[i]
        )
        return value(i, j, says)

    def of_table(i: int, j: int) -> Step:
        token = visible_text(example.tokens[first[rows[i]]])
        says = message("row {row} of the table, “{token}”, feature {feature}", row=rows[i], token=token, feature=j + 1)
        return value(first[rows[i]], j, says)

    def same_id(token_id: int) -> tuple[Cells, ...]:
        positions = (Cells("x", row=position) for position, other in enumerate(ids) if other == token_id)
        return Cells("table", row=rows.index(token_id)), *positions

    different_rows = x[[first[i] for i in rows]]
    tokens = tuple(f"{token_id}  {visible_text(token)}" for token_id, token in zip(ids, example.tokens, strict=True))
    different = tuple(f"{token_id}  {visible_text(example.tokens[first[token_id]])}" for token_id in rows)
    return (
        Matrix(
            key="x",
            title=message("X"),
            values=x,
            rows=Axis(message("ids"), tokens, named=True),
            columns=features,
            step=of_x,
            sources=lambda i, j: same_id(ids[i]),
        ),
        Matrix(
            key="table",
            title=message("their rows of the embedding table"),
            values=different_rows,
            rows=Axis(TOKENS, different, named=True),
            columns=features,
            step=of_table,
            given=True,
            sources=lambda i, j: same_id(rows[i]),
        ),
    )


def ran_lookup(example: ExampleTrace) -> Ran:
    """From a text to tokens, ids and rows of X."""
    numbers, chosen, x = [*dict.fromkeys(example.ids)], example.example, example.fetched
    rows = torch.tensor([numbers.index(token_id) for token_id in example.ids])
    table = x[[example.ids.index(token_id) for token_id in numbers]]
    if not chosen.given_by.cuts_text:  # a notebook, or a task, gives the tokens
        return Ran({"rows": rows, "table": table}, ("x = embed(rows, table)",), {"x": x})
    text = clean_text(chosen.text).text
    text = text if tokenize(text, chosen.unit) else DEFAULT_SENTENCE
    return Ran(
        {"text": text, "unit": chosen.unit, "n_tokens": len(example.tokens), "table": table},
        (
            "tokens = tokenize(text, unit)[:n_tokens]",
            "vocabulary = [*dict.fromkeys(tokens)]",
            "rows = torch.tensor([vocabulary.index(token) for token in tokens])",
            "x = embed(rows, table)",
        ),
        {"tokens": list(example.tokens), "x": x},
    )


def notice_tokens(example: ExampleTrace) -> tuple[Message, ...]:
    """How many rows there are, and which tokens share theirs."""
    n, d_model = example.fetched.shape
    numbers = plural("{count} number", "{count} numbers", d_model)
    size = plural(
        "{count} token becomes a row of {numbers}.",
        "{count} tokens become {count} rows of {numbers} each.",
        n,
        numbers=numbers,
    )
    positions = {token_id: [i for i, other in enumerate(example.ids) if other == token_id] for token_id in example.ids}
    shared = [ListOf(tuple(example.names[i] for i in same)) for same in positions.values() if len(same) > 1]
    repeated = [message("{tokens} are the same token, so they fetch the same row.", tokens=tokens) for tokens in shared]
    if repeated:
        return size, *repeated
    if n == 1:
        return (size,)
    if len(example.fetched.unique(dim=0)) == n:
        return size, message("No token repeats, so every row is different.")
    return size, message("No token repeats, so each has a row of its own.")


def what_is_added(example: ExampleTrace) -> tuple[Message, ...]:
    """What a model makes of these rows before they enter its head."""
    return () if example.row_ids == example.ids else example.trained.input_description


@dataclass(frozen=True, eq=False)
class Lookup:
    """What becomes of words that the text may not hold: refused by its vocabulary, or taken by a row for all unknown.

    `refusal` is the vocabulary's own sentence, None where it knows every token.
    """

    tokens: tuple[str, ...]
    refusal: Argument | None
    ids: tuple[int, ...]
    rows: Float[Tensor, "tokens d_model"]
    unknown_id: int


def look_up(example: ExampleTrace, text: str) -> Lookup:
    """Look words up in the table of the example, as it is and with a row more. At most MAX_TOKENS of them."""
    if example.example.given_by.cuts_words:
        return in_pieces(example, text)
    tokens = tuple(tokenize(clean_text(text).text, example.example.unit)[:MAX_TOKENS])
    vocabulary, table = table_of(example)
    ids = vocabulary.encode_with_unknown(tokens)
    try:
        vocabulary.encode(tokens)
        refusal = None
    except ValueError as error:
        refusal = reason(error)
    rows = embed(torch.tensor(ids, dtype=torch.long), with_unknown_row(table))
    return Lookup(tokens, refusal, tuple(ids), rows, len(vocabulary))


def in_pieces(example: ExampleTrace, text: str) -> Lookup:
    """The language model refuses nothing: what it has no piece for it cuts into smaller ones."""
    encoded, table = language_model().encode(clean_text(text).text), example.trained.table
    tokens, ids = encoded.tokens[1 : MAX_TOKENS + 1], encoded.ids[1 : MAX_TOKENS + 1]  # the start is no word of these
    return Lookup(tuple(map(shown, tokens)), None, ids, table[list(ids)], len(table))


def with_unknown_row(table: Float[Tensor, "vocabulary d_model"]) -> Float[Tensor, "larger_vocabulary d_model"]:
    """The table with one row more, for tokens it does not know: the mean of all others, so it prefers none."""
    return torch.cat([table, table.mean(dim=0, keepdim=True)])


def table_of(example: ExampleTrace) -> tuple[Vocabulary, Float[Tensor, "vocabulary d_model"]]:
    """All words with a row in the embedding table, and the rows; of a sentence alone its own words have one."""
    if example.trained is not None:
        return example.trained.vocabulary, example.trained.table
    vocabulary = Vocabulary.in_order_of_appearance(example.tokens)
    return vocabulary, example.fetched[[example.tokens.index(token) for token in vocabulary.tokens]]


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
    if lookup.refusal is None and any(token.startswith("·") for token in lookup.tokens):
        return message(
            "The model cuts words that it does not know into pieces that it does: a dot stands before each but "
            "the first."
        )
    if lookup.refusal is None:
        return message("The table knows every one of these words: each gets its row.")
    strangers = len({token for token, i in zip(lookup.tokens, lookup.ids, strict=True) if i == lookup.unknown_id})
    return plural(
        "The table has no row for that: {refusal}. With one extra row shared by all unknown words (row {row}, the mean "
        "of the others), the unknown word gets that row.",
        "The table has no row for that: {refusal}. With one extra row shared by all unknown words (row {row}, the mean "
        "of the others), all {count} unknown words get that row.",
        strangers,
        refusal=lookup.refusal,
        row=lookup.unknown_id,
    )
