"""Tasks, losses, gradients and training: what there is to learn, how wrong a model is, and how it improves."""
