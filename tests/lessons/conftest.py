import torch
from hypothesis import Phase, settings

torch.set_num_threads(1)

settings.register_profile(
    "lessons", max_examples=12, deadline=None, derandomize=True, phases=set(Phase) - {Phase.explain}
)
settings.load_profile("lessons")
