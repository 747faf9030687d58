"""Lesson: what goes in."""

from lessons.screen import message

TITLE, PLACE = message("Tokens"), 20
