"""Controls of single lessons, bound to the address."""
