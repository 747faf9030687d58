"""The page on which a model writes."""
