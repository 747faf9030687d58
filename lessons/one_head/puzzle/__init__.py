"""Heads to be built by hand, level by level."""

from lessons.screen import message

TITLE, PLACE = message("Build a head"), 27
