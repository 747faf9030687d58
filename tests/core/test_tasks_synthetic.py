"""The tasks with made-up sequences: every answer and every right cell found again, independently, by reading."""

import dataclasses
import itertools
import math
from collections import Counter

import pytest
import torch

from attention_core.base.randomness import generator
from attention_core.learning.tasks import (
    MAX_VOCABULARY,
    NO_TARGET,
    TASKS,
    CharacterTask,
    CopyTask,
    FourVectorsTask,
    InductionTask,
    LastTokensTask,
    LookUpTask,
    NoiseTask,
    PreviousTask,
    PronounTask,
    RecallTask,
    ReverseTask,
    SortTask,
    StoryTask,
)
from attention_core.learning.tasks.lookup import among_drawn
from attention_core.learning.training import recommended
from lessons.example.task_texts import baseline_name, texts_of
from lessons.screen import render

DRAWN = 41
WOMEN = ["girl", "queen", "nun", "witch", "bride"]
REACTIONS = {
    person: did.split("/")
    for people, did in {
        "girl boy": "cried/giggled",
        "queen king": "frowned/smiled",
        "nun monk": "prayed/sang",
        "witch wizard": "cursed/cackled",
        "bride groom": "wept/danced",
    }.items()
    for person in people.split()
}
KINDS = {"queen girl aunt nun": "she", "king boy uncle monk": "he", "boat lamp drum book": "it"}


def read(task, row):
    """What somebody who reads the words says: (answers, right cells of each role as {query: keys})."""
    tokens, n = row, len(row)
    match task:
        case CopyTask():
            return list(tokens), [{i: {i} for i in range(n)}]
        case PreviousTask():
            return [None, *tokens[:-1]], [{i: {i - 1} for i in range(1, n)}]
        case ReverseTask():
            return list(tokens[::-1]), [{i: {n - 1 - i} for i in range(n)}]
        case LastTokensTask():
            answers = [None] * 3 + ["".join(tokens[i - 3 : i + 1]) for i in range(3, n)]
            return answers, [{i: {i - back} for i in range(3, n)} for back in range(4)]
        case SortTask():
            numbers = sorted(tokens[:6], key=int)
            looks = {6 + i: {tokens.index(number)} for i, number in enumerate(numbers)}
            assert tokens[6] == "→" and list(tokens[7:]) == numbers[:-1]
            return [None] * 6 + numbers, [looks]
        case LookUpTask():
            pairs = {pair[0]: (pair[1:], i) for i, pair in enumerate(tokens) if "?" not in pair}
            assert len(pairs) == 5
            asked = {i: pairs[token[0]] for i, token in enumerate(tokens) if "?" in token}
            answers = [asked[i][0] if i in asked else None for i in range(n)]
            return answers, [{i: {place} for i, (_, place) in asked.items()}]
        case RecallTask():
            pairs = {tokens[i]: i + 1 for i in range(0, 8, 2)}
            answers = [None] * 8 + [tokens[pairs[letter]] for letter in tokens[8:]]
            return answers, [{i: {i - 1} for i in (1, 3, 5, 7)}, {i: {pairs[tokens[i]]} for i in range(8, 12)}]
        case PronounTask():
            (meant,) = [i for i in (0, 2, 4) for words, it in KINDS.items() if tokens[i] in words and it == tokens[6]]
            return [None] * 6 + [tokens[meant]], [{6: {meant}}]
        case StoryTask():
            (place,) = [i for i in (1, 4) if (tokens[i] in WOMEN) == (tokens[6] == "She")]
            sad = tokens[2] in ["left", "lost", "hurt", "blamed"]
            assert tokens[7] == REACTIONS[tokens[place]][not sad]
            assert [tokens[i] for i in (0, 3, 5, 8)] == ["The", "the", ".", "."]
            return [None] * 6 + [tokens[7], None, None], [{6: {place, 2}}]
        case InductionTask():
            before = {i: [j for j in range(i) if tokens[j] == tokens[i]] for i in range(n)}
            first_again = min(i for i in range(n) if before[i])
            answers = [tokens[max(before[i]) + 1] if before[i] else None for i in range(n)]
            behind = {i: {j + 1 for j in places} for i, places in before.items() if places}
            return answers, [{i: {i - 1} for i in range(1, first_again + 1)}, behind]
    raise AssertionError(task)


READABLE = [name for name in TASKS if name not in ("characters", "noise", "vectors")]


@pytest.mark.parametrize("name", READABLE)
def test_whoever_reads_the_words_finds_the_same_answers_and_the_same_cells(name):
    task = TASKS[name]
    batch = task.batch(DRAWN, generator(3))
    assert batch.target_attention.shape == (DRAWN, len(task.roles), task.window, task.window)
    for row in range(DRAWN):
        seen = task.name(batch, row)
        answers, roles = read(task, seen.tokens)
        assert list(seen.answers) == answers, seen.tokens
        for role, expected in enumerate(roles):
            cells = {}
            for query, key in batch.target_attention[row, role].nonzero().tolist():
                cells.setdefault(query, set()).add(key)
            assert cells == expected, (task.roles[role], seen.tokens)


@pytest.mark.parametrize("name", TASKS)
def test_the_right_cells_can_be_seen_by_the_recommended_model(name):
    task = TASKS[name]
    batch = task.batch(DRAWN, generator(1))
    if batch.target_attention is not None and recommended(task).model.causal:
        assert not batch.target_attention.triu(1).any()


@pytest.mark.parametrize("name", TASKS)
def test_every_task_is_drawn_from_its_generator_alone(name):
    task, before = TASKS[name], torch.random.get_rng_state()
    one, same = (task.batch(DRAWN, generator(1)) for _ in range(2))
    other = task.batch(DRAWN, generator(2))
    assert torch.equal(one.inputs, same.inputs) and torch.equal(one.targets, same.targets)
    assert name == "vectors" or not torch.equal(one.inputs, other.inputs)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize("name", TASKS)
def test_every_task_says_what_it_is_and_fits_the_recommended_model(name):
    task = TASKS[name]
    texts = texts_of(task)
    assert task.key == name and list(texts.roles) == list(task.roles)
    said = [render(text) for text in (texts.title, texts.learns, texts.looks_like)]
    assert all(text.strip() and len(text) < 140 for text in said)
    assert 2 <= len(task.vocabulary) <= MAX_VOCABULARY and len(set(task.vocabulary.tokens)) == len(task.vocabulary)
    batch = task.batch(5, generator(0))
    assert batch.inputs.shape == batch.targets.shape == (5, task.window)
    assert int(batch.inputs.min()) >= 0 and int(batch.inputs.max()) < len(task.vocabulary)
    counted = batch.targets[batch.targets != NO_TARGET]
    assert len(counted) and int(counted.min()) >= 0 and int(counted.max()) < len(task.vocabulary)
    assert recommended(task, 17).seed == 17
    assert task == dataclasses.replace(task) and hash(task) == hash(dataclasses.replace(task))


@pytest.mark.parametrize("name", TASKS)
def test_the_example_is_always_the_same_and_names_its_tokens(name):
    task = TASKS[name]
    example, again = task.example, dataclasses.replace(task).example
    assert example.tokens == again.tokens and example.answers == again.answers
    assert example.tokens == tuple(task.vocabulary.decode(example.ids.tolist()))
    assert any(answer is not None for answer in example.answers)
    for answer, target in zip(example.answers, example.targets.tolist(), strict=True):
        assert answer == (None if target == NO_TARGET else task.vocabulary.tokens[target])


@pytest.mark.parametrize("name", TASKS)
def test_baselines_fall_from_knowing_nothing_to_knowing_everything(name):
    losses = [baseline.loss for baseline in TASKS[name].baselines()]
    assert len(losses) >= 2 and losses == sorted(losses, reverse=True) and losses[-1] >= 0
    assert len({render(baseline_name(baseline)) for baseline in TASKS[name].baselines()}) == len(losses)


def test_the_baseline_of_knowing_which_answers_stand_there_is_that_of_all_draws_by_hand():
    losses = []
    for drawn in itertools.product(range(3), repeat=4):
        counts = Counter(drawn)
        losses.append(sum(-math.log(counts[asked] / 4) for asked in drawn) / 4)
    assert among_drawn(3, 4).loss == pytest.approx(sum(losses) / len(losses))


def test_the_baseline_of_induction_is_the_entropy_of_its_batches():
    task, total, places = InductionTask(), 0.0, 0
    for row in range(2000):
        if row % 500 == 0:
            batch = task.batch(500, generator(row))
        period = len(set(batch.inputs[row % 500].tolist()))
        total += (task.window - period) * math.log(period)
        places += task.window - period
    assert task.baselines()[1].loss == pytest.approx(total / places, abs=0.02)


def test_random_letters_tell_nothing_and_the_last_answer_stands_nowhere():
    task = NoiseTask()
    batch = task.batch(DRAWN, generator(0))
    assert torch.equal(batch.inputs[:, 1:], batch.targets[:, :-1])
    assert batch.target_attention[0, 0].nonzero().tolist() == [[i, i + 1] for i in range(15)]
    assert [b.loss for b in task.baselines()] == pytest.approx([math.log(26), math.log(26) / 16])


def test_the_four_vectors_are_the_notebook_s_and_the_held_out_tokens_are_others():
    task = FourVectorsTask()
    batch = task.batch(3, generator(0))
    assert batch.inputs.tolist() == batch.targets.tolist() == [[5, 12, 31, 7]] * 3
    held_out = task.held_out(64, generator(0))
    assert not set(held_out.inputs.flatten().tolist()) & {5, 12, 31, 7}
    assert all(len(set(row)) == 4 for row in held_out.inputs.tolist())


def test_an_impossible_period_is_an_error_that_says_what_is_possible():
    with pytest.raises(ValueError, match="from 1 to 24, the shortest first, but got 13 to 12"):
        InductionTask(shortest=13)


def test_a_part_of_a_text_can_be_kept_apart():
    text = "abcdefghij" * 3 + "jihgfedcba"
    task = CharacterTask(text, 5, held_out_share=0.25)
    assert len(task.windows) == 30 - 5
    rows = torch.cat([task.held_out(64, generator(0)).inputs, task.held_out(64, generator(0)).targets[:, -1:]], 1)
    assert ["".join(task.vocabulary.decode(row)) for row in rows.tolist()] == [text[30 + i : 36 + i] for i in range(5)]
    assert len(CharacterTask(text, 5).held_out(7, generator(0)).inputs) <= 7


@pytest.mark.parametrize(
    ("share", "message"), [(0.6, "from 0 to 0.5"), (-0.1, "from 0 to 0.5"), (0.1, "10% of 40 .* shorter than a window")]
)
def test_a_part_that_cannot_be_kept_apart_is_an_error(share, message):
    with pytest.raises(ValueError, match=message):
        CharacterTask("abcdefghij" * 4, 5, held_out_share=share)


def test_the_best_accuracy_of_a_text_is_that_of_the_likeliest_letter_in_each_place():
    task = CharacterTask("aabaab", window=2)  # aab aba baa aab: a is right after a twice of three times, else all are
    assert task.best_accuracy == pytest.approx(7 / 8)
