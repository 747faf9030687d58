"""Attention is computed in one place: who else takes a softmax, and of what, is named here."""

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
ROOMS = ("attention_core", "attention_ui", "lessons", "models", "runs", "pages", "training")
HOME = "attention_core/one_head"
NAMES = {"softmax", "softmax_rows", "log_softmax", "exp", "exp2"}
WRITTEN_ON_PURPOSE = "lessons/code/exercises"  # solutions and known mistakes: what a learner writes

# The files that take the softmax of something: of scores of attention, each for a reason, or of something else.
OF_SCORES = {
    "attention_core/measured/measures.py": "scores of random queries and keys: no values, and so no attention",
    "attention_core/measured/parity.py": "by torch's own functions, to compare with",
    "lessons/code/pytorch/compute.py": "what PyTorch's masks mean, read both ways",
    "lessons/example/example.py": "whose causal row is spread most, whatever the mask is",
    "lessons/learning/backward/softmax_view.py": "a row whose scores are made larger, for its derivative",
    "lessons/one_head/mask/lesson.py": "a row without any key, and one with large negative numbers",
    "lessons/one_head/scores/questions.py": "wrong answers: a row divided by something else",
    "lessons/one_head/softmax/lesson.py": "the steps of softmax, one by one, which is the lesson",
    "lessons/one_head/softmax/questions.py": "answers and wrong answers about a row",
    "lessons/shared/questions.py": "a row at another temperature or under another mask, for wrong answers",
    "lessons/today/cost/online_softmax_view.py": "what the blocks so far have added up to",
    "lessons/teachers/take_home/thread.py": "the steps of softmax on paper",
}
OF_SOMETHING_ELSE = {
    "attention_core/learning/losses.py": "logits",
    "attention_core/measured/sliding.py": "logits",
    "attention_core/model/parts.py": "SiLU",
    "attention_core/model/sampling.py": "logits",
    "lessons/learning/backward/update_view.py": "a loss, as a probability",
    "lessons/model/read/early_guesses.py": "logits",
    "lessons/model/read/reading.py": "logits",
    "lessons/start/overview/model_view.py": "logits",
    "lessons/today/cost/questions.py": "the factor of an update, as an answer",
    "lessons/today/variants/figures.py": "how fast a bias of distance makes weights fall",
}


def calls_softmax(path):
    """Whether a file calls a function that is named like softmax, or like the exponential that it is made of."""
    calls = (node.func for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call))
    return any(getattr(called, "attr", getattr(called, "id", None)) in NAMES for called in calls)


def files_that_call():
    """All such files of the product, but for the home of attention and for what is written on purpose."""
    paths = (path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    names = {path.relative_to(ROOT).as_posix() for path in paths if calls_softmax(path)}
    return {name for name in names if not name.startswith((HOME, WRITTEN_ON_PURPOSE))}


def test_nobody_else_computes_a_softmax_but_those_that_are_named():
    assert files_that_call() == OF_SCORES.keys() | OF_SOMETHING_ELSE.keys()
