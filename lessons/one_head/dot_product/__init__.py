"""Lesson: attention without learned parameters."""

from lessons.screen import message

TITLE, PLACE = message("Dot product"), 21
