"""A class votes on a question of any lesson."""

from lessons.screen.message import message

TITLE, PLACE = message("Class vote"), 72
