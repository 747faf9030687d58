"""Figures of heads of many features."""
