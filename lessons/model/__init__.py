"""The model: several heads, order, how it writes, what its heads do."""
