"""Exercises: what is asked, cases to try an answer on, the answer, the mistakes one knows, and the verdict."""

from lessons.screen.message import message

TITLE, PLACE = message("Exercises"), 70
