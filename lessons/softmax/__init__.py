"""Lesson: how scores become weights."""

from lessons.screen.message import message

TITLE, PLACE = message("Softmax"), 25
