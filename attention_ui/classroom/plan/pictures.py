"""Pictures of a teacher's own: whatever is brought is decoded within limits, and written anew.

So a class is shown nothing but pixels: no place and time of a photograph, no text, no script after the end of the file.
"""

import io
import threading
from collections.abc import Iterator

from attention_core.base.errors import InputError
from classes.pictures import kind_of_picture
from lessons.teachers.class_plan.plan import MOST_PICTURE

MOST_BROUGHT = 1024 * 1024  # bytes of a file: no more can be uploaded
WIDEST = HIGHEST = 1280  # pixels; what is larger is made smaller
MOST_PIXELS = 12_000_000  # of what is decoded: 48 MB while that takes place
QUALITIES = (85, 75, 60, 45)  # of a JPEG
FORMATS = ("PNG", "JPEG")
ONE_AT_A_TIME = threading.Lock()


def redrawn(data: bytes) -> bytes:
    """A picture of the same look as this PNG or JPEG, of at most 1280 pixels each way and 150 kB.

    Raises ValueError, with a sentence, for anything else.
    """
    from PIL import Image  # with what the first page does without

    if len(data) > MOST_BROUGHT:
        raise InputError("A picture has at most 1 MB, but this file has more: save it smaller.")
    kind = kind_of_picture(data)
    if kind is None:
        raise InputError("A picture is a PNG or a JPEG file, but this file is neither: save it as one of them.")
    with ONE_AT_A_TIME:
        try:
            with Image.open(io.BytesIO(data), formats=FORMATS) as brought:
                check_pixels(*brought.size)
                return small_enough(plain_pixels(brought), kind)
        except InputError:
            raise
        except Image.DecompressionBombError as error:  # Pillow looks as well
            raise too_many_pixels() from error
        except Exception as error:  # whatever its decoder finds wrong with a stranger's file
            raise InputError("This picture is damaged: it cannot be decoded. Save it again, as PNG or JPEG.") from error


def check_pixels(width: int, height: int) -> None:
    """Refuse, before anything is decoded, a file that is small and claims to be huge."""
    if width * height > MOST_PIXELS:
        raise too_many_pixels()


def too_many_pixels() -> InputError:
    """What is said of it."""
    return InputError(
        "A picture has at most {most} million pixels, but this one has more: save it smaller.",
        most=MOST_PIXELS // 1_000_000,
    )


def plain_pixels(brought):
    """Its pixels alone, upright and within the limits; what is transparent is on white."""
    from PIL import Image, ImageOps

    brought.thumbnail((WIDEST, HIGHEST))  # a JPEG is decoded no larger than it must be
    turned = ImageOps.exif_transpose(brought)
    if turned.mode in ("RGBA", "LA", "PA") or "transparency" in turned.info:
        turned = Image.alpha_composite(Image.new("RGBA", turned.size, "white"), turned.convert("RGBA"))
    pixels = turned.convert("RGB")
    plain = Image.new("RGB", pixels.size)  # which knows nothing of the file
    plain.paste(pixels)
    return plain


def small_enough(picture, kind: str) -> bytes:
    """The first way of writing it that takes few enough bytes."""
    return next(data for data in ways_of_writing(picture, kind) if len(data) <= MOST_PICTURE)


def ways_of_writing(picture, kind: str) -> Iterator[bytes]:
    """What was a PNG as a PNG, which loses nothing; then JPEGs, each smaller than the one before."""
    ways = [("PNG", {"optimize": True})] if kind == "image/png" else []
    while True:
        for name, how in (*ways, *(("JPEG", {"quality": quality}) for quality in QUALITIES)):
            file = io.BytesIO()
            picture.save(file, name, **how)
            yield file.getvalue()
        picture = picture.reduce(2)
