"""What pictures a class may have in its plan."""

KINDS_OF_PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}


def kind_of_picture(data: bytes) -> str | None:
    """The type of a picture, by how it begins; None for what is no picture."""
    return next((kind for start, kind in KINDS_OF_PICTURES.items() if data.startswith(start)), None)
