"""Lesson: several heads side by side."""
