"""The record: what the app has computed, kept in packed files of JSON, of screens one for each page."""

import json
import lzma
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.truths import files, links, numbers, opened, screens
from tests.truths.compare import place_of

FOLDER = Path(__file__).parent / "record"
KINDS: dict[str, ModuleType] = {"links": links, "screens": screens, "numbers": numbers, "files": files}
WORKERS, IN_A_ROW = 2, 40  # processes, and entries that one of them computes before it takes others
Entries = dict[str, dict[str, Any]]  # by their keys, such as a link


def read_record(kind: str) -> Entries:
    """Everything that is kept of a kind."""
    found: Entries = {}
    for path in sorted(FOLDER.glob(f"{kind}*.json.xz")):
        found |= json.loads(lzma.decompress(path.read_bytes()))
    return found


def write_record(kind: str, entries: Entries) -> None:
    """Keep these, in the order of their keys; files that would say the same stay as they are."""
    FOLDER.mkdir(exist_ok=True)
    by_file: dict[str, Entries] = defaultdict(dict)
    for key, entry in sorted(entries.items()):
        by_file[f"{kind}_{place_of(key)}" if kind == "screens" else kind][key] = entry
    for name, several in by_file.items():
        text = json.dumps(several, ensure_ascii=False, separators=(",", ":"), indent=0)
        path, packed = FOLDER / f"{name}.json.xz", lzma.compress(text.encode(), preset=9)
        if not path.exists() or path.read_bytes() != packed:
            path.write_bytes(packed)
    for path in FOLDER.glob(f"{kind}*.json.xz"):
        if path.name.removesuffix(".json.xz") not in by_file:
            path.unlink()


def computed(kind_and_keys: dict[str, list[str]]) -> Iterator[tuple[str, Entries]]:
    """What these entries are now, kind by kind in pieces, as soon as one of the processes knows them."""
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn"), initializer=opened.prepare) as pool:
        tasks = {
            pool.submit(compute, kind, keys[begin : begin + IN_A_ROW]): kind
            for kind, keys in kind_and_keys.items()
            for begin in range(0, len(keys), IN_A_ROW)
        }
        for task in as_completed(tasks):
            yield tasks[task], task.result()


def compute(kind: str, keys: Iterable[str]) -> Entries:
    """These entries, one after the other; of one that fails, how."""
    return {key: entry_of(kind, key) for key in keys}


def entry_of(kind: str, key: str) -> dict[str, Any]:
    """One entry, as JSON gives it back."""
    try:
        return json.loads(json.dumps(KINDS[kind].entry(key)))
    except Exception as error:  # whatever it is, it is what has become of the entry
        return {"error": f"{type(error).__name__}: {error}"}
