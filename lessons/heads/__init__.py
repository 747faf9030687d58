"""Lesson: several heads side by side."""

from lessons.screen.message import message

TITLE, PLACE = message("Heads"), 30
