"""Lesson: several heads side by side."""

from lessons.screen import message

TITLE, PLACE = message("Heads"), 30
