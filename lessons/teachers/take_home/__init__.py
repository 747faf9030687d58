"""Worksheets: one computation from X to the output to be done on paper, and the code that finds its key."""

from lessons.screen import message

TITLE, PLACE = message("Take home"), 70
