"""Code: to write attention, and to compare it with PyTorch's own."""
