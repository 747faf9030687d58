"""Lesson: what attention costs."""

from lessons.screen.message import message

TITLE, PLACE = message("Cost"), 61
