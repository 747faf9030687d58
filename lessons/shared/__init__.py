"""What several lessons share."""
