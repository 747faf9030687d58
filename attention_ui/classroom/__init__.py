"""What a teacher does with a class: votes, plans, homework."""
