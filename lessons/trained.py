"""Small models in training: what each learns, its weights after every few updates, and how well its heads do their job.

Reading order: the models (`TASK_SOURCES`), how one is trained (`recorded`), and what its heads are measured to do.
"""

import functools
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.evaluation import Evaluation
from attention_core.masks import causal_mask, full_mask
from attention_core.model import TinyTransformer
from attention_core.tasks import NO_TARGET, InductionTask, LookUpTask, PreviousTask, PronounTask, ReverseTask, Task
from attention_core.tokens import clean_text
from attention_core.training import EVALUATE_EVERY, HELD_OUT, TrainingSettings, held_out_batch, recommended, train
from attention_core.weights import model_with
from lessons.formatting import written
from lessons.notebooks import Sizes
from lessons.sentence import Sentence, Share, say
from lessons.task_texts import texts_of

TaskSource = Literal["pronouns", "previous", "reverse", "lookup", "induction"]
MOST_RECORDINGS = 48  # at most half a megabyte each


@dataclass(frozen=True, kw_only=True)
class LearntExample:
    """A task whose heads can be read, the sentence it is shown on, and the sizes and settings that learn it.

    `sizes` are d_model, d_k, d_v and n_heads, small enough to print. `words` says how its tokens are written: with
    spaces between, or letter by letter.
    """

    name: Sentence  # completes “Trained on …”
    task: Task
    sentence: str
    words: bool
    sizes: Mapping[str, int]
    training: Mapping[str, object]

    def settings(self, sizes: Sizes, *, causal: bool, scaling: bool) -> TrainingSettings:
        """The run that trains the model with these sizes and this seed."""
        of_model = {name: getattr(sizes, name) for name in ("d_model", "d_k", "d_v", "n_heads")}
        return recommended(
            self.task, sizes.seed, causal=causal and self.causal, scaling=scaling, **of_model, **self.training
        )

    def tokens(self, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The tokens of a text that the model knows, at most as many as it sees at once, and notes on what is left out.

        There is always at least one.
        """
        clean = clean_text(text.lower())
        written = tuple(clean.text.split() if self.words else clean.text.replace(" ", ""))
        known = tuple(token for token in written if token in self.task.vocabulary.tokens)
        notes = list(clean.notes)
        if strangers := list(dict.fromkeys(token for token in written if token not in known)):
            left_out = ", ".join(f"“{token}”" for token in strangers)
            notes.append(f"This model has never met {left_out}, so it is left out. It knows {self.known}.")
        if not known:
            notes.append(
                f"There is nothing to show yet: type something it knows. Until then this is “{self.sentence}”."
            )
            return self.tokens(self.sentence)[0], tuple(notes)
        if len(known) > self.most_tokens:
            notes.append(f"This model sees {self.most_tokens} tokens at once: the first {self.most_tokens} are used.")
        elif len(known) < self.task.window and self.has_positions:
            notes.append(f"It was trained on {self.task.window} tokens at a time; with {len(known)} it may be lost.")
        return known[: self.most_tokens], tuple(notes)

    @property
    def known(self) -> str:
        """All tokens that it knows, as one reads them."""
        return ", ".join(self.task.vocabulary.tokens)

    @property
    def most_tokens(self) -> int:
        """How many tokens it sees at once."""
        return int(self.training.get("context", self.task.window))

    @property
    def has_positions(self) -> bool:
        """True where the model has learnt a vector for each position."""
        return ({"positions": "learned"} | dict(self.task.model) | dict(self.training))["positions"] == "learned"

    @property
    def causal(self) -> bool:
        """True where the model is trained with the causal mask unless one asks for something else."""
        return bool(self.task.model.get("causal", True))


def small(learning_rate: float, steps: int) -> dict[str, object]:
    """Settings with which models of a dozen features learn."""
    return {"layer_norm": False, "embedding_std": 0.3, "batch_size": 32, "learning_rate": learning_rate, "steps": steps}


def sizes_of_model(d_model: int, d_k: int, d_v: int) -> dict[str, int]:
    """One head with so many features."""
    return {"d_model": d_model, "d_k": d_k, "d_v": d_v, "n_heads": 1}


TASK_SOURCES: dict[str, LearntExample] = {
    "pronouns": LearntExample(
        name=say("pronouns"), task=PronounTask(),
        sentence="boy found lamp near girl when he", words=True, sizes=sizes_of_model(8, 2, 3),
        training=small(0.03, 300) | {"context": 12}),
    "previous": LearntExample(
        name=say("the letter before"), task=PreviousTask(n_letters=8, window=12),
        sentence="cafebeadhead", words=False, sizes=sizes_of_model(8, 4, 4), training=small(0.02, 300)),
    "reverse": LearntExample(
        name=say("letters backwards"), task=ReverseTask(n_letters=8, window=8),
        sentence="cafebadh", words=False, sizes=sizes_of_model(8, 4, 4), training=small(0.02, 300)),
    "lookup": LearntExample(
        name=say("look-up"),
        task=LookUpTask(n_letters=4, n_numbers=4, pairs=4, questions=2), sentence="b2 d4 a1 c3 c? b?", words=True,
        sizes=sizes_of_model(8, 4, 4), training=small(0.03, 400) | {"context": 12}),
    "induction": LearntExample(
        name=say("induction"),
        task=InductionTask(n_letters=12, window=12, shortest=4, longest=6), sentence="hadkbhadkbha", words=False,
        sizes=sizes_of_model(12, 6, 6), training=small(0.02, 600) | {"positions": "learned"}),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class ModelRecording:
    """A run, and the weights of its model after 0, 20, 40 … updates, each with its evaluation."""

    settings: TrainingSettings
    weights: Float[np.ndarray, "places parameters"] = field(repr=False)
    evaluations: tuple[Evaluation, ...]

    def place(self, updates: int) -> int:
        """Where the weights after so many updates stand; the nearest before where they were not kept."""
        return min(max(updates, 0) // EVALUATE_EVERY, len(self.weights) - 1)

    def model(self, updates: int) -> TinyTransformer:
        """The model after so many updates, of torch tensors."""
        return model_with(self.settings.model, torch.from_numpy(self.weights[self.place(updates)]))


RECORDINGS: OrderedDict[TrainingSettings, ModelRecording] = OrderedDict()  # those asked for last, for all visitors


def recorded(settings: TrainingSettings) -> ModelRecording:
    """The recording of a run; trained now unless somebody has asked for it before."""
    for _ in record_model(settings):
        pass
    return RECORDINGS[settings]


def record_model(settings: TrainingSettings) -> Iterator[None]:
    """Train a model to the end and keep its recording, one step at a time; nothing where that has been done."""
    if settings not in RECORDINGS:
        kept = []
        for step in train(settings):
            if step.step % EVALUATE_EVERY == 0:
                kept.append((step.weights, step.evaluation))
            yield
        weights, evaluations = zip(*kept, strict=True)
        RECORDINGS[settings] = ModelRecording(settings, np.stack(weights), evaluations)
        while len(RECORDINGS) > MOST_RECORDINGS:
            RECORDINGS.popitem(last=False)
    RECORDINGS.move_to_end(settings)


@dataclass(frozen=True, eq=False)
class Trained:
    """Whose weights these are: a model after so many updates, one of its layers, and how well it has been measured.

    `embedded` are the rows of its embedding `table` that the tokens fetch, before positions and layers.
    """

    source: LearntExample
    recording: ModelRecording
    updates: int
    layer: int  # counted from 0
    table: Float[Tensor, "vocabulary d_model"]
    embedded: Float[Tensor, "tokens d_model"]

    @property
    def evaluation(self) -> Evaluation:
        """How good the model is by now on sequences it is not trained on."""
        return self.recording.evaluations[self.recording.place(self.updates)]

    @property
    def answers(self) -> int:
        """How many answers it is asked for in those sequences."""
        return answers_asked(self.recording.settings)

    def jobs(self, head: int) -> list["Job"]:
        """How much of its weight a head puts where each of the task's jobs would have it, the largest share first."""
        shares = self.evaluation.role_weights[:, self.layer, head].tolist()
        even = even_shares(self.recording.settings)
        jobs = [Job(*of, self.source.task.threshold) for of in zip(self.source.task.roles, shares, even, strict=True)]
        return sorted(jobs, key=lambda job: -job.share)

    def job(self, head: int) -> "Job":
        """The one of the task's jobs that a head does best."""
        return self.jobs(head)[0]

    @property
    def best(self) -> "Job":
        """The job that is done best in this layer, by whichever head."""
        return max((self.job(head) for head in range(self.recording.settings.model.n_heads)), key=lambda job: job.share)

    def whose(self) -> Sentence:
        """What made the weights, and how well they do."""
        seed = self.recording.settings.seed
        if self.updates == 0:
            return say("Untrained: random weights (seed {seed}).", seed=seed)
        return say(
            "Trained on {task}, {updates} updates (seed {seed}): {right} of {count} new answers right.",
            task=self.source.name, updates=self.updates, seed=seed, count=self.answers,
            right=round(self.evaluation.accuracy * self.answers),
        )  # fmt: skip

    def does(self, head: int) -> Sentence:
        """What a head has been measured to do."""
        job = self.job(head)
        numbers = {"role": texts_of(self.source.task).roles[job.role], "share": Share(job.share), "n": HELD_OUT}
        even = {"even": Share(job.even)}
        alike = written(numbers["share"]) == written(even["even"])
        if job.done:
            return say("This head has learnt to {role}: in {n} new sequences {share} of its weight goes there. Spread "
                       "evenly it would be {even}.", **numbers, **even)  # fmt: skip
        if self.updates == 0 and alike:
            return say("Untrained: in {n} new sequences {share} of its weight is where it would have to be to {role}, "
                       "as if it were spread evenly.", **numbers)  # fmt: skip
        if self.updates == 0:
            return say("Untrained: in {n} new sequences {share} of its weight is where it would have to be to {role}. "
                       "Spread evenly it would be {even}.", **numbers, **even)  # fmt: skip
        if alike:
            return say("This head has not learnt to {role}: in {n} new sequences {share} of its weight goes there, as "
                       "if it were spread evenly.", **numbers)  # fmt: skip
        return say("This head has not learnt to {role}: in {n} new sequences {share} of its weight goes there. Spread "
                   "evenly it would be {even}.", **numbers, **even)  # fmt: skip


ROLE_NAMES = {
    "referent": say("finds the word"), "previous": say("one back"), "mirror": say("mirror"),
    "pair": say("finds the pair"), "after_match": say("after the match"),
}  # fmt: skip


@dataclass(frozen=True)
class Job:
    """One thing that a task wants some head to do, and the share of its weight that a head puts there."""

    role: str
    share: float
    even: float  # the share that even attention would put there
    threshold: float

    @property
    def done(self) -> bool:
        """True where the head has earned the name."""
        return self.share >= self.threshold

    @property
    def called(self) -> Sentence:
        """What a head is called that has earned the name."""
        return ROLE_NAMES[self.role]

    @property
    def name(self) -> Sentence:
        """The name that a head has earned, with the share that it was measured to have."""
        return say("{name}, {share}", name=self.called, share=Share(self.share)) if self.done else say("no name earned")


@functools.lru_cache(maxsize=64)
def answers_asked(settings: TrainingSettings) -> int:
    """How many positions of the held-out sequences count."""
    return int((held_out_batch(settings).targets != NO_TARGET).sum())


@functools.lru_cache(maxsize=64)
def even_shares(settings: TrainingSettings) -> tuple[float, ...]:
    """For each role, the mean weight on the right cells if each query divided it evenly among what it sees."""
    target = held_out_batch(settings).target_attention
    n = target.shape[-1]
    visible = causal_mask(n) if settings.model.causal else full_mask(n)
    even = visible / visible.sum(dim=-1, keepdim=True)
    rows = target.any(dim=-1).sum(dim=(0, -1))
    return tuple(((target * even).sum(dim=(0, -2, -1)) / rows).tolist())
