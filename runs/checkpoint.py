"""Keeping a trained model: one safetensors file with its weights and everything that made it.

Safetensors, because a pickle runs whatever code somebody put into it, and this is read from strangers.
The format: https://huggingface.co/docs/safetensors. All that is not weights stands in its metadata as JSON.
"""

import csv
import io
import json
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, asdict, dataclass, fields

import torch
from jaxtyping import Float
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector

from attention_core.model import ModelConfig, TinyTransformer
from attention_core.randomness import generator
from attention_core.tasks import CharacterTask
from attention_core.tokens import is_invisible
from attention_core.training import TrainingSettings
from attention_core.weights import model_with
from runs.run import RunView

FORMAT, ABOUT = "attention-lab model 1", "attention_lab"
MAX_BYTES = 4_000_000
MAX_HEADER_BYTES = 200_000
MAX_TEXT = 20_000
MAX_WEIGHT = 1e6
LARGEST_INT, LARGEST_FLOAT = 10**12, 1e300  # JSON knows whole numbers beyond every float
REMEDY = "Choose a file that this page saved"


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A model of a text: the settings that made it, how many updates it had, and all its weights in one vector."""

    settings: TrainingSettings
    updates: int
    weights: Float[Tensor, " parameters"]

    def model(self) -> TinyTransformer:
        """The model itself, ready to be used."""
        return model_with(self.settings.model, self.weights)


def save_checkpoint(checkpoint: Checkpoint) -> bytes:
    """The file. Raises ValueError for what is no model of a text."""
    settings = checkpoint.settings
    check_writes(settings)
    about = {
        "format": FORMAT,
        "task": asdict(settings.task),
        "model": asdict(settings.model),
        "training": {f.name: getattr(settings, f.name) for f in numbers_of(TrainingSettings)},
        "vocabulary": settings.task.vocabulary.tokens,
        "updates": checkpoint.updates,
    }
    tensors = {name: weights.detach().clone() for name, weights in checkpoint.model().named_parameters()}
    return save(tensors, metadata={ABOUT: json.dumps(about, ensure_ascii=False)})


def load_checkpoint(data: bytes) -> Checkpoint:
    """The model in a file. Raises ValueError that says what was expected, what came, and what to do.

    Nothing in the file is believed: sizes are checked before memory is taken, settings by those who use them.
    """
    header = read_header(data)
    settings, updates = read_about(header.pop("__metadata__", None))
    model = TinyTransformer(settings.model, generator(0))
    check_tensors(header, dict(model.named_parameters()))
    try:
        tensors = load(data)
    except SafetensorError as error:
        raise refusal("tensors that fill the file without gaps", str(error)) from None
    weights = parameters_to_vector([check_finite(name, tensors[name]) for name, _ in model.named_parameters()])
    checkpoint = Checkpoint(settings, updates, weights.detach())
    check_works(checkpoint)
    return checkpoint


def check_writes(settings: TrainingSettings) -> None:
    """Raises ValueError for a model that cannot write, because what it learnt is no text."""
    if not isinstance(settings.task, CharacterTask):
        learnt = getattr(settings.task, "key", "something else")
        raise ValueError(f"only a model that learnt a text can be kept and can write, but this one learnt: {learnt}")


def read_header(data: bytes) -> dict:
    """What a safetensors file says of itself: 8 bytes with a length, then so many bytes of JSON."""
    if not 8 <= len(data) <= MAX_BYTES:
        raise refusal(f"a model of 8 to {MAX_BYTES:,} bytes", f"{len(data):,} bytes")
    size = int.from_bytes(data[:8], "little")
    if size > MAX_HEADER_BYTES:
        raise refusal("a safetensors file, which begins with the size of its header", "some other kind of file")
    if size > len(data) - 8:
        raise refusal(f"a header of {size:,} bytes", f"a file that ends after {len(data) - 8:,} of them")
    header = read_json(data[8 : 8 + size], "the header")
    if not isinstance(header, dict):
        raise refusal("a header that names tensors", kind_of(header))
    return header


def read_json(text: bytes | str, what: str) -> object:
    """JSON as the standard has it: names come once, and there is no NaN."""
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        return json.loads(text, object_pairs_hook=named_once, parse_constant=no_such_number)
    except (ValueError, RecursionError) as error:
        reason = "too many brackets" if isinstance(error, RecursionError) else str(error)[:80]
        raise refusal(f"{what} in JSON", f"something else ({reason})") from None


def named_once(pairs: list[tuple[str, object]]) -> dict:
    """An object of JSON. Raises ValueError for a name that comes twice: readers would differ on it."""
    named = dict(pairs)
    if len(named) < len(pairs):
        raise ValueError("a name comes twice")
    return named


def no_such_number(name: str) -> float:
    """Raises ValueError: JSON has no such number."""
    raise ValueError(f"{name} is not JSON")


def read_about(metadata: object) -> tuple[TrainingSettings, int]:
    """The settings and the number of updates, from the metadata of the file."""
    text = metadata.get(ABOUT) if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise refusal("metadata that says how the model was made", kind_of(text))
    about = read_json(text, "what the file says of the model")
    parts = {"format": str, "task": dict, "model": dict, "training": dict, "vocabulary": list, "updates": int}
    if not isinstance(about, dict) or set(about) != set(parts):
        came = f"about {shown(list(about), 200)}" if isinstance(about, dict) else kind_of(about)
        raise refusal(f"metadata about {', '.join(parts)}", came)
    if about["format"] != FORMAT:
        raise refusal(f"the format “{FORMAT}”", shown(about["format"]))
    for part, kind in parts.items():
        if type(about[part]) is not kind:
            raise refusal(f"{part} as {kind.__name__}", kind_of(about[part]))
    return make_settings(about), about["updates"]


def make_settings(about: dict) -> TrainingSettings:
    """The settings, made anew and so checked as if somebody had typed them."""
    check_text(about["task"].get("text"))
    try:
        task = CharacterTask(**checked_fields(CharacterTask, about["task"]))
        config = ModelConfig(**checked_fields(ModelConfig, about["model"]))
        settings = TrainingSettings(task=task, model=config, **checked_fields(TrainingSettings, about["training"]))
    except ValueError as error:
        raise ValueError(str(error) if REMEDY in str(error) else f"{error}. {REMEDY}.") from None
    if list(task.vocabulary.tokens) != about["vocabulary"]:
        raise refusal("the vocabulary of the text", f"another one, of {len(about['vocabulary'])}")
    if not 0 <= about["updates"] <= settings.steps:
        raise refusal(f"0 to {settings.steps} updates", shown(about["updates"]))
    return settings


def check_text(text: object) -> None:
    """Raises ValueError for a text that is too long, or that cannot be shown."""
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        came = f"{len(text):,} characters" if isinstance(text, str) else kind_of(text)
        raise refusal(f"a training text of at most {MAX_TEXT:,} characters", came)
    if any(is_invisible(c) and c not in "\n\t" for c in text):
        raise refusal("a training text that can be shown", "one with invisible characters")


def numbers_of(kind: type) -> list[Field]:
    """The fields of a dataclass that hold a number, a choice or a switch, not another dataclass."""
    hints = typing.get_type_hints(kind)
    plain = (int, float, bool, str, types.NoneType)
    return [f for f in fields(kind) if set(alternatives(hints[f.name])) <= set(plain) or is_choice(hints[f.name])]


def checked_fields(kind: type, given: dict) -> dict[str, object]:
    """What was given for the fields of a dataclass. Raises ValueError where names or types do not fit.

    A field with a default may be missing: files from before it was invented stay readable.
    """
    hints, wanted = typing.get_type_hints(kind), {f.name: f for f in numbers_of(kind)}
    if unknown := set(given) - set(wanted):
        raise refusal(f"settings among {', '.join(wanted)}", shown(sorted(unknown)))
    for name, field in wanted.items():
        if name not in given and field.default is MISSING and field.default_factory is MISSING:
            raise refusal(f"a setting called {name}", "none")
        if name in given and not fits(given[name], hints[name]):
            raise refusal(f"{name} as {getattr(hints[name], '__name__', hints[name])}", shown(given[name]))
    return {
        name: float(value) if type(value) is int and int not in alternatives(hints[name]) else value
        for name, value in given.items()
    }


def is_choice(hint: object) -> bool:
    """True for a Literal: one of a few words."""
    return typing.get_origin(hint) is typing.Literal


def alternatives(hint: object) -> tuple:
    """The types that a type hint allows."""
    union = isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union
    return typing.get_args(hint) if union else (hint,)


def fits(value: object, hint: object) -> bool:
    """True where a value from JSON is of the type; whole numbers are fine for a float, True is no number."""
    if is_choice(hint):
        return any(value == word and type(value) is type(word) for word in typing.get_args(hint))
    for kind in alternatives(hint):
        if kind is float and type(value) in (int, float):
            return abs(value) < LARGEST_FLOAT
        if type(value) is int and abs(value) > LARGEST_INT:
            return False
        if type(value) is kind or (is_choice(kind) and fits(value, kind)):
            return True
    return False


def check_tensors(header: dict, expected: Mapping[str, nn.Parameter]) -> None:
    """Raises ValueError unless the file has exactly the tensors of this model, in their shapes, as float32."""
    for name in expected:
        if name not in header:
            raise refusal(f"the tensor {name}", "a file without it")
    for name, entry in header.items():
        if name not in expected:
            raise refusal(f"{len(expected)} tensors", f"another one, {shown(name)}")
        shape = entry.get("shape") if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or entry.get("dtype") != "F32" or shape != list(expected[name].shape):
            raise refusal(f"{name} as F32 of shape {list(expected[name].shape)}", shown(entry))


def check_finite(name: str, weights: Tensor) -> Tensor:
    """The weights as they are. Raises ValueError where one is no number, or too large to compute with."""
    if not bool((weights.abs() <= MAX_WEIGHT).all()):
        raise refusal(f"weights between −{MAX_WEIGHT:g} and {MAX_WEIGHT:g} in {name}", "larger ones, or no numbers")
    return weights


def check_works(checkpoint: Checkpoint) -> None:
    """Raises ValueError where the model does not give finite scores for its own training text."""
    window = checkpoint.settings.task.windows[0, :-1]
    with torch.inference_mode():
        logits = checkpoint.model()(window).logits
    if not torch.isfinite(logits).all():
        raise refusal("a model that gives finite scores", "one that does not")


def refusal(expected: str, came: str) -> ValueError:
    """The sentence for a file that cannot be used."""
    return ValueError(f"expected {expected}, but got {came}. {REMEDY}.")


def shown(value: object, most: int = 60) -> str:
    """The beginning of a value that may be anything, fit for a sentence."""
    if isinstance(value, int) and abs(value) > LARGEST_INT:
        return "a huge number"
    text = "".join(c for c in repr(value)[: 10 * most] if not is_invisible(c))
    return text if len(text) <= most else f"{text[:most]}…"


def kind_of(value: object) -> str:
    """What sort of JSON a value is."""
    return "nothing" if value is None else f"a {type(value).__name__}"


def history_csv(losses: Sequence[float], more: Mapping[str, Mapping[int, float]] | None = None) -> str:
    """One line for each step: its number, the loss before that update, and what else was recorded at some steps.

    `more` has a column for each name, with values by their steps; where there is none the cell is empty.
    The numbers are written so that reading them gives the same numbers.
    """
    columns = more or {}
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow(["step", "loss", *columns])
    for step, loss in enumerate(losses):
        others = (column.get(step) for column in columns.values())
        lines.writerow([step, repr(float(loss)), *("" if value is None else repr(float(value)) for value in others)])
    return file.getvalue()


def run_history(view: RunView) -> str:
    """The history of a run up to what it shows: the loss of every step, and the evaluations every few steps."""
    columns = {
        name: {m.step: getattr(m, field) for m in view.evaluations}
        for name, field in (("held-out loss", "loss"), ("held-out accuracy", "accuracy"))
    }
    return history_csv(view.losses.tolist(), {name: column for name, column in columns.items() if column})
