"""Lesson: what the heads of a language model do."""
