"""How a real model cuts a text: beside its own tokenizer, and beside merges that a plain loop does."""

import json
from itertools import pairwise

import pytest

from lessons.screen.format import render, render_all
from lessons.tokens.cutting import TEXT_AT_FIRST, cut, cutting_screen, is_cut_into_bytes
from models.opening import SharedModel, open_model

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
    small = SharedModel(smollm2.files, *open_model(smollm2.files))
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
    assert "“␣didn” and “'t” are two tokens because" in said and "one by one: 2 0 2 4." in said
    assert "several tokens" not in said
    assert "Cut into several tokens: 鰯." in remarks(smollm2, "a 鰯")
    assert remarks(smollm2, "x") == ""
    figure = cutting_screen(cut(smollm2, "Ça 鰯"), 0, 0).figures[0]
    n = len(smollm2.tokenizer.encode("Ça 鰯").ids)
    assert render_all(figure.notice).startswith(f"Characters: 4. Bytes: 7. Tokens: {n}, from a vocabulary of 49,152.")


@pytest.mark.parametrize("text", TEXTS)
def test_the_questions_have_the_answers_of_the_tokenizer(smollm2, file, text):
    ask, asked = cutting_screen(cut(smollm2, text), 0, 0).ask, set()
    order = {"".join(pair): number for number, pair in reversed([*enumerate(file["merges"], start=1)])}
    for number in range(16):
        question = ask(number)
        cards = [render(card.text) for card in question.cards]
        right, right_card = cards.pop(question.right), question.cards[question.right].text
        asked.add(question.prompt.template)
        said = question.prompt.arguments
        if "Into how many" in question.prompt.template:
            word = said["word"].replace("␣", " ")
            n_tokens, letters = len(smollm2.tokenizer.encode(word).ids), len(word.strip())
            says = {
                "Each part": n_tokens,
                "A word is one token only": 1,
                "That counts letters": letters,
                "That counts the cuts": n_tokens - 1,
                "That counts bytes": len(word.encode()),
                "That counts merges": len(word.encode()) - n_tokens,
            }
            assert question.step == "look" and word in text
            for card in question.cards:
                (number_on_it,) = (n for begins, n in says.items() if render(card.reply).startswith(begins))
                assert int(render(card.text)) == number_on_it and (number_on_it == n_tokens) == (
                    card.text == right_card
                )
        if "merged first" in question.prompt.template:
            assert question.step == "predict"
            numbers = [int(card.split("number ")[1].strip(")").replace(",", "")) for card in (right, *cards)]
            assert numbers[0] < min(numbers[1:]) and numbers[0] in order.values()
        if "is one token" in question.prompt.template:
            (alone,) = smollm2.tokenizer.encode(said["alone"].text).ids
            assert str(alone) in render(question.cards[question.right].reply) and right.startswith("another token")
        if "does {number} become" in question.prompt.template:
            assert int(right) == len(smollm2.tokenizer.encode(said["number"]).ids)
        if "at least" in question.prompt.template:
            pieces = smollm2.tokenizer.pre_tokenizer.pre_tokenize_str(text)
            assert int(right) == said["words"] == len(pieces)
    assert len(asked) >= (1 if text == "x" else 2)


def test_the_first_question_is_read_off_the_tokens_of_a_word_and_the_sign_for_a_space_is_explained(smollm2):
    shown = cutting_screen(cut(smollm2, ""), 0, 0)
    question, figure = shown.ask(0), shown.figures[0]
    assert question.step == "look" and render(question.prompt) == "Into how many tokens is “␣unbelievably” cut?"
    assert "␣ stands for a space." in render_all(figure.notice)
    texts = [token.text for token in figure.tokens]
    n_tokens = texts.index("␣fast") - next(place for place, text in enumerate(texts) if text.startswith("␣un"))
    assert render(question.cards[question.right].text) == str(n_tokens)
    assert "␣" not in render_all(cutting_screen(cut(smollm2, "x"), 0, 0).figures[0].notice)


def test_the_model_of_the_lessons_is_played_and_a_letter_that_it_knows_not_is_left_out(smollm2):
    assert is_cut_into_bytes(smollm2)
    assert cut(smollm2, "a\U00050000 straße 🐈").text == "a straße 🐈"
    assert cut(smollm2, "\U00050000").text == TEXT_AT_FIRST
