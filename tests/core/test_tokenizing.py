"""Tokenizers of folders and of GGUF files: the package's reading against loops, and against what was trained."""

import itertools
import json

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from test_byte_pairs import SAMPLES, characters, trained
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import AutoTokenizer

from attention_core.base.errors import InputError
from attention_core.stored.tokenizing import byte_pairs_in, gguf_tokenizer, hub_tokenizer

NORMAL, UNKNOWN, CONTROL, OF_USER, BYTE = 1, 2, 3, 4, 6


def byte_level_settings(split, digits_apart, **changed):
    """The vocabulary of a trained tokenizer as a GGUF file has it, with two tokens that no text is split into."""
    _, pairs = trained(digits_apart)
    tokens = [*pairs.tokens, "<|start|>", "<|end|>"]
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": split,
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [NORMAL] * len(pairs.tokens) + [CONTROL] * 2,
        "tokenizer.ggml.merges": [" ".join(pair) for pair in pairs.merges],
    } | {f"tokenizer.ggml.{name}": value for name, value in changed.items()}


@pytest.mark.parametrize("pre, digits_apart", [("gpt-2", False), ("smollm", True)])
def test_byte_level_vocabularies(pre, digits_apart):
    theirs, _ = trained(digits_apart)
    settings = byte_level_settings(pre, digits_apart)
    tokenizer, pairs = gguf_tokenizer(settings), byte_pairs_in(settings)
    for text in SAMPLES:
        ids = theirs.encode(text).ids
        assert tokenizer.encode(text).ids == ids == pairs.encode(text)
        assert tokenizer.decode(ids) == text
    n = len(pairs.tokens)
    marked = tokenizer.encode("<|start|>a<|end|>")
    assert [marked.ids[0], marked.ids[-1]] == [n - 2, n - 1] and len(marked.ids) == 3


def test_a_text_may_start_with_a_token():
    at = len(byte_level_settings("gpt-2", False)["tokenizer.ggml.tokens"]) - 2
    settings = byte_level_settings("gpt-2", False, add_bos_token=True, bos_token_id=at)
    assert gguf_tokenizer(settings).encode("a").tokens == ["<|start|>", "a"]
    assert gguf_tokenizer(settings).encode("a", add_special_tokens=False).tokens == ["a"]


@pytest.mark.parametrize(
    "pre, words",
    [
        ("gpt-2", ["It", "'", "S", " 12345", "!!\n"]),
        ("smollm", ["It", "'", "S", " ", "1", "2", "3", "4", "5", "!!\n"]),
        ("llama-bpe", ["It", "'S", " ", "123", "45", "!!\n"]),
        ("qwen2", ["It", "'S", " ", "1", "2", "3", "4", "5", "!!\n"]),
    ],
)
def test_how_texts_are_cut_into_words(pre, words):
    tokenizer = gguf_tokenizer(byte_level_settings(pre, False))
    text = "It'S 12345!!\n"
    found = tokenizer.pre_tokenizer.pre_tokenize_str(text)
    cut = [text[a:b] for _, (a, b) in found]
    if pre in ("gpt-2", "smollm"):
        words = [*words[:-1], "!!", "\n"]
    assert cut == words


SCORED = "the cat sat on mat because it was tired"


def sentence_piece_settings(**changed):
    """Letters, and pieces that are made of them, each with a score of its own; bytes for everything else."""
    made = [
        "▁t",
        "he",
        "▁the",
        "at",
        "▁c",
        "▁cat",
        "▁s",
        "▁sat",
        "er",
        "▁o",
        "▁on",
        "it",
        "▁it",
        "▁w",
        "as",
        "▁was",
        "ca",
        "se",
    ]
    letters = sorted(set("▁" + SCORED.replace(" ", "")) | set("éß東"))
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *made, *letters]
    types = [UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256, *[NORMAL] * (len(made) + len(letters))]
    return {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.scores": [-float(i) for i in range(len(tokens))],
        "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.ggml.bos_token_id": 1,
    } | {f"tokenizer.ggml.{name}": value for name, value in changed.items()}


def by_scores(text, settings, prefix=True):
    """SentencePiece by a loop: of all neighbours that make a piece, those that make the best one, leftmost first."""
    tokens, scores = settings["tokenizer.ggml.tokens"], settings["tokenizer.ggml.scores"]
    score = dict(zip(tokens, scores, strict=True))
    pieces = list(("▁" if prefix and text else "") + text.replace(" ", "▁"))
    while True:
        made = [(score[a + b], -i) for i, (a, b) in enumerate(itertools.pairwise(pieces)) if a + b in score]
        if not made:
            break
        at = -max(made)[1]
        pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
    ids = []
    for piece in pieces:
        ids += [tokens.index(piece)] if piece in score else [3 + byte for byte in piece.encode()]
    return ids


@given(text=st.one_of(st.text(st.sampled_from("▁theca sonmbuiwrd"), max_size=30), st.text(characters(), max_size=20)))
@example(text="the cat sat on the mat because it was tired")
@example(text="the  naïve 東京 cat\n")
def test_pieces_with_scores(text):
    settings = sentence_piece_settings()
    tokenizer = gguf_tokenizer(settings)
    assert tokenizer.encode(text).ids == [1, *by_scores(text, settings)]
    settings |= {"tokenizer.ggml.add_space_prefix": False, "tokenizer.ggml.add_bos_token": False}
    assert gguf_tokenizer(settings).encode(text).ids == by_scores(text, settings, prefix=False)


def test_pieces_back_to_text():
    tokenizer = gguf_tokenizer(sentence_piece_settings())
    for text in ("the cat sat", "naïve 東京 ☃"):
        assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_the_tokenizer_of_a_folder(tmp_path):
    words = ["[UNK]", "[CLS]", "[SEP]", "the", "cat", "##s", "sat"]
    tokenizer = Tokenizer(models.WordPiece({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    tokenizer.enable_padding(length=20)
    tokenizer.enable_truncation(max_length=4)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    text = "the cats sat the cat dog"
    found = hub_tokenizer(tmp_path).encode(text)
    assert found.tokens == ["[CLS]", "the", "cat", "##s", "sat", "the", "cat", "[UNK]", "[SEP]"]
    assert found.ids == AutoTokenizer.from_pretrained(tmp_path)(text, truncation=False, padding=False)["input_ids"]
    assert torch.tensor(found.type_ids).sum() == 0


def test_tokenizers_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"has the file tokenizer.json, but there is none"):
        hub_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text('{"version": "1.0"}')
    with pytest.raises(InputError, match=r"tokenizer.json is a tokenizer, but it cannot be read: "):
        hub_tokenizer(tmp_path)


@pytest.mark.parametrize(
    "changed, sentence",
    [
        ({"model": "bert"}, "is one of gpt2, llama, but this says 'bert'"),
        ({"pre": "deepseek-coder"}, "the ways gpt-2, smollm, .*, but tokenizer.ggml.pre says 'deepseek-coder'"),
        ({"pre": None}, "pre says None"),
        ({"merges": None}, r"has the list tokenizer.ggml.merges, but the file has none"),
        ({"merges": ["a b c"]}, r"two pieces with a space between, but one is not"),
        ({"merges": ["a zzz"]}, r"tokenizer.ggml is a tokenizer, but it cannot be read: .*zzz"),
        ({"token_type": [1, 1]}, r"one entry for each of the 702 tokens, but it has 2"),
        ({"add_bos_token": True, "bos_token_id": 9999}, r"tokenizer.ggml is a tokenizer, but it cannot be read"),
    ],
)
def test_vocabularies_that_do_not_hold_together(changed, sentence):
    with pytest.raises(InputError, match=sentence):
        gguf_tokenizer(byte_level_settings("gpt-2", False, **changed))


def test_words_that_the_core_does_not_cut():
    with pytest.raises(InputError, match="cut as gpt-2 or smollm do, but this file says 'qwen2'"):
        byte_pairs_in(byte_level_settings("qwen2", False))
