"""All exercises, in the order of the lessons."""

from lessons.exercises import KEYS
from lessons.exercises.attention import ATTENTION
from lessons.exercises.base import Exercise
from lessons.exercises.keys_and_values import CACHE, GROUPED
from lessons.exercises.many_heads import BATCHED, MERGE, MODULE, SPLIT
from lessons.exercises.one_head import CONTEXT, MASK, SCORES, SOFTMAX
from lessons.exercises.real_head import REAL_HEAD
from lessons.exercises.rows import RMS_NORM, ROTARY
from lessons.exercises.training import GRADIENT, STEP, TEMPERATURE
from lessons.exercises.verdict import known_mistake, same, verdict_of
from lessons.screen.message import message
from lessons.screen.screen import Code

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
