"""What do the heads of a trained language model do?"""

from collections.abc import Sequence
from dataclasses import replace

from attention_core.head_patterns import LEAST_WEIGHT, induction
from attention_core.language_model import Encoded, language_model, measured_model, scores_after_layers
from attention_core.pieces import UNKNOWN
from lessons.example.language_model_text import (
    PATTERN_NAMES,
    ReadChoices,
    Reading,
    all_heads,
    name_of_head,
    names_in,
    read,
    shown,
    texts_measured,
)
from lessons.kit.head_maps import head_name
from lessons.kit.questions import question_picker
from lessons.read.figures import arcs, compute_asked_head, layers_table, maps, predictions, scores_table, weights_figure
from lessons.read.questions import QUESTIONS
from lessons.screen.format import argmax_ties, number, percent
from lessons.screen.message import Fixed, ListOf, Message, Percent, Token, message, plural
from lessons.screen.screen import Screen

HEADING = message("What do the heads of a trained language model do?")
OPENING = message(
    "A small model, trained on old novels and generated stories, reads your sentence. Its heads are named "
    "after what they were measured to do, on text that it had never seen and on repeated random pieces."
)


def read_screen(asked: ReadChoices) -> Screen:
    """A sentence, all heads on it, and what the model expects next."""
    reading = read(asked)
    head = compute_asked_head(reading)
    return Screen(
        figures=(
            arcs(reading, (about_head(reading), *on_this_text(reading), *pronoun_here(reading)), trained_on()),
            maps(reading, (named_heads(reading),)),
            scores_table(reading),
            predictions(reading, (expected(reading), *cost(reading))),
            layers_table(reading),
            weights_figure(reading, head),
        ),
        remarks=(*NOT_CLAIMED, no_pronoun_head()),
        code=head.code(("weights", "output"), induction, scores_after_layers, attention=head.result),
        ask=question_picker("read", QUESTIONS, measured_model().seed, reading),
    )


NOT_A_WRITER = message("It is tiny: it does not understand what it reads, and it does not write well.")
NOT_CLAIMED = (
    message("A weight says where a head looks, not why the model answers as it does."),
    message(
        "Lists and repeated sentences were put into its training so that looking back pays: such heads need "
        "not form by themselves, and other models need not have them."
    ),
    NOT_A_WRITER,
)


def trained_on() -> Message:
    """Whose weights these are, and how well the model predicts."""
    kept = measured_model()
    return message(
        "Trained on ten novels and on generated stories, {steps} steps from seed {seed}: in novels that it had "
        "not read, it predicts {share} of {count} next tokens correctly.",
        steps=kept.steps,
        seed=kept.seed,
        share=Percent(kept.right),
        count=kept.n,
    )


# What was done to the text.


def how_it_was_read(asked: ReadChoices) -> tuple[Message, ...]:
    """Where the text was changed, split or cut before the model could read it, or that there is none."""
    reading = read(asked)
    empty = message("There is nothing to read: type a word or two.")
    encoded = reading.encoded
    return (*changes(reading.text, encoded), *cut_at_end(encoded), *((empty,) if len(reading.encoded.ids) == 1 else ()))


def changes(text: str, encoded: Encoded) -> tuple[Message, ...]:
    """Where a text was changed or split before the model could read it."""
    notes = [message("The model knows lower-case letters only.")] if text != text.lower() else []
    split = words_in_pieces(encoded.tokens)
    if split:
        notes.append(
            plural(
                "{words}: {count} word that it reads in pieces, a dot before each but the first.",
                "{words}: {count} words that it reads in pieces, a dot before each but the first.",
                len(split),
                words=ListOf(tuple(split)),
            )
        )
    if encoded.unknown:
        notes.append(
            plural(
                "{count} character that it has never seen is shown as {unknown}.",
                "{count} characters that it has never seen are shown as {unknown}.",
                encoded.unknown,
                unknown=UNKNOWN,
            )
        )
    return tuple(notes)


def cut_at_end(encoded: Encoded) -> tuple[Message, ...]:
    """Says that a text is too long to be read to its end."""
    if not encoded.cut:
        return ()
    return (
        plural(
            "It sees {context} tokens at once, so {count} token at the end of your text is left out.",
            "It sees {context} tokens at once, so {count} tokens at the end of your text are left out.",
            encoded.cut,
            context=language_model().model.config.context,
        ),
    )


def words_in_pieces(tokens: Sequence[str]) -> list[str]:
    """The words of several pieces as they are split, each once."""
    words: list[str] = []
    for token in map(shown, tokens):
        if token.startswith("·") and words and words[-1][-1].isalnum():
            words[-1] += token
        else:
            words.append(token)
    return list(dict.fromkeys(word for word in words if "·" in word[1:]))


# What there is to notice.


def about_head(reading: Reading) -> Message:
    """The name that the head has earned and by what, or that it has none."""
    layer, head = reading.asked.layer, reading.asked.head
    kept = measured_model().heads
    name, called = kept.name_of(layer, head), head_name(layer, head)
    pattern = name or nearest_pattern(layer, head)
    measured = kept.confirming[pattern]
    about = {
        "head": called,
        "name": PATTERN_NAMES[pattern],
        "weight": Percent(measured.heads[layer][head]),
        "even": Fixed(measured.even * 100, 0),
        "count": measured.n,
        "texts": texts_measured(pattern),
    }
    if name is None:
        return message(
            "This head ({head}) has earned no name. It comes closest to “{name}”: {weight} of its weight on "
            "{count} queries ({texts}); spread evenly, it would be {even}%.",
            **about,
        )
    return message(
        "This head ({head}) has earned the name “{name}”: {weight} of its weight on {count} queries ({texts}); "
        "spread evenly, it would be {even}%.",
        **about,
    )


def nearest_pattern(layer: int, head: int) -> str:
    """The pattern that stands furthest above an even head, earned or not."""
    naming = measured_model().heads.naming
    return max(naming, key=lambda name: naming[name].heads[layer][head] - naming[name].even)


def on_this_text(reading: Reading) -> tuple[Message, ...]:
    """What the head looks at most from the chosen word, and what it does on this text as a whole."""
    asked, query = reading.asked, reading.query
    row = reading.weights[asked.layer, asked.head, query, : query + 1]
    most = argmax_ties(row, percent)
    about = {"query": reading.names[query], "weight": Percent(float(row.max()))}
    if query == 0:
        return ()
    if len(most) == 1:
        looks = message("From {query} it looks most at {key}: {weight}.", key=reading.names[most[0][0]], **about)
    elif len(most) <= 3:
        keys = ListOf(tuple(reading.names[key] for (key,) in most))
        looks = message("From {query} it looks most at {keys}: {weight} each.", keys=keys, **about)
    else:
        looks = message("From {query} it looks equally at {count} tokens: {weight} each.", count=len(most), **about)
    return looks, pattern_here(reading)


def pattern_here(reading: Reading) -> Message:
    """The score of a head on this text, beside that of an even head."""
    layer, head = reading.asked.layer, reading.asked.head
    name = measured_model().heads.name_of(layer, head) or nearest_pattern(layer, head)
    score, called = reading.scores[name], PATTERN_NAMES[name]
    if score.n == 0:
        return message("This text has no case of “{name}”.", name=called)
    return plural(
        "On this text, {name}: {weight} over {count} query; spread evenly: {even}.",
        "On this text, {name}: {weight} over {count} queries; spread evenly: {even}.",
        score.n,
        name=called,
        weight=Fixed(float(score.heads[layer, head])),
        even=Fixed(score.even),
    )


def pronoun_here(reading: Reading) -> tuple[Message, ...]:
    """What the head puts on the two names from the pronoun after them, where the text has both."""
    looked = from_pronoun(reading)
    if looked is None:
        return ()
    pronoun, (her, hers), (him, his) = looked
    said = message(
        "From {pronoun} it puts {hers} on {her} and {his} on {him}.",
        pronoun=pronoun,
        hers=Fixed(hers),
        his=Fixed(his),
        her=her,
        him=him,
    )
    before = from_pronoun(read(replace(reading.asked, swapped=False))) if reading.asked.swapped else None
    if before is None:
        return (said,)
    _, (her, hers), (him, his) = before
    return said, message(
        "Before the names were swapped it was {hers} on {her} and {his} on {him}.",
        hers=Fixed(hers),
        his=Fixed(his),
        her=her,
        him=him,
    )


def from_pronoun(reading: Reading) -> tuple[Token, tuple[Token, float], tuple[Token, float]] | None:
    """The first pronoun after both names, and the weight it puts on hers and on his."""
    pair, texts = names_in(reading.text), [name.text for name in reading.names]
    if pair is None:
        return None
    names = [reading.names[texts.index(name.split()[-1])] for name in pair]
    after = max(name.position for name in names)
    pronouns = [name for name in reading.names if name.text in ("she", "he") and name.position > after]
    if not pronouns:
        return None
    row = reading.weights[reading.asked.layer, reading.asked.head, pronouns[0].position]
    her, him = ((name, float(row[name.position])) for name in names)
    return pronouns[0], her, him


def no_pronoun_head() -> Message:
    """The null result, or what was found after all."""
    found = measured_model().pronoun
    difference = found.matching - found.other
    best = float(difference.max())
    about = {"difference": Fixed(best), "n": found.n, "heads": difference.numel(), "needed": Fixed(LEAST_WEIGHT, 1)}
    if best >= LEAST_WEIGHT:
        return message(
            "From “she” or “he” one of its {heads} heads puts {difference} more on the name that agrees than on "
            "the other, over {n} sentences with the names in both orders.",
            heads=about["heads"],
            difference=about["difference"],
            n=about["n"],
        )
    return message(
        "We looked for a head that finds whom “she” or “he” means, and there is none: over {n} sentences with "
        "the names in both orders, none of its {heads} heads puts more than {difference} more on the name that "
        "agrees than on the other. A name requires {needed}.",
        **about,
    )


def named_heads(reading: Reading) -> Message:
    """Which heads have earned names."""
    places, kept = all_heads(), measured_model().heads
    named = tuple(
        message("{layer}.{head} {name}", layer=layer + 1, head=head + 1, name=name_of_head(layer, head))
        for layer, head in places
        if kept.name_of(layer, head) is not None
    )
    if not named:
        return message("None of the {total} heads has earned a name.", total=len(places))
    return plural(
        "{count} of {total} heads has earned a name, layer and head before it: {names}.",
        "{count} of {total} heads have earned a name, layer and head before it: {names}.",
        len(named),
        total=len(places),
        names=ListOf(named),
    )


def expected(reading: Reading) -> Message:
    """What the model expects after the chosen word, and what stands there."""
    probabilities, query = reading.whole.logits[reading.query].softmax(dim=-1), reading.query
    likely = argmax_ties(probabilities, percent)
    share = Percent(float(probabilities.max()))
    after = reading.names[query]
    if len(likely) > 1:
        first = message(
            "After {query} it gives {count} tokens the same: {share}.", query=after, count=len(likely), share=share
        )
    else:
        first = message(
            "After {query} it expects {token} most: {share}.",
            query=after,
            share=share,
            token=in_vocabulary(likely[0][0]),
        )
    return first


def in_vocabulary(token: int) -> Token:
    """A token of the vocabulary as sentences name it."""
    return Token(shown(language_model().pieces.tokens[token]), token)


def cost_of_head(asked: ReadChoices) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """What is said where the head is switched on and off: first what holds now, then what would hold else."""
    on, off = (cost(replace(read(asked), asked=replace(asked, off=is_off))) for is_off in (False, True))
    return (off, on) if asked.off else (on, off)


def cost(reading: Reading) -> tuple[Message, ...]:
    """What the model expects of the text as a whole, and what it costs to switch the head off."""
    whole, less = reading.surprise(reading.whole.logits), reading.surprise(reading.less)
    if whole is None or less is None:
        return ()
    n = len(reading.encoded.ids) - 1
    if not reading.asked.off:
        return (
            plural(
                "Its mean surprise −ln p over the {count} token of this text is {whole}.",
                "Its mean surprise −ln p over the {count} tokens of this text is {whole}.",
                n,
                whole=Fixed(whole),
            ),
        )
    about = {"whole": Fixed(whole), "less": Fixed(less), "head": head_name(reading.asked.layer, reading.asked.head)}
    if number(whole) == number(less):
        return (
            message(
                "Without {head} its mean surprise −ln p over this text stays {whole}.",
                head=about["head"],
                whole=about["whole"],
            ),
        )
    return (message("Without {head} its mean surprise −ln p over this text is {less}, with it {whole}.", **about),)
