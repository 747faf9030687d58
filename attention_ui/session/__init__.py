"""What belongs to one visit: its state, its link, its language, its progress."""
