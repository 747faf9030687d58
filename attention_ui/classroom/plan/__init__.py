"""A class that is led through a plan: the plan to edit, its notes, and the pages that follow it."""
