"""Lesson: attention without learned parameters."""

from lessons.screen.message import message

TITLE, PLACE = message("Dot product"), 21
