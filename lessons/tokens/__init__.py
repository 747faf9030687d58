"""Lesson: what goes in."""

from lessons.screen.message import message

TITLE, PLACE = message("Tokens"), 20
