"""Lesson: what today's models change."""

from lessons.screen.message import message

TITLE, PLACE = message("Variants"), 60
