"""Lesson: what today's models change."""
