"""A language for tests: every letter of a template becomes a wide one, so that what is English still was never told."""

import functools
import gettext
import re
from contextlib import contextmanager

import words

CODE = "xx"
KEPT = re.compile(r"(\{[^{}]*\}|\$[^$]*\$|`[^`]*`|\\[a-zA-Z]+)")  # names of arguments, formulas, code


def widened(template):
    """The template with wide letters."""
    parts = KEPT.split(template)
    return "".join(part if at % 2 else "".join(map(wide, part)) for at, part in enumerate(parts))


def wide(letter):
    return chr(ord(letter) - ord("!") + 0xFF01) if letter.isascii() and letter.isalpha() else letter


class Widened(gettext.NullTranslations):
    def gettext(self, message):
        return widened(message)

    def ngettext(self, one, many, count):
        return widened(one if count == 1 else many)


class Heard(gettext.NullTranslations):
    """English as it is. It remembers the templates that it was asked for."""

    def __init__(self):
        super().__init__()
        self.templates = set()

    def gettext(self, message):
        self.templates.add(message)
        return message

    def ngettext(self, one, many, count):
        self.templates.add((one, many))
        return one if count == 1 else many


@contextmanager
def spoken_by_all(monkeypatch, texts=None):
    """From now on every visitor reads this language, the wide one if none is given, and this test with them."""
    texts = Widened() if texts is None else texts
    pseudo = words.Language(CODE, texts, ",", ".", "{} %", True, lambda items: " + ".join(items))
    known = words.language_of.__wrapped__
    monkeypatch.setattr(words, "language_of", functools.cache(lambda code: pseudo if code == CODE else known(code)))
    monkeypatch.setitem(words.LANGUAGES, CODE, "Wide")
    monkeypatch.setattr("attention_ui.session.language.chosen_language", lambda *asked: CODE)
    with words.speaking(CODE):
        yield
