"""Lesson: the scores, and why they are divided by √d_k."""
