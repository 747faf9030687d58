"""The process beside the server's, which computes what takes long: trainings, and passes of real models."""
