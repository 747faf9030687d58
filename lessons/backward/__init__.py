"""Lesson: how a model learns from a mistake."""
