"""What every page is made of: contents, rail, question, figure, derivation, code."""
