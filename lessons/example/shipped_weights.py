"""The model of the first screen: trained beforehand, so that nobody waits for it.

Its weights after every few updates lie beside this file. `python -m training.default_model` writes them.
"""

import functools
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from jaxtyping import Float
from safetensors import safe_open

DEFAULT_WEIGHTS = Path(__file__).parent / "shipped_weights.safetensors"


@functools.lru_cache(maxsize=1)
def default_weights() -> tuple[str, Mapping[int, Float[np.ndarray, " parameters"]]]:
    """The run that they come from, as text, and the weights by updates."""
    with safe_open(DEFAULT_WEIGHTS, "np") as kept:
        updates = sorted(map(int, kept.keys()))
        return kept.metadata()["settings"], {after: kept.get_tensor(str(after)) for after in updates}


def shipped_weights(settings: object) -> dict[int, Float[np.ndarray, " parameters"]]:
    """The weights of a run by updates: those of the file where it is the run of the file, none otherwise."""
    run, weights = default_weights()
    return dict(weights) if repr(settings) == run else {}
