"""Learning: how heads come about."""
