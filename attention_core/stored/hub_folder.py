"""A folder as the hub writes it: config.json, and weights in model.safetensors or in several files with an index.

Weights are mapped, not read: those that are never used take no memory, and processes share the others. Only tensors in
which a file has another order, such as queries and keys that are rotated, are copied.
"""

import json
from collections.abc import Collection, Mapping
from pathlib import Path

import torch
from jaxtyping import Float
from safetensors import SafetensorError, safe_open
from torch import Tensor

from attention_core.base.errors import TechnicalError
from attention_core.model.family import TransformerConfig, build_transformer, weight_shapes
from attention_core.model.transformer import Transformer
from attention_core.stored.architectures import Architecture, Settings, architecture_of
from attention_core.stored.naming import check_layers, check_names, check_stored, is_map, name_there
from attention_core.stored.room import check_room

SETTINGS, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
FLOATS = (torch.float32, torch.float16, torch.bfloat16)
OLD_NAMES = ((".gamma", ".weight"), (".beta", ".bias"))  # of norms, in files from 2018


def hub_model(folder: Path, dtype: torch.dtype | None = None, room: int | None = None) -> Transformer:
    """Load the model of a folder, with its weights in the precision `dtype`, by default as they are stored.

    `room` is how many bytes there are for the model: see `room`. Raises InputError for another architecture, for
    settings that are not computed here, for weights in pickles, and for files that are cut short or do not belong
    together.
    """
    settings, tensors = read_json(folder / SETTINGS), {}
    for path in weight_files(folder):
        tensors |= map_tensors(path)
    check_room(sum(t.numel() * (dtype or t.dtype).itemsize for t in tensors.values()), room)
    config, weights = convert_hub(settings, tensors)
    return build_transformer(config, {name: weight.to(dtype or weight.dtype) for name, weight in weights.items()})


def convert_hub(settings: Settings, tensors: Mapping[str, Tensor]) -> tuple[TransformerConfig, dict[str, Tensor]]:
    """Return what config.json and its tensors say: the sizes, and the weights by our names and in our orientation.

    Raises InputError for another architecture, and for tensors that do not fit the settings.
    """
    architecture = architecture_of(settings)
    tensors = {plain_name(name, architecture.prefix): tensor for name, tensor in tensors.items()}
    config = architecture.config(settings, tensors.keys())
    check_layers(config.n_layers, len(tensors))
    shapes = weight_shapes(config)
    there = {name: name_there(name, architecture.names) for name in shapes}
    check_names(tensors, {*there.values(), *unread(tensors, architecture.unread)})
    for name, stored in there.items():
        came = tuple(tensors[stored].shape) if stored in tensors else None
        check_stored(stored, came, stored_shape(name, shapes[name], architecture))
        check_float(stored, tensors[stored])
    return config, {name: as_used(name, tensors[stored], config, architecture) for name, stored in there.items()}


def plain_name(name: str, prefix: str) -> str:
    """Return a name without the prefix that a file may put before it, and in today's spelling."""
    name = name.removeprefix(prefix)
    for old, new in OLD_NAMES:
        name = name.removesuffix(old) + new if name.endswith(old) else name
    return name


def unread(names: Collection[str], ends: tuple[str, ...]) -> set[str]:
    """Return the tensors that hold no weights of ours: masks, computed tables, layers on top of the model's vectors."""
    return {name for name in names if name.endswith(ends)}


def stored_shape(name: str, shape: tuple[int, ...], architecture: Architecture) -> tuple[int, ...]:
    """Return the shape of the tensor that holds a weight of the given shape."""
    if architecture.fused and role_of(name):
        shape = (*shape[:-1], 3 * shape[-1])
    return shape[::-1] if architecture.maps_turned and is_map(name) else shape


def as_used(name: str, tensor: Tensor, config: TransformerConfig, architecture: Architecture) -> Tensor:
    """Return a weight as x @ W uses it: fused maps are split, and features that are rotated together are neighbours."""
    weight, role = tensor.mT if architecture.maps_turned and is_map(name) else tensor, role_of(name)
    if architecture.fused and role:
        groups = config.n_heads if architecture.fused == "by_head" else 1
        weight = take_third(weight, "qkv".index(role), groups)
    if architecture.turned_halves and (role in ("q", "k") or name.endswith(("q_gain", "k_gain"))):
        weight = to_neighbours(weight, config.d_head, config.rotary.features)
    return weight


def role_of(name: str) -> str:
    """Return q, k or v for a weight that projects to queries, keys or values; an empty text for others."""
    last = name.split(".")[-1]
    return last[-1] if last in ("W_q", "W_k", "W_v", "b_q", "b_k", "b_v") else ""


def take_third(fused: Float[Tensor, "*d_in three_d"], which: int, n_groups: int) -> Float[Tensor, "*d_in d"]:
    """Return the first, second or third part of each group of outputs, one after the other."""
    groups = fused.reshape(*fused.shape[:-1], n_groups, 3, -1)
    return groups[..., which, :].reshape(*fused.shape[:-1], -1)


def to_neighbours(weight: Float[Tensor, "*d_in d"], d_head: int, n_turned: int | None) -> Float[Tensor, "*d_in d"]:
    """Put features in the order in which `rotate` pairs them: feature i, then the one that the hub pairs with it."""
    heads = weight.reshape(*weight.shape[:-1], -1, d_head)
    n_turned = d_head if n_turned is None else n_turned
    turned = heads[..., :n_turned].reshape(*heads.shape[:-1], 2, n_turned // 2).mT
    return torch.cat([turned.flatten(-2), heads[..., n_turned:]], dim=-1).reshape(weight.shape)


def check_float(name: str, tensor: Tensor) -> None:
    """Raise InputError unless a tensor has a type of number that weights have."""
    if tensor.dtype not in FLOATS:
        raise TechnicalError(
            "weights are numbers of the types {known}, but {name} has {kind}",
            known=", ".join(str(kind).removeprefix("torch.") for kind in FLOATS),
            name=name,
            kind=str(tensor.dtype).removeprefix("torch."),
        )


def read_json(path: Path) -> dict:
    """Read the settings of a file. Raises InputError where the file is missing or has something else."""
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise TechnicalError("a folder of a model has the file {name}, but there is none", name=path.name) from None
    except ValueError:
        raise TechnicalError(
            "{name} is written in JSON, but it cannot be read: fetch it again", name=path.name
        ) from None
    if not isinstance(settings, dict):
        raise TechnicalError("{name} has settings by their names, but it has something else", name=path.name)
    return settings


def weight_files(folder: Path) -> list[Path]:
    """Return the files of the weights: one, or those that the index names. Raises InputError where there are none."""
    if (folder / WEIGHTS).exists():
        return [folder / WEIGHTS]
    if (folder / INDEX).exists():
        named = read_json(folder / INDEX).get("weight_map")
        names = sorted(set(map(str, named.values()))) if isinstance(named, dict) else []
        if not names or any(Path(name).name != name for name in names):
            raise TechnicalError("{name} names files beside it, but it does not", name=INDEX)
        return [folder / name for name in names]
    pickles = sorted(path.name for path in folder.glob("*.bin"))
    if pickles:
        raise TechnicalError(
            "weights come as {wanted}, but the folder has {name}, a pickle, which could run any program while it is "
            "read; save the model anew with safetensors",
            wanted=WEIGHTS,
            name=pickles[0],
        )
    raise TechnicalError("a folder of a model has the file {name}, but there is none", name=WEIGHTS)


def map_tensors(path: Path) -> dict[str, Tensor]:
    """Map all tensors of a file into memory. Raises InputError where the file is missing or broken."""
    try:
        with safe_open(path, "pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  it is no dictionary
    except FileNotFoundError:
        raise TechnicalError("the index names the file {name}, but there is none", name=path.name) from None
    except SafetensorError as error:
        raise TechnicalError(
            "{name} is a whole file of safetensors, but it cannot be read ({why}): fetch it again",
            name=path.name,
            why=str(error)[:200],
        ) from None
