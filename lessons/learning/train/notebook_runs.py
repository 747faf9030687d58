"""The two trainings of the notebooks: their settings, and what is different here.

“hello world” is from the notebook on multi-head self-attention (seed 1337), the four vectors from the one on PyTorch's
modules (seed 42).
"""

from dataclasses import replace

from attention_core.learning.tasks import TASKS, CharacterTask
from attention_core.learning.training import TrainingHistory, TrainingSettings, recommended
from lessons.screen import Fixed, ListOf, Message, message

HELLO_WORLD = recommended(
    CharacterTask("hello world", 8),
    1337,
    d_model=16,
    n_heads=2,
    heads="sliced",
    residual=False,
    embedding_std=1.0,
    learning_rate=0.001,
    steps=200,
    batch_size=4,
)
FOUR_VECTORS = recommended(TASKS["vectors"], 42)
PRINTED = {0: 2.1783, 50: 1.5632, 100: 0.8687, 150: 0.3847}  # the losses that the first notebook shows, by its steps


def same_run_but_for_seed(settings: TrainingSettings, notebook: TrainingSettings) -> bool:
    """True where a run is that of a notebook, whatever its seed and whoever finds the gradients."""
    return replace(settings, seed=notebook.seed, engine=notebook.engine) == notebook


def notebook_notes(settings: TrainingSettings) -> tuple[Message, ...]:
    """Says that these are a notebook's settings, and what still differs; nothing for other settings."""
    if isinstance(settings.task, CharacterTask) and same_run_but_for_seed(settings, HELLO_WORLD):
        return (
            message(
                "These are the notebook's settings. Its get_batch ignores the batch size of 64 that it is "
                "asked for and takes {batch} windows, of which the text has only {windows}. Its seed, 1337, "
                "does not reproduce the losses that it shows; here, too, the initial weights are drawn in "
                "another order.",
                batch=settings.batch_size,
                windows=len(settings.task.windows),
            ),
        )
    if same_run_but_for_seed(settings, FOUR_VECTORS):
        return (
            message(
                "These are the notebook's settings and its own four vectors: rows 5, 12, 31 and 7 of "
                "nn.Embedding(50, 8) with seed 42. Only the initial weights differ: they are drawn from the "
                "seed above."
            ),
        )
    return ()


def beside_the_printed(history: TrainingHistory) -> tuple[Message, ...]:
    """The losses of this run at the steps whose losses the notebook printed, as far as it has come."""
    reached = [step for step in PRINTED if step < len(history.losses)]
    if not same_run_but_for_seed(history.settings, HELLO_WORLD) or len(reached) < 2:
        return ()
    theirs = ListOf(tuple(Fixed(PRINTED[step], 4) for step in reached))
    ours = ListOf(tuple(Fixed(float(history.losses[step]), 4) for step in reached))
    return (
        message(
            "After {steps} training steps the notebook printed the losses {theirs}; here they are {ours}.",
            steps=ListOf(tuple(reached)),
            theirs=theirs,
            ours=ours,
        ),
    )
