"""What heads and models turn out to do."""
