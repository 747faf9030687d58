"""What makes the weights that ship: the small model that lessons begin with, and a layer of the real one."""
