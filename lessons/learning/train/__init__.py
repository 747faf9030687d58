"""Lesson: how the weights are learned."""

from lessons.screen import message

TITLE, PLACE = message("Train"), 40
