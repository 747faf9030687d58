"""Lesson: attention without learned parameters."""
