"""A model is opened once a process, from a mapped file; equal texts are computed once; a cache writes."""

import contextlib
import dataclasses
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from gguf_files import gguf_of, random_llama

from attention_core.base.errors import InputError
from attention_core.model.family import build_transformer
from attention_core.model.transformer import Transformer
from attention_core.model.weights import named_weights
from attention_core.stored.gguf_file import read_gguf
from attention_core.stored.gguf_llama import gguf_model
from attention_core.stored.tokenizing import gguf_tokenizer
from models import opening
from models.folders import ModelFiles, offered_models
from models.opening import in_torch, open_model, shared_model
from models.store import stored_file
from tests.rounding import LAYERS, assert_close_for_size

ROOT = Path(__file__).parents[2]
IDS = (3, 1, 50, 17, 3, 52, 0, 9)
TOKENS = [*"abcdefghijklmnopqrstuvwxyz", "Ġ", "th", "the", *(f"<{n}>" for n in range(24))]
WORDS = {
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "smollm",
    "tokenizer.ggml.tokens": TOKENS,
    "tokenizer.ggml.token_type": [1] * len(TOKENS),
    "tokenizer.ggml.merges": ["t h", "th e"],
}


@pytest.fixture
def own(folder, tmp_path, monkeypatch):
    """A folder of one's own with a small model in both forms."""
    monkeypatch.setenv("ATTENTION_LAB_MODELS", str(tmp_path / "own"))
    theirs = random_llama(hidden_size=64, intermediate_size=96, num_attention_heads=2, head_dim=32)
    theirs.save_pretrained(tmp_path / "own" / "hub_model")
    gguf_tokenizer(WORDS).save(str(tmp_path / "own" / "hub_model" / "tokenizer.json"))
    (tmp_path / "own" / "small.gguf").write_bytes(gguf_of(theirs, "Q8_0", **WORDS))
    return offered_models()


def test_both_forms_are_offered_and_opened(own):
    assert {name: files.kind for name, files in own.items()} == {"hub_model": "hub", "small": "gguf"}
    logits = [shared_model(files).trace(IDS).logits for files in own.values()]
    for files in own.values():
        assert shared_model(files).tokenizer.encode("the cat").tokens == ["the", "Ġ", "c", "a", "t"]
    assert float((logits[0] - logits[1]).abs().max()) < 0.5, "they differ by the rounding to 8 bits"


def test_a_gguf_file_opens_as_the_very_model_that_it_holds(own):
    model, kept = in_torch(open_model(own["small"]).kept), gguf_model(read_gguf(own["small"].path.read_bytes()))
    assert model.config == kept.config
    for (name, weight), (_, expected) in zip(named_weights(model), named_weights(kept), strict=True):
        assert torch.equal(weight, expected), name
    assert_close_for_size(model(torch.tensor(IDS)).logits, kept(torch.tensor(IDS)).logits, rounding=LAYERS)


def test_numpy_computes_what_torch_computes_and_lessons_get_the_same_memory(own):
    model = shared_model(own["small"])
    arrays, tensors = model.read(IDS, {(1, 0)}), model.trace(IDS, {(1, 0)})
    in_torch, exact = model.transformer(torch.tensor(IDS), {(1, 0)}), in_doubles(model)(torch.tensor(IDS), {(1, 0)})
    for layer, same in zip(arrays.layers, tensors.layers, strict=True):
        assert isinstance(layer.attention.heads.weights, np.ndarray)
        assert layer.attention.present.k.ctypes.data == same.attention.present.k.data_ptr()
    for found in (tensors, in_torch):
        for layer, expected in zip(found.layers, exact.layers, strict=True):
            heads = expected.attention.heads
            assert_close_for_size(layer.attention.heads.weights, heads.weights, heads.scaled / 2)
        assert_close_for_size(found.logits, exact.logits, rounding=LAYERS)
    assert shared_model(own["hub_model"]).read(IDS).logits.dtype == torch.float32, "mapped by torch, as it lies there"


def in_doubles(model):
    """The same model, which computes in double precision."""
    weights = {name: weight.double() for name, weight in named_weights(model.transformer)}
    return build_transformer(model.transformer.config, weights)


def test_to_read_no_torch_is_imported(own):
    open_model(own["small"])  # converted
    code = (
        "import sys; from models.folders import offered_models; from models.opening import shared_model;"
        f"read = shared_model(offered_models()['small']).read({IDS}); assert len(read.logits) == {len(IDS)};"
        "sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_a_host_with_little_memory_computes_the_same_and_converts_nothing(own, monkeypatch):
    expected = in_torch(open_model(own["small"]).kept)(torch.tensor(IDS), ablated={(1, 0)})
    stored_file(own["small"]).unlink()
    monkeypatch.setenv("ATTENTION_LAB_SMALL", "1")
    model = open_model(own["small"])
    trace = model.kept(torch.tensor(IDS), ablated={(1, 0)})
    assert_close_for_size(trace.logits, expected.logits, rounding=LAYERS)
    heads, same = (read.layers[1].attention.heads for read in (trace, expected))
    assert_close_for_size(heads.weights, same.weights, same.scaled / 2)
    assert model.tokenizer.encode("the cat").tokens == ["the", "Ġ", "c", "a", "t"]
    assert not stored_file(own["small"]).exists() and model.passes.most < 30e6


def test_the_second_opening_reads_the_mapped_file_alone(own, monkeypatch):
    open_model(own["small"])
    monkeypatch.setattr(opening, "gguf_contents", lambda *_: pytest.fail("it has been converted"))
    assert open_model(own["small"]).kept.config.d_model == 64
    assert stored_file(own["small"]).exists()


def test_a_model_is_opened_once_a_process_and_anew_when_its_file_changes(own, monkeypatch):
    opened = []
    monkeypatch.setattr(opening, "open_model", lambda files: opened.append(files) or open_model(files))
    assert shared_model(own["small"]) is shared_model(own["small"]) and len(opened) == 1
    own["small"].path.write_bytes(gguf_of(random_llama(seed=1), **WORDS))
    assert shared_model(own["small"]).transformer.config.d_model == 42 and len(opened) == 2


def test_a_class_with_one_text_is_computed_for_once(own, monkeypatch):
    model, passes = shared_model(own["small"]), []
    read = Transformer.__call__
    monkeypatch.setattr(
        Transformer, "__call__", lambda self, *args, **how: passes.append(1) or read(self, *args, **how)
    )
    traces, together = [], threading.Barrier(8)

    def visit():
        together.wait(10)
        traces.append(model.trace(list(IDS), ablated=[(1, 0)]))

    students = [threading.Thread(target=visit) for _ in range(8)]
    for student in students:
        student.start()
    for student in students:
        student.join(10)
    assert len(passes) == 1 and len(traces) == 8 and len(set(map(id, traces))) == 1
    assert not torch.equal(model.trace(IDS).logits, traces[0].logits) and len(passes) == 2, "without the head"


@pytest.mark.parametrize("small", [True, False])
def test_on_a_small_host_one_text_is_read_at_a_time(own, monkeypatch, small):
    monkeypatch.setenv("ATTENTION_LAB_SMALL", str(int(small)))
    model, reading, most = open_model(own["small"]), [], []
    assert model.transformer, "made once, whoever is first"
    read, both = Transformer.__call__, threading.Barrier(3)

    def slowly(self, ids, *args, **how):
        reading.append(1)
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(0.3)  # until all three are here
        most.append(len(reading))
        reading.pop()
        return read(self, ids, *args, **how)

    monkeypatch.setattr(Transformer, "__call__", slowly)
    ways = [lambda: model.read(IDS), lambda: model.newest_token(IDS[:-1]), lambda: model.compute(IDS[1:])]
    visitors = [threading.Thread(target=way) for way in ways]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join(10)
    assert len(most) == 3 and max(most) == (1 if small else 3)


def test_what_is_computed_of_several_texts_is_what_each_gives_and_is_not_kept(own):
    model, others = shared_model(own["small"]), (IDS, IDS[::-1])
    patched = {(1, 0): model.trace(IDS).layers[1].attention.heads.output[0] + 1}
    both = model.compute(others, scored=slice(-1, None))
    for place, ids in enumerate(others):
        assert_close_for_size(both.logits[place, 0], model.trace(ids).logits[-1], rounding=5 * LAYERS)
    expected = model.transformer(torch.tensor(IDS), [(0, 1)], patched=patched)
    assert_close_for_size(model.compute(IDS, [(0, 1)], patched).logits, expected.logits, rounding=5 * LAYERS)
    assert len(model.passes._sizes) == 2


def test_a_text_is_written_with_a_cache_as_if_it_were_read_anew(own, monkeypatch):
    model, text, read = open_model(own["small"]), list(IDS), []
    whole = Transformer.__call__
    monkeypatch.setattr(
        Transformer, "__call__", lambda self, ids, *args, **how: read.append(len(ids)) or whole(self, ids, *args, **how)
    )
    for _ in range(5):
        newest = model.newest_token(text)
        expected = whole(in_doubles(model), torch.tensor(text))
        assert_close_for_size(newest.logits, expected.logits[-1], rounding=5 * LAYERS)
        for weights, layer in zip(newest.weights, expected.layers, strict=True):
            heads = layer.attention.heads
            assert_close_for_size(weights, heads.weights[:, -1], heads.scaled / 2)
        text.append(int(newest.logits.argmax()))
    assert read == [len(IDS), 1, 1, 1, 1], "after the first, one token is read for each"
    model.newest_token(text[:-1])
    assert len(read) == 5, "and nothing twice"


def test_a_beginning_is_read_in_parts_as_if_it_were_read_at_once(own, monkeypatch):
    model, text, read = open_model(own["small"]), [*IDS, *IDS, IDS[0]], []
    whole = Transformer.__call__
    monkeypatch.setattr(opening, "READ_AT_ONCE", 3)
    monkeypatch.setattr(
        Transformer, "__call__", lambda self, ids, *args, **how: read.append(len(ids)) or whole(self, ids, *args, **how)
    )
    newest, expected = model.newest_token(text), whole(in_doubles(model), torch.tensor(text))
    assert max(read) == 3 and sum(read) == len(text)
    assert_close_for_size(newest.logits, expected.logits[-1], rounding=5 * LAYERS)
    for weights, kept, layer in zip(newest.weights, newest.present, expected.layers, strict=True):
        heads = layer.attention.heads
        assert_close_for_size(weights, heads.weights[:, -1], heads.scaled / 2)
        assert kept.k.shape == layer.attention.present.k.shape


def test_what_is_kept_is_no_more_than_there_is_room_for(own):
    model = shared_model(own["small"])
    one = opening.n_bytes_of(model.read(IDS))
    model = dataclasses.replace(model, passes=opening.Once(2.5 * one, opening.n_bytes_of))
    traces = [model.trace((*IDS[:-1], last)) for last in range(4)]
    assert model.trace((*IDS[:-1], 3)) is traces[3] and model.trace((*IDS[:-1], 2)) is traces[2]
    assert model.trace((*IDS[:-1], 0)) is not traces[0]


def test_what_cannot_be_read_is_said_and_leaves_nothing(folder, tmp_path):
    (tmp_path / "broken.gguf").write_bytes(b"GGUF and then nothing")
    files = ModelFiles("broken", tmp_path / "broken.gguf", "gguf")
    with pytest.raises(InputError):
        shared_model(files)
    assert not stored_file(files).exists()
