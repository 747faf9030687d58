"""What all tests share."""

import torch

# As on the server: more threads for small matrices only fight each other, and results would differ.
torch.set_num_threads(1)
