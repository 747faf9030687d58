"""The pages for practice: exercises, worksheets, plans, progress."""
