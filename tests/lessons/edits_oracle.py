"""What sentences on numbers changed by hand say, computed again entry by entry."""

from dataclasses import replace

from screens import chosen, holds

from lessons.example.example import projection_of, run_example

NAMES = {
    "Q": "q",
    "K": "k",
    "V": "v",
    "the scores": "scores",
    "the scaled scores": "scaled",
    "the masked scores": "masked",
    "the weights": "weights",
    "the output": "output",
}


def tensor(trace, head, key):
    if key == "x":
        return trace.x.tolist()
    if key.startswith("W_"):
        return projection_of(trace, key[-1], head).tolist()
    return getattr(trace.heads.select(head), key).tolist()


def before_and_after(case, key):
    then = run_example(replace(case.trace.example, edits=()))
    return tensor(then, case.head, key), tensor(case.trace, case.head, key)


def changed_entries(case, key):
    """How many entries are others now, and how many there are."""
    pairs = [pair for rows in zip(*before_and_after(case, key), strict=True) for pair in zip(*rows, strict=True)]
    return sum(a != b for a, b in pairs), len(pairs)


def counted(case, sentence):
    matrix = sentence.arguments["matrix"]
    return {"count": changed_entries(case, "x" if matrix == "X" else matrix)[0], "matrix": matrix}


def counted_results(case, sentence):
    name = sentence.arguments["tensor"].template
    count, total = changed_entries(case, NAMES[name])
    return {"count": count, "total": total, "tensor": name}


def opening(case, sentence):
    return {
        "count": sum(changed_entries(case, key)[0] for key in ("x", "W_q", "W_k", "W_v")),
        "where": [...] * len(sentence.arguments["where"].items),
    }


def unchanged(case, sentence):
    names = [key for key in NAMES if changed_entries(case, NAMES[key])[0] == 0]
    assert [name.template for name in sentence.arguments["tensors"].items] == names
    return {"tensors": names}


def all_counts(case, sentence):
    names = [key for key in NAMES if changed_entries(case, NAMES[key])[0]]
    assert [count.arguments["tensor"].template for count in sentence.arguments["counts"].items] == names
    return {"counts": [...] * len(names)}


def moved(case, sentence):
    said = sentence.arguments
    i = said["query" if "query" in said else "token"].position
    j = said["key"].position if "key" in said else said["feature"] - 1
    before, after = before_and_after(case, NAMES[said["tensor"].template])
    assert before[i][j] != after[i][j]
    place = {"query": i, "key": j} if "query" in said else {"token": i, "feature": j + 1}
    return {"tensor": said["tensor"].template, "before": before[i][j], "after": after[i][j]} | place


def nothing_changes(case):
    keys = ("x", "W_q", "W_k", "W_v", *NAMES.values())
    return bool(case.trace.example.edits) and not any(changed_entries(case, key)[0] for key in keys)


EDITS_ORACLE = {
    "The changes made by hand change nothing in this head.": holds(nothing_changes),
    "{count} number has been changed by hand: {where}.": opening,
    "{count} in {matrix}": counted,
    "So these numbers change: {counts}.": all_counts,
    "{count} of {total} in {tensor}": counted_results,
    "Nothing changes in {tensors}.": unchanged,
    "In {tensor}, for example, {query} → {key} was {before} and is now {after}.": moved,
    "In {tensor}, for example, feature {feature} of {token} was {before} and is {after} now.": moved,
    "{matrix}": chosen,
}
