"""Lesson: the same in PyTorch's own functions."""

TITLE, PLACE = "PyTorch", 61
