"""The page on which a class votes: what a teacher sees of it, and what a student does."""
