"""How does a language model know who “it” is? A real one reads a sentence: one of its heads, its guesses, all heads."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from attention_core.base.arrays import Array
from attention_core.model.transformer import ModelTrace
from attention_core.one_head.attention import AttentionTrace, attend, softmax_rows
from attention_core.one_head.masks import causal_mask
from lessons.example.layer_on_text import shipped_layer
from lessons.example.real_model import (
    DEFAULT_HEAD,
    DEFAULT_LAYER,
    DEFAULT_TEXT,
    CutText,
    RealModel,
    cut_text,
    head_name,
)
from lessons.example.token_names import called_alone, told_apart
from lessons.screen import (
    Code,
    Fixed,
    Guess,
    ListOf,
    Message,
    ModelView,
    NamedHeads,
    Percent,
    Screen,
    Table,
    Token,
    argmax_ties,
    message,
    names,
    percent,
    plural,
)
from lessons.shared.head_jobs import JOBS, MIXTURE, PLAIN, HeadJobs, Job, sentences_with_it, sentences_with_names

TOPIC = message("How does a language model know who “it” is?")
SENTENCES = {
    "cat": DEFAULT_TEXT,
    "animal": "The animal didn't cross the street because it was too",
    "fox": "A red fox ran home. A red",
    "france": "The capital of France is",
}
SENTENCE_NAMES = {
    "cat": message("cat"),
    "animal": message("animal"),
    "fox": message("fox, twice"),
    "france": message("France"),
}
HEADS = {"fox": (18, 6)}  # that an example begins with, where it is not the usual one
MOST_TOKENS, MOST_GUESSES = 16, 5
SHARE = "{share}"  # where the browser writes a share


@dataclass(frozen=True)
class ModelChoices:
    """A text, a head of the model, by layer and head from 0, and whether it is off; and the token that asks, from 0.

    Where none is named, the last “it” asks, or else the last token.
    """

    text: str = DEFAULT_TEXT
    layer: int = DEFAULT_LAYER
    head: int = DEFAULT_HEAD
    asks: int | None = None
    off: bool = False


@dataclass(frozen=True, eq=False)
class ReadSentence:
    """A sentence as the model reads it. Without the model there are the weights of the chosen head, and no more."""

    asked: ModelChoices
    n_layers: int
    n_heads: int
    cut: CutText
    attention: AttentionTrace  # of the chosen head
    weights: tuple[Float[Array, "heads queries keys"], ...] | None = None  # of all layers
    shares: Float[Array, " vocabulary"] | None = None  # of all tokens, to come next
    without: Float[Array, " vocabulary"] | None = None  # the same without the chosen head
    model: RealModel | None = None
    n_left: int = 0  # tokens of the text that are not read

    @property
    def names(self) -> tuple[Token, ...]:
        """The tokens as sentences name them."""
        return shown_tokens(self.cut.tokens)

    @property
    def query(self) -> int:
        """The token that asks."""
        last = len(self.cut.ids) - 1
        return usual_query(self.cut.tokens) if self.asked.asks is None else min(self.asked.asks, last)

    @property
    def head(self) -> str:
        """What the chosen head is called."""
        return head_name(self.asked.layer, self.asked.head)

    @property
    def row(self) -> Float[Array, " keys"]:
        """What the asking token gives to each up to itself."""
        return self.attention.weights[self.query, : self.query + 1]


def shown_tokens(tokens: tuple[str, ...]) -> tuple[Token, ...]:
    """Tokens as sentences name them, without the space before a word."""
    return names([token.strip() or " " for token in told_apart(tokens)])


def usual_query(tokens: tuple[str, ...]) -> int:
    """The last “it”, or else the last token."""
    return max((place for place, token in enumerate(tokens) if token.strip() == "it"), default=len(tokens) - 1)


def read_sentence(model: RealModel, asked: ModelChoices) -> ReadSentence:
    """The first tokens of a text, read by the model, and once more without the head that is off."""
    text = cut_text(model, asked.text)
    cut = text.first(MOST_TOKENS)
    whole = model.read(cut.ids)
    less = model.read(cut.ids, ((asked.layer, asked.head),)) if asked.off else None
    heads = [layer.attention.heads for layer in whole.layers]
    return ReadSentence(
        asked=asked,
        n_layers=len(heads),
        n_heads=len(heads[0].weights),
        cut=cut,
        attention=heads[asked.layer].select(asked.head),
        weights=tuple(each.weights for each in heads),
        shares=next_shares(whole),
        without=None if less is None else next_shares(less),
        model=model,
        n_left=len(text.ids) - len(cut.ids),
    )


def next_shares(trace: ModelTrace) -> Float[Array, " vocabulary"]:
    """The probability of each token to come next."""
    return softmax_rows(trace.logits[-1:])[0]


def shipped_sentence(asked: ModelChoices) -> ReadSentence:
    """The usual sentence as the layer reads it that ships with the app: one layer, and nothing of what follows it."""
    shipped = shipped_layer(numpy=True)
    heads = shipped.attention(shipped.x, causal_mask(len(shipped.ids), like=shipped.x))[1].heads
    return ReadSentence(
        asked=replace(asked, text=DEFAULT_TEXT, layer=shipped.layer, off=False),
        n_layers=shipped.config.n_layers,
        n_heads=len(heads.weights),
        cut=CutText(shipped.ids, shipped.tokens),
        attention=heads.select(asked.head),
    )


def cut_sentence(model: RealModel, text: str) -> CutText:
    """The tokens of a text that are read."""
    return cut_text(model, text).first(MOST_TOKENS)


def model_screen(read: ReadSentence, jobs: HeadJobs | None) -> Screen:
    """The sentence, the guesses and the heads; `jobs` are the names that these have earned, once they are measured."""
    guesses = expected(read)
    figure = ModelView(
        key="model_view",
        name=message("A sentence, what one of its tokens looks at, the model’s guesses and its heads"),
        n_layers=read.n_layers,
        n_heads=read.n_heads,
        notice=(look_back(read), *what_it_guesses(read, guesses), *what_is_lost(read, guesses)),
        tokens=read.names,
        spaced=tuple(token.startswith(" ") for token in read.cut.tokens),
        query=read.query,
        chosen=(read.asked.layer, read.asked.head),
        off=read.asked.off and read.without is not None,
        of_head=read.attention.weights,
        of_query=None if read.weights is None else [of_layer[:, read.query] for of_layer in read.weights],
        guesses=guesses,
        jobs=() if jobs is None else named_heads(jobs),
        heads=() if jobs is None else [measured(jobs, *place) for place in jobs.all_heads],
        about_head=() if jobs is None else about_head(jobs, read.asked.layer, read.asked.head),
    )
    rules = () if jobs is None else (rules_table(jobs, read.asked.layer, read.asked.head),)
    return Screen(
        headline=question(read),
        lead=(look_back(read), *left_out(read)),
        figures=(figure, *rules),
        code=Code((attend,), read.attention),
    )


# What the sentence shows.


def question(read: ReadSentence) -> Message:
    """What one wants to know of this sentence."""
    if read.cut.tokens[read.query].strip() == "it":
        return message("How does a language model know who {query} is?", query=read.names[read.query])
    return message("Where does a language model look from {query}?", query=read.names[read.query])


def look_back(read: ReadSentence) -> Message:
    """Where most of the attention of the token goes that asks, and by which head."""
    asked, row = read.names[read.query], read.row
    if len(row) == 1:
        return message("{query} comes first, so no head has anything to look back at.", query=asked)
    most = [key for (key,) in argmax_ties(row, percent)]
    said = {"query": asked, "head": called(read), "share": Percent(float(row.max()))}
    if len(most) > 1:
        keys = ListOf(tuple(read.names[key] for key in most))
        return message("From {query}, {head} sends {share} of its attention to each of {keys}.", keys=keys, **said)
    if most[0] == read.query:
        return message("From {query}, {head} sends {share} of its attention to {query} itself.", **said)
    key = read.names[most[0]]
    if said["share"].value > 0.5:
        return message(
            "By looking back: from {query}, {head} sends {share} of its attention to {key}.", key=key, **said
        )
    return message(
        "By looking back: from {query}, {head} sends more of its attention to {key} ({share}) than to any other token.",
        key=key,
        **said,
    )


def left_out(read: ReadSentence) -> tuple[Message, ...]:
    """That a long text is not read to its end."""
    return () if not read.n_left else (message("It reads the first {most} tokens.", most=len(read.cut.ids)),)


def called(read: ReadSentence) -> Message:
    """The chosen head, as the first sentence names it."""
    if (read.asked.layer, read.asked.head) == (DEFAULT_LAYER, DEFAULT_HEAD):
        return message("one of its {count} attention heads", count=read.n_layers * read.n_heads)
    return message("its attention head {head}", head=read.head)


# What the model expects.


def expected(read: ReadSentence) -> tuple[Guess, ...]:
    """The likeliest next tokens of the whole model, and what each of them gets without the head."""
    if read.shares is None or read.model is None:
        return ()
    ids = np.argsort(-np.asarray(read.shares), stable=True)[:MOST_GUESSES].tolist()
    shares = [float(read.shares[token]) for token in ids]
    less = [None if read.without is None else float(read.without[token]) for token in ids]
    texts = [called_alone(read.model, token) for token in ids]
    shown = [text.strip() or " " for text in texts]
    return tuple(Guess(*guess) for guess in zip(shown, shares, less, strict=True))


def what_it_guesses(read: ReadSentence, guesses: tuple[Guess, ...]) -> tuple[Message, ...]:
    """The guess that comes first, or all that tie."""
    if not guesses:
        return ()
    first = [guess for guess in guesses if percent(guess.share) == percent(guesses[0].share)]
    words = ListOf(tuple(Token(guess.token, place) for place, guess in enumerate(first)))
    return (
        plural(
            "Its first guess for what comes next is {words}: {share}.",
            "Its first guesses for what comes next are {words}, {share} each.",
            len(first),
            words=words,
            share=Percent(guesses[0].share),
        ),
    )


def what_is_lost(read: ReadSentence, guesses: tuple[Guess, ...]) -> tuple[Message, ...]:
    """Of these guesses the one that falls furthest without the head, if the share of any reads lower."""
    if read.without is None or not guesses:
        return ()
    lower = [
        (guess, less)
        for guess in guesses
        if (less := guess.without) is not None and less < guess.share and percent(guess.share) != percent(less)
    ]
    if not lower:
        return (message("Without head {head}, none of these guesses reads lower in whole percent.", head=read.head),)
    falls, without = max(lower, key=lambda fall: fall[0].share - fall[1])
    return (
        message(
            "Without head {head}, the probability of {token} falls from {share} to {without}.",
            head=read.head,
            token=Token(falls.token, 0),
            share=Percent(falls.share),
            without=Percent(without),
        ),
    )


# What the heads do.


def named_heads(jobs: HeadJobs) -> tuple[NamedHeads, ...]:
    """Each job, and what is said of any head that has it."""
    said = said_of_jobs(SHARE)
    return tuple(NamedHeads(job.key, job.name, job.title, said[job.key], jobs.count(job)) for job in (*JOBS, MIXTURE))


def said_of_jobs(share: Percent | str) -> dict[str, Message]:
    """What was measured, and on what, by the key of each job."""
    plain = len(PLAIN)
    return {
        "it_to_noun": message(
            "In {count} test sentences, {share} of the attention of “it” goes to the two nouns.",
            count=len(sentences_with_it()),
            share=share,
        ),
        "name_again": message(
            "In {count} sentences like “Mary and John … John said to”, the last token sends {share} of its attention "
            "to the second “John”.",
            count=len(sentences_with_names()),
            share=share,
        ),
        "same": message(
            "On random tokens repeated once, {share} of its attention goes to the earlier occurrence of the same "
            "token.",
            share=share,
        ),
        "punctuation": message(
            "In {count} test sentences, {share} of its attention goes to commas and full stops.",
            count=plain,
            share=share,
        ),
        "induction": message(
            "On random tokens repeated once, {share} of its attention goes to the token that followed the same token "
            "the first time.",
            share=share,
        ),
        "previous": message(
            "In {count} test sentences, {share} of its attention goes to the token before.", count=plain, share=share
        ),
        "first": message(
            "In {count} test sentences, {share} of its attention goes to the first token.", count=plain, share=share
        ),
        "mixture": message("For none of the measured jobs does its attention reach the share that a name requires."),
    }


def measured(jobs: HeadJobs, layer: int, head: int) -> tuple[int, float]:
    """The place of a head's job among all, and the share that earned it."""
    job = jobs.job_of(layer, head)
    return (*JOBS, MIXTURE).index(job), 0.0 if job is MIXTURE else jobs.share(job.key, layer, head)


def about_head(jobs: HeadJobs, layer: int, head: int) -> tuple[Message, ...]:
    """What was measured of one head: the number that earned its name."""
    job = jobs.job_of(layer, head)
    return (said_of_jobs(SHARE if job is MIXTURE else Percent(jobs.share(job.key, layer, head)))[job.key],)


def beside_its_name(jobs: HeadJobs, layer: int, head: int) -> tuple[Message, ...]:
    """What a name leaves open: what else the head does, and what it would do with shuffled weights."""
    job = jobs.job_of(layer, head)
    if job is MIXTURE:
        return ()
    chance = message(
        "With the weights of its layer shuffled, head {head} gives {share}; all shuffled heads together give {mean} on "
        "average.",
        head=head_name(layer, head),
        share=Percent(jobs.shuffled(job.key, layer, head)),
        mean=Percent(jobs.shares[job.key].random_head),
    )
    if job.key != "it_to_noun":
        return (chance,)
    return (
        message(
            "From “it”, head {head} sends {animal} to the animal and {thing} to the thing. From other words after the "
            "two: {others}.",
            head=head_name(layer, head),
            animal=Percent(jobs.share("it_to_animal", layer, head)),
            thing=Percent(jobs.share("it_to_thing", layer, head)),
            others=Percent(jobs.share("others_to_noun", layer, head)),
        ),
        chance,
    )


def rules_table(jobs: HeadJobs, layer: int, head: int) -> Table:
    """By which rule each name is earned, and by how many heads that cannot have learnt it."""
    heads = len(jobs.all_heads)

    def row(job: Job) -> tuple:
        share = jobs.shares[job.key]
        return (
            job.name,
            share.n,
            Fixed(job.least),
            jobs.count(job),
            Fixed(share.even),
            Fixed(share.random_head),
            jobs.by_chance(job),
        )

    return Table(
        key="model_rules",
        name=message("How the heads earned their names"),
        notice=(
            *beside_its_name(jobs, layer, head),
            by_chance_too(jobs),
            message("A name says where a head looks, not what it is for."),
        ),
        columns=(
            message("name of the head"),
            message("queries measured"),
            message("mean share required"),
            plural("of {count} head", "of {count} heads", heads),
            message("spread evenly"),
            message("shuffled weights, mean"),
            message("shuffled heads that reach that share"),
        ),
        cells=tuple(map(row, JOBS)),
    )


def by_chance_too(jobs: HeadJobs) -> Message:
    """The names that as many shuffled heads would earn as heads of the model do, or that there is none."""
    cheap = [job for job in JOBS if jobs.by_chance(job) >= jobs.count(job)]
    if not cheap:
        return message("Every name is earned by more heads of the model than heads with shuffled weights.")
    names = ListOf(tuple(message("{name}", name=job.name) for job in cheap))
    return plural(
        "Heads with shuffled weights earn this name at least as often as heads of the model: {names}.",
        "Heads with shuffled weights earn these names at least as often as heads of the model: {names}.",
        len(cheap),
        names=names,
    )
