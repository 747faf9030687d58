"""The vocabulary of all lessons: messages, numbers, figures, questions, programs."""
