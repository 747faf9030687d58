"""Lesson: how scores become weights."""
