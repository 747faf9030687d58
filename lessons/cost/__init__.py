"""Lesson: what attention costs."""
