"""Start: a head at work."""
