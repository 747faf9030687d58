"""Codes to type, keys that rule, and tokens that stand for a voter. Of keys and cookies only hashes are kept."""

import hashlib
import secrets

CODE_ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # no 0 and O, no 1, I and L: they look alike
CODE_LENGTH = 6
KEY_BYTES = 16  # 128 bits


def new_code() -> str:
    """Six characters to type."""
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))


def typed_code(typed: object) -> str | None:
    """The code that somebody means who types it in small letters, with spaces or a hyphen; None for what is no code."""
    text = typed.replace(" ", "").replace("-", "").upper() if isinstance(typed, str) and len(typed) < 50 else ""
    return text if len(text) == CODE_LENGTH and set(text) <= set(CODE_ALPHABET) else None


def new_key() -> str:
    """A teacher's key."""
    return secrets.token_urlsafe(KEY_BYTES)


def hashed(key: object) -> str:
    """What is kept of a key. A slow hash would add nothing: nobody guesses 128 random bits."""
    return hashlib.sha256(str(key)[:200].encode(errors="replace")).hexdigest()


def token_of(mark: bytes, code: str) -> str:
    """Who somebody is in one class: of this, nobody finds the cookie again, nor the same voter in another class."""
    return hashlib.blake2s(mark, key=code.encode(), digest_size=16).hexdigest()
