"""Worksheets: tasks to be solved on paper, from the screens of the lessons, and the code that finds their key."""
