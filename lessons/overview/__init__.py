"""Lesson: one head on one sentence, as arcs, as one row, as matrices."""

from lessons.screen.message import message

TITLE, PLACE = message("Overview"), 10
