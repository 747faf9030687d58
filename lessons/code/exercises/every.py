"""All exercises, in the order of the lessons."""

from lessons.code.exercises import KEYS
from lessons.code.exercises.attention import ATTENTION
from lessons.code.exercises.base import Exercise
from lessons.code.exercises.keys_and_values import CACHE, GROUPED
from lessons.code.exercises.many_heads import BATCHED, MERGE, MODULE, SPLIT
from lessons.code.exercises.one_head import CONTEXT, MASK, SCORES, SOFTMAX
from lessons.code.exercises.real_head import REAL_HEAD
from lessons.code.exercises.rows import RMS_NORM, ROTARY
from lessons.code.exercises.training import GRADIENT, STEP, TEMPERATURE
from lessons.code.exercises.verdict import known_mistake, same, verdict_of
from lessons.screen import Code, message

TOPIC = message("Exercises")
POINT = message(
    "Write each step of attention yourself: your code runs only in this browser, and its numbers are compared with "
    "PyTorch's."
)
COMPARES = Code((verdict_of, known_mistake, same))

IN_ORDER = (
    *(SCORES, MASK, SOFTMAX, CONTEXT, ATTENTION),
    *(SPLIT, MERGE, MODULE, ROTARY, BATCHED),
    *(STEP, GRADIENT, TEMPERATURE, CACHE),
    *(GROUPED, RMS_NORM, REAL_HEAD),
)
EXERCISES: dict[str, Exercise] = dict(zip(KEYS, IN_ORDER, strict=True))
