"""The weights of a model in one file that is mapped, not read: written once, opened in a blink, shared by processes.

What stands in it is what the app computes with, and what it calls the model: the numbers of the file that somebody has
trained, all of them as 32 bits. Mapped, its pages are read when a layer is needed, and the processes of a machine hold
them once.

With half the bits it would be half as large, and another model. Measured on nine sentences of the kind that lessons use
and on 172 of the guides, always with arithmetic in 32 bits: the largest change of any attention weight of any head, and
the texts after which another next token comes first.

    SmolLM2, from 4 bits     bfloat16   0.0088 on the nine, 0.075 on all     1 of 181, where 0.142 met 0.141
                             float16    0.0020              0.0042           the same one
    MiniLM, from 32 bits     bfloat16   0.0105              0.0144
                             float16    0.0009              0.0020
"""

import hashlib
import json
import math
import re
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float32
from safetensors import SafetensorError, safe_open

from attention_core.base.arrays import Array
from models.disk import check_disk, move_into_place, not_written, one_process
from models.folders import ModelFiles, cache_folder

CONVERSION = 1  # one more where a reader comes to read other numbers from the same file: then all is converted anew
N_BYTES = 4  # of a number
WEIGHT_FILES = (".gguf", ".safetensors", ".json", ".txt", ".model")


@dataclass(frozen=True, eq=False)
class ModelContents:
    """What a reader gives: settings and whatever else JSON can say, the shapes, and the weights one after the other.

    They come one by one, so that no more than one of them is in memory as it is converted.
    """

    about: Mapping[str, object]
    shapes: Mapping[str, tuple[int, ...]]
    weights: Iterable[tuple[str, Array]]


@dataclass(frozen=True, eq=False)
class StoredModel:
    """A model as it lies on the disk: its weights are views of the mapped file. Writing to one changes no file."""

    file: Path
    about: Mapping[str, object]
    weights: Mapping[str, Float32[np.ndarray, "..."]]


Reader = Callable[[ModelFiles], ModelContents]


def stored_model(files: ModelFiles, read: Reader, check: Callable[[], None] = lambda: None) -> StoredModel:
    """The model of these files: opened, or converted first, by one process while others wait.

    Raises what `read` raises of files that it cannot read, and DiskError.
    """
    file = stored_file(files)
    if opened := open_stored(file):
        return opened
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with one_process(file.parent / f"{family(files)}.lock", check):
            if open_stored(file) is None:
                write_stored(file, read(files), check)
                forget_older(file, files)
    except OSError as error:
        raise not_written(error, 0, file.parent) from error
    return open_stored(file)


def stored_file(files: ModelFiles) -> Path:
    """Where the weights of these very files are: another size or time of any of them is another model."""
    several = sorted(files.path.iterdir()) if files.path.is_dir() else [files.path]
    parts = [(path.name, path.stat()) for path in several if path.suffix.lower() in WEIGHT_FILES]
    state = [(name, stat.st_size, stat.st_mtime_ns) for name, stat in parts]
    name = f"{family(files)}-{digest_of(CONVERSION, state)}-f32.safetensors"
    return cache_folder() / "converted" / name


def family(files: ModelFiles) -> str:
    """What the conversions of one path have in common; it can be told by eye which model they are of."""
    return f"{re.sub(r'[^A-Za-z0-9.]+', '_', files.name)[:60]}-{digest_of(str(files.path.absolute()))}"


def digest_of(*parts: object) -> str:
    """Twelve letters that stand for these parts."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def forget_older(file: Path, files: ModelFiles) -> None:
    """What was converted from these files when they were others. Who has it open keeps it to the end."""
    for older in file.parent.glob(f"{family(files)}-*.safetensors"):
        if older != file:
            try:
                older.unlink()
            except OSError:
                continue  # Windows keeps what is mapped


def open_stored(file: Path) -> StoredModel | None:
    """Map a file; None where there is none, or one that is not whole."""
    try:
        with safe_open(file, "np") as whole:  # it checks the file; what it gives are copies
            about, names = json.loads(whole.metadata()["about"]), whole.offset_keys()
            shapes = {name: whole.get_slice(name).get_shape() for name in names}
        numbers = np.memmap(file, np.dtype("<f4"), "c", offset=file.stat().st_size - N_BYTES * n_numbers(shapes))
    except (FileNotFoundError, SafetensorError):
        return None
    ends = np.cumsum([math.prod(shape) for shape in shapes.values()])[:-1]
    parts = np.split(np.asarray(numbers), ends)
    weights = {name: part.reshape(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}
    return StoredModel(file, about, weights)


def n_numbers(shapes: Mapping[str, Sequence[int]]) -> int:
    """How many numbers there are in all weights."""
    return sum(map(math.prod, shapes.values()))


def write_stored(file: Path, contents: ModelContents, check: Callable[[], None]) -> None:
    """Write the file, one weight after the other, under another name until it is whole."""
    header = stored_header(contents)
    n_bytes = len(header) + N_BYTES * n_numbers(contents.shapes)
    check_disk(n_bytes, file.parent)
    new = file.with_suffix(".new")
    try:
        with new.open("wb") as out:
            out.write(header)
            expected = iter(contents.shapes.items())
            for name, weight in contents.weights:
                check()
                assert (name, tuple(weight.shape)) == next(expected), name
                out.write(np.ascontiguousarray(weight, "<f4"))
            assert next(expected, None) is None
        move_into_place(new, file)
    except OSError as error:
        raise not_written(error, n_bytes, file.parent) from error
    finally:
        new.unlink(missing_ok=True)


def stored_header(contents: ModelContents) -> bytes:
    """How a file of safetensors begins: where each weight lies, and what is said of the model.

    https://github.com/huggingface/safetensors#format; its own writer wants all weights at once.
    """
    header: dict[str, object] = {"__metadata__": {"about": json.dumps(contents.about)}}
    end = 0
    for name, shape in contents.shapes.items():
        begin, end = end, end + math.prod(shape) * N_BYTES
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # so that numbers lie where a processor reads them in one go
    return struct.pack("<Q", len(text)) + text
