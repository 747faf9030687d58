"""Lesson: who may look at whom."""

from lessons.screen.message import message

TITLE, PLACE = message("Mask"), 24
