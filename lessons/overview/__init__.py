"""Lesson: one head on one sentence, as arcs, as one row, as matrices."""
