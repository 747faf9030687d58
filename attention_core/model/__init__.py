"""Layers of attention that read a text and go on with it."""
