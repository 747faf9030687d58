"""Heads to be built by hand, level by level."""

from lessons.screen.message import message

TITLE, PLACE = message("Build a head"), 70.5
