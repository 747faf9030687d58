"""SmolLM2 and MiniLM, where they have been fetched: beside `transformers`, with the very tensors that we use."""

import os
from pathlib import Path

import pytest
import torch
from compare_with_transformers import TEXTS, fed_with, ours
from gguf_files import gguf_of, random_llama
from test_gguf import check_alike
from transformers import AutoModel, AutoTokenizer

from attention_core.model.cache import present
from attention_core.stored.gguf_file import read_gguf
from attention_core.stored.gguf_llama import gguf_model
from attention_core.stored.tokenizing import byte_pairs_in
from tests.rounding import LAYERS, assert_close_for_size

CACHE = Path(os.environ["CACHE_BEFORE_TESTS"] or Path.home() / ".cache" / "attention-lab")
SMOLLM2 = CACHE / "SmolLM2-135M-Instruct" / "SmolLM2-135M-Instruct.Q4_1.gguf"
MINILM = CACHE / "all-MiniLM-L6-v2"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def smollm2():
    if not SMOLLM2.exists():
        pytest.skip(f"SmolLM2 is not here: {SMOLLM2}")
    return ours(SMOLLM2)


@pytest.fixture(scope="module")
def minilm():
    if not MINILM.exists():
        pytest.skip(f"MiniLM is not here: {MINILM}")
    return ours(MINILM)


def test_smollm2_beside_transformers(smollm2, shapes_taken_for_granted):
    model, tokenizer = smollm2
    fed = fed_with(model)
    for text in TEXTS:
        check_alike(model, fed, torch.tensor(tokenizer.encode(text).ids))


def test_smollm2_knows_where_paris_is_and_whom_it_means(smollm2, shapes_taken_for_granted):
    model, tokenizer = smollm2
    capital = tokenizer.encode("The capital of France is")
    likely = model(torch.tensor(capital.ids)).logits[-1].softmax(dim=-1)
    assert tokenizer.decode([int(likely.argmax())]) == " Paris" and float(likely.max()) > 0.7
    cat = tokenizer.encode(TEXTS[0])
    weights = model(torch.tensor(cat.ids)).layers[13].attention.heads.weights[8]
    it, its = cat.tokens.index("Ġit"), cat.tokens.index("Ġcat")
    assert float(weights[it, its]) == pytest.approx(0.80, abs=0.01)


def test_smollm2_writes_with_its_cache_what_it_writes_without(smollm2, shapes_taken_for_granted):
    model, tokenizer = smollm2
    ids = torch.tensor(tokenizer.encode(TEXTS[3]).ids)
    kept = present(model(ids))
    for _ in range(4):
        following = model(ids).logits[-1].argmax()[None]
        ids = torch.cat([ids, following])
        newest = model(following, past=kept)
        kept = present(newest)
        assert int(newest.logits[-1].argmax()) == int(model(ids).logits[-1].argmax())
        assert_close_for_size(newest.logits[-1], model(ids).logits[-1], rounding=LAYERS)


def test_smollm2_reads_texts_as_the_core_does(smollm2):
    _, tokenizer = smollm2
    pairs = byte_pairs_in(read_gguf(SMOLLM2.read_bytes()).settings)
    for text in TEXTS:
        assert pairs.encode(text) == tokenizer.encode(text).ids
        assert pairs.decode(pairs.encode(text)) == text


def test_minilm_beside_transformers(minilm, shapes_taken_for_granted):
    model, tokenizer = minilm
    theirs = AutoModel.from_pretrained(MINILM, attn_implementation="eager", dtype=torch.float32)
    their_tokenizer = AutoTokenizer.from_pretrained(MINILM)
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        assert ids == their_tokenizer(text)["input_ids"]
        check_alike(model, theirs, torch.tensor(ids))


def test_the_comparison_finds_a_difference():
    whole, changed = random_llama(num_hidden_layers=1), random_llama(num_hidden_layers=1)
    with torch.no_grad():
        changed.model.layers[0].self_attn.q_proj.weight.mul_(1.001)
    model, ids = gguf_model(read_gguf(gguf_of(whole))), torch.tensor([1, 2, 3])
    check_alike(model, whole, ids)
    with pytest.raises(AssertionError):
        check_alike(model, changed, ids)
