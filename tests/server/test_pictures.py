"""The route of pictures: what a class has in its plan, and nothing else; and what becomes of a picture before."""

import io
import random

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from starlette.requests import Request

from attention_ui.classroom.plan.pictures import MOST_PIXELS, redrawn
from attention_ui.classroom.vote import database
from attention_ui.server import pictures
from classes.keeper import MOST_PICTURE, Keeper
from classes.pictures import kind_of_picture
from classes.stages import UnreachableError
from lessons.teachers.class_plan.plan_file import hash_of_picture

SECRET = b"taken at 52.5 N 13.4 E"


def file_of(image, kind, **how):
    file = io.BytesIO()
    image.save(file, kind, **how)
    return file.getvalue()


def noise(width, height):
    return Image.frombytes("RGB", (width, height), random.Random(0).randbytes(3 * width * height))


PNG, JPEG = file_of(Image.new("RGB", (60, 40), "teal"), "PNG"), file_of(Image.new("RGB", (60, 40), "teal"), "JPEG")


@pytest.fixture
def keeper(monkeypatch, tmp_path):
    kept = Keeper(tmp_path)
    monkeypatch.setattr(database, "class_keeper", lambda: kept)
    monkeypatch.setattr(database, "has_classes", lambda: True)
    return kept


def asked(name):
    return pictures.answer_picture(Request({"type": "http", "path_params": {"name": name}, "headers": []}))


def test_only_a_picture_that_a_class_has_is_served_and_never_as_anything_else(keeper):
    code, key = keeper.open_class()
    page = b"<script>alert(1)</script>"
    keeper.bring_plan(code, key, "a plan", (PNG, JPEG, page))
    for data, kind in ((PNG, "image/png"), (JPEG, "image/jpeg")):
        answer = asked(hash_of_picture(data))
        assert answer.status_code == 200 and answer.body == data and answer.headers["content-type"] == kind
        assert answer.headers["x-content-type-options"] == "nosniff" and "immutable" in answer.headers["cache-control"]
        assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    for name in (hash_of_picture(page), hash_of_picture(b""), "../app.py", hash_of_picture(PNG).upper(), "x" * 64, ""):
        answer = asked(name)
        assert answer.status_code == 404 and not answer.body and answer.headers["cache-control"] == "no-store"
    keeper.close(code, key)
    assert asked(hash_of_picture(PNG)).status_code == 404


def test_while_the_database_is_away_a_picture_is_asked_for_again_later(keeper, monkeypatch):
    def away(name):
        raise UnreachableError("away")

    monkeypatch.setattr(keeper, "picture", away)
    answer = asked(hash_of_picture(PNG))
    assert answer.status_code == 503 and answer.headers["cache-control"] == "no-store"


def test_what_is_no_hash_is_asked_of_no_database_and_a_server_without_classes_makes_none(monkeypatch):
    monkeypatch.setattr(database, "class_keeper", lambda: 1 / 0)
    assert asked("0" * 63).status_code == 404
    monkeypatch.setattr(database, "has_classes", lambda: False)
    assert asked("0" * 64).status_code == 404


@pytest.mark.parametrize("path", ["/picture/", "/base/picture/"])
def test_the_server_has_the_route(server, path):
    assert server.get(path + "..%2fapp.py").status in (400, 404)
    answer = server.get(path + "0" * 64)
    assert answer.status == 404 and answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_picture_is_written_anew_within_its_limits_and_looks_the_same():
    for image, kind in ((noise(300, 200), "PNG"), (noise(1500, 700), "JPEG"), (Image.new("L", (3000, 90)), "PNG")):
        data = redrawn(file_of(image, kind))
        with Image.open(io.BytesIO(data)) as drawn:
            assert max(drawn.size) <= 1280 and len(data) <= MOST_PICTURE and not drawn.info.get("exif")
            assert drawn.width / drawn.height == pytest.approx(image.width / image.height, rel=0.02)
    assert redrawn(redrawn(PNG)) == redrawn(PNG), "a file that is opened and saved stays as it is"
    with Image.open(io.BytesIO(redrawn(file_of(Image.new("RGBA", (9, 9), (0, 0, 0, 0)), "PNG")))) as drawn:
        assert drawn.getpixel((4, 4)) == (255, 255, 255)


def test_of_a_file_nothing_is_left_but_pixels():
    exif, said = Image.Exif(), PngInfo()
    exif[270], exif[274] = SECRET.decode(), 6  # turned by a quarter
    said.add_text("Comment", SECRET.decode())
    picture = Image.new("RGB", (60, 40), "teal")
    turned = redrawn(file_of(picture, "JPEG", exif=exif, comment=SECRET, icc_profile=SECRET))
    with Image.open(io.BytesIO(turned)) as drawn:
        assert drawn.size == (40, 60), "upright"
    for data in (
        turned,
        redrawn(file_of(picture, "PNG", pnginfo=said, exif=exif, icc_profile=SECRET)),
        redrawn(PNG + SECRET),
        redrawn(JPEG + b"<script>" + SECRET),
    ):
        assert SECRET not in data and kind_of_picture(data)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "neither"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "neither"),
        (file_of(Image.new("RGB", (9, 9)), "GIF"), "neither"),
        (file_of(Image.new("RGB", (9, 9)), "TIFF"), "neither"),
        (PNG[:50], "damaged"),
        (JPEG[:30], "damaged"),
        (PNG[:8] + file_of(Image.new("RGB", (9, 9)), "GIF"), "damaged"),
        (JPEG[:3] + bytes(1000), "damaged"),
        (file_of(Image.new("1", (3001, 4000)), "PNG"), "at most 12 million pixels"),
        (file_of(Image.new("1", (30_000, 30_000)), "PNG"), "at most 12 million pixels"),
        (PNG + bytes(1024 * 1024), "at most 1 MB"),
    ],
)
def test_what_cannot_be_a_picture_is_refused_in_a_sentence(data, why):
    with pytest.raises(ValueError, match=why):
        redrawn(data)
    assert MOST_PIXELS == 12_000_000


def test_a_bomb_is_refused_before_it_is_decoded(monkeypatch):
    monkeypatch.setattr(Image.Image, "load", lambda self: 1 / 0)
    with pytest.raises(ValueError, match="million pixels"):
        redrawn(file_of_bomb())


def file_of_bomb():
    """A PNG whose head alone claims 8000 by 8000 pixels."""
    import struct
    import zlib

    head = b"IHDR" + struct.pack(">IIBBBBB", 8000, 8000, 8, 2, 0, 0, 0)
    return PNG[:8] + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head)) + PNG[33:]
