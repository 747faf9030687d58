"""Keeping a trained model: one safetensors file with its weights and everything that made it.

Safetensors, because a pickle runs whatever code somebody put into it, and this is read from strangers.
The format: https://huggingface.co/docs/safetensors. All that is not weights stands in its metadata as JSON.
"""

import json
import re
import typing
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields

import msgspec
import numpy as np
from jaxtyping import Float
from safetensors import SafetensorError
from safetensors.numpy import load, save

from attention_core.base.arrays import Array
from attention_core.base.errors import InputError
from attention_core.learning.tasks import CharacterTask
from attention_core.learning.training import TrainingSettings
from attention_core.model.small_model import ModelConfig, blank, model_with
from attention_core.model.transformer import Transformer
from attention_core.model.weights import in_one_vector, named_weights
from attention_core.text.tokens import is_invisible
from runs.run import RunView

FORMAT, METADATA_KEY = "attention-lab model 2", "attention_lab"
MAX_FILE_BYTES = 4_000_000
MAX_HEADER_BYTES = 200_000
MAX_TEXT = 20_000
MAX_WEIGHT = 1e6
MAX_DIGITS = 20  # of a whole number
WORDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "a switch, true or false",
    "str": "a text",
    "array": "a list",
    "object": "a group of settings",
    "null": "nothing",
}  # for what msgspec calls types
History = list[list[str | int | float | None]]  # the names of the columns, then a line for each step


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A model of a text: the settings that made it, how many updates it had, and all its weights in one vector."""

    settings: TrainingSettings
    updates: int
    weights: Float[np.ndarray, " parameters"]

    def model(self) -> Transformer:
        """The model itself, of NumPy arrays, ready to be used."""
        return model_with(self.settings.model, self.weights)


def save_checkpoint(checkpoint: Checkpoint) -> bytes:
    """The file. Raises ValueError for what is no model of a text."""
    settings = checkpoint.settings
    check_writes(settings)
    about = {
        "format": FORMAT,
        "task": asdict(typing.cast(CharacterTask, settings.task)),
        "model": asdict(settings.model),
        "training": {name: getattr(settings, name) for name in TRAINING.__struct_fields__},
        "vocabulary": settings.task.vocabulary.tokens,
        "updates": checkpoint.updates,
    }
    tensors = dict(named_weights(checkpoint.model()))
    return save(tensors, metadata={METADATA_KEY: json.dumps(about, ensure_ascii=False)})


def load_checkpoint(data: bytes) -> Checkpoint:
    """The model in a file. Raises ValueError that says what was expected, what came, and what to do.

    Nothing in the file is believed: sizes are checked before memory is taken, settings by those who use them.
    """
    header = read_header(data)
    settings, updates = read_about(header.pop("__metadata__", None))
    expected = dict(named_weights(blank(settings.model)))
    check_tensors(header, expected)
    try:
        tensors = load(data)
    except SafetensorError as error:
        raise refusal("tensors that fill the file without gaps", str(error)) from None
    weights = in_one_vector([check_finite(name, tensors[name]) for name in expected])
    checkpoint = Checkpoint(settings, updates, weights)
    check_works(checkpoint)
    return checkpoint


def check_writes(settings: TrainingSettings) -> None:
    """Raises ValueError for a model that cannot write, because what it learnt is no text."""
    if not isinstance(settings.task, CharacterTask):
        learnt = getattr(settings.task, "key", "something else")
        raise InputError(
            "only a model that learned a text can be kept and can write, but this one learned: {learnt}", learnt=learnt
        )


def read_header(data: bytes) -> dict:
    """What a safetensors file says of itself: 8 bytes with a length, then so many bytes of JSON."""
    if not 8 <= len(data) <= MAX_FILE_BYTES:
        raise refusal(
            f"a model of 8 to {MAX_FILE_BYTES:,} bytes",
            f"{len(data):,} bytes",
        )
    size = int.from_bytes(data[:8], "little")
    if size > MAX_HEADER_BYTES:
        raise refusal("a safetensors file, which begins with the size of its header", "some other kind of file")
    if size > len(data) - 8:
        raise refusal(
            f"a header of {size:,} bytes",
            f"a file that ends after {len(data) - 8:,} of them",
        )
    header = read_json(data[8 : 8 + size], "the header in JSON")
    if not isinstance(header, dict):
        raise refusal("a header that names tensors", kind_of(header))
    return header


def read_json(text: bytes | str, what: str) -> object:
    """JSON as the standard has it, and as every reader takes it: names come once, no NaN, no endless numbers."""
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        return json.loads(text, object_pairs_hook=named_once, parse_constant=no_such_number, parse_int=short_number)
    except (ValueError, RecursionError) as error:
        why = "too many brackets" if isinstance(error, RecursionError) else str(error)[:80]
        raise refusal(what, f"something else ({why})") from None


def named_once(pairs: list[tuple[str, object]]) -> dict:
    """An object of JSON. Raises ValueError for a name that comes twice: readers would differ on it."""
    named = dict(pairs)
    if len(named) < len(pairs):
        raise ValueError("a name appears twice")
    return named


def no_such_number(name: str) -> float:
    """Raises ValueError: JSON has no such number."""
    raise ValueError(f"{name} is not JSON")


def short_number(digits: str) -> int:
    """A whole number. Raises ValueError for one that no setting can have, and no sentence can say."""
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def struct_of(kind: type, without: Collection[str] = ()) -> type[msgspec.Struct]:
    """The fields of a dataclass with their types and defaults, and no others, as msgspec checks them.

    A field with a default may be missing: files from before it was invented stay readable.
    """
    hints = typing.get_type_hints(kind)
    own = [f for f in fields(kind) if f.name not in without]
    named = [(f.name, hints[f.name], *([] if f.default is MISSING else [f.default])) for f in own]
    return msgspec.defstruct(kind.__name__, named, forbid_unknown_fields=True, kw_only=True)


TASK, MODEL = struct_of(CharacterTask), struct_of(ModelConfig)
TRAINING = struct_of(TrainingSettings, without=("task", "model"))
PARTS = {"format": str, "task": TASK, "model": MODEL, "training": TRAINING, "vocabulary": list[str], "updates": int}
ABOUT = msgspec.defstruct("About", PARTS.items(), forbid_unknown_fields=True)


def read_about(metadata: object) -> tuple[TrainingSettings, int]:
    """The settings and the number of updates, from the metadata of the file."""
    text = metadata.get(METADATA_KEY) if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise refusal("metadata that says how the model was made", kind_of(text))
    said = read_json(text, "the file's description of the model in JSON")
    if isinstance(said, dict) and said.get("format", FORMAT) != FORMAT:
        raise refusal(f"the format “{FORMAT}”", shown_value(said["format"]))
    try:
        about: typing.Any = msgspec.convert(said, ABOUT)
    except msgspec.ValidationError as error:
        raise misfit(str(error)) from None
    return make_settings(about), about.updates


def misfit(error: str) -> InputError:
    """The sentence for settings of other names or types, from what msgspec says of them."""
    found = re.fullmatch(r"Expected `([^`]*)`, got `([^`]*)`(?: - at `\$\.?([^`]*)`)?", error)
    if found is None:
        what = shown_plainly(error.replace("`$.", "").replace("`", ""), 120)
        return refusal("the settings of a model", f"something else ({what[:1].lower()}{what[1:]})")
    wanted, came = (" or ".join(WORDS.get(kind, kind) for kind in kinds.split(" | ")) for kinds in found.groups()[:2])
    part = found[3] or "the file's description of the model"
    return refusal(f"{part} to be {wanted}", came)


def make_settings(about: typing.Any) -> TrainingSettings:
    """The settings of an `ABOUT`, made anew and so checked as if somebody had typed them."""
    check_text(about.task.text)
    task, model, training = (msgspec.structs.asdict(part) for part in (about.task, about.model, about.training))
    try:
        settings = TrainingSettings(task=CharacterTask(**task), model=ModelConfig(**model), **training)
    except ValueError as error:
        raise InputError(
            "{why}. Choose a file that this page saved.", why=error if isinstance(error, InputError) else str(error)
        ) from None
    if list(settings.task.vocabulary.tokens) != about.vocabulary:
        raise refusal("the vocabulary of the text", f"another one, of {len(about.vocabulary)}")
    if not 0 <= about.updates <= settings.steps:
        raise refusal(f"0 to {settings.steps} updates", str(about.updates))
    return settings


def check_text(text: str) -> None:
    """Raises ValueError for a text that is too long, or that cannot be shown."""
    if len(text) > MAX_TEXT:
        raise refusal(
            f"a training text of at most {MAX_TEXT:,} characters",
            f"{len(text):,} characters",
        )
    if any(is_invisible(c) and c not in "\n\t" for c in text):
        raise refusal("a training text that can be shown", "one with invisible characters")


def check_tensors(header: dict, expected: Mapping[str, Array]) -> None:
    """Raises ValueError unless the file has exactly the tensors of this model, in their shapes, as float32."""
    for name in expected:
        if name not in header:
            raise refusal(f"the tensor {name}", "a file without it")
    for name, entry in header.items():
        if name not in expected:
            raise refusal(f"{len(expected)} tensors", f"another one, {shown_value(name)}")
        shape = entry.get("shape") if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or entry.get("dtype") != "F32" or shape != list(expected[name].shape):
            raise refusal(
                f"{name} as F32 of shape {list(expected[name].shape)!s}",
                shown_value(entry),
            )


def check_finite(name: str, weights: np.ndarray) -> np.ndarray:
    """The weights as they are. Raises ValueError where one is no number, or too large to compute with."""
    if not (np.abs(weights) <= MAX_WEIGHT).all():
        raise refusal(
            f"weights between −{MAX_WEIGHT:g} and {MAX_WEIGHT:g} in {name}",
            "larger ones, or values that are not numbers",
        )
    return weights


def check_works(checkpoint: Checkpoint) -> None:
    """Raises ValueError where the model does not give finite scores for its own training text."""
    window = typing.cast(CharacterTask, checkpoint.settings.task).windows[0, :-1]
    with np.errstate(all="ignore"):
        logits = checkpoint.model()(window.numpy()).logits
    if not np.isfinite(logits).all():
        raise refusal("a model that gives finite scores", "one that does not")


def refusal(expected: str, came: str) -> InputError:
    """The sentence for a file that cannot be used; what exactly is wrong with it is said in English alone."""
    return InputError(
        "expected {expected}, but got {came}. Choose a file that this page saved.", expected=expected, came=came
    )


def shown_value(value: object, most: int = 60) -> str:
    """The beginning of a value that may be anything, fit for a sentence."""
    return shown_plainly(repr(value), most)


def shown_plainly(text: str, most: int) -> str:
    """The beginning of a text that may say anything, fit for a sentence."""
    visible = "".join(c for c in text[: 10 * most] if c.isprintable() and not is_invisible(c))
    return visible if len(visible) <= most else f"{visible[:most]}…"


def kind_of(value: object) -> str:
    """What sort of JSON a value is."""
    return "nothing" if value is None else f"a {type(value).__name__}"


def history_lines(losses: Sequence[float], more: Mapping[str, Mapping[int, float]] | None = None) -> History:
    """For each step its number, the loss before that update, and what else was recorded at some steps.

    `more` has a column for each name, with values by their steps; None where there is none.
    """
    columns = more or {}
    lines = ([step, loss, *(column.get(step) for column in columns.values())] for step, loss in enumerate(losses))
    return [["step", "loss", *columns], *lines]


def run_history(view: RunView) -> History:
    """The history of a run up to what it shows: the loss of every step, and the evaluations every few steps."""
    columns = {
        name: {m.step: getattr(m, field) for m in view.evaluations}
        for name, field in (("held-out loss", "loss"), ("held-out accuracy", "accuracy"))
    }
    return history_lines(view.losses.tolist(), {name: column for name, column in columns.items() if column})
