"""What was measured of the heads of SmolLM2: there, on its way, or not to be had."""

from functools import lru_cache

from attention_ui.process.real_models import smollm2_so_far
from lessons.shared.head_jobs import HeadJobs
from models.measured import Measured, Measurement, Say
from models.opening import SharedModel, while_reading
from models.small import is_small

VERSION = 2  # one more where `lessons.shared.measure_jobs` comes to measure something else


def measure(model: SharedModel, say: Say) -> dict:
    """The jobs of its heads, as they are kept."""
    # With torch: nothing is measured on the first page.
    from lessons.shared.measure_jobs import MOST_TOGETHER, measure_head_jobs

    together = 1 if is_small() else MOST_TOGETHER  # eight texts of sixty tokens take 400 MB
    return measure_head_jobs(model.transformer, model.tokenizer, say, together, while_reading).as_json()


MEASUREMENT = Measurement("head_jobs", VERSION, measure)


def how_far_measured() -> Measured:
    """How far the measurement is, which begins when somebody asks for the first time; not begun without the model."""
    model = smollm2_so_far()
    return Measured() if model is None else MEASUREMENT.of(model)


def jobs_of(model: SharedModel) -> HeadJobs | None:
    """The names that the heads of a model have earned; none where that was not measured of this very model."""
    return head_jobs() if model is smollm2_so_far() else None


def head_jobs() -> HeadJobs | None:
    """The names that the heads have earned; None while they are measured, and without the model."""
    return jobs_in(how_far_measured())


@lru_cache(maxsize=1)
def jobs_in(measured: Measured) -> HeadJobs | None:
    """The names in what was measured: one object as long as that is one, so a screen made of it is found again."""
    return None if measured.value is None else HeadJobs.from_json(measured.value)
