"""From text to vectors."""
