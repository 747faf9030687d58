"""One head of attention, from its scores to its output, and several heads side by side."""
