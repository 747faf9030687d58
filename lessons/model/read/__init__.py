"""Lesson: what the heads of a real language model do."""

from lessons.screen import message

TITLE, PLACE = message("Read"), 33
