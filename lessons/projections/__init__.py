"""Lesson: queries, keys and values."""
