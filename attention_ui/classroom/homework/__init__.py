"""A plan that is played alone, and what a teacher sees of it."""
