"""Lesson: what goes in."""
