"""Curves and clouds of points."""
