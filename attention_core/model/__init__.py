"""Layers of attention as a model: it reads a text and continues it."""
