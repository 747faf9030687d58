import torch
from hypothesis import Phase, settings

torch.set_num_threads(1)

settings.register_profile("core", max_examples=30, deadline=None, derandomize=True, phases=set(Phase) - {Phase.explain})
settings.load_profile("core")
