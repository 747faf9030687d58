"""Figures of matrices: cells with their numbers, linked; their film, and their picture for a slide."""
