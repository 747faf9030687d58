"""Worksheets: tasks to be solved on paper, from the screens of the lessons, and the code that finds their key."""

from lessons.screen.message import message

TITLE, PLACE = message("Take home"), 71
