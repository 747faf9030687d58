"""Lesson: queries, keys and values."""

TITLE, PLACE = "Q, K, V", 22
