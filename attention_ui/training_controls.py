"""The settings of a training run: their controls, and what they make together."""

from dataclasses import dataclass

import streamlit as st

from attention_core.examples import Limit
from attention_core.model import ModelConfig
from attention_core.tasks import CharacterTask
from attention_core.tokens import clean_text
from attention_core.training import MAX_STEPS, TrainingSettings
from attention_ui.session import SWITCH, LinkRule, link_notes

DEFAULT_TEXT = "hello world"
HEAD_KINDS = {"projected": "project all features", "sliced": "own slice only (notebook)"}
PACES = {5: "5 a second", 20: "20 a second", 100: "100 a second", 0: "as fast as it can"}
DEFAULT_PACE = 20
LIMITS = {"steps": Limit(1, MAX_STEPS), "train_seed": Limit(0, 999_999), "window": Limit(2, 16), "batch": Limit(1, 64)}

SIZES = {"layers": (1, 2), "train_heads": (1, 2, 4), "features": (8, 16, 32)}
SWITCHES = {
    "train_causal": ("Causal mask", True),
    "residual": ("Residual", False),
    "norm": ("Layer norm", False),
    "mlp": ("MLP", False),
}
LINK_RULES: dict[str, LinkRule] = {
    **LIMITS,
    **{key: {str(size): str(size) for size in sizes} for key, sizes in SIZES.items()},
    **{key: SWITCH for key in SWITCHES},
    "kind": HEAD_KINDS,
    "pace": {str(pace): label for pace, label in PACES.items()},
}


@dataclass(frozen=True)
class Choice:
    """What the controls say: settings, or a note that says why there are none."""

    settings: TrainingSettings | None
    notes: tuple[str, ...]


def training_controls() -> Choice:
    """Draw the controls of a run and put the settings together."""
    wide, *narrow = st.columns([4, 2, 2, 2])
    text = wide.text_input("Text to learn", DEFAULT_TEXT, key="learn", bind="query-params")
    rate = narrow[0].number_input(
        "Learning rate", 0.0001, 1000.0, 0.003, step=0.001, format="%g", key="rate", bind="query-params"
    )
    steps = bound_number(narrow[1], "Steps", "steps", 200, step=50)
    seed = bound_number(narrow[2], "Seed", "train_seed", 0)
    with st.expander("The model"):
        window, batch, parts = model_controls()
    clean = clean_text(text or "")
    notes = (*link_notes(), *clean.notes)
    try:
        task = CharacterTask(clean.text, window)
        config = ModelConfig(vocabulary=len(task.vocabulary), context=window, **parts)
        settings = TrainingSettings(
            task=task, model=config, learning_rate=rate, steps=steps, seed=seed, batch_size=batch
        )
    except ValueError as error:
        return Choice(None, (*notes, f"This cannot be trained: {error}."))
    return Choice(settings, notes)


def model_controls() -> tuple[int, int, dict]:
    """The window, the windows per step, and the size and the parts of the model."""
    sizes = st.columns(5)
    n_layers = size_choice(sizes[0], "Layers", "layers", 1)
    n_heads = size_choice(sizes[1], "Heads", "train_heads", 2)
    d_model = size_choice(sizes[2], "Features", "features", 16)
    window = bound_number(sizes[3], "Window (characters)", "window", 8)
    batch = bound_number(sizes[4], "Windows per step", "batch", 4)
    parts = st.columns(5)
    heads = parts[0].selectbox(
        "A head reads", list(HEAD_KINDS), format_func=HEAD_KINDS.get, key="kind", bind="query-params"
    )
    causal, residual, layer_norm, mlp = (
        column.toggle(label, default, key=key, bind="query-params")
        for column, (key, (label, default)) in zip(parts[1:], SWITCHES.items(), strict=True)
    )
    config = {"n_layers": n_layers, "n_heads": n_heads, "d_model": d_model, "heads": heads}
    return window, batch, config | {"causal": causal, "residual": residual, "layer_norm": layer_norm, "mlp": mlp}


def size_choice(place, label: str, key: str, default: int) -> int:
    """One of a few sizes, bound to the address."""
    options = SIZES[key]
    chosen = place.segmented_control(label, options, default=default, required=True, key=key, bind="query-params")
    return chosen or default


def bound_number(place, label: str, key: str, default: int, step: int = 1) -> int:
    """A whole number within its limits, bound to the address."""
    limit = LIMITS[key]
    return int(place.number_input(label, limit.least, limit.most, default, step=step, key=key, bind="query-params"))


def differences(old: TrainingSettings, new: TrainingSettings) -> list[str]:
    """Which settings differ, as `name: old → new`. A text is named, not shown: it may be long."""
    changes = []
    if old.task.text != new.task.text:
        changes.append("another text")
    for label, before, after in [
        ("learning rate", old.learning_rate, new.learning_rate),
        ("steps", old.steps, new.steps),
        ("seed", old.seed, new.seed),
        ("window", old.task.window, new.task.window),
        ("windows per step", old.batch_size, new.batch_size),
        ("layers", old.model.n_layers, new.model.n_layers),
        ("heads", old.model.n_heads, new.model.n_heads),
        ("features", old.model.d_model, new.model.d_model),
        ("a head reads", HEAD_KINDS[old.model.heads], HEAD_KINDS[new.model.heads]),
        ("causal mask", old.model.causal, new.model.causal),
        ("residual", old.model.residual, new.model.residual),
        ("layer norm", old.model.layer_norm, new.model.layer_norm),
        ("MLP", old.model.mlp, new.model.mlp),
    ]:
        if before != after:
            changes.append(f"{label}: {spoken(before)} → {spoken(after)}")
    return changes


def spoken(value: object) -> str:
    """A setting as it is read aloud."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)
