"""Lesson: how scores become weights."""

from lessons.screen import message

TITLE, PLACE = message("Softmax"), 25
