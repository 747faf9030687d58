"""Lesson: how the weights are learned."""

from lessons.screen.message import message

TITLE, PLACE = message("Train"), 40
