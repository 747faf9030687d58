"""Lesson: how a model writes."""

from lessons.screen.message import message

TITLE, PLACE = message("Generate"), 42
