"""The real language model of this process: there, or not on this machine."""

from attention_core.errors import InputError
from models.disk import DiskError
from models.folders import cache_folder, model_named
from models.opening import SharedModel, shared_model
from models.wheels import SMOLLM2


def real_model() -> SharedModel | None:
    """The model that reads real sentences; None where it has not been fetched, or cannot be opened."""
    if not SMOLLM2.is_in(cache_folder()):
        return None
    try:
        return shared_model(model_named(SMOLLM2.name))
    except (InputError, DiskError):
        return None
