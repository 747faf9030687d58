"""The catalogues of translations: complete, current, and true to the templates they translate."""

import re
import shlex
import string
import subprocess
import sys
import tracemalloc
from functools import cache
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

import words
from words import CATALOGUES, FIRST, LANGUAGES

ROOT = Path(__file__).parents[2]
COMMAND = next(line for line in (CATALOGUES / "babel.cfg").read_text().splitlines() if "pybabel extract" in line)
CODES = [code for code in LANGUAGES if code != FIRST]
LIMIT = 3_000_000  # bytes of memory for a language
MATHEMATICS = re.compile(r"\$[^$]+\$")
CODE = re.compile(r"`[^`]+`")
SYMBOL = re.compile(r"eˣ|Σ|√|W_[qkvo]|d_k|d_model|n_heads")


@pytest.fixture(scope="module")
def templates(tmp_path_factory):
    """What the app says, as the command of babel.cfg collects it."""
    out = tmp_path_factory.mktemp("words") / "all.pot"
    _, *options = shlex.split(COMMAND.removeprefix("# ").replace("words/attention_lab.pot", str(out)))
    subprocess.run([sys.executable, "-m", "babel.messages.frontend", *options], cwd=ROOT, check=True, stderr=-3)
    with out.open("rb") as file:
        return {key(message) for message in read_po(file) if message.id}


@cache
def catalogue(code):
    with (CATALOGUES / f"{code}.po").open("rb") as file:
        return read_po(file)


def key(message):
    return message.id if isinstance(message.id, str) else tuple(message.id)


def forms(text):
    return (text,) if isinstance(text, str) else tuple(text)


def messages(code):
    """Each message, and the pairs of a template and the forms that stand for it."""
    for message in catalogue(code):
        if message.id:
            yield message, forms(message.id)[-1], forms(message.string)


def fields(template):
    return sorted(name for _, name, _, _ in string.Formatter().parse(without_formulas(template)) if name is not None)


def without_formulas(template):
    return MATHEMATICS.sub("", template)


@pytest.mark.parametrize("code", CODES)
def test_nothing_is_missing_unused_uncertain_or_empty(templates, code):
    translated = {key(message) for message, _, _ in messages(code)}
    for fault, found in (("missing", templates - translated), ("unused", translated - templates)):
        assert not found, f"{code}.po, {fault} ({len(found)}):\n  " + "\n  ".join(sorted(map(str, found)))
    assert not catalogue(code).obsolete and not [m.id for m in catalogue(code) if m.fuzzy and m.id]
    assert not [message.id for message, _, translations in messages(code) if not all(map(str.strip, translations))]


@pytest.mark.parametrize("code", CODES)
def test_every_translation_names_what_its_template_names(code):
    """A form for one thing may leave out how many there are; none may name what the template does not."""
    for message, template, translations in messages(code):
        optional = {"count"} if message.pluralizable else set()
        least = set(fields(forms(message.id)[0])) & set(fields(template)) - optional
        for translation in translations:
            assert least <= set(fields(translation)) <= set(fields(template)) | optional, (message.id, translation)


@pytest.mark.parametrize("code", CODES)
def test_formulas_and_code_stay_as_they_are(code):
    for message, template, translations in messages(code):
        for pattern in (MATHEMATICS, CODE):
            for translation in translations:
                assert sorted(pattern.findall(translation)) == sorted(pattern.findall(template)), message.id


@pytest.mark.parametrize("code", CODES)
def test_no_translation_leaves_out_a_symbol(code):
    """“Divide each eˣ” and not “divide each number”, which may be the x just named."""
    for message, template, translations in messages(code):
        for symbol in set(SYMBOL.findall(template)):
            for translation in translations:
                assert translation.count(symbol) >= template.count(symbol), (symbol, message.id, translation)


@pytest.mark.parametrize("code", CODES)
def test_no_translation_says_a_number_that_its_template_does_not(code):
    """Numbers are computed when a sentence is said: none may have been copied from a screen into a catalogue."""
    for message, template, translations in messages(code):
        known = set(re.findall(r"\d+", " ".join(forms(message.id))))
        known |= {"10"} if re.search(r"illion|\bten\b", template) else set()  # not every language has such words
        for translation in translations:
            said = set(re.findall(r"\d{2,}|\d+[.,]\d+", without_formulas(translation)))
            assert {n for part in said for n in re.findall(r"\d+", part)} <= known, (message.id, translation)


@pytest.mark.parametrize("code", CODES)
def test_words_inside_formulas_keep_the_spaces_at_their_ends(code):
    from lessons.shared.formulas import WORDS_IN_FORMULAS

    texts = words.language_of(code).texts
    for said in WORDS_IN_FORMULAS:
        translation = texts.gettext(said.template)
        for edge in (str.lstrip, str.rstrip):
            assert (edge(translation) == translation) == (edge(said.template) == said.template), said.template


@pytest.mark.part(3)  # they are all about as large
@pytest.mark.parametrize("code", CODES)
def test_a_language_is_read_when_it_is_needed_and_takes_little_memory(code):
    import babel.messages.mofile
    import babel.messages.pofile  # noqa: F401  not counted: all languages share them

    tracemalloc.start()
    kept = words.catalogue(CATALOGUES / f"{code}.po")
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept.gettext("Overview") and size < LIMIT


def test_in_french_no_line_ends_between_a_verb_and_its_pronoun():
    said = words.with_pronouns("Que peut-il, qu’a-t-il, qu’est-ce, et diffèrent-ils de celui-ci, demi-once ?")
    assert (
        said == "Que peut\u2011il, qu’a\u2011t\u2011il, qu’est\u2011ce, et diffèrent\u2011ils de celui-ci, demi-once ?"
    )
    texts = words.language_of("fr").texts
    translations = [texts.gettext(one.id) for one in catalogue("fr") if isinstance(one.id, str) and one.id]
    assert any("\u2011il" in one for one in translations)
    assert not [one for one in translations if re.search(r"\w-(t-)?(ils?|elles?|on|ce)\b", one)]


def test_whoever_reads_english_needs_no_catalogue():
    program = (
        "import sys, lessons.screen.format as f; from lessons.screen.message import Percent, message;"
        "f.render(message('{a}', a=Percent(0.5))); print([name for name in sys.modules if name.startswith('babel')])"
    )
    said = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


@pytest.mark.parametrize("code", CODES)
def test_beside_each_catalogue_stands_a_glossary_whose_words_it_uses(code):
    """A term of one language in at least one translation: a glossary that nobody follows is none."""
    rows = [row.split("|")[1:3] for row in (CATALOGUES / f"{code}.md").read_text("utf-8").splitlines() if "|" in row]
    terms = [term.strip() for _, term in rows[2:]]
    said = " ".join(text for _, _, translations in messages(code) for text in translations).lower()
    used = [term for term in terms if any(part.lower() in said for part in parts_of(term))]
    assert len(terms) >= 35 and len(used) >= 0.9 * len(terms), sorted(set(terms) - set(used))


def parts_of(term):
    """The spellings that a cell of a glossary offers: without articles, brackets and grammar."""
    plain = re.sub(r"\([^)]*\)|（[^）]*）|\*|`|…", "", term)
    pieces = re.split(r"[,;/、，；·→／]| oder | ou | o | e | y ", plain)
    articles = r"^(der|die|das|den|le|la|les|l’|un|une|el|los|las|o|a|os|as) "
    return [re.sub(articles, "", piece.strip()) for piece in pieces if len(piece.strip()) > 1]
