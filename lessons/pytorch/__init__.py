"""Lesson: the same in PyTorch's own functions."""
