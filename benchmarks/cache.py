"""Writing up to a context of 256 tokens with the key-value cache and without: the same text, how many times as fast.

`python benchmarks/cache.py [--rounds 3]`. A model of four layers with weights that are drawn: speed does not ask for
trained ones. Both ways take turns in one process with one thread. Then, with the real model where it is on this
machine, what the cache changes once the window slides over a text.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import torch  # noqa: E402
from report import judged, options_of, say  # noqa: E402

from attention_core.base.randomness import generator  # noqa: E402
from attention_core.model.sampling import continue_text  # noqa: E402
from attention_core.model.small_model import ModelConfig, draw_model  # noqa: E402
from attention_ui.session.chosen_model import real_model  # noqa: E402
from lessons.today.cost.sliding_window import real_slide, small_slide  # noqa: E402

CONTEXT = 256
BAR = 3.0
WRITER = ModelConfig(
    vocabulary=4000,
    context=CONTEXT,
    d_model=64,
    n_heads=4,
    n_layers=4,
    d_k=32,
    positions="rotary",
    layer_norm=True,
    mlp=True,
)


def main() -> None:
    """One table: seconds with and without, the ratio of each round, and what sliding changes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = options_of(parser, rounds=1).rounds
    torch.set_num_threads(1)
    pairs, same = [], True
    for number in range(rounds):
        say(f"round {number + 1} of {rounds}")
        (cached, ours), (without, theirs) = (write(kept) for kept in (True, False))
        pairs.append((cached, without))
        same = same and ours == theirs
    seconds = [statistics.median(times) for times in zip(*pairs, strict=True)]
    ratio = statistics.median(without / cached for cached, without in pairs)
    print("| what | with | without | ratio | goal |\n|---|--:|--:|--:|---|")
    goal = judged(ratio >= BAR and same, f"≥ {BAR:g}, the same text")
    print(f"| 1 → {CONTEXT} tokens, s | {seconds[0]:.2f} | {seconds[1]:.2f} | {ratio:.1f} | {goal} |")
    print_sliding()


def write(cached: bool) -> tuple[float, list[int]]:
    """How long it takes to write up to the context, and what was written."""
    model = draw_model(WRITER, generator(0))
    with torch.inference_mode():
        began = time.perf_counter()
        ids = continue_text(model, [1], CONTEXT - 1, generator=generator(1), cached=cached)
        return time.perf_counter() - began, ids.tolist()


def print_sliding() -> None:
    """What a cache changes once the window slides: of the real model, or of a small one where that is not here."""
    model = real_model()
    slide = small_slide() if model is None else real_slide(model)
    found, context = slide.found, slide.context
    kept = ", ".join(f"{share:.1%}" for share in found.keys)
    print(
        f"\nThe window of {context} slides over {found.n} tokens more. Kept keys differ from those computed anew by "
        f"{kept} of their length, layer by layer; {found.moved:.1%} of the next token's probability moves, and in "
        f"{found.same:.1%} of the windows the likeliest token is the same."
    )


if __name__ == "__main__":
    main()
