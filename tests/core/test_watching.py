import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.base.randomness import generator
from attention_core.learning.evaluation import evaluate
from attention_core.learning.tasks import TASKS, CharacterTask
from attention_core.learning.training import TrainingSettings, held_out_batch, recommended
from attention_core.measured.observe import SAMPLE_CHARACTERS, ablate_heads, observe_task, observe_texts
from attention_core.model.sampling import continue_text
from attention_core.model.small_model import ModelConfig, model_with
from lessons.example.prompt import read_probe
from lessons.learning.train.future_leak import measure_future_leak
from lessons.screen import format_value
from runs.recording import Recording
from runs.run import TrainingRun

TASK = CharacterTask("hello world", 5)


def view_at(step=3, **choices):
    config = ModelConfig(**{"vocabulary": 8, "context": 7, "d_model": 6, "n_heads": 3, "n_layers": 2} | choices)
    recording = Recording(TrainingSettings(task=TASK, model=config, steps=5, seed=17))
    run = TrainingRun(recording)
    for _ in range(step):
        run.step_once()
    return run.look()


VIEW = view_at()


def look(view, text, temperature):
    return observe_texts(view.settings, [view.snapshot], text, temperature)[0]


def test_what_is_watched_is_the_attention_of_the_model_on_screen():
    watched = look(VIEW, "hello", 1.0)
    model = model_with(VIEW.settings.model, torch.from_numpy(VIEW.snapshot.weights))
    trace = model(torch.tensor([3, 2, 4, 4, 5]))
    assert watched.step == 3 and watched.tokens == tuple("hello")
    assert len(watched.layers) == 2
    for seen, expected in zip(watched.layers, trace.layers, strict=True):
        assert seen.weights.shape == (3, 5, 5)
        torch.testing.assert_close(seen.weights, expected.attention.heads.weights)


def test_the_sample_begins_like_the_training_text_and_depends_on_the_seed_of_the_run_alone():
    before = torch.random.get_rng_state()
    one, other_probe = look(VIEW, "hello", 0.7), look(VIEW, "world", 0.7)
    model = model_with(VIEW.settings.model, torch.from_numpy(VIEW.snapshot.weights))
    ids = continue_text(model, [3], SAMPLE_CHARACTERS, temperature=0.7, generator=generator(17, "sample"))
    assert one.sample == "".join(TASK.vocabulary.decode(ids.tolist())) == other_probe.sample
    assert one.sample.startswith("h") and len(one.sample) == SAMPLE_CHARACTERS + 1
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(
    ("probe", "tokens", "note"),
    [
        ("hello", "hello", None),
        ("", "hello", None),
        ("hexlyo", "helo", "never met x y "),
        ("hello world", "o world", "last 7"),
        ("xyz", "hello", "beginning of the training text"),
        ("he\u202e\ud800llo", "hello", "Invisible characters were left out: 2"),
    ],
)
def test_only_what_the_model_knows_and_can_see_is_looked_at_and_the_notes_say_so(probe, tokens, note):
    shown = read_probe(VIEW.settings, probe)
    assert "".join(shown.tokens) == tokens
    assert (note is None and not shown.notes) or any(note in format_value(n) for n in shown.notes)


@given(probe=st.text(st.characters(exclude_categories=()), max_size=30))
def test_every_probe_can_be_watched(probe):
    shown = read_probe(VIEW.settings, probe)
    assert 1 <= len(shown.tokens) <= 7
    assert set(shown.tokens) <= set(TASK.vocabulary.tokens)
    "".join(map(format_value, shown.notes)).encode("utf-8")


# Tasks, heads switched off, and the leak


def task_run(name, steps=3, **changes):
    settings = recommended(TASKS[name], 7, steps=steps, **changes)
    recording = Recording(settings)
    recording.record(steps)
    return settings, recording.snapshot(steps)


@pytest.mark.parametrize("name", ["reverse", "recall", "last", "vectors"])
def test_the_example_of_a_task_is_watched_with_the_model_on_screen(name):
    settings, snapshot = task_run(name)
    seen, example = observe_task(settings, snapshot), settings.task.example
    trace = model_with(settings.model, torch.from_numpy(snapshot.weights))(example.ids)
    for layer, expected in zip(seen.layers, trace.layers, strict=True):
        torch.testing.assert_close(layer.weights, expected.attention.heads.weights)
    if name != "vectors":
        words = settings.task.vocabulary.tokens
        assert seen.predicted == tuple(words[int(scores.argmax())] for scores in trace.logits)
    pairs = [(p, a) for p, a in zip(seen.predicted, example.answers, strict=True) if a is not None]
    assert seen.accuracy == pytest.approx(sum(p == a for p, a in pairs) / len(pairs))
    for role, target in enumerate(example.target_attention):
        queries = [i for i in range(len(target)) if target[i].any()]
        expected = [float(trace.layers[0].attention.heads.weights[0, i][target[i]].sum()) for i in queries]
        assert float(seen.role_weights[role, 0, 0]) == pytest.approx(sum(expected) / len(queries), abs=1e-5)


@pytest.mark.parametrize("heads", ["projected", "sliced"])
def test_a_head_switched_off_is_a_model_whose_output_map_ignores_it(heads):
    settings, snapshot = task_run("recall", n_heads=4, heads=heads)
    batch = held_out_batch(settings)
    for layer, head in ((0, 1), (1, 3)):
        model = model_with(settings.model, torch.tensor(snapshot.weights))
        model.layers[layer].attention.W_o[8 * head : 8 * head + 8] = 0
        expected = evaluate(settings.task.goal, model, batch)
        less = ablate_heads(settings, snapshot, [(layer, head)])
        assert less.ablated == ((layer, head),)
        assert less.loss == pytest.approx(expected.loss, abs=1e-5) and less.accuracy == expected.accuracy
        assert less.loss_of_all != less.loss and less.lost == less.accuracy_of_all - less.accuracy


def test_a_layer_switched_off_leaves_only_what_goes_around_it():
    settings, snapshot = task_run("reverse", n_layers=2)
    model = model_with(settings.model, torch.tensor(snapshot.weights))
    model.layers[1].attention.W_o.zero_()
    expected = evaluate(settings.task.goal, model, held_out_batch(settings))
    assert ablate_heads(settings, snapshot, [(1, 0)]).loss == pytest.approx(expected.loss, abs=1e-5)


@pytest.mark.parametrize(("layer", "head"), [(-1, 0), (2, 0), (0, -1), (0, 1)])
def test_a_head_that_is_not_there_cannot_be_switched_off(layer, head):
    settings, snapshot = task_run("recall")
    with pytest.raises(ValueError, match="layers go from 0 to 1 and heads from 0 to 0"):
        ablate_heads(settings, snapshot, [(layer, head)])


def test_a_model_without_a_mask_reads_the_answer():
    settings, snapshot = task_run("noise", steps=200)
    leak, model, batch = measure_future_leak(settings, snapshot, 5), *leak_parts(settings, snapshot)
    seeing, hidden, ahead = [], [], []
    for row, targets in zip(batch.inputs[:5], batch.targets[:5], strict=True):
        trace = model(row)
        for i in range(15):
            seeing.append(-trace.logits[i].log_softmax(-1)[targets[i]].item())
            hidden.append(-model(row[: i + 1]).logits[i].log_softmax(-1)[targets[i]].item())
            ahead.append(trace.layers[0].attention.heads.weights[0, i, i + 1].item())
    assert leak.loss_seeing == pytest.approx(sum(seeing) / len(seeing), abs=1e-4)
    assert leak.loss_hidden == pytest.approx(sum(hidden) / len(hidden), abs=1e-4)
    assert leak.strongest == pytest.approx(sum(ahead) / len(ahead), abs=1e-5)
    assert leak.strongest > 0.7 and leak.loss_hidden > 3 > 1 > leak.loss_seeing


def leak_parts(settings, snapshot):
    return model_with(settings.model, torch.from_numpy(snapshot.weights)), held_out_batch(settings)


def test_a_causal_model_cannot_leak():
    leak = measure_future_leak(*task_run("noise", causal=True))
    assert leak.strongest == 0 and leak.loss_hidden == pytest.approx(leak.loss_seeing, abs=1e-5)


def test_the_leak_is_asked_only_of_tasks_whose_answer_is_the_next_token():
    with pytest.raises(ValueError, match="the task “reverse” does not ask for it"):
        measure_future_leak(*task_run("reverse"))
