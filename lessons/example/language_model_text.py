"""How a piece of the language model that ships with the app is read."""

from attention_core.pieces import SPACE, START, UNKNOWN


def shown(token: str) -> str:
    """A token as it is read."""
    if token == SPACE:
        return "␣"
    if token in (START, UNKNOWN) or token.startswith(SPACE) or not token[0].isalnum():
        return token.removeprefix(SPACE)
    return f"·{token}"
