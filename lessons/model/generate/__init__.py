"""Lesson: how a model writes."""

from lessons.screen import message

TITLE, PLACE = message("Generate"), 32
