"""For teachers: worksheets, votes, plans, homework, questions for learning platforms."""
