"""Lesson: how a model learns from a mistake."""

from lessons.screen import message

TITLE, PLACE = message("Backwards"), 41
