"""One head: one idea a lesson, from the tokens to the output, and a head to set by hand."""
