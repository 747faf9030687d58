"""Today: what models of today change, and what attention costs."""
