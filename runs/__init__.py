"""Many trainings in one process: recording, run, scheduler, page lock, checkpoint."""
