"""The real models of this process: fetched or not, open or not."""

import threading

from attention_core.base.errors import InputError
from models.disk import DiskError
from models.folders import ModelFiles, cache_folder, model_at
from models.opening import SharedModel, opened_model, shared_model
from models.wheels import MINILM, SMOLLM2, Wheel


def smollm2() -> SharedModel | None:
    """The model that the lessons speak of; None where it has not been fetched, or cannot be opened."""
    return fetched_model(SMOLLM2)


def encoder_model() -> SharedModel | None:
    """The model whose tokens may look ahead; None where it is not here."""
    return fetched_model(MINILM)


def fetched_model(wheel: Wheel) -> SharedModel | None:
    """The model that a package brought; None where it has not been fetched, or cannot be opened."""
    files = fetched_files(wheel)
    try:
        return None if files is None else shared_model(files)
    except (InputError, DiskError):
        return None


def fetched_files(wheel: Wheel) -> ModelFiles | None:
    """The files of a model that a package brought, where they are here."""
    return model_at(wheel.path_in(cache_folder()), wheel.name) if wheel.is_in(cache_folder()) else None


# The first page does not wait until the model is open.

OPENING: dict[ModelFiles, threading.Thread] = {}


def smollm2_so_far() -> SharedModel | None:
    """The model, if this process has opened it already."""
    files = fetched_files(SMOLLM2)
    return None if files is None else opened_model(files)


def will_be_open() -> bool:
    """True where the model is here and nobody has opened it yet, nor tried in vain."""
    files = fetched_files(SMOLLM2)
    if files is None or opened_model(files) is not None:
        return False
    return files not in OPENING or OPENING[files].is_alive()


def begin_opening() -> None:
    """Open the model in a thread, once a process: it is converted there the first time, and nobody's page waits."""
    files = fetched_files(SMOLLM2)
    if files is not None and files not in OPENING:
        OPENING[files] = threading.Thread(target=smollm2, name="open the model", daemon=True)
        OPENING[files].start()
