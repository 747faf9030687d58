"""Lesson: how the weights are learned."""
