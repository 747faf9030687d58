"""Trains the language model, step by step, and goes on where it was stopped.

    python -m training.language_model --seed 1 --steps 6000 --out training/cache/seed1
    python -m training.language_model --seed 1 --steps 200 --stories-only --small --out /tmp/try   # within a minute

One thread, a budget in steps, and the batch of each step drawn from the seed and the number of the step: the same
command gives the same weights on the same machine, however often it is stopped.
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch.nn.functional import cross_entropy

from attention_core.model import ModelConfig, TinyTransformer
from attention_core.pieces import Pieces
from attention_core.randomness import generator
from attention_core.tasks import NO_TARGET
from attention_core.weights import count_weights, named_weights
from training.curriculum import STAGES, Corpus, Stage, TrainingBatch, corpus, draw_batch
from training.stories import stories
from training.texts import Texts, divide, read_books
from training.tokenizer import learn

CACHE = Path(__file__).parent / "cache"
STORIES_FOR_PIECES, STORIES = 20_000, 40_000
RATE, WARM_UP, COOL_DOWN, LEAST_RATE = 3e-3, 200, 0.75, 0.05  # of Adam; steps; share of the steps; share of the rate
KEEP_EVERY, REPORT_EVERY = 500, 250


@dataclass(frozen=True)
class Plan:
    """What is to be trained, and how long."""

    seed: int
    steps: int
    out: Path
    small: bool = False
    stories_only: bool = False

    def config(self, pieces: Pieces) -> ModelConfig:
        """The model that ships, or one that a test can train."""
        sizes = {"d_model": 32, "n_layers": 2, "d_k": 16} if self.small else {"d_model": 64, "n_layers": 4, "d_k": 32}
        return ModelConfig(
            vocabulary=len(pieces.tokens), context=64, n_heads=4, positions="rotary", layer_norm=True, mlp=True, **sizes
        )


@dataclass
class Progress:
    """A model on its way. Changed by each step."""

    step: int
    model: TinyTransformer
    optimiser: torch.optim.AdamW


def prepare(plan: Plan) -> tuple[Pieces, Corpus]:
    """The pieces, learned once and then read from the folder above that of the model, and the corpus."""
    novels = () if plan.stories_only else read_texts().learned
    path = plan.out.parent / "pieces.json"
    few = 1000 if plan.small else 1
    if path.exists():
        pieces = Pieces(tuple((a, b) for a, b in json.loads(path.read_text())))
    else:
        tales = stories("learned", STORIES_FOR_PIECES // few)
        pieces = learn([*novels, *tales], 300 if plan.small else 4000)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(pieces.merges, ensure_ascii=False))
    return pieces, corpus(pieces, novels, stories("learned", STORIES // few))


def read_texts() -> Texts:
    """The novels, and what of them is held out."""
    return divide(read_books(CACHE))


def begin(plan: Plan, pieces: Pieces) -> Progress:
    """An untrained model of the plan's seed, or where the training of it was stopped."""
    model = TinyTransformer.draw(plan.config(pieces), generator(plan.seed))
    arrays = dict(named_weights(model))
    matrices = [array.requires_grad_() for array in arrays.values() if array.ndim > 1]
    vectors = [array.requires_grad_() for array in arrays.values() if array.ndim == 1]
    groups = [{"params": matrices, "weight_decay": 0.05}, {"params": vectors, "weight_decay": 0.0}]
    progress = Progress(0, model, torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.98), fused=True))
    if (plan.out / "last.safetensors").exists():
        resume(plan, progress)
    return progress


def resume(plan: Plan, progress: Progress) -> None:
    """Takes weights, the optimiser's memory and the step from the last checkpoint.

    Raises ValueError when it belongs to another plan.
    """
    with safe_open(plan.out / "last.safetensors", "pt") as kept:
        about = kept.metadata()
        if about["steps"] != str(plan.steps) or about["seed"] != str(plan.seed):
            raise ValueError(
                f"{plan.out} has a model of seed {about['seed']} for {about['steps']} steps, but asked for are seed "
                f"{plan.seed} and {plan.steps} steps; take another folder"
            )
        progress.step = int(about["step"])
        for name, array in named_weights(progress.model):
            array.data.copy_(kept.get_tensor(name))
            moments = {part: kept.get_tensor(f"{part}/{name}") for part in ("exp_avg", "exp_avg_sq")}
            progress.optimiser.state[array] = {"step": torch.tensor(float(progress.step)), **moments}


def keep(plan: Plan, progress: Progress) -> None:
    """Writes the checkpoint to go on from, and at the end of each stage the weights by themselves."""
    plan.out.mkdir(parents=True, exist_ok=True)
    weights = {name: array.detach().contiguous() for name, array in named_weights(progress.model)}
    moments = {
        f"{part}/{name}": progress.optimiser.state[array][part]
        for name, array in named_weights(progress.model)
        for part in ("exp_avg", "exp_avg_sq")
    }
    about = {"step": str(progress.step), "steps": str(plan.steps), "seed": str(plan.seed)}
    unfinished = plan.out / "unfinished"
    save_file(weights | moments, unfinished, about)
    unfinished.rename(plan.out / "last.safetensors")  # at once: stopped while it is written, the old one stays
    for which, end in enumerate(stage_ends(plan.steps)):
        if progress.step == end:
            save_file(weights, plan.out / f"stage{which}.safetensors", about)


def stage_ends(steps: int) -> list[int]:
    """The step at which each stage is over."""
    return [round(steps * sum(stage.share for stage in STAGES[: i + 1])) for i in range(len(STAGES))]


def stage_at(step: int, steps: int) -> tuple[Stage, float]:
    """The stage of a step, and the share of the stage that lies behind."""
    ends = stage_ends(steps)
    which = next(i for i, end in enumerate(ends) if step < end)
    start = ends[which - 1] if which else 0
    return STAGES[which], (step - start) / (ends[which] - start)


def rate(step: int, steps: int) -> float:
    """The learning rate: up in the first steps, then level, then down in a straight line."""
    left = (1 - step / steps) / (1 - COOL_DOWN)
    return RATE * min(1, (step + 1) / WARM_UP) * max(LEAST_RATE, min(1, left))


def loss_on(model: TinyTransformer, batch: TrainingBatch) -> Tensor:
    """The mean surprise at the positions that count, in nats."""
    logits = model(batch.inputs).logits
    return cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), ignore_index=NO_TARGET)


def train_on(plan: Plan, pieces: Pieces, texts: Corpus, progress: Progress) -> Iterator[tuple[int, float]]:
    """Trains to the end of the plan; gives the number of each step and its loss."""
    parameters = [array for _, array in named_weights(progress.model)]
    while progress.step < plan.steps:
        stage, done = stage_at(progress.step, plan.steps)
        random = generator(plan.seed, f"step {progress.step}")
        loss = loss_on(progress.model, draw_batch(texts, pieces, progress.model.config.context, stage, done, random))
        progress.optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        for group in progress.optimiser.param_groups:
            group["lr"] = rate(progress.step, plan.steps)
        progress.optimiser.step()
        progress.step += 1
        if progress.step % KEEP_EVERY == 0 or progress.step in stage_ends(plan.steps):
            keep(plan, progress)
        yield progress.step, loss.item()


def run(plan: Plan) -> Progress:
    """Prepares, trains or goes on training, and reports the mean loss now and then."""
    torch.set_num_threads(1)
    pieces, texts = prepare(plan)
    progress = begin(plan, pieces)
    print(f"seed {plan.seed}: {count_weights(progress.model):,} weights, {len(pieces.tokens):,} pieces", flush=True)
    losses, started, first = [], time.monotonic(), progress.step
    for step, loss in train_on(plan, pieces, texts, progress):
        losses.append(loss)
        if step % REPORT_EVERY == 0:
            each = (time.monotonic() - started) / (step - first)
            print(f"step {step}: loss {sum(losses) / len(losses):.3f}, {each:.3f} s a step", flush=True)
            losses = []
    return progress


def plan_from(arguments: list[str] | None = None) -> Plan:
    """The plan that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--out", type=Path, default=CACHE / "model")
    parser.add_argument("--small", action="store_true", help="a much smaller model")
    parser.add_argument("--stories-only", action="store_true", help="without the novels")
    return Plan(**vars(parser.parse_args(arguments)))


if __name__ == "__main__":
    run(plan_from())
