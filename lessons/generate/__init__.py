"""Lesson: how a model writes."""
