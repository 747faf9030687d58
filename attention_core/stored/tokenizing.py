"""Text → ids by the package `tokenizers`, as a hub folder or a GGUF file says; the package is imported when needed.

GGUF files have one of two kinds of vocabulary. "gpt2" is byte-level BPE: see `byte_pairs`. "llama" is that of
SentencePiece: each piece has a score, and the pair that makes the piece of the highest score is merged first; ▁ stands
for a space, and a character without a piece is read as its bytes. Kudo & Richardson 2018,
https://arxiv.org/abs/1808.06226.
"""

from pathlib import Path
from typing import Any

from attention_core.base.errors import TechnicalError
from attention_core.text.byte_pairs import BytePairs

Tokenizer = Any  # of the package `tokenizers`
GgufSettings = dict[str, Any]  # each a `Setting`

TOKENIZER_FILE, SPACE_THERE = "tokenizer.json", "▁"
CONTROL, OF_USER, BYTE = 3, 4, 6  # types of tokens
WORDS_OF_LLAMA = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
WORDS_OF_QWEN = WORDS_OF_LLAMA.replace(r"\p{N}{1,3}", r"\p{N}")
SPLITS = {"gpt-2": None, "smollm": None, "llama-bpe": WORDS_OF_LLAMA, "llama3": WORDS_OF_LLAMA, "qwen2": WORDS_OF_QWEN}
DIGITS_APART = ("smollm",)


def hub_tokenizer(folder: Path) -> Tokenizer:
    """Load the tokenizer of a folder, without padding or truncation. Raises InputError where none can be read."""
    from tokenizers import Tokenizer

    path = folder / TOKENIZER_FILE
    if not path.exists():
        raise TechnicalError("a folder of a model has the file {name}, but there is none", name=TOKENIZER_FILE)
    try:
        tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
    except Exception as error:  # the package raises nothing narrower
        raise unreadable(TOKENIZER_FILE, error) from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def unreadable(what: str, error: Exception) -> TechnicalError:
    """Return an InputError for a tokenizer that the package refuses."""
    return TechnicalError("{what} is a tokenizer, but it cannot be read: {why}", what=what, why=str(error)[:200])


def gguf_tokenizer(settings: GgufSettings) -> Tokenizer:
    """Build the tokenizer that the settings of a file describe. Raises InputError for an unknown kind."""
    kind = settings.get("tokenizer.ggml.model")
    if kind not in ("gpt2", "llama"):
        raise TechnicalError(
            "the tokenizer of a GGUF file is one of gpt2, llama, but this says {kind}", kind=repr(kind)
        )
    build = byte_level_tokenizer if kind == "gpt2" else sentence_piece_tokenizer
    try:
        tokenizer = build(settings)
        add_special_tokens(tokenizer, settings, starts=kind == "llama")
    except TechnicalError:
        raise
    except Exception as error:  # the package raises nothing narrower
        raise unreadable("tokenizer.ggml", error) from None
    return tokenizer


def byte_level_tokenizer(settings: GgufSettings) -> Tokenizer:
    """Build a byte-level BPE tokenizer with the merges of the file."""
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    split, pairs = split_of(settings), merges_in(settings)
    vocabulary = {token: i for i, token in enumerate(entries(settings, "tokens"))}
    tokenizer = Tokenizer(models.BPE(vocabulary, pairs, ignore_merges=SPLITS[split] == WORDS_OF_LLAMA))
    if SPLITS[split] is None:
        cut = [pre_tokenizers.Digits(individual_digits=True)] if split in DIGITS_APART else []
    else:
        cut = [pre_tokenizers.Split(Regex(SPLITS[split]), "isolated")]
    to_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=SPLITS[split] is None)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*cut, to_bytes])
    tokenizer.decoder = decoders.ByteLevel()
    if split == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    return tokenizer


def byte_pairs_in(settings: GgufSettings) -> BytePairs:
    """Return pieces and merges for `byte_pairs`. Raises InputError where the file cuts words in another way."""
    split = split_of(settings)
    if SPLITS[split] is not None:
        raise TechnicalError("the words are cut as gpt-2 or smollm do, but this file says {split}", split=repr(split))
    return BytePairs(tuple(entries(settings, "tokens")), tuple(merges_in(settings)), split in DIGITS_APART)


def split_of(settings: GgufSettings) -> str:
    """Return the name of the rule by which a text is cut into words. Raises InputError for an unknown one."""
    split = settings.get("tokenizer.ggml.pre")
    if split not in SPLITS:
        raise TechnicalError(
            "a text is cut into words in one of the ways {known}, but tokenizer.ggml.pre says {split}",
            known=", ".join(SPLITS),
            split=repr(split),
        )
    return split


def merges_in(settings: GgufSettings) -> list[tuple[str, str]]:
    """Return the pairs of pieces, those merged first in front. Raises InputError for a line that is not a pair."""
    pairs = [tuple(line.split(" ")) for line in entries(settings, "merges")]
    if any(len(pair) != 2 for pair in pairs):
        raise TechnicalError("each line of tokenizer.ggml.merges is two pieces with a space between, but one is not")
    return pairs


def sentence_piece_tokenizer(settings: GgufSettings) -> Tokenizer:
    """Build a SentencePiece tokenizer: any two pieces that make a piece may be merged, the highest score first."""
    from tokenizers import Tokenizer, decoders, models, normalizers

    tokens, scores, types = (entries(settings, name) for name in ("tokens", "scores", "token_type"))
    ids = {token: i for i, token in enumerate(tokens) if types[i] not in (CONTROL, BYTE)}
    made = sorted((token for token in ids if len(token) > 1), key=lambda token: -scores[ids[token]])
    halves = ((token[:at], token[at:]) for token in made for at in range(1, len(token)))
    merges = [pair for pair in halves if pair[0] in ids and pair[1] in ids]
    unknown = tokens[settings.get("tokenizer.ggml.unknown_token_id", 0)]
    vocabulary = {token: i for i, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, unk_token=unknown, fuse_unk=True, byte_fallback=True))
    prefix = settings.get("tokenizer.ggml.add_space_prefix", True)
    before = [normalizers.Prepend(SPACE_THERE)] if prefix else []
    tokenizer.normalizer = normalizers.Sequence([*before, normalizers.Replace(" ", SPACE_THERE)])
    after = [decoders.Strip(" ", 1, 0)] if prefix else []
    undo = [decoders.Replace(SPACE_THERE, " "), decoders.ByteFallback(), decoders.Fuse(), *after]
    tokenizer.decoder = decoders.Sequence(undo)
    return tokenizer


def add_special_tokens(tokenizer: Tokenizer, settings: GgufSettings, *, starts: bool) -> None:
    """Add the tokens that are never split, and the token that every text starts with, if there is one."""
    from tokenizers import AddedToken, processors

    tokens, types = entries(settings, "tokens"), entries(settings, "token_type")
    special = [
        AddedToken(token, normalized=False) for token, kind in zip(tokens, types, strict=True) if kind == CONTROL
    ]
    tokenizer.add_special_tokens(special)
    of_user = [
        AddedToken(token, normalized=False) for token, kind in zip(tokens, types, strict=True) if kind == OF_USER
    ]
    tokenizer.add_tokens(of_user)
    if settings.get("tokenizer.ggml.add_bos_token", starts):
        start = settings.get("tokenizer.ggml.bos_token_id", 1)
        in_front = [(tokens[start], start)]
        tokenizer.post_processor = processors.TemplateProcessing([tokens[start], "$A"], special_tokens=in_front)


def entries(settings: GgufSettings, name: str) -> list:
    """Return a list of the vocabulary. Raises InputError unless it is as long as the tokens; merges may differ."""
    listed, tokens = settings.get("tokenizer.ggml." + name), settings.get("tokenizer.ggml.tokens")
    if not isinstance(listed, list) or not isinstance(tokens, list):
        raise TechnicalError("a vocabulary has the list tokenizer.ggml.{name}, but the file has none", name=name)
    if name != "merges" and len(listed) != len(tokens):
        raise TechnicalError(
            "tokenizer.ggml.{name} has one entry for each of the {n} tokens, but it has {came}",
            name=name,
            n=len(tokens),
            came=len(listed),
        )
    return listed
