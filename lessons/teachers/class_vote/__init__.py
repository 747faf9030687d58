"""A class votes on a question of any lesson."""

from lessons.screen import message

TITLE, PLACE = message("Class vote"), 71
