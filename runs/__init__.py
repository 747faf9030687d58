"""Many trainings at once: turn, recording, run, scheduler, page lock, checkpoint."""
