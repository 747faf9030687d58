"""Which pairs of characters and pieces become one piece: learned with the `tokenizers` library."""

import json
from collections.abc import Iterable

import tokenizers
from tokenizers import normalizers, pre_tokenizers

from attention_core.pieces import ALPHABET, SAME_CHARACTER, SPACE, START, UNKNOWN, WORD, Pieces

VOCABULARY = 4000


def learn(texts: Iterable[str], size: int = VOCABULARY) -> Pieces:
    """The merges that make a vocabulary of so many pieces for these texts."""
    library = like_ours(tokenizers.models.BPE(unk_token=UNKNOWN))
    library.train_from_iterator(
        texts,
        tokenizers.trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=[START, UNKNOWN],
            initial_alphabet=list(ALPHABET),
            limit_alphabet=len(ALPHABET),
            show_progress=False,
        ),
    )
    merges = json.loads(library.to_str())["model"]["merges"]
    return Pieces(tuple((a, b) for a, b in merges))


def library_of(pieces: Pieces) -> tokenizers.Tokenizer:
    """The library's tokenizer for the same merges: many times as fast as our own reader, and the oracle of its test."""
    return like_ours(tokenizers.models.BPE(vocab=pieces.ids, merges=list(pieces.merges), unk_token=UNKNOWN))


def like_ours(model: tokenizers.models.Model) -> tokenizers.Tokenizer:
    """A tokenizer that prepares text as `pieces.plain` does, and splits it into the same words."""
    library = tokenizers.Tokenizer(model)
    same = [normalizers.Replace(chr(one), other) for one, other in SAME_CHARACTER.items()]
    library.normalizer = normalizers.Sequence(
        [
            *same,
            normalizers.Lowercase(),
            normalizers.NFKD(),
            normalizers.StripAccents(),
            normalizers.Replace(SPACE, " "),
            normalizers.Replace(tokenizers.Regex(r"[\s\x1c-\x1f]+"), " "),  # what Python calls space
            normalizers.Strip(),
            normalizers.Prepend(SPACE),
            normalizers.Replace(" ", SPACE),
        ]
    )
    words = tokenizers.Regex(WORD.pattern)
    library.pre_tokenizer = pre_tokenizers.Split(words, behavior="removed", invert=True)
    return library
