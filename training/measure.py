"""Measures the trained seeds on held-out text, chooses the one that ships by the rule in RESULTS.md, and writes it.

python -m training.measure training/cache/seed1 training/cache/seed2 training/cache/seed3
"""

import argparse
import json
import re
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from attention_core.head_patterns import (
    MEASURED_ON_LISTS,
    MeasuredHeads,
    MeasuredPattern,
    PatternScore,
    lists_said_twice,
    pattern_scores,
    pronoun_score,
)
from attention_core.language_model import PRETRAINED, read_model
from attention_core.model import TinyTransformer
from attention_core.pieces import START, Pieces
from attention_core.randomness import generator
from attention_core.weights import blank, named_weights, with_weights
from training.curriculum import LONGEST_SAID_TWICE
from training.language_model import Plan, read_texts
from training.stories import stories
from training.texts import Texts

SOUGHT = ("previous token", "start", "punctuation", "induction")
CONTEXT, SHORTEST, LISTS, LIST_LENGTH, STORIES_MEASURED, UNTRAINED_SEED = 64, 8, 40, 24, 40, 1000


@dataclass(frozen=True)
class Measured:
    """One trained model, measured."""

    about: dict[str, str]
    model: TinyTransformer
    heads: MeasuredHeads
    others: dict[str, dict[str, MeasuredPattern]]  # on texts that take no part in naming
    predictions: dict[str, dict[str, float]]  # loss and share right, by the kind of text
    pronoun: dict

    @property
    def names(self) -> dict[str, str | None]:
        """What each head is called."""
        heads = [(i, j) for i in range(self.model.config.n_layers) for j in range(self.model.config.n_heads)]
        return {f"{layer + 1}.{head + 1}": self.heads.name_of(layer, head) for layer, head in heads}

    @property
    def rank(self) -> tuple[int, float]:
        """The greater ships."""
        kept = sum(name in self.names.values() for name in SOUGHT)
        return kept, -self.predictions["novels"]["loss"]


def rows(pieces: Pieces, texts: Iterable[str]) -> list[list[int]]:
    """The ids of each text, the start in front, as far as the model sees; too short ones are left out."""
    encoded = ([pieces.ids[START], *pieces.encode(text)][:CONTEXT] for text in texts)
    return [ids for ids in encoded if len(ids) >= SHORTEST]


def twice(pieces: Pieces, texts: Iterable[str]) -> list[list[int]]:
    """The first sentence of each text, where it can be said twice as a whole."""
    first = (pieces.encode(re.split(r"(?<=[.!?])\s", text)[0]) for text in texts)
    return [[pieces.ids[START], *said, *said] for said in first if SHORTEST <= len(said) <= LONGEST_SAID_TWICE]


def kept(scores: dict[str, PatternScore], untrained: dict[str, PatternScore]) -> dict[str, MeasuredPattern]:
    """The scores, rounded for a file, each with the best of the untrained model."""
    return {
        name: MeasuredPattern(
            heads=[[round(weight, 4) for weight in layer] for layer in score.heads.tolist()],
            even=round(score.even, 4),
            untrained=round(float(untrained[name].heads.max()), 4),
            n=score.n,
        )
        for name, score in scores.items()
    }


def predictions(
    model: TinyTransformer,
    texts: Iterable[list[int]],
    said_before: bool = False,
    ablated: Collection[tuple[int, int]] = (),
) -> dict[str, float]:
    """The mean loss and the share of next tokens right; of texts said twice only where the second saying goes on."""
    losses, right = [], []
    for ids in texts:
        first = len(ids) // 2 + 1 if said_before else 0
        logits, following = model(torch.tensor(ids), ablated).logits[first:-1], torch.tensor(ids[first + 1 :])
        losses.append(torch.nn.functional.cross_entropy(logits, following, reduction="none"))
        right.append(logits.argmax(dim=-1) == following)
    each = torch.cat(losses)
    share = torch.cat(right).float().mean()
    return {"loss": round(float(each.mean()), 3), "right": round(float(share), 3), "n": len(each)}


@torch.no_grad()
def measure(path: Path, pieces: Pieces, texts: Texts) -> Measured:
    """The weights of a file in half precision, as they ship, measured on held-out text."""
    about, model = half(path, pieces)
    untrained = TinyTransformer.draw(model.config, generator(UNTRAINED_SEED))

    def both(texts: list[list[int]]) -> dict[str, MeasuredPattern]:
        return kept(pattern_scores(model, pieces, texts), pattern_scores(untrained, pieces, texts))

    def with_lists(texts: list[list[int]], purpose: str) -> dict[str, MeasuredPattern]:
        lists = lists_said_twice(pieces, LISTS, LIST_LENGTH, generator(0, purpose))
        on_lists = both(lists)
        return both(texts) | {name: on_lists[name] for name in MEASURED_ON_LISTS}

    novels, tales = rows(pieces, texts.confirming), rows(pieces, stories("measured", STORIES_MEASURED))
    sentences, lists = (
        twice(pieces, texts.confirming),
        lists_said_twice(pieces, LISTS, LIST_LENGTH, generator(0, "new")),
    )
    found = pronoun_score(model, pieces)
    return Measured(
        about,
        model,
        MeasuredHeads(with_lists(rows(pieces, texts.naming), "naming"), with_lists(novels, "confirming")),
        {"stories": both(tales), "sentences said twice": both(sentences)},
        {
            "novels": predictions(model, rows(pieces, texts.naming)),
            "novels, second set": predictions(model, novels),
            "stories": predictions(model, tales),
            "lists said twice": predictions(model, lists, said_before=True),
            "sentences said twice": predictions(model, sentences, said_before=True),
        },
        {"matching": found.matching.tolist(), "other": found.other.tolist(), "n": found.n},
    )


def half(path: Path, pieces: Pieces) -> tuple[dict[str, str], TinyTransformer]:
    """The model of a checkpoint, each weight rounded to 16 bits."""
    config = Plan(0, 0, path).config(pieces)
    with safe_open(path, "pt") as file:
        arrays = [file.get_tensor(name).half().float() for name, _ in named_weights(blank(config))]
        return file.metadata(), with_weights(blank(config), iter(arrays), torch.zeros(()))


def ship(chosen: Measured, pieces: Pieces, folder: Path = PRETRAINED) -> None:
    """Writes the weights, the pieces and the scores that the app reads."""
    folder.mkdir(exist_ok=True)
    weights = {name: array.half().contiguous() for name, array in named_weights(chosen.model)}
    config = {**asdict(chosen.model.config)}
    save_file(weights, folder / "weights.safetensors", {"config": json.dumps(config), **chosen.about})
    (folder / "pieces.json").write_text(json.dumps(pieces.merges, ensure_ascii=False, separators=(",", ":")), "utf-8")
    scores = {
        "about": chosen.about,
        **asdict(chosen.heads),
        "others": {texts: {name: asdict(one) for name, one in of.items()} for texts, of in chosen.others.items()},
        "predictions": chosen.predictions,
        "pronoun": chosen.pronoun,
    }
    text = json.dumps(scores, indent=1)
    (folder / "scores.json").write_text(re.sub(r"\[\s+([^\[\]]*?)\s+\]", flat, text) + "\n", "utf-8")
    (folder / "weights.safetensors").chmod(0o644)
    read_model(folder / "weights.safetensors")


def flat(numbers: re.Match) -> str:
    """A list of numbers on one line."""
    return "[" + re.sub(r"\s+", " ", numbers[1]) + "]"


def best(patterns: dict[str, MeasuredPattern], name: str) -> float:
    """The most that a head puts on what a pattern names."""
    return max(weight for layer in patterns[name].heads for weight in layer)


def report(measured: list[Measured], chosen: Measured) -> str:
    """All seeds side by side, in Markdown."""
    lines = [["", *(f"seed {one.about['seed']}, {one.about['step']} steps" for one in measured)]]
    for name in measured[0].heads.naming:
        scores = [(best(one.heads.naming, name), best(one.heads.confirming, name)) for one in measured]
        even = measured[0].heads.confirming[name]
        title = f"{name}: best head, naming / confirming (even {even.even:.2f}, untrained {even.untrained:.2f})"
        lines.append([title, *(f"{naming:.2f} / {confirming:.2f}" for naming, confirming in scores)])
    said = "sentences said twice"
    lines.append([f"induction on {said}", *(f"{best(one.others[said], 'induction'):.2f}" for one in measured)])
    for kind in measured[0].predictions:
        of_kind = [one.predictions[kind] for one in measured]
        lines.append([f"{kind}: loss, next token right", *(f"{o['loss']:.2f}, {o['right']:.0%}" for o in of_kind)])
    pronouns = [difference_of_pronouns(one) for one in measured]
    lines.append(["pronoun: matching name less the other, best head", *(f"{most:.2f}" for most in pronouns)])
    names = [", ".join(f"{head} {name}" for head, name in one.names.items() if name) for one in measured]
    lines.append(["names kept", *names])
    lines.append(["ships", *("yes" if one is chosen else "" for one in measured)])
    rows = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([rows[0], "|---" * len(lines[0]) + "|", *rows[1:]])


def difference_of_pronouns(one: Measured) -> float:
    """How much more the best head puts on the name that a pronoun agrees with."""
    return float((torch.tensor(one.pronoun["matching"]) - torch.tensor(one.pronoun["other"])).max())


@torch.no_grad()
def costs_of_heads(one: Measured, pieces: Pieces) -> str:
    """What is left of the words right in lists said twice when one head is switched off, in Markdown."""
    lists = lists_said_twice(pieces, LISTS, LIST_LENGTH, generator(0, "new"))
    lines = ["| without | lists said twice, next token right |", "|---|---|"]
    for head, name in {"no head": None, **one.names}.items():
        off = [] if head == "no head" else [tuple(int(part) - 1 for part in head.split("."))]
        right = predictions(one.model, lists, said_before=True, ablated=off)["right"]
        lines.append(f"| {head} {name or ''} | {right:.0%} |")
    return "\n".join(lines)


def main() -> None:
    """Measures, ships the best or the only one, and reports."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeds", type=Path, nargs="+", help="folders that training.language_model has filled")
    folders = parser.parse_args().seeds
    pieces = Pieces(tuple((a, b) for a, b in json.loads((folders[0].parent / "pieces.json").read_text("utf-8"))))
    texts = read_texts()
    measured = {folder: measure(folder / "last.safetensors", pieces, texts) for folder in folders}
    folder, chosen = max(measured.items(), key=lambda item: item[1].rank)
    ship(chosen, pieces)
    stages = [measure(path, pieces, texts) for path in sorted(folder.glob("stage*.safetensors"))]
    print(report(list(measured.values()), chosen), report(stages, chosen), costs_of_heads(chosen, pieces), sep="\n\n")


if __name__ == "__main__":
    main()
