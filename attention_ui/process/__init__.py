"""What the server's process holds for all visits together: turns, memory, real models, what is kept."""
