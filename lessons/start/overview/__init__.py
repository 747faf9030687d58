"""Lesson: one head on one sentence, as arcs, as one row, as matrices."""

from lessons.screen import message

TITLE, PLACE = message("Overview"), 10
