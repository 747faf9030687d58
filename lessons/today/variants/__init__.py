"""Lesson: what today's models change."""

from lessons.screen import message

TITLE, PLACE = message("Variants"), 50
