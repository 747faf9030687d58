"""Our stand-in for torch under Brython, in the browser, against torch itself: values, shapes and kinds of error."""

import json
import math
import random

import pytest
import torch

from attention_ui.server.runner import python_library, worker_script

COUNT = 2480
GIVEN = {
    "a": "torch.tensor([[1., -2., 3.], [0.5, 0., -1.5]])",
    "b": "torch.tensor([[2., 1., 0.5], [-1., 4., 3.]])",
    "c": "torch.tensor([[1., 2.], [-3., 0.5], [4., -1.]])",
    "d": "torch.tensor([[[1., 2., 3.], [4., 5., 6.]], [[-1., 0., 2.], [0.5, -0.5, 1.]]])",
    "r": "torch.tensor([0.5, -1., 2.])",
    "s": "torch.tensor(1.5)",
    "i": "torch.arange(6).reshape(2, 3)",
    "m": "torch.triu(torch.ones(2, 3), diagonal=1).bool()",
    "e": "torch.eye(3)",
}
DIMS = (-3, -2, -1, 0, 1, 2)
ONE = (
    "{x}.T",
    "{x}.mT",
    "{x}.transpose({d}, {e})",
    "{x}.permute({d}, {e})",
    "{x}.permute(1, 0, 2)",
    "{x}.reshape(-1)",
    "{x}.reshape({n}, -1)",
    "{x}.view({n}, -1)",
    "{x}.T.contiguous().view(-1)",
    "{x}.transpose(0, 1).view(-1)",
    "{x}.unsqueeze({d})",
    "{x}.squeeze({d})",
    "{x}.unsqueeze(0).squeeze(0)",
    "{x}.flatten()",
    "{x}[{k}]",
    "{x}[:, {k}]",
    "{x}[..., {k}:]",
    "{x}[None]",
    "{x}[{k}:, None]",
    "{x}[-1]",
    "{x}.sum()",
    "{x}.sum({d})",
    "{x}.sum(dim={d}, keepdim=True)",
    "{x}.mean({d})",
    "{x}.mean(dim={d}, keepdim=True)",
    "{x}.max()",
    "{x}.max({d}).values",
    "{x}.max(dim={d}, keepdim=True).values",
    "{x}.max({d}).indices",
    "{x}.amax({d})",
    "{x}.argmax({d})",
    "{x}.argmax()",
    "torch.softmax({x}, dim={d})",
    "{x}.softmax({d})",
    "torch.exp({x})",
    "{x}.exp()",
    "{x}.abs()",
    "{x}.sqrt()",
    "{x}.tanh()",
    "torch.log({x}.abs() + 1)",
    "-{x}",
    "torch.tril({x})",
    "torch.triu({x}, diagonal={k})",
    "{x}.expand({n}, 2, 3)",
    "torch.cumsum({x}, dim={d})",
    "{x}.chunk(2, dim={d})[0]",
    "{x}.split(1, dim={d})[-1]",
    "{x} ** 2",
    "{x} / {n}",
    "{n} - {x}",
    "1 / {x}",
    "{x} > 0",
    "({x} > 0).float()",
    "{x}.masked_fill({x} > 0, -math.inf)",
    "{x}.size({d}) * {x}",
    "torch.zeros_like({x})",
    "torch.stack(list({x}))",
    "torch.ones({x}.shape)",
    "torch.where({x} > 0, {x}, 0.0)",
    "{x}.square()",
    "{x}.t()",
    "{x}.float()",
    "torch.tensor({x}.tolist())",
    "len({x}) * {x}",
)
TWO = (
    "{x} + {y}",
    "{x} - {y}",
    "{x} * {y}",
    "{x} / {y}",
    "{x} @ {y}",
    "{x} @ {y}.T",
    "{x} @ {y}.transpose(-2, -1)",
    "torch.matmul({x}, {y})",
    "torch.cat([{x}, {y}], dim={d})",
    "torch.stack([{x}, {y}], dim={d})",
    "{x} == {y}",
    "torch.bmm({x}, {y})",
    "torch.mm({x}, {y})",
    "torch.dot({x}, {y})",
    "{x}.masked_fill(m, 0.0)",
    "{x} < {y}",
    "torch.softmax({x} @ {y}, dim={d})",
    "{x}[..., None] * {y}",
    "torch.nn.functional.softmax({x} + {y}, dim={d})",
)
# Instead of the driver: evaluates expressions, one by one.
EVALUATE = """
import math
import torch
from driver_outputs import described

def answer():
    from browser import self as worker
    from javascript import JSON
    task = eval(worker.TASK.job)
    names = {"torch": torch, "math": math}
    for name, value in task["given"]:
        names[name] = eval(value, names)
    found = [described(torch, lambda: eval(text, names)) for text in task["expressions"]]
    worker.postMessage(worker.Object.fromEntries([["answer", JSON.stringify(found)]]))
"""
DESCRIBED = '''
def described(torch, evaluate):
    """The shape and the numbers of what is found, or the kind of error."""
    try:
        found = evaluate()
    except Exception as error:
        return [type(error).__name__, []]
    if not isinstance(found, torch.Tensor):
        found = torch.tensor(found)
    return [list(found.shape), [str(float(number)) for number in found.reshape(-1).tolist()]]
'''


def expressions():
    """All different, one or two steps deep; many of them errors."""
    drawn, found = random.Random(7), {}

    def part(form, x, y):
        numbers = {
            "d": drawn.choice(DIMS),
            "e": drawn.choice(DIMS),
            "n": drawn.choice((1, 2, 3, 6)),
            "k": drawn.randrange(3),
        }
        return form.format(x=x, y=y, **numbers)

    while len(found) < COUNT:
        inner = drawn.choice(list(GIVEN))
        if drawn.random() < 0.6:
            inner = f"({part(drawn.choice(ONE), inner, '')})"
        other = drawn.choice(list(GIVEN))
        found[part(drawn.choice(ONE + TWO * 2), inner, other)] = None
    return list(found)


def by_torch(texts):
    """What torch itself says."""
    names = {"torch": torch, "math": math}
    for name, value in GIVEN.items():
        names[name] = eval(value, names)
    exec(DESCRIBED, names)
    return [names["described"](torch, lambda text=text: eval(text, names)) for text in texts]


@pytest.fixture
def evaluate(chromium):
    """Evaluates expressions under Brython, in a worker like that of the exercises."""
    context = chromium.new_context()
    page = context.new_page()
    library = python_library() | {"driver": [".py", EVALUATE, []], "driver_outputs": [".py", DESCRIBED, []]}

    def run(texts):
        return page.evaluate(
            """([script, library, job]) => new Promise((resolve, reject) => {
                const worker = new Worker(URL.createObjectURL(new Blob([script])))
                worker.onerror = (event) => reject(event.message)
                worker.onmessage = ({data}) => data.ready ? worker.postMessage({job}) : resolve(data.answer)
                worker.postMessage({library})
            })""",
            [worker_script(), library, repr({"given": list(GIVEN.items()), "expressions": texts})],
        )

    yield lambda texts: json.loads(run(texts))
    context.close()


def alike(ours, theirs):
    """The same kind of error, or the same shape and, as far as single precision goes, the same numbers."""
    if ours[0] != theirs[0] or len(ours[1]) != len(theirs[1]):
        return False
    pairs = zip(map(float, ours[1]), map(float, theirs[1]), strict=True)
    return all(a == b or (a != a and b != b) or math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-5) for a, b in pairs)


@pytest.mark.filterwarnings("ignore::UserWarning")  # torch warns of what it will refuse one day
def test_the_stand_in_says_what_torch_says(evaluate):
    texts = expressions()
    theirs = by_torch(texts)
    assert 0.2 < sum(isinstance(result[0], list) for result in theirs) / COUNT < 0.95
    different = [(t, o, r) for t, o, r in zip(texts, evaluate(texts), theirs, strict=True) if not alike(o, r)]
    assert different == [], f"{len(different)} of {COUNT}"
