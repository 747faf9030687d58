"""Lesson: what attention costs."""

from lessons.screen import message

TITLE, PLACE = message("Cost"), 51
