"""Lesson: who may look at whom."""

from lessons.screen import message

TITLE, PLACE = message("Mask"), 24
