"""Little stories made from a seed: a vocabulary of everyday things, which the old novels lack.

Each scene is a template over two characters. Names come back, pronouns agree with who is meant, speech is in
quotation marks, and things belong to somebody: reasons for a head to look back.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise


def words(text: str) -> tuple[str, ...]:
    """The words of a list."""
    return tuple(text.split())


GIRLS = words("anna mary lily emma lucy rose jane sara ella kate nina alice ruth eva clara julia mia zoe amy")
BOYS = words("tom ben sam john peter jack max paul tim leo david mark henry james adam oscar fred george")
ANIMALS = words("cat dog fox hen duck goat horse mouse bear wolf bird rabbit frog cow pig lion owl donkey")
ROLES = words(
    "teacher student doctor nurse farmer baker driver pilot painter friend neighbor singer cook judge lawyer "
    "scientist player captain king queen mother father brother sister woman man"
)
ALWAYS_SHE = {"queen", "mother", "sister", "woman"}
ALWAYS_HE = {"king", "father", "brother", "man"}
THINGS = words(
    "ball kite book cake hat drum boat doll bell cup key lamp map ring coat shoe box chair basket apple bread clock "
    "egg flower letter spoon bicycle phone pizza ticket camera guitar jacket window table ladder balloon sandwich "
    "pencil picture computer umbrella suitcase trophy orange banana cheese rope stone bottle candle toy"
)
LOCATIONS = words(
    "garden kitchen forest river house school market barn field hill lake park shop street tower village cave beach "
    "bank library station airport hospital bridge museum office restaurant city room mountain"
)
COLOURS = words("red blue green yellow white black brown golden silver pink grey purple")
SIZES = words("big small old new little heavy pretty round broken shiny long soft")
MOODS = words(
    "happy sad tired hungry angry afraid proud sleepy thirsty cold glad lonely sick busy late nervous brave strong "
    "weak young famous clever"
)
DID = words(
    "found lost painted carried dropped hid cleaned washed opened liked wanted kept threw took brought bought sold "
    "broke saw used cut moved made"
)
DOES = words("likes wants has sees needs carries buys sells finds loses keeps holds")
WENT = ("went", "ran", "walked", "came")
WHEN = ("one day", "in the morning", "after dinner", "the next day", "at night", "then", "soon", "on sunday", "later")
GREETINGS = ("hello", "good morning", "good night", "thank you", "come here", "help me")
CONSONANTS = words("b d f g k l m n p r s t v z br dr gr kr tr fl pl st sh ch")
VOWELS = words("a e i o u oo ee ai")
ENDINGS = ("n", "k", "x", "l", "m", "p", "rt", "")
SCENES_OF_A_STORY = 7


@dataclass(frozen=True)
class Character:
    """Somebody with a name, and the pronouns that stand for it."""

    name: str
    noun: str
    he: str
    him: str
    his: str

    @property
    def himself(self) -> str:
        """The reflexive pronoun."""
        return f"{self.him}self"


def with_article(words: str) -> str:
    """ "an apple", "a red apple"."""
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def made_up_name(r: random.Random) -> str:
    """A name that nobody has: only the text itself tells the model what belongs to it."""
    return "".join(r.choice(CONSONANTS) + r.choice(VOWELS) for _ in range(r.choice((1, 2, 2)))) + r.choice(ENDINGS)


def character(r: random.Random) -> Character:
    """A girl, a boy, somebody with a made-up name, an animal, or somebody known by what they do."""
    kind = r.choices(("girl", "boy", "made up", "animal", "role"), (2, 2, 3, 2, 2))[0]
    if kind == "animal":
        noun = r.choice(ANIMALS)
        return Character(f"the {noun}", noun, "it", "it", "its")
    noun = r.choice(ROLES) if kind == "role" else {"girl": "girl", "boy": "boy"}.get(kind, r.choice(("girl", "boy")))
    she = noun in ALWAYS_SHE or noun == "girl" or (noun not in ALWAYS_HE and noun != "boy" and r.random() < 0.5)
    pronouns = ("she", "her", "her") if she else ("he", "him", "his")
    named = {"girl": lambda: r.choice(GIRLS), "boy": lambda: r.choice(BOYS), "made up": lambda: made_up_name(r)}
    return Character(named.get(kind, lambda: f"the {noun}")(), noun, *pronouns)


def event(r: random.Random) -> str:
    """Something that happens, without an end of the sentence."""
    animal, thing = r.choice(ANIMALS), r.choice(THINGS)
    where = f" in the {r.choice(LOCATIONS)}" if r.random() < 0.6 else ""
    return f"the {animal} {r.choice(DID)} the {r.choice(COLOURS + SIZES)} {thing}{where}"


def meeting(r: random.Random, p: Character, q: Character) -> str:
    """Both characters, introduced."""
    said = [
        f"there was {with_article(r.choice(MOODS + SIZES[:3]))} {who.noun}"
        + ("" if who.name.startswith("the ") else f" named {who.name}")
        for who in (p, q)
    ]
    return f"{r.choice(('once upon a time ', 'once ', ''))}{said[0]}. {said[1]}."


def owners(r: random.Random, p: Character, q: Character) -> str:
    """Two things, and whose they are."""
    x, y = r.sample(THINGS, 2)
    (who, thing), (other, theirs) = r.sample([(p, x), (q, y)], 2)
    told = (
        f"{p.name} had {with_article(r.choice(COLOURS + SIZES))} {x} and {q.name} had "
        f"{with_article(r.choice(COLOURS + SIZES))} {y}. "
    )
    told += f"{who.name} {r.choice(DID)}" if who.he == other.he else f"{who.he} {r.choice(DID)}"
    return f"{told} {who.his} {thing}. " + r.choice(
        (
            f'"i like my {thing}," said {who.name}.',
            f'"where is my {theirs}?" asked {other.name}.',
            f"{other.name} {r.choice(DID)} the {theirs}.",
        )
    )


def question(r: random.Random, p: Character, q: Character) -> str:
    """Something is missed, and found where the answer says."""
    x, where = r.choice(THINGS), r.choice(LOCATIONS)
    mine, yours = r.choice((("my", "your"), ("the", "the")))
    return (
        f'"where is {mine} {x}?" asked {p.name}. "{yours} {x} is in the {where}," said {q.name}. '
        f"{p.name} {r.choice(WENT)} to the {where} and there {p.he} found the {x}."
    )


def colours(r: random.Random, p: Character, q: Character) -> str:
    """Two things and their colours, one asked about."""
    (x, y), (c, d) = r.sample(THINGS, 2), r.sample(COLOURS, 2)
    asked, answer = r.choice(((x, c), (y, d)))
    return (
        f'the {x} was {c} and the {y} was {d}. "what color is the {asked}?" asked {p.name}. '
        f'"the {asked} is {answer}," said {q.name}.'
    )


def moods(r: random.Random, p: Character, q: Character) -> str:
    """How both feel, said once more by one of them."""
    m, n = r.sample(MOODS, 2)
    who, mood = r.choice(((p, m), (q, n)))
    told = f"{p.name} was {m} but {q.name} was {n}. "
    told += f'{who.he} said, "i am {mood}."' if p.he != q.he else f'"i am {mood}," said {who.name}.'
    return f"{told} {p.name} {r.choice(WENT)} to the {r.choice(LOCATIONS)} because {p.he} was {m}."


def reflexive(r: random.Random, p: Character, q: Character) -> str:
    """A pronoun that agrees with the first of two."""
    thing = r.choice(THINGS)
    return r.choice(
        (
            f"{p.name} looked at {q.name} and then {p.he} washed {p.himself}.",
            f"when {p.name} saw {q.name}, {p.he} {r.choice(DID)} {p.his} {thing}.",
            f"{p.name} gave {q.name} {with_article(thing)} because {p.he} liked {q.him}.",
            f"{p.name} {r.choice(DID)} the {thing} by {p.himself}.",
        )
    )


def said_again(r: random.Random, p: Character, q: Character) -> str:
    """A sentence that has to be repeated."""
    what = event(r)
    return f'{p.name} said, "{what}." {q.name} did not hear. so {p.name} said again, "{what}."'


def greeting(r: random.Random, p: Character, q: Character) -> str:
    """Two who greet each other by name."""
    first, second = r.choice(GREETINGS), r.choice(GREETINGS)
    return f'"{first}, {p.name}!" said {q.name}. "{second}, {q.name}," said {p.name}.'


def nest(r: random.Random, p: Character, q: Character) -> str:
    """One thing in another in another."""
    things = [r.choice(LOCATIONS), *r.sample(THINGS, 3)]
    return " ".join(f"in the {outer} there was {with_article(inner)}." for outer, inner in pairwise(things))


def journey(r: random.Random, p: Character, q: Character) -> str:
    """Somebody goes somewhere."""
    what = f"{p.he} {r.choice(DID)} {with_article(r.choice(COLOURS))} {r.choice(THINGS)}"
    end = r.choice((f"with {q.name}", f"and met {q.name}", f"and {what}"))
    return f"{r.choice(WHEN)} {p.name} {r.choice(WENT)} to the {r.choice(LOCATIONS)} {end}."


def present(r: random.Random, p: Character, q: Character) -> str:
    """The same world in the present tense."""
    x, y = r.sample(THINGS, 2)
    end = r.choice(
        (
            f"they are {r.choice(MOODS)} because they like the {r.choice((x, y))}.",
            f"{p.name} is {r.choice(MOODS)} because {p.he} {r.choice(DOES)} the {x}.",
            f"does {q.name} like the {y}? yes, {q.he} does.",
            f"the {x} is {r.choice(COLOURS)} but the {y} is {r.choice(SIZES)}.",
        )
    )
    return f"{p.name} {r.choice(DOES)} {with_article(x)} and {q.name} {r.choice(DOES)} {with_article(y)}. {end}"


def reason(r: random.Random, p: Character, q: Character) -> str:
    """Why something happened or did not."""
    x, y = r.sample(THINGS, 2)
    could_not = r.choice(("come", "sleep", "play", "eat", "cross the street", "help"))
    return r.choice(
        (
            f"the {x} did not fit in the {y} because the {x} was too big.",
            f"the {x} did not fit in the {y} because the {y} was too small.",
            f"{p.name} did not {could_not} because {p.he} was too {r.choice(MOODS)}.",
            f"{p.name} thanked {q.name} because {q.he} had helped {p.him}.",
            f"{p.name} helped {q.name} because {q.he} was {r.choice(MOODS)}.",
        )
    )


Scene = Callable[[random.Random, Character, Character], str]
SCENES: dict[Scene, float] = {
    owners: 4,
    question: 3,
    colours: 2,
    moods: 3,
    reflexive: 3,
    said_again: 2,
    greeting: 2,
    nest: 1,
    journey: 3,
    present: 3,
    reason: 3,
}


def story(r: random.Random) -> str:
    """A few scenes with the same two characters, often of different gender, so that a pronoun says who is meant."""
    p, q = character(r), character(r)
    for _ in range(5):
        if p.name == q.name or (p.he == q.he and r.random() < 0.6):
            q = character(r)
    scenes = [meeting(r, p, q)] if r.random() < 0.4 else []
    for scene in r.choices(list(SCENES), list(SCENES.values()), k=SCENES_OF_A_STORY):
        scenes.append(scene(r, *r.sample((p, q), 2)))
    return " ".join(scenes)


def stories(seed: str, count: int) -> Iterator[str]:
    """So many stories; the same for the same seed."""
    r = random.Random(seed)
    return (story(r) for _ in range(count))
