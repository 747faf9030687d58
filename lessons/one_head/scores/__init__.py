"""Lesson: the scores, and why they are divided by √d_k."""

from lessons.screen import message

TITLE, PLACE = message("Scores"), 23
