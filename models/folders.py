"""Where the files of models lie: what the app has fetched, folders of one's own, and the cache of the hub.

A model is asked for by its name, never by a path: so nobody who opens a link reads a file that was not offered.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs

from attention_core.base.errors import InputError
from models.wheels import WHEELS

CACHE = "ATTENTION_LAB_CACHE"  # a folder for what is fetched and converted, where the user's own cache will not do
OWN = "ATTENTION_LAB_MODELS"  # folders of models, separated as in PATH
MOST_LEVELS, MOST_FOLDERS = 4, 5000  # whoever names a whole disk gets what is near
LATER_PART = re.compile(r"-(?!00001)\d{5}-of-\d{5}$")


@dataclass(frozen=True)
class ModelFiles:
    """A model that can be opened: its name, and its one GGUF file or its folder as the hub has it."""

    name: str
    path: Path
    kind: Literal["gguf", "hub"]


def cache_folder() -> Path:
    """The folder of what is fetched once a machine: of the setting, or where the system keeps what can be had again."""
    return Path(os.environ.get(CACHE) or platformdirs.user_cache_path("attention-lab", appauthor=False))


def offered_models(loopback: bool = False) -> dict[str, ModelFiles]:
    """All models that are here, by name: those fetched, then those of one's own folders.

    What lies in the cache of the hub was not put there for the app's visitors: it is offered only where nobody else
    than whoever sits at the machine reaches the server, on a `loopback` address.
    """
    fetched = [model_at(wheel.path_in(cache_folder()), wheel.name) for wheel in WHEELS if wheel.is_in(cache_folder())]
    own = [files for folder in own_folders() for files in models_below(folder)]
    return named_once([*fetched, *own, *(hub_cache_models() if loopback else ())])


def model_named(name: str, loopback: bool = False) -> ModelFiles:
    """The model of this name. Raises InputError for one that is not offered."""
    offered = offered_models(loopback)
    if name not in offered:
        raise InputError(
            "the models here are {known}, but got {name}", known=", ".join(offered) or "none", name=repr(name)
        )
    return offered[name]


def own_folders() -> list[Path]:
    """The folders that the setting names."""
    return [Path(place).expanduser() for place in os.environ.get(OWN, "").split(os.pathsep) if place.strip()]


def absent_folders() -> list[Path]:
    """Those that are named and not there."""
    return [folder for folder in own_folders() if not folder.exists()]


def models_below(top: Path) -> Iterator[ModelFiles]:
    """Every GGUF file and every folder of the hub in a folder, or this very one, in the order of their paths."""
    if top.is_file():
        yield from files_of_models(top.parent, [top.name])
        return
    for at, (place, folders, files) in enumerate(os.walk(top)):
        folder = Path(place)
        if at >= MOST_FOLDERS:
            return
        is_deep = len(folder.relative_to(top).parts) >= MOST_LEVELS
        folders[:] = [] if is_deep else sorted(name for name in folders if not name.startswith("."))
        if is_hub_folder(files):
            folders[:] = []
            yield model_at(folder, folder.resolve().name)
        yield from files_of_models(folder, files)


def files_of_models(folder: Path, files: list[str]) -> Iterator[ModelFiles]:
    """The GGUF files among files; one that is split in parts counts once."""
    for name in sorted(files):
        path = folder / name
        if path.suffix.lower() == ".gguf" and not name.startswith(".") and not LATER_PART.search(path.stem):
            yield model_at(path, path.stem)


def is_hub_folder(files: list[str]) -> bool:
    """True for settings and weights that can be read without running anything: pickled weights do not count."""
    return "config.json" in files and any(file.endswith(".safetensors") for file in files)


def model_at(path: Path, name: str) -> ModelFiles:
    """What lies at a path is of one kind or the other."""
    return ModelFiles(name, path, "gguf" if path.suffix.lower() == ".gguf" else "hub")


def named_once(found: list[ModelFiles]) -> dict[str, ModelFiles]:
    """By name. Of several with one name, the later ones are called after the folder around them, or are numbered."""
    named: dict[str, ModelFiles] = {}
    for files in found:
        name = files.name
        if any(files.path.absolute() == known.path.absolute() for known in named.values()):
            continue  # one of the folders lies in another
        if name in named:
            name = f"{files.path.absolute().parent.name}/{files.name}"
        number, free = 2, name
        while free in named:
            number, free = number + 1, f"{name} ({number})"
        named[free] = ModelFiles(free, files.path, files.kind)
    return named


def hub_cache_models() -> Iterator[ModelFiles]:
    """The models in the hub's own cache, at the revision that was asked for last, named as on the hub."""
    for repository in sorted(hub_cache().glob("models--*--*")):
        reference = repository / "refs" / "main"
        named = [repository / "snapshots" / reference.read_text().strip()] if reference.is_file() else []
        snapshots = named + sorted(repository.glob("snapshots/*"), key=lambda path: path.stat().st_mtime, reverse=True)
        for snapshot in filter(Path.is_dir, snapshots[:1]):
            files = os.listdir(snapshot)
            name = repository.name.removeprefix("models--").replace("--", "/")
            if is_hub_folder(files):
                yield model_at(snapshot, name)
            yield from files_of_models(snapshot, files)


def hub_cache() -> Path:
    """Where the hub's own programs keep what they have fetched."""
    environment = os.environ
    for setting in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if environment.get(setting):
            return Path(environment[setting]).expanduser()
    caches = Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache").expanduser()
    return Path(environment.get("HF_HOME") or caches / "huggingface").expanduser() / "hub"
