"""A sentence and what stands above or below its words."""
