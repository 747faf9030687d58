"""What the app says in other languages: a catalogue of gettext for each, read when somebody first needs it.

To add a language: one line in `LANGUAGES`, and its catalogue `words/CODE.po`.
"""

import gettext
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial, wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

LANGUAGES = {
    "en": "English",
    "de": "Deutsch",
    "fr": "Français",
    "es": "Español",
    "pt_BR": "Português (Brasil)",
    "zh": "简体中文",
    "ja": "日本語",
}
COOKIE = "attention_lab_language"  # what the menu chose in this browser
FIRST = "en"  # the language of the templates, which needs no catalogue
CATALOGUES = Path(__file__).parent
Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


def english_list(items: Sequence[str]) -> str:
    """a, b and c."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


# In Spanish an article stands before a percentage, but not before "más del 99 %": "el 36 %", "más del 99 %".
BEFORE_A_LIMIT = re.compile(r"\b(el|un|del|al) (?=(?:más|menos) del \d+\s%)", re.IGNORECASE)
WITHOUT_ARTICLE = {"el": "", "un": "", "del": "de ", "al": "a "}


def without_article(text: str) -> str:
    """A Spanish text in which no article stands before a limit: "pasa del más del 99 %" is "pasa de más del 99 %"."""
    return BEFORE_A_LIMIT.sub(lambda found: WITHOUT_ARTICLE[found[1].lower()], text)


# In French a verb and the pronoun after it stand in one line: "peut-il", "a-t-il".
BEFORE_A_PRONOUN = re.compile(r"(?<=\w)-(?=(?:t-)?(?:ils?|elles?|on|ce)\b)")


def with_pronouns(text: str) -> str:
    """A French text in which no line ends between a verb and the pronoun after it."""
    return BEFORE_A_PRONOUN.sub("\N{NON-BREAKING HYPHEN}", text)


@dataclass(frozen=True, eq=False)
class Language:
    """A language: its catalogue, and how it writes numbers, percentages and lists."""

    code: str = FIRST
    texts: gettext.NullTranslations = field(default_factory=gettext.NullTranslations)
    decimal: str = "."  # between the whole and the decimals
    group: str = ","  # between thousands
    percent: str = "{}%"
    spaced: bool = True  # a space stands between words and between sentences
    listed: Callable[[Sequence[str]], str] = english_list
    put_in: Callable[[str], str] = str  # a template whose names are filled in, as one says it

    def template(self, one: str, many: str | None = None, count: int = 1) -> str:
        """The translation of a template, in the form for this count; the template itself where there is none."""
        if self.code == FIRST or not one:  # of nothing, gettext says the head of its catalogue
            return one if many is None or count == 1 else many
        return self.texts.gettext(one) if many is None else self.texts.ngettext(one, many, count)

    def digits(self, number: str) -> str:
        """A number that is written with a point and with commas between thousands, as this language writes it."""
        if self.decimal == "." and self.group == ",":
            return number
        whole, point, decimals = number.partition(".")
        return whole.replace(",", self.group) + (self.decimal if point else "") + decimals


ENGLISH = Language()


@cache
def language_of(code: str) -> Language:
    """The language of this code. Its first use reads its catalogue, about 2 MB in memory."""
    if code == FIRST:
        return ENGLISH
    # Whoever reads English needs none of Babel.
    from babel import Locale
    from babel.lists import format_list
    from babel.numbers import format_percent, get_decimal_symbol, get_group_symbol

    set_in_type = with_pronouns if code == "fr" else str
    locale, texts = Locale.parse(code), catalogue(CATALOGUES / f"{code}.po", set_in_type)
    return Language(
        code,
        texts,
        get_decimal_symbol(locale),
        get_group_symbol(locale),
        format_percent(0, locale=locale).replace("0", "{}"),
        " " in texts.gettext("{one} {other}").removeprefix("{one}").removesuffix("{other}"),
        partial(format_list, locale=locale),
        without_article if code == "es" else str,
    )


def catalogue(file: Path, set_in_type: Callable[[str], str] = str) -> gettext.GNUTranslations:
    """The translations that a catalogue holds, as gettext wants them, each as it is set in type."""
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    compiled = io.BytesIO()
    with file.open("rb") as written:
        translations = read_po(written)
    for one in translations:
        if one.id:  # the head of the catalogue has none
            one.string = set_in_type(one.string) if isinstance(one.string, str) else tuple(map(set_in_type, one.string))
    write_mo(compiled, translations)
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


# Who reads what is computed just now: a task's own choice, or else what whoever draws pages says of the visitor.
_spoken: ContextVar[Language] = ContextVar("spoken")
_of_reader: list[Callable[[], str]] = [lambda: FIRST]


def ask_reader(language: Callable[[], str]) -> None:
    """From now on this function says in which language the result of a thread is read; it is asked once a thread."""
    _of_reader[:] = [language]


def language() -> Language:
    """The language of whoever reads what is computed here."""
    known = _spoken.get(None)
    if known is None:
        known = language_of(_of_reader[-1]())
        _spoken.set(known)
    return known


@contextmanager
def speaking(code: str) -> Iterator[Language]:
    """Around what is written in this language, whoever asked for it."""
    spoken = language_of(code)
    before = _spoken.set(spoken)
    try:
        yield spoken
    finally:
        _spoken.reset(before)


def cached_by_language(maxsize: int) -> Callable[[Callable[Asked, Answer]], Callable[Asked, Answer]]:
    """`functools.lru_cache` for what holds written sentences: each language keeps its own."""

    def decorated(function: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
        @lru_cache(maxsize=maxsize)
        def kept(code: str, *args: Asked.args, **kwargs: Asked.kwargs) -> Answer:
            return function(*args, **kwargs)

        @wraps(function)
        def asked(*args: Asked.args, **kwargs: Asked.kwargs) -> Answer:
            return kept(language().code, *args, **kwargs)

        return asked

    return decorated


def tag_of(code: str) -> str:
    """The name of a language in HTML and in addresses: pt-BR."""
    return code.replace("_", "-")


def nearest_language(asked: str) -> str | None:
    """The language that a tag such as `pt-br` or `de-AT` asks for, as far as the app speaks it."""
    wanted = asked.strip().replace("-", "_").lower()
    exact = [code for code in LANGUAGES if code.lower() == wanted]
    alike = [code for code in LANGUAGES if code.lower().partition("_")[0] == wanted.partition("_")[0]]
    return next(iter([*exact, *alike]), None)


def chosen_language(fixed: str, kept: str, accepted: str) -> str:
    """What a link fixes, or else what was chosen in this browser before, or else the first that the browser asks for.

    `accepted` is the header Accept-Language: `de-AT,de;q=0.9,en;q=0.5`.
    """
    preferences = [entry.partition(";") for entry in accepted[:1000].split(",")]
    by_weight = sorted(preferences, key=lambda entry: -weight_of(entry[2]))
    wanted = (fixed, kept, *(tag for tag, _, _ in by_weight))
    return next((code for tag in wanted if (code := nearest_language(tag))), FIRST)


def weight_of(quality: str) -> float:
    """The weight behind a language of the header, such as `q=0.9`; 1 where there is none, 0 for what is no weight."""
    try:
        return float(quality.strip().removeprefix("q=") or 1)
    except ValueError:
        return 0.0
