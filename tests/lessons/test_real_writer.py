"""A real model that writes: its text beside what `transformers` generates, its sentences beside those weights."""

from functools import cache

import pytest
import torch
from compare_with_transformers import fed_with

from attention_core.base.randomness import generator
from attention_core.model.generation import MAX_NEW_TOKENS
from attention_core.model.sampling import Sampling
from lessons.example.token_names import called_alone, is_unfinished, parts_of_text, text_of, told_apart, vocabulary_of
from lessons.model.generate.real_writer import BEGINS_WITH, real_beginning, real_screen, real_writing, write_on
from lessons.screen import percent, render, render_all
from tests.printed import readings

pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")
GREEDY = Sampling(temperature=0.0)
START = "Ça coûte 12 €: The capital of France is"


@pytest.fixture
def theirs(smollm2):
    return built(smollm2)


@cache
def built(model):
    return fed_with(model.transformer)


def greedy(theirs, ids, length):
    """What their own generation, with a cache of its own, writes."""
    found = theirs.generate(
        torch.tensor([ids]), max_new_tokens=length, min_new_tokens=length, do_sample=False, eos_token_id=None
    )
    return tuple(found[0].tolist())


def drawn_as_a_loop_does(theirs, ids, length, seed, temperature, top_k, top_p):
    """Scores of the whole text anew for each token; then rank, cut, add up until the number falls, in plain Python."""
    random = generator(seed, "sample")
    for _ in range(length):
        with torch.inference_mode():
            scores = theirs(torch.tensor([ids])).logits[0, -1].double()
        kept = sorted(range(len(scores)), key=lambda i: (-float(scores[i]), i))[:top_k]
        shares = ((scores[kept] - scores.max()) / temperature).exp()
        shares, reached, n = (shares / shares.sum()).tolist(), 0.0, 0
        while reached < top_p and n < len(kept):
            reached, n = reached + shares[n], n + 1
        left = dict(sorted(zip(kept[:n], shares[:n], strict=True)))
        falls, so_far = float(torch.rand((), generator=random, dtype=torch.float64)) * sum(left.values()), 0.0
        for i, share in left.items():
            so_far += share
            if so_far > falls:
                ids = (*ids, i)
                break
    return ids


def test_the_likeliest_tokens_are_those_that_transformers_generates(smollm2, theirs):
    ids = real_beginning(smollm2, START).ids
    assert write_on(smollm2, ids, 12, GREEDY, 0) == greedy(theirs, ids, 12)


def test_what_is_drawn_is_what_a_plain_loop_over_their_scores_draws(smollm2, theirs):
    ids = real_beginning(smollm2, START).ids
    how = Sampling(temperature=0.8, top_k=30, top_p=0.9)
    written = write_on(smollm2, ids, 6, how, 5)
    assert written == drawn_as_a_loop_does(theirs, ids, 6, 5, 0.8, 30, 0.9)
    assert write_on(smollm2, ids, 3, how, 5) == written[: len(ids) + 3], "a longer text begins with the shorter one"
    assert write_on(smollm2, ids, 6, how, 6) != written


def test_the_attention_below_the_text_is_theirs(smollm2, theirs):
    ids = real_beginning(smollm2, BEGINS_WITH).ids
    writing = real_writing(smollm2, ids, 4, Sampling(), 0)
    with torch.inference_mode():
        found = theirs(torch.tensor([writing.ids[:-1]]), output_attentions=True)
    rows = torch.cat(found.attentions)[:, :, -1]
    for head, row in ((None, rows.mean(dim=(0, 1))), ((13, 8), rows[13, 8]), ((29, 0), rows[29, 0])):
        figure = real_screen(writing, head).figures[1]
        assert [token.below for token in figure.tokens] == [percent(share) for share in row.tolist()]
        others = max(row[1:].tolist())
        assert [token.share for token in figure.tokens] == pytest.approx(
            [min(1.0, share / others) for share in row.tolist()], abs=1e-4
        )
        said = render_all(figure.notice)
        most = [i for i, share in enumerate(row) if readings(share, percent) & readings(row.max(), percent)]
        assert f"looked most at “{figure.tokens[most[0]].text}”" in said and percent(float(row.max())) in said
        assert ("cut off" in said) == (row[0] > others)


def test_the_distribution_is_theirs_before_and_after_the_cuts(smollm2, theirs):
    ids = real_beginning(smollm2, START).ids
    writing = real_writing(smollm2, ids, 1, Sampling(temperature=0.5, top_k=3), 0)
    with torch.inference_mode():
        scores = theirs(torch.tensor([ids])).logits[0, -1].double()
    figure = real_screen(writing, None).figures[0]
    order = scores.argsort(descending=True).tolist()
    hot = (scores / 0.5).softmax(-1)
    for part, i in zip(figure.parts, order, strict=False):
        final = float(hot[i] / hot[order[:3]].sum()) if i in order[:3] else 0.0
        assert part.shares == pytest.approx([float(scores.softmax(-1)[i]), float(hot[i]), final], abs=1e-4)
    assert figure.parts[0].name == smollm2.tokenizer.decode(order[:1]).replace(" ", "␣")
    assert 15 <= len(figure.parts) <= 16
    said = render_all(figure.notice)
    rank = 1 + order.index(writing.newest.draw.token)
    assert f"(rank {rank} of 49,152)" in said and "from 3 of 49,152 tokens" in said
    assert f"The other {49_152 - len(figure.parts):,} tokens" in said


def test_every_token_has_a_name_of_its_own_and_whole_characters_are_shown(smollm2):
    names = vocabulary_of(smollm2).tokens
    assert len(set(names)) == len(names) == 49_152
    for i in range(0, 49_152, 997):
        text = smollm2.tokenizer.decode([i], skip_special_tokens=False)
        assert names[i] == text or ("\ufffd" in text and names[i].startswith("<") and names[i].endswith(">"))
    pieces = [bytes.fromhex(names[i].strip("<>")) for i in smollm2.tokenizer.encode("鰯").ids]
    assert b"".join(pieces) == "鰯".encode() and len(pieces) > 1


@pytest.mark.parametrize("text", ["Ça va? <b>日本語</b> 🙂🙂 Ünï", "plain", "\ufffd and 鰯", "<|im_start|>user"])
def test_the_parts_of_a_text_are_the_text_and_each_part_can_be_seen(smollm2, text):
    ids = smollm2.tokenizer.encode(text).ids
    parts = parts_of_text(smollm2, ids)
    assert "".join(parts) == text and len(parts) == len(ids)
    called = told_apart(parts)
    assert all(called) and [name.rstrip("₁₂₃₄") for name in called if not name.endswith(("₂", "₃", "₄"))] == [
        part for part in parts if part
    ]


def test_bytes_that_are_no_whole_character_are_given_as_such_and_hide_nothing_after_them(smollm2):
    one, two, three = smollm2.tokenizer.encode("👩").ids
    (accented,) = smollm2.tokenizer.encode(" é").ids
    assert parts_of_text(smollm2, (one, two)) == ("<F09F>", "<91>")
    assert parts_of_text(smollm2, (one, accented, two, accented)) == ("<F09F>", " é", "<91>", " é")
    assert parts_of_text(smollm2, (two, one, two, three, accented)) == ("<91>", "👩", "", "", " é")
    assert called_alone(smollm2, two) == "<91>" and called_alone(smollm2, accented) == " é"


def test_a_character_that_is_not_finished_is_said_to_be_one(smollm2):
    ids = tuple(smollm2.tokenizer.encode("鰯").ids)
    assert len(ids) > 1
    writing = real_writing(smollm2, ids[:1], 1, GREEDY, 0)
    said = render_all(real_screen(writing, None).remarks)
    assert ("not all of which are written yet" in said) == text_of(smollm2, writing.ids).endswith("\ufffd")
    assert is_unfinished(smollm2, ids[:1]) and not is_unfinished(smollm2, ids)


def test_the_sign_for_an_unfinished_character_may_have_been_typed(smollm2):
    ids = tuple(smollm2.tokenizer.encode("a �").ids)
    assert text_of(smollm2, ids).endswith("\ufffd") and not is_unfinished(smollm2, ids)
    said = render_all(real_screen(real_writing(smollm2, ids, 0, GREEDY, 0), None).remarks)
    assert "not all of which are written yet" not in said


def test_nothing_typed_begins_as_the_page_does_and_any_script_is_kept(smollm2):
    typed = {raw: text_of(smollm2, real_beginning(smollm2, raw).ids) for raw in ("  ", "Ünï CÖDE 日本 🙂", "a  b\nc")}
    assert typed == {"  ": BEGINS_WITH, "Ünï CÖDE 日本 🙂": "Ünï CÖDE 日本 🙂", "a  b\nc": "a b c"}
    (note,) = real_beginning(smollm2, "word " * 100).notes
    assert "the first 200 are used" in str(note)
    with pytest.raises(ValueError, match="at least one token"):
        write_on(smollm2, (), 1, GREEDY, 0)
    with pytest.raises(ValueError, match=f"0 to {MAX_NEW_TOKENS}"):
        write_on(smollm2, (1,), MAX_NEW_TOKENS + 1, GREEDY, 0)


def test_the_questions_are_about_the_models_own_numbers(smollm2, theirs):
    ids = real_beginning(smollm2, START).ids
    writing = real_writing(smollm2, ids, 2, Sampling(), 3)
    with torch.inference_mode():
        says = theirs(torch.tensor([writing.ids[:-1]])).logits[0, -1].double().softmax(-1)
    ask, seen = real_screen(writing, None).ask, set()
    best = smollm2.tokenizer.decode([int(says.argmax())]).replace(" ", "␣")
    for number in range(24):
        question = ask(number)
        right, seen = render(question.cards[question.right].text), seen | {question.prompt.template}
        if "which token does the model find" in question.prompt.template:
            assert right == f"“{best}”"
        if "which probability does the model give" in question.prompt.template:
            assert float(right) == pytest.approx(float(says.max()), abs=5e-3)
        if "survive top-p" in question.prompt.template:
            order, p = says.sort(descending=True).values, question.prompt.arguments["p"].value
            assert int(right.replace(",", "")) == 1 + int((order.cumsum(0) < p).sum())
    assert len(seen) >= 4
