"""What stands below a figure: the derivation of one number, the question, the code."""
