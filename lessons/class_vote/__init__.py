"""A class votes on a question of any lesson."""
