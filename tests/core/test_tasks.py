import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.base.randomness import generator
from attention_core.learning.tasks import MAX_VOCABULARY, CharacterTask, conditional_entropy
from attention_core.learning.tasks.text import MAX_WINDOW


def decoded(task, rows):
    return ["".join(task.vocabulary.decode(row)) for row in rows.tolist()]


def test_windows_are_every_stretch_of_the_text_with_the_character_after_it():
    task = CharacterTask("hello world", window=8)
    assert decoded(task, task.windows) == ["hello wor", "ello worl", "llo world"]


@given(
    text=st.text("abc", min_size=6, max_size=30).filter(lambda text: len(set(text)) > 1),
    window=st.sampled_from([2, 3, 5]),
)
def test_the_windows_of_any_text_are_its_slices(text, window):
    task = CharacterTask(text, window=window)
    assert decoded(task, task.windows) == [text[i : i + window + 1] for i in range(len(text) - window)]


def test_the_vocabulary_is_the_sorted_characters_of_the_text():
    assert CharacterTask("hello world").vocabulary.tokens == (" ", "d", "e", "h", "l", "o", "r", "w")


def test_the_targets_are_the_inputs_one_place_further():
    task = CharacterTask("hello world", window=5)
    batch = task.batch(13, generator(0))
    assert batch.inputs.shape == batch.targets.shape == (13, 5)
    assert torch.equal(batch.inputs[:, 1:], batch.targets[:, :-1])
    whole = torch.cat([batch.inputs, batch.targets[:, -1:]], dim=1)
    assert set(decoded(task, whole)) <= {"hello world"[i : i + 6] for i in range(6)}


def test_windows_are_drawn_as_the_notebook_draws_them():
    task = CharacterTask("hello world")
    with torch.random.fork_rng():
        torch.manual_seed(17)
        starts = torch.randint(0, 11 - 8, (4,))
    data = torch.tensor([3, 2, 4, 4, 5, 0, 7, 5, 6, 4, 1])
    batch = task.batch(4, generator(17))
    assert torch.equal(batch.inputs, torch.stack([data[i : i + 8] for i in starts]))
    assert torch.equal(batch.targets, torch.stack([data[i + 1 : i + 9] for i in starts]))


def test_batches_come_from_the_generator_alone():
    task = CharacterTask("hello world", window=3)
    before = torch.random.get_rng_state()
    one, same, other = (task.batch(13, generator(seed)).inputs for seed in (1, 1, 2))
    assert torch.equal(one, same) and not torch.equal(one, other)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_every_window_is_drawn_sooner_or_later_and_about_equally_often():
    task = CharacterTask("hello world", window=8)
    drawn = decoded(task, task.batch(3000, generator(0)).inputs)
    counts = [drawn.count(text) for text in ("hello wo", "ello wor", "llo worl")]
    assert sum(counts) == 3000
    assert all(abs(count - 1000) < 130 for count in counts)  # five standard deviations


def test_the_baselines_of_a_strict_alternation():
    losses = [baseline.loss for baseline in CharacterTask("ababababab", window=2).baselines()]
    assert losses == pytest.approx([math.log(2), math.log(2), 0, 0])


def test_the_baselines_of_a_text_small_enough_for_paper():
    # Windows: aab, aba, baa, aab. Answers: a a b | b a | a a | a b, that is 5 a and 3 b.
    losses = [baseline.loss for baseline in CharacterTask("aabaab", window=2).baselines()]
    letters = (5 * math.log(8 / 5) + 3 * math.log(8 / 3)) / 8
    letter_before = (3 * math.log(6 / 3) + 3 * math.log(6 / 3) + 2 * math.log(2 / 2)) / 8
    all_visible = (2 * math.log(3 / 2) + 1 * math.log(3 / 1)) / 8  # after a single a: twice a, once b
    assert losses == pytest.approx([math.log(2), letters, letter_before, all_visible])


@given(text=st.text("abcd ", min_size=8, max_size=40).filter(lambda text: len(set(text)) > 1))
def test_knowing_more_never_makes_a_baseline_worse(text):
    baselines = CharacterTask(text, window=5).baselines()
    losses = [baseline.loss for baseline in baselines]
    assert all(less >= more - 1e-12 for less, more in pairwise(losses))
    assert losses[-1] >= 0
    assert len({baseline.key for baseline in baselines}) == 4


@given(pairs=st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("ab")), min_size=1, max_size=30))
def test_conditional_entropy_is_the_mean_surprise(pairs):
    surprises = []
    for context, outcome in pairs:
        same_context = [o for c, o in pairs if c == context]
        surprises.append(-math.log(same_context.count(outcome) / len(same_context)))
    assert conditional_entropy(pairs) == pytest.approx(sum(surprises) / len(surprises))


@pytest.mark.parametrize("text", ["", "a", "abcdefgh"])
def test_a_text_that_is_too_short_is_an_error_that_says_how_long_it_must_be(text):
    with pytest.raises(ValueError, match=rf"of length {len(text)}: .*at least 9; type a longer text"):
        CharacterTask(text)


def test_the_shortest_possible_text_has_one_window():
    assert CharacterTask("abcdefghi").windows.shape == (1, 9)


def test_a_text_of_a_single_character_is_an_error_that_names_it():
    with pytest.raises(ValueError, match="repeats a single character, 'a'"):
        CharacterTask("a" * 20)


def test_too_many_different_characters_are_an_error_that_names_both_numbers():
    letters = "".join(chr(0x4E00 + i) for i in range(MAX_VOCABULARY + 1))
    with pytest.raises(ValueError, match=f"{MAX_VOCABULARY + 1} different characters .* at most {MAX_VOCABULARY}"):
        CharacterTask(letters)
    assert len(CharacterTask(letters[1:]).vocabulary) == MAX_VOCABULARY


@pytest.mark.parametrize("window", [0, -1, MAX_WINDOW + 1])
def test_an_impossible_window_is_an_error_that_says_what_is_possible(window):
    with pytest.raises(ValueError, match=f"from 1 to {MAX_WINDOW} characters, but got {window}"):
        CharacterTask("ab" * 100, window=window)


def test_an_emoji_is_one_character_of_the_task():
    assert CharacterTask("👩‍🚀👍🏽" * 5, window=3).vocabulary.tokens == ("👍🏽", "👩‍🚀")


def test_equal_tasks_are_equal_and_can_be_looked_up():
    one, same, other = CharacterTask("abababab", 3), CharacterTask("abababab", 3), CharacterTask("abababab", 5)
    assert one.windows.shape == (5, 4)
    assert one == same and hash(one) == hash(same)
    assert one != other
