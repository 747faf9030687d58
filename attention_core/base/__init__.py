"""Arrays, errors, random numbers and traces: the base of every formula."""
