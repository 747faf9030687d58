"""What do the heads of a real language model do?"""

from functools import partial

from lessons.example.real_model import RealModel
from lessons.model.read.choices import ReadChoices
from lessons.model.read.early_guesses import early_guesses_screen
from lessons.model.read.first_token import first_token_screen
from lessons.model.read.flip import flip_screen
from lessons.model.read.many_heads import many_heads_screen
from lessons.model.read.one_head import one_head_screen
from lessons.model.read.patched import patched_screen
from lessons.model.read.questions import questions_about
from lessons.model.read.reading import Reading
from lessons.model.read.without_head import without_head_screen
from lessons.screen import Screen, message
from lessons.shared.head_jobs import HeadJobs

TOPIC = message("The heads of a real model")
POINT = message(
    "The heads of a real language model look at different things: some one token back, many only at the first token."
)
STANDS_HERE = message(
    "**Here a real language model reads your text**: where its heads look, what it would guess after each layer, and "
    "what a head is worth."
)
ENCODER_STANDS_HERE = message("**Here is the same for MiniLM**, a model in which “it” may look ahead.")
NOT_CLAIMED = message("A weight says where a head looks, not why the model answers as it does.")


def read_screen(
    asked: ReadChoices, model: RealModel, encoder: RealModel | None = None, jobs: HeadJobs | None = None
) -> Screen:
    """One view of a text as the model reads it; its heads have the names of `jobs`, where they were measured.

    The flip test asks the `encoder` as well, where there is one.
    """
    reading = Reading(asked, model, jobs)
    views = {
        "one": one_head_screen,
        "maps": many_heads_screen,
        "sink": first_token_screen,
        "guesses": early_guesses_screen,
        "off": without_head_screen,
        "patch": patched_screen,
        "flip": partial(flip_screen, encoder=encoder),
    }
    view = views[asked.view](reading)
    remarks = (*view.pop("remarks", ()), NOT_CLAIMED)
    return Screen(**view, remarks=remarks, ask=questions_about(reading))
