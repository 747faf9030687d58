"""Lesson: how weights mix the values."""
