"""The real models of this process: there, or not on this machine."""

from attention_core.errors import InputError
from models.disk import DiskError
from models.folders import cache_folder, model_at
from models.opening import SharedModel, shared_model
from models.wheels import MINILM, SMOLLM2, Wheel


def real_model() -> SharedModel | None:
    """The model that reads real sentences; None where it has not been fetched, or cannot be opened."""
    return fetched_model(SMOLLM2)


def encoder_model() -> SharedModel | None:
    """The model whose tokens may look ahead; None where it is not here."""
    return fetched_model(MINILM)


def fetched_model(wheel: Wheel) -> SharedModel | None:
    """The model that a package brought; None where it has not been fetched, or cannot be opened."""
    if not wheel.is_in(cache_folder()):
        return None
    try:
        return shared_model(model_at(wheel.path_in(cache_folder()), wheel.name))
    except (InputError, DiskError):
        return None
