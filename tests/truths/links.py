"""Links as teachers and learners have them: those that the docs and the plans print, and of every page and kind."""

import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from attention_ui.contents import CONTENTS
from attention_ui.controls.editing import EDITS
from lessons.teachers.class_plan.ready_made import READY_MADE, ready_plan
from tests.truths.opened import read_link

ROOT = Path(__file__).parents[2]
PRINTED = re.compile(r"[…1]/(\w*\?[^`\n)]+)`")  # in the docs: a link that begins with an ellipsis, or with a port
PAGES = [entry.address for entry in CONTENTS]
LESSONS = ("tokens", "dot_product", "projections", "scores", "mask", "softmax", "output", "heads", "positions")
LESSONS = (*LESSONS, "pytorch", "variants", "cost")
EXAMPLES = (
    *({"example": key} for key in ("journey", "search", "mat", "batch", "modules", "meanings")),
    {"example": "batch", "sentence_of_batch": 2},
    {"example": "sentence", "text": "The dog that saw me ran home", "seed": 7},
    {"example": "sentence", "text": "abc", "unit": "characters", "d_model": 5, "d_k": 3, "d_v": 7, "heads": 2},
    {"example": "stories"},
    *({"example": key, "trained_for": 40} for key in ("pronouns", "previous", "reverse", "lookup", "induction")),
    {"example": "stories", "trained_for": 80, "seed": 3, "model_d_k": 3, "model_heads": 2},
    {"example": "pronouns", "train_mask": "false", "train_scaling": "false", "layer": 2, "trained_for": 20},
    {"example": "induction", "says_induction": "b c a b c a b", "layer": 2, "trained_for": 60},
    {"example": "language"},
    {"example": "language", "layer": 14, "head": 9, "says_language": "The dog bites the man because it was angry"},
    {"example": "language", "layer": 4, "head": 2, "turned": "false", "says_language": "the cat sat. the cat"},
    {"example": "language", "layer": 30, "head": 1, "says_language": "Die Größe der Äpfel 中文 привет"},
    {"example": "mine", "own": json.dumps({"task": "copy", "training": {"steps": 20}}, separators=(",", ":"))},
)
TEXTS = (
    "一只猫坐在垫子上",
    "Съешь ещё этих мягких французских булок",
    "القط جلس على السجادة",
    "ネコがマットに座った",
    "👩‍👩‍👧 says e\u0301 and ﬁ",
    "<b>bold</b> $x^2$ {0} :red[no]",
    "one",
    "no no no",
)
CONNECTED, SINGLE = "007M4-K006J", "PSSJE-GR0B2"  # codes of printed sheets: of a connected one, and of single tasks
# What stands on a page: the views of each, and what belongs to them.
VIEWS: dict[str, list[dict[str, object]]] = {
    "home": [
        {},
        {"look_head": "13.8", "look_asks": 8},
        {"look_head": "0.0", "look_off": "true"},
        {"look_text": "The doctor told the nurse that she was late", "look_head": "18.1"},
        {"look_text": "Größe 中文 🙂", "look_head": "5.5"},
        {"picture": "sentence"},
        *({"picture": "row", "chapter": chapter} for chapter in ("ask", "answer", "compare", "share", "carry")),
        *({"picture": "steps", "step": s} for s in ("x", "qkv", "scores", "scaled", "masked", "weights", "output")),
    ],
    "tokens": [
        {},
        {"cuts": "example"},
        {"cut": "Kierkegaard's H₂O é 中文", "merge_word": 1, "merges": 2},
        {"cut": "Donaudampfschifffahrt", "merges": 5},
        {"cut": "  two  spaces\tand 12345", "merge_word": 3},
        {"cuts": "example", "stranger": "zebra"},
    ],
    "dot_product": [{"view": view} for view in ("one", "all", "equal")] + [{"view": "one", "asks": 2}],
    "projections": [{"role": role} for role in ("q", "k", "v", "mirror", "head")]
    + [{"role": "head", "asks": 3, "meets": 1}],
    "scores": [{"measured_d_k": d_k} for d_k in (1, 8, 512)] + [{"scaling": "false"}],
    "mask": [{"masking": view} for view in ("change", "difference", "late", "blind")]
    + [{"mask": "none"}, {"mask": "window", "width": 2}, {"mask": "padding", "real": 2}]
    + [{"example": "sentence", "text": "a b c d", "mask": "hand", "drawn": "8-c-2-f"}, {"causal": "false"}],
    "softmax": [{"temperature": t} for t in (0.1, 0.7, 1.0, 2.0)] + [{"asks": 1}, {"scaling": "false", "asks": 2}],
    "output": [{"of": of} for of in ("one", "all", "parts")] + [{"of": "one", "asks": 2}],
    "heads": [
        *({"mh_step": s} for s in ("project", "split", "attend", "concatenate", "output", "slices", "dropout")),
        {"mh": "sentence", "mh_d_model": 6, "mh_heads": 3, "mh_step": "split", "mh_head": 2, "mh_role": "k"},
        {"mh": "sentence", "mh_step": "dropout", "mh_dropout": 50, "mh_bias": "true"},
        *({"mh": mh, "mh_step": "attend"} for mh in ("journey", "journey_builtin", "modules", "modules_builtin")),
        *({"mh": mh, "mh_step": "output"} for mh in ("wide", "planted", "drawn")),
    ],
    "positions": [
        *({"order_view": view} for view in ("output", "weights", "rows", "distance")),
        *(
            {"order_view": view, "positions": kind, "order_mask": mask}
            for view, kind, mask in (
                ("output", "sinusoidal", "causal"),
                ("weights", "learned", "none"),
                ("rows", "rotary", "none"),
                ("distance", "rotary", "none"),
                ("distance", "sinusoidal", "none"),
                ("weights", "none", "causal"),
            )
        ),
        {"shuffle": 5},
        {"order": "3 1 2"},
    ],
    "pytorch": [
        *({"parity": view} for view in ("module", "fused", "weights", "meanings", "levels", "cases")),
        {"parity": "cases", "cases": 3},
        {"mask": "window", "width": 2},
        {"mh": "journey_builtin", "parity": "weights"},
    ],
    "train": [
        *({"task": task} for task in ("copy", "previous", "reverse", "sort", "lookup", "story", "pronoun", "last")),
        *({"task": task} for task in ("recall", "induction", "noise", "vectors")),
        {"task": "characters", "learn": "hello world", "window": 3, "rate": 0.01, "steps": 50},
        {"task": "reverse", "layers": 2, "train_heads": 4, "features": 16, "train_positions": "rotary", "mlp": "true"},
        {"classic": "positions"},
        {"task": "copy", "kind": "sliced", "optimiser": "sgd", "engine": "autograd", "train_causal": "true"},
    ],
    "backward": [
        *({"back_view": "way", "back_to": to} for to in ("loss", "output", "weights", "scores", "qkv", "maps", "x")),
        {"back_view": "softmax", "score_size": 8.0, "updates": 300, "back_sentence": 3},
        {"back_view": "sums", "back_value": 3, "updates": 60, "back_sentence": 1},
        {"back_view": "update", "back_rate": 0.3, "updates": 20},
        *({"back_view": "check", "checked": matrix} for matrix in ("W_q", "W_k", "W_v", "W_o")),
    ],
    "generate": [
        {},
        {"length": 5, "temp": 0.7, "top_k": 5, "draw_seed": 3},
        {"writer": "notebook", "begin": "hel", "length": 20},
        {"writer": "sea", "length": 30, "top_p": 0.9, "temp": 0.0},
        {"begin": "Once upon a time", "length": 3},
    ],
    "read": [
        *({"read_view": view} for view in ("one", "maps", "sink", "guesses", "off", "patch", "flip")),
        {"read_view": "one", "read": "france", "read_head": "18.1", "word": 3},
        {"read_view": "maps", "read_maps": "all", "read": "fox"},
        {"read_view": "off", "read": "names", "read_head": "20.7", "word": 12},
        {"read_view": "patch", "read": "names", "patch_heads": "named", "read_seed": 4},
        {"read_view": "patch", "patch_heads": "several", "read_heads": "1.1, 2.2", "read": "names"},
        {"read": "own", "read_text": "Die Größe der Äpfel 中文 привет", "read_view": "guesses"},
    ],
    "variants": [
        *({"variant": kind} for kind in ("window", "sink", "cap", "alibi", "rotary", "grouped", "cross")),
        {"variant": "window", "reach": 3},
        {"variant": "sink", "sink": 2.0},
        {"variant": "cap", "cap": 0.5},
        {"variant": "cross", "second": "the dog found a lamp"},
    ],
    "cost": [
        *({"cost_view": view} for view in ("counted", "blocks", "measured")),
        *({"cost_of": model} for model in ("gpt2", "gpt3", "llama2_7b", "llama2_70b", "mistral_7b", "gemma_2b")),
        {"cost_of": "llama3_8b", "cost_tokens": 131072},
        {"cost_of": "smollm2", "cost_tokens": 16},
        {"cost_view": "blocks", "block": 5, "asks": 1},
    ],
    "exercises": [{}, {"exercise": "softmax"}, {"exercise": "real_head"}],
    "build": [
        *({"level": level} for level in ("first", "self", "back", "same", "it", "bracket", "count", "soft", "two")),
        {"level": "layers", "on": 5},
        {"level": "first", "compared": "trained", "on": 64},
    ],
    "take_home": [
        *({"paper": paper} for paper in ("sheet", "key", "45", "60", "90", "own", "certificates", "platform")),
        {"paper": "sheet", "paper_kind": "tasks", "paper_tasks": 5, "paper_seed": 3, "on_paper_mask": "false"},
        {"paper": "sheet", "paper_kind": "thread", "paper_seed": 12, "paper_digits": 1, "paper_size": "letter"},
        {"paper": "sheet", "paper_sheets": 30, "paper_text": "a dog ran home"},
        {"paper": "key", "paper_code": CONNECTED},
        {"paper": "key", "paper_code": SINGLE},
        {"paper": "platform", "platform_file": "qti", "platform_lessons": "mask,softmax", "platform_versions": 3},
    ],
    "class_vote": [{}, {"class": "ABCDEF"}, {"class": "2345"}],
}
SHOWN = (
    {"hide": "predict,caption,code", "cover": "false"},
    {"hide": "seed,trace", "large": "true"},
    {"lang": "de"},
    {"lang": "ja", "large": "true"},
    {"cover": "true", "lang": "pt-BR"},
)
CHANGED = ("x1,1=1.5", "q1,1=0.5;k2,1=-1", "v1,1=0;x2,3=2", "x9,9=1")
IMPOSSIBLE: tuple[dict[str, object], ...] = (
    {"d_k": 999, "seed": "x", "example": "journey"},
    {"example": "nothing", "causal": "maybe", "unheard": 1},
    {"asks": 99, "head": 3, "heads": 2, "example": "sentence"},
    {"text": "word " * 40, "example": "sentence"},
    {"example": "sentence", "text": ""},
    {"temperature": 3, "of": "half", "measured_d_k": 7},
)


def asked() -> list[str]:
    """The links that are opened, each once."""
    return list(dict.fromkeys([*printed(), *stops(), *every_view(), *every_example(), *every_way_of_showing()]))


def entry(link: str) -> dict[str, Any]:
    """What a link opens now."""
    return read_link(link, whole=False)


def printed() -> Iterator[str]:
    """The links that README, docs and changes print."""
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("deploy/*.md")]):
        for link in PRINTED.findall(path.read_text(encoding="utf-8")):
            page, _, query = link.partition("?")
            if page in ("", *PAGES):
                yield f"{page}?{query}"


def stops() -> Iterator[str]:
    """The screens of the plans that come with the app."""
    for minutes in READY_MADE:
        for stop in ready_plan(minutes).stops:
            yield link_to(stop.page, stop.link)


def link_to(page: str, query: dict) -> str:
    """A link as the address bar writes it; the first page has the bare address."""
    return f"{'' if page == 'home' else page}{'?' if query else ''}{urlencode(query)}"


def every_view() -> Iterator[str]:
    """Each view of each page, as one finds it."""
    for page, views in VIEWS.items():
        yield from (link_to(page, view) for view in views)


def every_example() -> Iterator[str]:
    """Each kind of example on each lesson, on one of its views in turn; texts in several scripts; edits."""
    for place, (page, example) in enumerate(product(("home", *LESSONS), EXAMPLES)):
        views = VIEWS[page] if page != "home" else VIEWS[page][5:]
        yield link_to(page, example | views[place % len(views)])
    for place, text in enumerate(TEXTS):
        page = LESSONS[place % len(LESSONS)]
        yield link_to(page, {"example": "sentence", "text": text})
        yield link_to(page, {"example": "language", "says_language": text})
        yield link_to("read", {"read": "own", "read_text": text})
    for place, edits in enumerate(CHANGED):
        for page in LESSONS[place :: len(CHANGED)]:
            yield link_to(page, {"example": "sentence", EDITS.name: edits})
            yield link_to(page, {"example": "stories", EDITS.name: edits})


def every_way_of_showing() -> Iterator[str]:
    """Parts hidden, covers on and off, large, in other languages; and what cannot be."""
    for place, page in enumerate(PAGES):
        yield link_to(page, SHOWN[place % len(SHOWN)])
        yield link_to(page, IMPOSSIBLE[place % len(IMPOSSIBLE)])
