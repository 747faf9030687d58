"""Attention without any variant, beside another checkout: `python benchmarks/plain_path.py ../other-checkout`.

Both take turns, each in a process of its own; processor time counts, the shortest of all turns. Of the functions on the
way it also counts the statements, without docstrings. Without another checkout it stands beside itself.
"""

import argparse
import ast
import inspect
import json
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from report import options_of

HERE = Path(__file__).parent
CALLS, BLOCKS = 30, 80
ON_THE_WAY = (
    "attend",
    "check_inputs",
    "check_shapes",
    "check_mask",
    "dot_product_scores",
    "scale_scores",
    "mask_scores",
    "softmax_rows",
    "mix_values",
)


def main() -> None:
    """Print a table of both; with --measure, measure the code of the folder at hand and print numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, nargs="?", default=HERE.parent, help="the folder of the other checkout")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--measure", action="store_true")
    options = options_of(parser, rounds=1)
    if options.measure:
        print(json.dumps(measured()))
        return
    folders = HERE.parent, options.other.resolve()
    this, other = {}, {}
    for _ in range(options.rounds):
        for shortest, folder in zip((this, other), folders, strict=True):
            for what, number in measured_in(folder).items():
                shortest[what] = min(number, shortest.get(what, number))
    print("| what | this | other | ratio |\n|---|--:|--:|--:|")
    for what, number in this.items():
        print(f"| {what} | {number:.4g} | {other[what]:.4g} | {number / other[what]:.2f} |")


def measured_in(folder: Path) -> dict[str, float]:
    """What a process finds that imports the code of a folder."""
    command = [sys.executable, str(HERE / "plain_path.py"), "--measure"]
    done = subprocess.run(command, cwd=folder, env={"PYTHONPATH": str(folder)}, capture_output=True, check=True)
    return json.loads(done.stdout)


def measured() -> dict[str, float]:
    """Microseconds of a call, and statements."""
    import numpy as np
    import torch

    from attention_core.one_head import attention
    from attention_core.one_head.heads import MultiHeadAttention
    from attention_core.one_head.masks import causal_mask

    torch.set_num_threads(1)
    random = np.random.RandomState(0)
    found = {}
    for n, d in ((6, 2), (64, 16)):
        q, k, v = (random.randn(2, n, d).astype(np.float32) for _ in "qkv")
        tensors, mask = [torch.from_numpy(x) for x in (q, k, v)], causal_mask(n)
        size = f"{n} tokens, {d} features"
        found[f"attend, 2 heads, {size}, NumPy, µs"] = shortest(partial(attention.attend, q, k, v, mask.numpy()))
        found[f"attend, 2 heads, {size}, torch, µs"] = shortest(partial(attention.attend, *tensors, mask))
        heads = MultiHeadAttention.draw(2 * d, 2, generator=torch.Generator().manual_seed(0))
        x = torch.from_numpy(random.randn(3, n, 2 * d).astype(np.float32))
        found[f"with maps, 3 sentences, {size}, torch, µs"] = shortest(partial(heads, x, mask))
    functions = [getattr(attention, name) for name in ON_THE_WAY if hasattr(attention, name)]
    found["statements of `attend`"] = statements(attention.attend)
    found["statements of all functions on the way"] = sum(map(statements, functions))
    return found


def shortest(call) -> float:
    """Microseconds of processor time that a call takes: the mean of a few, in the shortest of many blocks of them."""
    times = []
    for _ in range(BLOCKS):
        begin = time.process_time()
        for _ in range(CALLS):
            call()
        times.append((time.process_time() - begin) / CALLS)
    return min(times) * 1e6


def statements(function) -> int:
    """How many statements a function has, without its docstring."""
    (tree,) = ast.parse(inspect.getsource(function)).body
    return sum(isinstance(node, ast.stmt) for node in ast.walk(tree)) - 2


if __name__ == "__main__":
    main()
