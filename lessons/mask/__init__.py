"""Lesson: who may look at whom."""
