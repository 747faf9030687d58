import copy
import csv
import io
import json
import struct
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load, save

from attention_core.base.errors import InputError
from attention_core.learning.tasks import TASKS, CharacterTask
from attention_core.learning.training import TrainingSettings
from attention_core.model.small_model import ModelConfig
from attention_core.model.weights import named_weights
from runs.checkpoint import (
    MAX_FILE_BYTES,
    MAX_WEIGHT,
    Checkpoint,
    check_writes,
    history_lines,
    load_checkpoint,
    run_history,
    save_checkpoint,
)
from runs.recording import Recording
from runs.run import TrainingRun
from words.spreadsheet import csv_file

SENTENCES = [
    {},
    {"n_layers": 2, "layer_norm": True, "mlp": True, "residual": True},
    {"heads": "sliced", "positions": "none", "causal": False, "scaling": False},
    {"sink": True},
]


def trained(text="hello world", window=8, **parts):
    task = CharacterTask(text, window)
    model = ModelConfig(vocabulary=len(task.vocabulary), context=window, d_model=6, n_heads=3, **parts)
    settings = TrainingSettings(task=task, model=model, learning_rate=0.003, steps=3, seed=7)
    recording = Recording(settings)
    recording.record(3)
    return Checkpoint(settings, 2, recording.snapshot(2).weights)


GOOD = save_checkpoint(trained())


def taken_apart(data=GOOD):
    """The header as Python has it, and the bytes after it."""
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def put_together(header, body):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def with_about(**changes):
    """The good file, with something else in what it says of the model."""
    header, body = taken_apart()
    about = json.loads(header["__metadata__"]["attention_lab"])
    for path, value in changes.items():
        part, _, name = path.partition("__")
        if name:
            about[part][name] = value
        else:
            about[part] = value
    header["__metadata__"]["attention_lab"] = json.dumps(about)
    return put_together(header, body)


def with_tensors(change):
    """The good file, with its tensors changed."""
    header, _ = taken_apart()
    tensors = load(GOOD)
    change(tensors)
    return save(tensors, metadata=header["__metadata__"])


def refused(data):
    """The sentence with which a file is refused."""
    with pytest.raises(ValueError) as caught:
        load_checkpoint(data)
    assert type(caught.value) is InputError
    sentence = str(caught.value)
    assert sentence.endswith("Choose a file that this page saved."), sentence
    assert len(sentence) < 400 and sentence.isprintable()
    return sentence


@pytest.mark.parametrize("parts", SENTENCES)
@pytest.mark.parametrize("text", ["hello world", "שלום 👩‍👩‍👧 <b>“x”</b>\\", 'say "no" {0} \n and $x^2$'])
def test_what_is_saved_comes_back_bit_for_bit(parts, text):
    before = trained(text, **parts)
    after = load_checkpoint(save_checkpoint(before))
    assert after.settings == before.settings and after.updates == 2
    assert np.array_equal(after.weights, before.weights)
    assert save_checkpoint(after) == save_checkpoint(before)
    window = before.settings.task.windows[0, :-1].numpy()
    assert np.array_equal(before.model()(window).logits, after.model()(window).logits)


def test_the_file_is_plain_safetensors_that_other_programs_read():
    tensors = load(GOOD)
    assert {name: tuple(t.shape) for name, t in tensors.items()} == {
        name: p.shape for name, p in named_weights(trained().model())
    }
    header, _ = taken_apart()
    assert json.loads(header["__metadata__"]["attention_lab"])["task"]["text"] == "hello world"


@settings(max_examples=60)
@given(length=st.integers(0, len(GOOD) - 1))
def test_a_file_that_breaks_off_is_refused(length):
    refused(GOOD[:length])


@given(data=st.binary(max_size=600))
def test_random_bytes_are_refused(data):
    refused(data)


@given(junk=st.binary(min_size=1, max_size=300))
def test_a_random_header_is_refused(junk):
    refused(struct.pack("<Q", len(junk)) + junk)


@settings(max_examples=200)
@given(place=st.integers(0, len(GOOD) - 1), value=st.integers(0, 255))
def test_a_changed_byte_is_refused_or_makes_another_good_model(place, value):
    data = bytearray(GOOD)
    data[place] = value
    try:
        loaded = load_checkpoint(bytes(data))
    except ValueError as error:
        assert type(error) is InputError
    else:
        assert np.isfinite(loaded.weights).all()


@given(
    about=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    )
)
@pytest.mark.parametrize("place", ["task", "model", "training", "vocabulary", "updates", "whole"])
def test_any_other_json_about_the_model_is_refused(place, about):
    if (place == "updates" and type(about) is int and 0 <= about <= 3) or (place == "training" and about == {}):
        return
    header, body = taken_apart()
    said = json.loads(header["__metadata__"]["attention_lab"])
    said = about if place == "whole" else said | {place: about}
    header["__metadata__"]["attention_lab"] = json.dumps(said)
    refused(put_together(header, body))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model__d_model": 5}, "works with 1, 5 heads"),
        ({"model__d_model": 48}, "expected W_unembed as F32 of shape [48, 8]"),
        ({"model__d_model": 10**9}, "d_model goes from 1 to 64"),
        ({"model__d_model": True}, "model.d_model to be a whole number, but got a switch"),
        ({"model__n_heads": 0}, "n_heads is 0"),
        ({"model__n_layers": 10**400}, "a number of 401 digits"),
        ({"model__context": 3}, "too few for a window of 8"),
        ({"model__vocabulary": 10**6}, "8 different characters, but the model was made for 1000000"),
        ({"model__heads": "none"}, "'none' - at model.heads"),
        ({"model__heads": ["sliced"]}, "model.heads to be a text, but got a list"),
        ({"model__causal": 1}, "model.causal to be a switch, true or false, but got a whole number"),
        ({"model__embedding_std": 1e308}, "embedding_std goes from 0 to 100"),
        ({"model__embedding_std": 101}, "embedding_std goes from 0 to 100"),
        ({"model__embedding_std": 10**400}, "a number of 401 digits"),
        ({"model__d_k": 5, "model__positions": "rotary"}, "d_k must be even"),
        ({"model__d_k": "2"}, "model.d_k to be a whole number or nothing, but got a text"),
        ({"model__output": "vectors"}, "the model gives vectors"),
        ({"training__clip": -1}, "a length above 0, but got -1.0"),
        ({"model__surprise": 1}, "unknown field surprise - at model"),
        ({"training__learning_rate": 0}, "learning rate is a number above 0"),
        ({"training__learning_rate": "fast"}, "training.learning_rate to be a number, but got a text"),
        ({"training__steps": 10**9}, "a run has 1 to"),
        ({"training__seed": -1}, "a seed is a whole number"),
        ({"training__task": {}}, "unknown field task - at training"),
        ({"task__text": "no"}, "the text is too short, of length 2"),
        ({"task__text": "x" * 30_000}, "at most 20,000 characters, but got 30,000 characters"),
        ({"task__text": "hello\u202eworld"}, "one with invisible characters"),
        ({"task__text": "hello \ud800 world"}, "one with invisible characters"),
        ({"task__window": 0}, "a window goes from 1"),
        ({"task__text": 3}, "task.text to be a text, but got a whole number"),
        ({"vocabulary": list("abcdefgh")}, "expected the vocabulary of the text"),
        ({"updates": 4}, "expected 0 to 3 updates, but got 4"),
        ({"updates": -1}, "expected 0 to 3 updates, but got -1"),
        ({"updates": 2.0}, "expected updates to be a whole number"),
        ({"model": []}, "expected model to be a group of settings, but got a list"),
        ({"more": 1}, "unknown field more"),
    ],
)
def test_settings_that_cannot_be_are_refused_by_name(change, said):
    assert said in refused(with_about(**change))


@pytest.mark.parametrize("broken", [float("nan"), float("inf"), -float("inf"), MAX_WEIGHT * 1.01, 3e38])
def test_weights_that_are_no_numbers_are_refused(broken):
    sentence = refused(with_tensors(lambda tensors: tensors["token_table"].fill_(broken)))
    assert "in token_table" in sentence


def test_the_largest_weights_may_still_not_break_the_model():
    def enlarge(tensors):
        for tensor in tensors.values():
            tensor.fill_(MAX_WEIGHT)

    try:
        loaded = load_checkpoint(with_tensors(enlarge))
    except ValueError as error:
        assert "finite scores" in str(error)
    else:
        assert np.isfinite(loaded.model()(loaded.settings.task.windows[0, :-1].numpy()).logits).all()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.pop("token_table"), "expected the tensor token_table, but got a file without it"),
        (lambda t: t.update(extra=torch.zeros(2)), "another one, 'extra'"),
        (lambda t: t.update(token_table=torch.zeros(7, 6)), "token_table as F32 of shape [8, 6]"),
        (lambda t: t.update(token_table=torch.zeros(6, 8)), "token_table as F32 of shape [8, 6]"),
        (lambda t: t.update(token_table=torch.zeros(8, 6).double()), "token_table as F32 of shape [8, 6]"),
        (lambda t: t.update(token_table=torch.zeros(8, 6, dtype=torch.int32)), "token_table as F32"),
    ],
)
def test_tensors_that_do_not_fit_are_refused_by_name(change, said):
    assert said in refused(with_tensors(change))


def test_a_file_without_metadata_or_with_another_format_is_refused():
    tensors = load(GOOD)
    assert "how the model was made, but got nothing" in refused(save(tensors))
    assert "how the model was made, but got nothing" in refused(save(tensors, metadata={"format": "pt"}))
    assert "the format “attention-lab model 2”, but got 'model 1'" in refused(with_about(format="model 1"))


def test_headers_that_lie_are_refused():
    header, body = taken_apart()
    hostile = {
        "offsets": put_together(header | {"token_table": header["token_table"] | {"data_offsets": [0, 10**9]}}, body),
        "overlap": put_together(header | {"token_table": header["token_table"] | {"data_offsets": [0, 192]}}, body),
        "shape": put_together(header | {"token_table": header["token_table"] | {"shape": [10**18, 6]}}, body),
        "entry": put_together(header | {"token_table": [1]}, body),
        "list": put_together([1, 2], body),
        "no tensors": put_together({}, body),
        "brackets": put_together(b"[" * 100_000, body),
        "digits": put_together(b'{"a":' + b"9" * 5000 + b"}", body),
        "twice": put_together(b'{"a":1,"a":2}', body),
        "NaN": put_together(b'{"a":NaN}', body),
        "not utf-8": put_together(b'{"\xff":1}', body),
        "huge header": struct.pack("<Q", 2**63) + GOOD[8:],
        "long header": put_together(b" " * 300_000, body),
        "more at the end": GOOD + b"\0" * 8,
        "too large": GOOD + b"\0" * MAX_FILE_BYTES,
        "nothing": b"",
    }
    sentences = {name: refused(data) for name, data in hostile.items()}
    assert "too many brackets" in sentences["brackets"]
    assert "a name appears twice" in sentences["twice"]
    assert "4,000,000 bytes" in sentences["too large"]
    assert "without gaps" in sentences["offsets"]
    assert "some other kind of file" in sentences["huge header"]
    assert "a file that ends after 92 of them" in refused(GOOD[:100])


def test_a_name_that_comes_twice_inside_is_refused_too():
    header, body = taken_apart()
    header["__metadata__"]["attention_lab"] = header["__metadata__"]["attention_lab"].replace(
        '"updates"', '"updates": 1, "updates"'
    )
    assert "a name appears twice" in refused(put_together(header, body))


def test_refusing_takes_little_memory():
    header, body = taken_apart()
    lies = [
        put_together(header | {"token_table": header["token_table"] | {"shape": [10**12, 6]}}, body),
        with_about(model__vocabulary=10**9),
        with_about(model__d_model=10**6),
        struct.pack("<Q", 2**62) + GOOD[8:],
        GOOD + b"\0" * MAX_FILE_BYTES,
    ]
    tracemalloc.start()
    for lie in lies:
        refused(lie)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4_000_000


def test_a_file_from_before_a_setting_was_invented_can_be_read():
    header, body = taken_apart()
    about = json.loads(header["__metadata__"]["attention_lab"])
    default = about["model"].pop("embedding_std")
    header["__metadata__"]["attention_lab"] = json.dumps(about)
    assert load_checkpoint(put_together(header, body)).settings.model.embedding_std == default
    about["model"].pop("vocabulary")
    header["__metadata__"]["attention_lab"] = json.dumps(about)
    assert "missing required field vocabulary - at model" in refused(put_together(header, body))


def test_what_learnt_no_text_is_not_saved():
    odd = copy.copy(trained().settings)
    object.__setattr__(odd, "task", "something else")
    with pytest.raises(ValueError, match="only a model that learned a text can be kept"):
        save_checkpoint(Checkpoint(odd, 0, trained().weights))


@given(losses=st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=20))
def test_the_history_can_be_read_back_exactly(losses):
    lines = history_lines(losses, {"accuracy": {0: 0.25, 3: 1.0, 99: 0.5}})
    rows = list(csv.reader(io.StringIO(csv_file(lines).decode("utf-8-sig"))))
    assert rows[0] == ["step", "loss", "accuracy"]
    assert [(int(step), float(loss)) for step, loss, _ in rows[1:]] == list(enumerate(losses))
    assert [accuracy for *_, accuracy in rows[1:]] == ["0.25", "", "", "1.0", *[""] * 20][: len(losses)]


def test_the_history_of_a_run_is_what_its_recording_recorded():
    settings = trained().settings
    run = TrainingRun(Recording(settings))
    run.recording.record(3)
    run.train()
    view = run.look()
    columns, *lines = run_history(view)
    rows = [dict(zip(columns, line, strict=True)) for line in lines]
    assert [row["loss"] for row in rows] == list(run.recording.losses(3))
    assert view.evaluations and columns == ["step", "loss", "held-out loss", "held-out accuracy"]
    for evaluation in view.evaluations:
        row = rows[evaluation.step]
        assert (row["held-out loss"], row["held-out accuracy"]) == (evaluation.loss, evaluation.accuracy)


@pytest.mark.parametrize("task", [TASKS[name] for name in TASKS if name != "characters"], ids=lambda task: task.key)
def test_a_model_of_anything_but_a_text_says_what_it_learnt(task):
    model = ModelConfig(vocabulary=len(task.vocabulary), context=task.window, **task.model)
    settings = TrainingSettings(task=task, model=model, steps=1)
    with pytest.raises(ValueError, match=f"this one learned: {task.key}"):
        check_writes(settings)


@pytest.mark.parametrize(
    "parts",
    [
        {"positions": "sinusoidal"},
        {"positions": "rotary", "d_k": 4},
        {"positions": "qk", "d_k": 5, "n_layers": 2},
    ],
)
@pytest.mark.parametrize("training", [{"optimiser": "sgd"}, {"optimiser": "adamw", "clip": 0.5}])
def test_every_kind_of_model_and_training_comes_back(parts, training):
    before = trained(**parts)
    settings = replace(before.settings, **training)
    after = load_checkpoint(save_checkpoint(Checkpoint(settings, 2, before.weights)))
    assert after.settings == settings and np.array_equal(after.weights, before.weights)
