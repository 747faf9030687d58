"""Heads under the names that they have earned, where that was measured."""

from lessons.example.real_model import head_name
from lessons.model.read.reading import Reading
from lessons.screen import Fixed, Message, Percent, message
from lessons.shared.head_jobs import JOBS, MIXTURE, HeadJobs


def called(jobs: HeadJobs | None, layer: int, head: int) -> Message:
    """A head, and what it does where it has earned a name for that."""
    name = head_name(layer, head)
    job = MIXTURE if jobs is None else jobs.job_of(layer, head)
    return message("{head}", head=name) if job is MIXTURE else message("{head}, {job}", head=name, job=job.name)


def how_it_was_earned(reading: Reading) -> tuple[Message, ...]:
    """By what the chosen head has earned its name, or how near it comes to one; nothing where nobody measured."""
    jobs = reading.jobs
    if jobs is None:
        return ()
    job = jobs.job_of(*reading.place)
    if job is MIXTURE:
        job = max(JOBS, key=lambda job: jobs.share(job.key, *reading.place) / job.least)
        return (
            message(
                "It has earned no name. The nearest is {job}, with {share} of its weight; a name requires {least}.",
                share=Percent(jobs.share(job.key, *reading.place)),
                job=job.title,
                least=Percent(job.least),
            ),
        )
    measured = jobs.shares[job.key]
    return (
        message(
            "Measured job: {job}, with {share} of its weight over {n} queries; heads with shuffled weights "
            "give {chance} on average.",
            job=job.title,
            share=Fixed(jobs.share(job.key, *reading.place)),
            n=measured.n,
            chance=Fixed(measured.random_head),
        ),
    )
