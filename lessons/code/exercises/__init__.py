"""Exercises: what is asked, cases to try an answer on, the answer, the mistakes one knows, and the verdict."""

from lessons.screen import message

TITLE, PLACE = message("Exercises"), 60
KEYS = (  # in the order of the lessons; last a head of the real model
    *("scores", "mask", "softmax", "context", "attention"),
    *("split", "merge", "multi_head", "rotary", "batch"),
    *("step", "gradient", "temperature", "cache"),
    *("grouped", "rms_norm", "real_head"),
)
