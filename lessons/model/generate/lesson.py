"""How does it write?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.base.arrays import Array
from attention_core.learning.tasks import MAX_VOCABULARY, CharacterTask
from attention_core.model import sampling
from attention_core.model.generation import GeneratedToken, NewToken, generate, generate_token
from attention_core.model.sampling import Sampling, ranked
from attention_core.model.small_model import ModelConfig, model_with
from attention_core.model.transformer import Transformer
from attention_core.model.weights import weights_of
from attention_core.text.tokens import Vocabulary
from lessons.model.generate.questions import QUESTIONS
from lessons.model.generate.seen_in_training import legal_steps, never_an_input
from lessons.screen import (
    Axis,
    Cells,
    Code,
    Fixed,
    Integer,
    ListOf,
    Matrices,
    Matrix,
    Message,
    Part,
    Parts,
    Percent,
    Screen,
    Step,
    Token,
    argmax_ties,
    distinguishable,
    message,
    names,
    percent,
    plural,
    visible_text,
)
from lessons.shared.head_maps import MOST_NAMED, MOST_NUMBERED, head_name
from lessons.shared.matrices import KEYS, token_axis
from lessons.shared.questions import question_picker
from lessons.trace.computation import Computation
from lessons.trace.story import step_of_given

TOPIC = message("Generating text")
POINT = message(
    "A model gives every token a probability of coming next; one token is drawn and appended, and "
    "the model is asked again."
)

WRITES = (
    generate,
    generate_token,
    sampling.draw_token,
    sampling.next_token_probabilities,
    sampling.keep_top_k,
    sampling.keep_top_p,
    sampling.renormalise,
    sampling.pick,
)
DISTRIBUTIONS = (message("the model says"), message("after the temperature"), message("drawn from"))
MOST_SHOWN_TOKENS = 15  # of a vocabulary too large for a figure
LEAST_DECIMALS = 4  # of a place on the line from 0 to 1


@dataclass(frozen=True, eq=False)
class Writing:
    """A text that a small model goes on with, and its newest token with all that led to it."""

    task: CharacterTask  # what the model was trained on
    start: tuple[str, ...]
    written: tuple[NewToken, ...]  # every new token, the newest last
    newest: GeneratedToken
    sampling: Sampling
    seed: int

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens that the model knows, as they stand in a text."""
        return self.task.vocabulary

    @property
    def text(self) -> str:
        """All of it."""
        return "".join((*self.start, *(new.token for new in self.written)))

    @property
    def text_to_see(self) -> str:
        """The text, with a sign for each space at its end: else a space that was drawn would change nothing."""
        written = self.text.rstrip(" ")
        return written + visible_text(self.text[len(written) :])


def generate_screen(writing: Writing, most: int | None = None) -> Screen:
    """The newest token: what it was drawn from, with at most `most` tokens, and what the heads looked at before."""
    new, vocabulary = writing.newest, writing.vocabulary
    return Screen(
        figures=(distribution(writing, most), looks(new)),
        remarks=(window_read(new), *about_training(writing)),
        code=Code((write_text, *WRITES)),
        ask=question_picker("generate", QUESTIONS, writing.seed, new, vocabulary),
    )


@dataclass(frozen=True, eq=False)
class WrittenText:
    """A text that a model went on with, and what it gave each token that could have been the last."""

    text: str
    probabilities: Float[Tensor, " vocabulary"]


def write_text(
    config: ModelConfig,
    weights: Float[Array, " parameters"],
    vocabulary: Vocabulary,
    start: tuple[str, ...],
    length: int,
    sampling: Sampling,
    seed: int,
) -> WrittenText:
    """The model with these weights goes on with a text."""
    written = generate(model_with(config, weights), vocabulary, start, length, sampling, seed)
    return WrittenText("".join((*start, *(new.token for new in written))), written[-1].draw.probabilities)


def code_of_writing(
    model: Transformer, task: CharacterTask, start: tuple[str, ...], length: int, how: Sampling, seed: int
) -> Code:
    """What writes, and the text that this model writes so."""
    inputs = {
        "config": model.config,
        "weights": weights_of(model),
        "vocabulary": task.vocabulary,
        "start": start,
        "length": length,
        "sampling": how,
        "seed": seed,
    }
    return Computation(write_text, inputs).code(("text", "probabilities"), *WRITES)


# What it was drawn from.


class Drawn(Protocol):
    """A token that was drawn, and the vocabulary it was drawn from."""

    @property
    def newest(self) -> GeneratedToken: ...

    @property
    def vocabulary(self) -> Vocabulary: ...

    @property
    def sampling(self) -> Sampling: ...


def distribution(writing: Drawn, most: int | None = None) -> Parts:
    """The vocabulary, the likeliest first: what the model says, after the temperature, and after the cuts.

    It has room for at most `most` tokens, and one that was drawn.
    """
    listed = tokens_listed(writing, most)
    return Parts(
        key="distribution",
        name=message("The distribution over the next token"),
        width=720,
        rows=DISTRIBUTIONS,
        notice=(
            model_gave(writing),
            what_could_be_drawn(writing),
            where_the_number_fell(writing.newest),
            *tokens_not_shown(writing, listed),
        ),
        parts=tuple(token_part(writing, token) for token in listed),
    )


def tokens_listed(writing: Drawn, most: int | None) -> list[int]:
    """All tokens, the likeliest first; of more than fit, the likeliest, and what was drawn where it is none of them."""
    draw = writing.newest.draw
    order = ranked(draw.logits).tolist()
    if len(order) <= (most or MAX_VOCABULARY):
        return order
    return list(dict.fromkeys((*order[: most or MOST_SHOWN_TOKENS], draw.token)))


def tokens_not_shown(writing: Drawn, listed: Sequence[int]) -> tuple[Message, ...]:
    """How many tokens have no bar, and what the model gives them."""
    draw = writing.newest.draw
    if len(listed) == len(draw.logits):
        return ()
    return (
        message(
            "The other {count} tokens, to which the model gave {share} together, are not shown.",
            count=Integer(len(draw.logits) - len(listed)),
            share=Percent(max(0.0, 1 - float(draw.probabilities[listed].sum()))),
        ),
    )


def token_part(writing: Drawn, token: int) -> Part:
    """One token of the vocabulary."""
    draw, text = writing.newest.draw, writing.vocabulary.tokens[token]
    shares = tuple(float(stage[token]) for stage in (draw.probabilities, draw.tempered, draw.final))
    said, tempered, final = (Fixed(share, 3) for share in shares)
    says = message(
        "{token}: score {score}; probability {said} from the model, {tempered} after the temperature, "
        "{final} in the draw.",
        token=Token(text, token),
        score=Fixed(float(draw.logits[token])),
        said=said,
        tempered=tempered,
        final=final,
    )
    chosen, remark = token == draw.token, None
    if chosen:
        remark = message("drawn")
    elif not draw.kept[token]:
        remark = message("dropped by top-p") if draw.kept_by_top_k[token] else message("dropped by top-k")
    return Part(name=visible_text(text), shares=shares, says=(says,) * len(shares), chosen=chosen, remark=remark)


def model_gave(writing: Drawn) -> Message:
    """What the model gave the new token."""
    draw = writing.newest.draw
    return message(
        "The new token is {token}: the model gave it {share} (rank {rank} of {size}).",
        token=Token(writing.newest.token, draw.token),
        share=Percent(float(draw.probabilities[draw.token])),
        rank=Integer(1 + int((draw.logits > draw.logits[draw.token]).sum())),
        size=Integer(len(writing.vocabulary)),
    )


def what_could_be_drawn(writing: Drawn) -> Message:
    """From how many tokens it was drawn, and with what chance."""
    draw, size, kept = writing.newest.draw, len(writing.vocabulary), int(writing.newest.draw.kept.sum())
    final = Percent(float(draw.final[draw.token]))
    if kept == 1 or writing.sampling.temperature == 0:
        return message("No other token could be drawn.")
    if kept == size:
        return message("It was drawn with a chance of {final}.", final=final)
    return message(
        "It was drawn from {kept} of {size} tokens, with a chance of {final}.",
        kept=Integer(kept),
        size=Integer(size),
        final=final,
    )


def where_the_number_fell(new: GeneratedToken) -> Message:
    """The random number, and the stretch of the line from 0 to 1 on which it fell."""
    end = float(new.draw.final[: new.draw.token + 1].sum())
    start = end - float(new.draw.final[new.draw.token])
    first, drawn, last = distinguishable(start, new.draw.uniform, end, least=LEAST_DECIMALS)
    return message(
        "On the line from 0 to 1, in the order of the vocabulary, {token} covers {start} to {end}; the random "
        "number was {uniform}.",
        token=Token(new.token, new.draw.token),
        start=first,
        end=last,
        uniform=drawn,
    )


# What the heads looked at.


def looks(new: GeneratedToken) -> Matrices:
    """The weights of the last token read on all of the window: for each layer a matrix, for each head a row."""
    return Matrices(
        key="looks",
        name=message("What the heads looked at"),
        notice=strongest_look(new),
        first="0",
        bands=tuple((layer_of_looks(new, layer),) for layer in range(len(new.attention))),
        numbered=len(new.window) <= MOST_NUMBERED,
        hint=message("Rows are heads, columns are keys. Point at a cell to read its weight."),
    )


def layer_of_looks(new: GeneratedToken, layer: int) -> Matrix:
    """One layer of them."""
    weights, tokens = new.attention[layer], names(new.window)
    numbers = weights.tolist()
    title = message("{query} looks at", query=tokens[-1])
    if len(new.attention) > 1:
        title = message("{query} looks at, in layer {layer}", query=tokens[-1], layer=layer + 1)

    def step(head: int, key: int) -> Step:
        pair = {"head": head_name(layer, head), "query": tokens[-1], "key": tokens[key]}
        return step_of_given(message("{head}: {query} → {key}", **pair), numbers[head][key])

    heads = tuple(f"{head + 1}" for head in range(len(numbers)))
    return Matrix(
        key=str(layer),
        title=title,
        values=weights,
        rows=Axis(message("head"), heads, named=True),
        columns=token_axis(new.window, KEYS),
        scale="weight",
        colour="weight",
        step=step,
        sources=lambda head, key: (Cells(str(layer), head, key),),
    )


def strongest_look(new: GeneratedToken) -> tuple[Message, ...]:
    """What the last token read looked at most before the new one was drawn, unless it looked at many alike."""
    tokens, weights = names(new.window), torch.stack(new.attention)
    if len(new.window) == 1:
        return (message("Only {query} comes before it.", query=tokens[-1]),)
    strongest = argmax_ties(weights, percent)
    if len(strongest) > MOST_NAMED:
        return ()
    cells = (
        message("{key} ({head})", key=whom(tokens, key), head=head_name(layer, head)) for layer, head, key in strongest
    )
    return (
        plural(
            "{query}, the last token read, looked most at {cells}: {weight}.",
            "{query}, the last token read, looked most at {cells}: {weight} each.",
            len(strongest),
            query=tokens[-1],
            cells=ListOf(tuple(cells)),
            weight=Percent(float(weights[strongest[0]])),
        ),
    )


def whom(tokens: Sequence[Token], key: int) -> Message:
    """A key, and how far back it stands."""
    back = len(tokens) - 1 - key
    if back == 0:
        return message("itself")
    return message("{key}, {back} back", key=Token(tokens[key].text, key), back=back)


# The text.


def about_training(writing: Writing) -> tuple[Message, ...]:
    """What the text owes to training."""
    return (*training_steps(writing), *unread_characters(writing.written, writing.task))


def window_read(new: NewToken) -> Message:
    """Which part of the text was read."""
    n = len(new.window)
    if new.first == 0:
        return plural(
            "The model read the whole text before it: {count} token.",
            "The model read the whole text before it: {count} tokens.",
            n,
        )
    return plural(
        "The model sees {n} tokens at once: it read tokens {first} to {last}, and the first is out of sight.",
        "The model sees {n} tokens at once: it read tokens {first} to {last}, and the first {count} are out of sight.",
        new.first,
        n=n,
        first=new.first + 1,
        last=new.position,
    )


def training_steps(writing: Writing) -> tuple[Message, ...]:
    """How many of the pairs of neighbours that were written stand in the training text."""
    steps = legal_steps(writing.start, writing.written, writing.task.tokens[: writing.task.n_trained])
    if steps.total == 0:
        return ()
    return (
        message(
            "Steps from one character to the next that occur in the training text: {count} of {total} ({share}).",
            count=steps.legal,
            total=steps.total,
            share=Percent(steps.legal / steps.total),
        ),
    )


def unread_characters(written: Sequence[NewToken], task: CharacterTask) -> Iterator[Message]:
    """Which characters the model could never read while it trained, and how much of the text rests on reading one."""
    unseen = never_an_input(task)
    if not unseen:
        return
    vocabulary = task.vocabulary.tokens
    yield plural(
        "No training window has {unseen} as an input, so the model never learned to read it.",
        "No training window has {unseen} as an input, so the model never learned to read them.",
        len(unseen),
        unseen=ListOf(tuple(Token(token, vocabulary.index(token)) for token in unseen)),
    )
    resting = sum(bool(set(new.window) & set(unseen)) for new in written)
    if resting:
        yield message(
            "New characters written with such a character in the window: {resting} of {total}.",
            resting=resting,
            total=len(written),
        )


def in_no_order(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Tokens as in a dictionary: the order of their probabilities would tell the likeliest."""
    return tuple(sorted(parts, key=lambda part: part.name))
