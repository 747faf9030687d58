"""How a real model cuts a text: beside its own tokenizer, and beside merges that a plain loop does."""

import json
import random
import re
import unicodedata
from dataclasses import replace
from itertools import pairwise

import pytest
from tokenizers import Tokenizer

from attention_core.text.byte_pairs import CHARACTER_OF, written
from attention_core.text.tokens import split_characters
from lessons.example.token_names import told_apart
from lessons.one_head.tokens.cutting import TEXT_AT_FIRST, cut, cutting_screen, is_cut_into_bytes
from lessons.screen import DOTTED_CIRCLE, END_OF_ISOLATED, ISOLATED, render, render_all
from models.opening import open_model
from tests.core.test_byte_pairs import SCRIPTS

TEXTS = (
    TEXT_AT_FIRST,
    "Ça coûte 12 €: I'll pay, we've said; THE END",
    "日本語 and 鰯 🙂👍🏽 naïve",
    "x",
    "$x^2$ <b>bold</b> ![a](http://127.0.0.1) {0}",
)


def merged_by_a_loop(merges, pieces):
    """Every state of a word: the pair of neighbours that stands first in the file is merged where it first stands."""
    order, states = {tuple(pair): place for place, pair in enumerate(merges)}, [tuple(pieces)]
    while True:
        found = [
            (order[pair], place)
            for place, pair in enumerate(zip(states[-1], states[-1][1:], strict=False))
            if pair in order
        ]
        if not found:
            return tuple(states)
        _, place = min(found)
        now = states[-1]
        states.append((*now[:place], now[place] + now[place + 1], *now[place + 2 :]))


@pytest.fixture
def file(smollm2):
    return json.loads(smollm2.tokenizer.to_str())["model"]


@pytest.mark.parametrize("text", TEXTS)
def test_it_is_cut_as_the_tokenizer_cuts_it_and_every_merge_is_that_of_a_loop(smollm2, file, text):
    cutting = cut(smollm2, text)
    theirs = smollm2.tokenizer.encode(text)
    assert list(cutting.ids) == theirs.ids and "".join(cutting.parts) == text
    assert [piece for word in cutting.words for piece in word.tokens] == theirs.tokens
    assert "".join(word.text for word in cutting.words) == text
    for place, word in enumerate(cutting.words):
        assert word.steps == merged_by_a_loop(file["merges"], word.steps[0])
        assert len(word.steps[0]) == len(word.text.encode())
        owners = [token for token in range(len(cutting.ids)) if cutting.word_of(token) == place]
        assert owners == [*range(word.first, word.first + len(word.tokens))]
    assert len(cutting.words[cutting.longest].steps) == max(len(word.steps) for word in cutting.words)


def test_every_step_of_a_word_shows_the_pair_that_is_merged_next(smollm2, file):
    cutting = cut(smollm2, "")
    place = next(i for i, word in enumerate(cutting.words) if word.text == " unbelievably")
    order = {tuple(pair): number for number, pair in enumerate(file["merges"], start=1)}
    steps = cutting.words[place].steps
    for step, (now, following) in enumerate(zip(steps, (*steps[1:], None), strict=True)):
        whole, pieces, pairs, _ = cutting_screen(cutting, place, step).figures
        assert [token.text for token in pieces.tokens] == [piece.replace("\u0120", "␣") for piece in now]
        assert [token.below for token in pieces.tokens] == [str(file["vocab"][piece]) for piece in now]
        marked = [i for i, token in enumerate(pieces.tokens) if token.marked]
        numbers = [getattr(row[3], "value", None) for row in pairs.cells]
        assert numbers == [order.get(pair) for pair in pairwise(now)]
        if following is None:
            assert not marked and f"merges done: {step} of {step}." in render_all(pieces.notice)
            assert f"so it stays {len(now)} tokens" in render_all(pieces.notice)
        else:
            first, second = marked
            assert now[first] + now[second] == following[first] and second == first + 1
            assert f"as number {min(number for number in numbers if number):,}." in render_all(pieces.notice)
        assert "".join(token.text for token in whole.tokens if token.marked) == "␣unbelievably"


def test_the_rows_are_those_of_the_table(smollm2):
    cutting = cut(smollm2, "the cat the cat")
    table = cutting_screen(cutting, 0, 0).figures[3]
    ids = smollm2.tokenizer.encode("the cat the cat").ids
    assert [row[1] for row in table.cells] == list(dict.fromkeys(ids)) and len(table.cells) == 3
    for row in table.cells:
        whole = smollm2.trace([row[1]]).layers[0].x[0]
        assert [cell.value for cell in row[2:-1]] == pytest.approx(whole[:5].tolist())
        assert row[-1].value == pytest.approx(float((whole**2).sum() ** 0.5))


def test_a_host_with_little_memory_shows_the_same_rows(smollm2, monkeypatch):
    monkeypatch.setenv("ATTENTION_LAB_SMALL", "1")
    small = open_model(smollm2.files)
    here, there = (cutting_screen(cut(model, "the cat"), 0, 0).figures[3] for model in (small, smollm2))
    assert here.cells == there.cells and render_all(here.notice) == render_all(there.notice)


def remarks(smollm2, text):
    return render_all(cutting_screen(cut(smollm2, text), 0, 0).remarks)


def test_what_is_said_of_a_text_is_there_to_see(smollm2):
    said = remarks(smollm2, TEXT_AT_FIRST)
    ids = smollm2.tokenizer.token_to_id
    assert (
        f"“␣cat” has the id {ids('Ġcat')}; without its space it would be another token, with the id {ids('cat')}."
        in said
    )
    assert "“␣didn” and “'t” stay apart because" in said and "one by one: 2 0 2 4." in said
    assert "several tokens" not in said
    assert "Cut into several tokens: 鰯." in remarks(smollm2, "a 鰯")
    assert remarks(smollm2, "x") == ""
    figure = cutting_screen(cut(smollm2, "Ça 鰯"), 0, 0).figures[0]
    n = len(smollm2.tokenizer.encode("Ça 鰯").ids)
    assert render_all(figure.notice).startswith(f"Characters: 4. Bytes: 7. Tokens: {n}, from a vocabulary of 49,152.")


@pytest.mark.parametrize("text", TEXTS)
def test_the_questions_have_the_answers_of_the_tokenizer(smollm2, file, text):
    ask = cutting_screen(cut(smollm2, text), 0, 0).ask
    asked = {check_question(ask(number), smollm2.tokenizer, order_of(file), text) for number in range(16)}
    assert len(asked) >= (1 if text == "x" else 2)


def order_of(file):
    """The place of each pair in the list of merges."""
    return {tuple(pair): number for number, pair in enumerate(file["merges"], start=1)}


def check_question(question, tokenizer, order, text):
    """The right card is what the tokenizer says, and what each reply says is true. Gives the kind of the question."""
    kind, said = question.prompt.template, question.prompt.arguments
    right, cards = question.cards[question.right], question.cards
    if "Into how many" in kind:
        word = as_typed(said["word"])
        n_tokens, letters = len(tokenizer.encode(word).ids), len(split_characters(word.strip()))
        says = {
            "Each part": n_tokens,
            "A word is one token only": 1,
            "That counts letters": letters,
            "That counts the cuts": n_tokens - 1,
            "That counts bytes": len(word.encode()),
            "That counts merges": len(word.encode()) - n_tokens,
        }
        assert question.step == "look" and word in text
        for card in cards:
            (number_on_it,) = (n for begins, n in says.items() if render(card.reply).startswith(begins))
            assert int(render(card.text)) == number_on_it and (number_on_it == n_tokens) == (card is right)
    if "merged first" in kind:
        assert question.step == "predict"
        numbers = [card.text.arguments["number"].value for card in cards]
        for card, number in zip(cards, numbers, strict=True):
            pair = tuple(as_piece(card.text.arguments[name]) for name in ("one", "other"))
            assert order[pair] == number and "".join(pair) in as_piece(said["word"])
            assert (card is right) == (number == min(numbers))
    if "is one token" in kind:
        token, alone = as_typed(said["token"].text), as_typed(said["alone"].text)
        (with_space,), (without,) = tokenizer.encode(token).ids, tokenizer.encode(alone).ids
        assert token == " " + alone and with_space in tokenizer.encode(text).ids and with_space != without
        assert right.reply.arguments["id"] == without and render(right.text).startswith("another token")
    if "does {number} become" in kind:
        assert int(render(right.text)) == len(tokenizer.encode(said["number"]).ids)
    if "at least" in kind:
        pieces = tokenizer.pre_tokenizer.pre_tokenize_str(text)
        assert int(render(right.text)) == said["words"] == len(pieces)
    return kind


def as_typed(name):
    """The text behind what is seen: ␣ is a space, a sign by its code point is the sign itself."""
    name = name.replace(ISOLATED, "").replace(END_OF_ISOLATED, "").removeprefix(DOTTED_CIRCLE).replace("␣", " ")
    return re.sub(r"U\+([0-9A-F]{4,6})", lambda found: chr(int(found[1], 16)), name)


def as_piece(name):
    """The piece behind what is seen, each of its bytes as the character that stands for it."""
    as_bytes = re.fullmatch(r"<((?:[0-9A-F]{2})+)>", name)
    return (
        written(as_typed(name))
        if as_bytes is None
        else "".join(CHARACTER_OF[byte] for byte in bytes.fromhex(as_bytes[1]))
    )


# Texts of many scripts, with the signs that this page and others use themselves.

OF_OURS = "₂₁␣·…�⏎◌"
CLUSTERS = (
    "👍🏽",
    "👩‍💻",
    "🇨🇭",
    "e\u0301",
    "x\u0302",
    "1\ufe0f\u20e3",
    "H₂O",
    "CO₂",
    "'s",
    "don't",
    "l'été",
    "2024",
    "٣٤",
    "½",
)
OLD = unicodedata.ucd_3_2_0


def random_text(draw):
    """Some words; each of letters of one script, of a cluster of characters, or of signs of ours."""
    words = []
    for _ in range(draw.randint(1, 9)):
        first, last = draw.choice([*SCRIPTS.values()])
        letters = [chr(draw.randint(first, last)) for _ in range(draw.randint(1, 6))]
        known = [c for c in letters if ord(c) > 0xFFFF or OLD.category(c) == unicodedata.category(c) != "Cn"]
        words.append("".join(draw.choice((known, [draw.choice(CLUSTERS)], [draw.choice(OF_OURS)], ["Kierkegaard's"]))))
        words.append(draw.choice(("", " ", " ")))
    return "".join(words)


@pytest.mark.parametrize("seed", range(30))
def test_random_texts_of_many_scripts_are_cut_and_described_as_the_tokenizer_cuts_them(smollm2, file, whole, seed):
    """100 texts for each seed: their tokens, every remark that is made, and a few questions."""
    draw, order = random.Random(seed), order_of(file)
    for number in range(100 if whole else 10):
        cutting = cut(smollm2, random_text(draw))
        text = cutting.text
        theirs = smollm2.tokenizer.encode(text)
        assert list(cutting.ids) == theirs.ids and "".join(cutting.parts) == text
        word = draw.randrange(len(cutting.words))
        screen = cutting_screen(cutting, word, draw.randrange(len(cutting.words[word].steps)))
        for remark in screen.remarks:
            check_remark(remark, smollm2.tokenizer, text)
        figure = screen.figures[0]
        counts = figure.notice[0].arguments
        assert (counts["characters"], counts["bytes"]) == (len(split_characters(text)), len(text.encode()))
        assert counts["tokens"] == len(theirs.ids) and (len(figure.notice) == 2) == (" " in text)
        shown = "".join(token.text for token in figure.tokens)
        assert shown.count("␣") == text.count(" ") and "⏎" not in shown
        for piece in screen.figures[1].tokens:
            assert smollm2.tokenizer.token_to_id(as_piece(piece.text)) == int(piece.below)
        for question in range(3):
            check_question(screen.ask(number + question), smollm2.tokenizer, order, text)


def check_remark(remark, tokenizer, text):
    """What is said of a text, found anew with the tokenizer alone."""
    said, template = remark.arguments, remark.template
    words = [text[begin:end] for _, (begin, end) in tokenizer.pre_tokenizer.pre_tokenize_str(text)]
    found = tokenizer.encode(text)
    if template.startswith("A space belongs"):
        token = as_typed(said["token"].text)
        assert tokenizer.encode(token).ids == [said["id"]] and said["id"] in found.ids and token in words
        assert tokenizer.encode(token.removeprefix(" ")).ids == [said["other"]] and token.startswith(" ")
    elif "stay apart" in template:
        before, word = said["before"].text, said["word"].text
        assert (before, word) in pairwise(words)
        assert tokenizer.encode(before + word).ids == tokenizer.encode(before).ids + tokenizer.encode(word).ids
    elif template.startswith("Digits"):
        digits = said["digits"].split()
        assert digits == [word for word in words if word in {*"0123456789"}]
    else:
        assert template.startswith("Cut into several tokens")
        spans = [range(begin, end) for begin, end in found.offsets]
        cut_apart = {text[at] for at in range(len(text)) if sum(at in span for span in spans) > 1}
        assert {as_typed(name) for name in said["characters"].items} == cut_apart
        assert all(2 <= len(character.encode()) <= 4 for character in cut_apart)


def test_a_word_of_several_tokens_is_not_called_one(smollm2):
    said = remarks(smollm2, "Kierkegaard's")
    assert len(smollm2.tokenizer.encode("Kierkegaard").ids) > 1
    assert "“Kierkegaard” and “'s” stay apart because" in said and "two tokens" not in said


def test_a_small_figure_that_was_typed_counts_no_tokens(smollm2):
    assert "several tokens" not in remarks(smollm2, "H₂O and CO₂")
    assert "Cut into several tokens: 鰯." in remarks(smollm2, "H₂O 鰯 CO₂")


def test_a_sign_for_a_space_that_was_typed_is_no_space(smollm2):
    figure = cutting_screen(cut(smollm2, "a␣b c"), 0, 0).figures[0]
    shown = "".join(token.text for token in figure.tokens)
    assert shown.count("␣") == 1 and "U+2423" in shown and shown.endswith("␣c")
    assert told_apart(["␣", " ", "⏎"]) == ("U+2423", " ", "U+23CE")


def test_a_letter_is_looked_up_by_its_bytes(smollm2):
    cutting = cut(smollm2, "c'est un é")
    (alone,) = smollm2.tokenizer.encode("é").ids
    assert cutting.without_space(len(cutting.ids) - 1) == ("é", alone)


def test_characters_are_counted_as_a_reader_counts_them(smollm2):
    for text, count in (("👍🏽", 1), ("🇨🇭", 1), ("x\u0302", 1), ("naïve", 5)):
        assert cutting_screen(cut(smollm2, text), 0, 0).figures[0].notice[0].arguments["characters"] == count


def test_the_first_question_is_read_off_the_tokens_of_a_word_and_the_sign_for_a_space_is_explained(smollm2):
    shown = cutting_screen(cut(smollm2, ""), 0, 0)
    question, figure = shown.ask(0), shown.figures[0]
    assert question.step == "look" and render(question.prompt) == "Into how many tokens is “␣unbelievably” cut?"
    assert "␣ stands for a space." in render_all(figure.notice)
    texts = [token.text for token in figure.tokens]
    n_tokens = texts.index("␣fast") - next(place for place, text in enumerate(texts) if text.startswith("␣un"))
    assert render(question.cards[question.right].text) == str(n_tokens)
    assert "␣" not in render_all(cutting_screen(cut(smollm2, "x"), 0, 0).figures[0].notice)


def test_a_tokenizer_that_skips_ids_is_not_played(smollm2):
    """There a piece would not stand at its id."""
    said = json.loads(smollm2.tokenizer.to_str())
    last = max(said["model"]["vocab"], key=said["model"]["vocab"].get)
    said["model"]["vocab"][last] += 7
    assert not is_cut_into_bytes(replace(smollm2, tokenizer=Tokenizer.from_str(json.dumps(said))))


def test_the_model_of_the_lessons_is_played_and_a_letter_that_it_knows_not_is_left_out(smollm2):
    assert is_cut_into_bytes(smollm2)
    assert cut(smollm2, "a\U00050000 straße 🐈").text == "a straße 🐈"
    assert cut(smollm2, "\U00050000").text == TEXT_AT_FIRST
