"""The real language model beside what it could cost: `python benchmarks/real_model.py`.

A pass and its memory beside `transformers` with the same tensors, a written token beside reading all weights once,
the first screen beside a bare page with one chart, and thirty visitors at once beside one after the other. Always in
turns, with one thread; where the question is how much is computed, in processor time, which does not count what the
machine does besides. The model has to be on this machine: `python -m models` fetches it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT), str(ROOT / "tests" / "core")]

from report import judged, lack, options_of, say  # noqa: E402
from servers import ONE_CHART, OURS, Resident, resident  # noqa: E402

import attention_ui  # noqa: E402, F401  says how many threads NumPy has, before it is imported
from attention_core.model.weights import named_weights  # noqa: E402
from models.folders import CACHE, cache_folder, model_named  # noqa: E402
from models.opening import SharedModel, shared_model  # noqa: E402
from models.wheels import SMOLLM2  # noqa: E402

PARTS = ("pass", "memory", "token", "screen", "class")
TOKENS = 32
WRITTEN = 5  # tokens in a turn
TEXT = (
    "When Mary and John went to the store, John gave a drink to Mary, and the cat sat on the mat because it was very "
    "tired. The capital of France is Paris, a city on the Seine."
)
ANIMALS = (
    "cat",
    "dog",
    "fox",
    "pig",
    "cow",
    "bear",
    "lion",
    "bird",
    "fish",
    "man",
    "boy",
    "girl",
    "king",
    "car",
    "horse",
)
PLACES = ("mat", "road")  # with the animals, thirty different sentences


def main() -> None:
    """One table; what is asked for of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--launches", type=int, default=3)
    parser.add_argument("--only", choices=PARTS, action="append", help="only this part; may be given repeatedly")
    parser.add_argument("--one-process", metavar="FOLDER", help=argparse.SUPPRESS)
    options = options_of(parser, rounds=1, launches=1)
    if options.one_process is not None:
        return read_in_one_process(options.one_process)
    if not SMOLLM2.is_in(cache_folder()):
        lack(f"{SMOLLM2.name} is not on this machine; python -m models fetches it")
    chosen, busy = options.only or PARTS, os.getloadavg()[0]
    print("| what | ours | beside | ratio | goal |\n|---|--:|--:|--:|---|", flush=True)
    measure_model(chosen, options.rounds)
    if "screen" in chosen:
        measure_screen(options.launches)
    if "class" in chosen:
        measure_class(max(1, options.rounds // 3))
    cores = len(os.sched_getaffinity(0))
    print(f"\n{cores} virtual cores; load before {busy:.1f}, after {os.getloadavg()[0]:.1f}.")


def print_row(what: str, ours: float, beside: float, ratio: float, most: float | None = None, digits: int = 1) -> None:
    """A line of the table, and whether the ratio is as low as it should be."""
    goal = "" if most is None else judged(ratio <= most, f"≤ {most:g}")
    print(f"| {what} | {ours:.{digits}f} | {beside:.{digits}f} | {ratio:.2f} | {goal} |", flush=True)


def in_turns(ways: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of processor time of each way, round after round; one round before them is left out."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, way in ways.items():
            began = time.process_time()
            way()
            if number:
                found[name].append(1000 * (time.process_time() - began))
    return found


def ratio_of(ours: list[float], beside: list[float]) -> float:
    """The middle one of the ratios, each of two neighbours in time."""
    return statistics.median(a / b for a, b in zip(ours, beside, strict=True))


def print_times(what: str, found: Mapping[str, list[float]], beside: str, most: float | None = None) -> None:
    """Ours and another way."""
    ours, other = found["ours"], found[beside]
    print_row(what, statistics.median(ours), statistics.median(other), ratio_of(ours, other), most)


# A pass, a token, and their memory.


def measure_model(chosen: tuple[str, ...], rounds: int) -> None:
    """What needs `transformers` beside the model."""
    if not {"pass", "memory", "token"} & set(chosen):
        return
    import torch
    from compare_with_transformers import fed_with

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    model = shared_model(model_named(SMOLLM2.name))
    theirs, ids = fed_with(model.transformer), torch.tensor(ids_of(model))
    if "memory" in chosen:
        measure_memory(theirs, ids.tolist())
    if "pass" in chosen:
        say("passes")
        ours = ids.numpy()
        ways = {"ours": lambda: model.kept(ours), "theirs": lambda: theirs(ids[None], output_attentions=True)}
        what = f"a pass of {TOKENS} tokens, all weights kept, processor ms (beside: transformers, eager)"
        print_times(what, in_turns(ways, rounds), "theirs", 1.3)
    if "token" in chosen:
        measure_token(model, theirs, ids, rounds)


def ids_of(model: SharedModel) -> list[int]:
    """The first tokens of the text."""
    return model.tokenizer.encode(TEXT).ids[:TOKENS]


def measure_memory(theirs: Any, ids: list[int]) -> None:
    """One process with our model, another one with theirs: each opens its files and reads the same tokens."""
    say("memory")
    with tempfile.TemporaryDirectory() as folder:
        theirs.save_pretrained(folder)
        (Path(folder) / "ids.json").write_text(json.dumps(ids))
        ours, other = (memory_of_process(where) for where in ("", folder))
    what = "memory of a process that has read them"
    print_row(f"{what}, MB (beside: transformers)", ours.whole, other.whole, ours.whole / other.whole, 0.6, 0)
    print_row("&nbsp; of which its own, MB", ours.own, other.own, ours.own / other.own, None, 0)
    print_row("&nbsp; of which pages of files, MB", ours.files, other.files, ours.files / other.files, None, 0)


def memory_of_process(folder: str) -> Resident:
    """A process of its own that reads: with `transformers` in a folder, with ours where none is named."""
    command = [sys.executable, __file__, "--one-process", folder]
    return Resident(**json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def read_in_one_process(folder: str) -> None:
    """What such a process does; it prints its memory, with what it has read still there."""
    if folder:
        import torch
        from transformers import LlamaForCausalLM

        torch.set_num_threads(1)
        torch.set_grad_enabled(False)
        ids = torch.tensor(json.loads((Path(folder) / "ids.json").read_text()))
        named = {"attn_implementation": "eager", "dtype": torch.float32}
        model = LlamaForCausalLM.from_pretrained(folder, **named).eval()
        read = model(ids[None], output_attentions=True)
    else:
        model = shared_model(model_named(SMOLLM2.name))
        read = model.read(ids_of(model))
    memory = resident()
    assert read.logits.shape[-2] == TOKENS
    print(json.dumps({"own": memory.own, "files": memory.files}))


def measure_token(model: SharedModel, theirs: Any, ids: Any, rounds: int) -> None:
    """A token with the cache: beside reading each weight once, multiplying each once, and `transformers`."""
    import torch

    from attention_core.model.cache import present

    say("tokens")
    ours, newest = ids.numpy(), ids[-1:]
    past = present(model.kept(ours[:-1]))
    weights = [weight for _, weight in named_weights(model.transformer)]
    maps = [weight for name, weight in named_weights(model.transformer) if weight.ndim == 2 and name != "token_table"]
    maps.append(model.transformer.token_table.mT)  # scores for the next token
    rows = {d_in: torch.randn(1, d_in) for d_in in {W.shape[0] for W in maps}}
    kept = theirs(ids[None, :-1]).cache

    def write() -> None:
        theirs(newest[None], cache=kept)
        kept.crop(-len(newest))

    ways = {
        "ours": lambda: model.kept(ours[-1:], past=past),
        "reading": lambda: [weight.sum() for weight in weights],
        "products": lambda: [rows[W.shape[0]] @ W for W in maps],
        "theirs": write,
    }
    several = {name: lambda way=way: [way() for _ in range(WRITTEN)] for name, way in ways.items()}
    found = {name: [time / WRITTEN for time in times] for name, times in in_turns(several, rounds).items()}
    what = "a token with the cache, processor ms (beside:"
    print_times(f"{what} each weight read once)", found, "reading", 2.5)
    print_times(f"{what} torch's products with them; this or the line above)", found, "products", 1.2)
    print_times(f"{what} transformers, eager)", found, "theirs")


# The first screen.


def measure_screen(launches: int) -> None:
    """From the command to the first figure, before the model is open: ours, ours without it, and a bare page."""
    from browser import FIRST_FIGURE, PICTURE, Launch, chromium, launch_once, typical

    pages = {
        "ours": (OURS, FIRST_FIGURE),
        "bare": (ONE_CHART, f".st-key-chart {PICTURE}"),
        "without": (OURS, FIRST_FIGURE),
    }
    found: dict[str, list[Launch]] = {name: [] for name in pages}
    with chromium() as browser:
        for number in range(launches + 1):
            say(f"launching, {number} of {launches}")
            for name, (folder, figure) in pages.items():
                with no_models() if name == "without" else ExitStack():
                    found[name].append(launch_once(browser, folder, figure))
    ours, bare, without = (typical(found[name][1:]) for name in pages)
    what = "launch → first figure"
    painted = {name: [launch.painted for launch in all_of[1:]] for name, all_of in found.items()}
    ratio = ratio_of(painted["ours"], painted["bare"])
    print_row(f"{what}, s (beside: a bare page with one chart)", ours.painted, bare.painted, ratio, 1.5, 2)
    ratio = ours.processor / bare.processor
    print_row("&nbsp; processor time of the server until then, s", ours.processor, bare.processor, ratio, None, 2)
    ratio = ratio_of(painted["ours"], painted["without"])
    print_row(f"{what}, s (beside: without the model)", ours.painted, without.painted, ratio, None, 2)


@contextmanager
def no_models() -> Iterator[None]:
    """Servers that start in here find no model."""
    before = os.environ.get(CACHE)
    with tempfile.TemporaryDirectory() as empty:
        os.environ[CACHE] = empty
        yield
        os.environ.pop(CACHE)
        if before is not None:
            os.environ[CACHE] = before


# Thirty visitors.


@dataclass(frozen=True, eq=False)
class CountedModel(SharedModel):
    """A model that has read nothing yet, and counts its passes."""

    computed: list = field(default_factory=list)

    def _read_all(self, ids, ablated):
        self.computed.append(ids)
        return super()._read_all(ids, ablated)


def measure_class(rounds: int) -> None:
    """Thirty sentences asked of the first screen at once, beside one after the other; and thirty times the same."""
    from attention_ui.process.head_jobs import MEASUREMENT

    say("thirty visitors")
    opened = shared_model(model_named(SMOLLM2.name))
    MEASUREMENT.wait(opened)  # once a machine
    different = [f"The {animal} sat on the {place} because it was very" for animal in ANIMALS for place in PLACES]
    equal = different[:1] * len(different)
    wall: dict[str, list[float]] = {"at once": [], "in a row": [], "equal": [], "one": []}
    processor: dict[str, list[float]] = {name: [] for name in wall}
    passes = []
    for number in range(rounds + 1):
        for name, texts in (("at once", different), ("in a row", different), ("equal", equal), ("one", equal[:1])):
            model = CountedModel(opened.files, opened.kept, opened.tokenizer)
            began, computed = time.perf_counter(), time.process_time()
            (show_in_a_row if name == "in a row" else show_at_once)(model, texts)
            if number:
                wall[name].append(1000 * (time.perf_counter() - began))
                processor[name].append(1000 * (time.process_time() - computed))
            if name == "equal":
                passes.append(len(model.computed))
    what = f"{len(different)} different sentences at once"
    for unit, found in (("ms until the last", wall), ("processor ms", processor)):
        both = found["at once"], found["in a row"]
        middle = map(statistics.median, both)
        print_row(f"{what}, {unit} (beside: one after the other)", *middle, ratio_of(*both), 1.5, 0)
    both = processor["equal"], processor["one"]
    what = "as many equal ones at once, processor ms (beside: one visitor)"
    print_row(what, *map(statistics.median, both), ratio_of(*both), None, 0)
    print(f"| &nbsp; passes | {max(passes)} | 1 | {max(passes):.2f} | {judged(max(passes) == 1, '1')} |", flush=True)


def show_in_a_row(model: SharedModel, texts: list[str]) -> None:
    """One visitor after the other."""
    for text in texts:
        show(model, text)


def show_at_once(model: SharedModel, texts: list[str]) -> None:
    """A thread for each; they begin together."""
    begin = threading.Barrier(len(texts) + 1)
    threads = [threading.Thread(target=lambda text=text: (begin.wait(), show(model, text))) for text in texts]
    for thread in threads:
        thread.start()
    begin.wait()
    for thread in threads:
        thread.join()


def show(model: SharedModel, text: str) -> None:
    """What the first screen computes: the pass outside the turn of the page, as there."""
    from attention_ui.process.head_jobs import head_jobs
    from attention_ui.process.turns import page_lock
    from lessons.start.overview.model_view import ModelChoices, model_screen, read_sentence

    with page_lock().page():
        with page_lock().away():
            read = read_sentence(model, ModelChoices(text))
        model_screen(read, head_jobs())


if __name__ == "__main__":
    main()
