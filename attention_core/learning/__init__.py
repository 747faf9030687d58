"""What there is to learn, how wrong a model is, and how it gets better."""
