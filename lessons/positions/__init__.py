"""Lesson: whether attention knows the order."""
