"""Whole answers, right and wrong, made of many ways to write each step: the page must say what PyTorch's run says.

A sample at every change; all with `--all`. The driver runs each program under Brython with the stand-in for torch, in
the browser's worker, and here with torch.
"""

import functools
import json
import random

import pytest

from attention_ui.server.runner import python_library, worker_script
from in_browser.driver import run
from lessons.exercises.every import EXERCISES
from lessons.exercises.verdict import verdict_of
from lessons.screen.format import render

SEED, SAMPLE, ALL = 3, 55, 2200
MASK_MADE = (
    "torch.triu(torch.ones(n, n), diagonal=1).bool()",
    "torch.ones(n, n, dtype=torch.bool).triu(1)",
    "torch.ones(n, n, dtype=bool).triu(diagonal=1)",
    "~torch.tril(torch.ones(n, n)).bool()",
    "torch.tril(torch.ones(n, n)) == 0",
    "torch.logical_not(torch.ones(n, n).tril().bool())",
    "torch.arange(n)[None, :] > torch.arange(n)[:, None]",
    "torch.arange(n).unsqueeze(1) < torch.arange(n)",
    "torch.tensor([[j > i for j in range(n)] for i in range(n)])",
    "torch.ones(n, n).bool() ^ torch.ones(n, n).tril().bool()",
    "torch.triu(torch.ones(n, n), diagonal=0).bool()",
    "torch.triu(torch.ones(n, n), diagonal=2).bool()",
    "torch.tril(torch.ones(n, n)).bool()",
    "torch.triu(torch.ones(n, n), 1)",
    "~torch.tril(torch.ones(n, n))",
    "torch.triu(torch.ones((n, n), dtype=torch.uint8), 1) == 1",
    "torch.ones(n, n).triu(1).to(torch.bool)",
    "torch.ones(n, n).triu(1).type(torch.bool)",
    "torch.ones(n, n).triu(1).long()",
)
MASKED = (
    "{s}.masked_fill({m}, -math.inf)",
    "{s}.masked_fill({m}, float('-inf'))",
    "{s}.masked_fill(mask={m}, value=-torch.inf)",
    "torch.where({m}, -math.inf, {s})",
    "torch.where({m}, torch.tensor(-math.inf), {s})",
    "torch.masked_fill({s}, {m}, -math.inf)",
    "{s} + torch.zeros(n, n).masked_fill({m}, -math.inf)",
    "{s}.clone().masked_fill_({m}, -math.inf)",
    "{s}.masked_fill({m}, 0.0)",
    "{s}.masked_fill({m}, -1e9)",
    "{s}.masked_fill({m}, -1e4)",
    "{s} + ({m}) * -math.inf",
    "{s}.masked_fill({m} == 1, -math.inf)",
    "{s} * (1 - ({m}))",
)
SOFTMAX = (
    "torch.softmax({s}, dim=-1)",
    "{s}.softmax(-1)",
    "{s}.softmax(axis=-1)",
    "F.softmax({s}, dim=-1)",
    "nn.Softmax(dim=-1)({s})",
    "torch.exp({s} - torch.logsumexp({s}, dim=-1, keepdim=True))",
    "F.log_softmax({s}, -1).exp()",
    "torch.exp({s}) / torch.exp({s}).sum(dim=-1, keepdim=True)",
    "math.e ** {s} / (math.e ** {s}).sum(axis=-1, keepdims=True)",
    "torch.exp({s} - {s}.amax(-1, keepdim=True)).div(torch.exp({s} - {s}.amax(-1, keepdim=True)).sum(-1, True))",
    "torch.softmax({s}, dim=0)",
    "torch.softmax({s}, dim=1)",
    "torch.exp({s}) / torch.exp({s}).sum(dim=-1)",
    "torch.exp({s} - {s}.max(-1, keepdim=True))",
    "torch.softmax({s})",
    "F.softmax({s})",
    "{s}",
)
SCORES = (
    "Q @ K.transpose(-2, -1)",
    "Q @ K.mT",
    "torch.matmul(Q, K.swapaxes(-1, -2))",
    "torch.einsum('...qd,...kd->...qk', Q, K)",
    "(Q[..., :, None, :] * K[..., None, :, :]).sum(-1)",
    "torch.matmul(Q, torch.movedim(K, -1, -2))",
    "F.linear(Q, K)",
    "torch.inner(Q, K)",
    "K @ Q.transpose(-2, -1)",
    "Q @ K.T",
    "Q @ K",
    "Q @ K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2])",
    "Q * K",
    "torch.mm(Q, K.T)",
    "torch.bmm(Q, K.transpose(1, 2))",
)
SCALED = (
    "({s}) / math.sqrt(K.shape[-1])",
    "({s}) * K.size(-1) ** -0.5",
    "({s}) / K.shape[-1] ** 0.5",
    "torch.div({s}, math.sqrt(K.size(-1)))",
    "({s}) * torch.rsqrt(torch.tensor(float(K.shape[-1])))",
    "({s}) / torch.sqrt(torch.tensor(K.shape[-1]))",
    "({s}).mul(1 / math.sqrt(K.shape[-1]))",
    "({s}) / math.sqrt(K.shape[0])",
    "({s}) / K.shape[-1]",
    "({s}) / torch.sqrt(K.shape[-1])",
    "({s})",
    "({s}) * math.sqrt(K.shape[-1])",
    "({s}).div_(math.sqrt(K.shape[-1]))",
)
MIXED = (
    "{w} @ V",
    "torch.matmul({w}, V)",
    "torch.einsum('...qk,...kf->...qf', {w}, V)",
    "({w}[..., :, :, None] * V[..., None, :, :]).sum(-2)",
    "{w}.matmul(V)",
    "{w} @ K",
    "{w}.mT @ V",
    "V @ {w}",
)
HEADER = (
    "",
    "from __future__ import annotations\n",
    "from typing import Optional, Tuple\n",
    "import functools, itertools, operator\n",
)
SPLIT = (
    "{y}.view(n, h, d).transpose(0, 1)",
    "{y}.view(n, h, d).permute(1, 0, 2)",
    "{y}.reshape(n, h, -1).movedim(1, 0)",
    "{y}.unflatten(-1, (h, d)).swapaxes(0, 1)",
    "torch.stack({y}.split(d, dim=-1))",
    "torch.stack({y}.chunk(h, dim=1), dim=0)",
    "{y}.T.view(h, d, n).transpose(1, 2)",
    "torch.cat([{y}[:, i * d:(i + 1) * d].view(1, n, d) for i in range(h)])",
    "torch.einsum('nhd->hnd', {y}.view(n, h, d))",
    "{y}.view(h, n, d)",
    "{y}.view(n, d, h).permute(2, 0, 1)",
    "{y}.view(n, h, {y}.shape[1] / h).permute(1, 0, 2)",
    "{y}.view(n, h, d)",
    "{y}.view(n, h, d).permute(1, 2, 0)",
)
JOIN = (
    "{o}.transpose(0, 1).reshape(n, -1)",
    "{o}.permute(1, 0, 2).contiguous().view(n, h * d)",
    "{o}.transpose(0, 1).flatten(1)",
    "torch.cat(list({o}), dim=-1)",
    "torch.cat([{o}[i] for i in range(h)], 1)",
    "torch.hstack(tuple({o}))",
    "torch.hstack({o}.unbind(0))",
    "{o}.transpose(0, 1).view(n, h * d)",
    "{o}.reshape(n, -1)",
    "{o}.permute(1, 2, 0).reshape(n, -1)",
    "{o}.sum(0)",
    "{o}.transpose(1, 2).reshape(n, h * d)",
)
FORMS = {
    "scores": "def scaled_scores(Q, K):\n    return {scaled}\n",
    "mask": "def causal_scores(scores):\n    n = scores.shape[0]\n    future = {mask}\n    return {masked}\n",
    "softmax": "def softmax(scores):\n    return {softmax}\n",
    "context": "def context_vectors(weights, V):\n    K = V\n    return {mixed}\n",
    "attention": """def scaled_dot_product_attention(X, W_q, W_k, W_v):
    Q, K, V = {projected}
    s = {scaled}
    w = {softmax}
    return {mixed}, w
""",
    "split": """def split_heads(x, n_heads):
    n, h = x.shape[0], n_heads
    d = x.shape[1] // h
    return {split}
""",
    "merge": "def merge_heads(heads):\n    h, n, d = heads.shape\n    return {join}\n",
    "batch": "def batched_attention(Q, K, V):\n    s = {scaled}\n    w = {softmax}\n    return {mixed}, w\n",
    "multi_head": """class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        {begin}
        self.h, self.d = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.drop = {drop}

    def forward(self, x, causal=False):
        n, h, d = len(x), self.h, self.d
        Q = self.W_q(x)
        Q = {split_q}
        K = self.W_k(x)
        K = {split_k}
        V = self.W_v(x)
        V = {split_v}
        s = {scaled}
        if causal:
            future = {mask}
            s = {masked_s}
        w = {softmax}
        w = self.drop(w)
        o = {mixed}
        return self.W_o({join_o}), w
""",
    "gradient": "def softmax_backward(weights, d_weights):\n    g, w = d_weights, weights\n    return {gradient}\n",
    "temperature": """def draw_token(logits, temperature, uniform):
    s = logits / temperature
    p = {softmax}
    return p, {token}
""",
}
PROJECTED = (
    "X @ W_q, X @ W_k, X @ W_v",
    "(torch.matmul(X, W) for W in (W_q, W_k, W_v))",
    "[torch.einsum('td,dk->tk', X, W) for W in (W_q, W_k, W_v)]",
    "F.linear(X, W_q.T), F.linear(X, W_k.T), X.mm(W_v)",
    "(X @ torch.cat([W_q, W_k, W_v], dim=1)).split([W_q.shape[1], W_k.shape[1], W_v.shape[1]], dim=1)",
    "X @ W_q, X @ W_q, X @ W_v",
    "W_q @ X, W_k @ X, W_v @ X",
    "X @ W_k, X @ W_q, X @ W_v",
)
GRADIENT = (
    "w * (g - (w * g).sum(-1, keepdim=True))",
    "w * g - w * torch.sum(w * g, axis=-1, keepdims=True)",
    "w * (g - torch.einsum('ij,ij->i', w, g)[:, None])",
    "w * (g - torch.diagonal(w @ g.T).unsqueeze(1))",
    "((torch.diag_embed(w) - w[:, :, None] * w[:, None, :]) @ g[:, :, None])[..., 0]",
    "torch.stack([(torch.diag(a) - torch.outer(a, a)) @ b for a, b in zip(w, g)])",
    "w.mul(g.sub((w * g).sum(1, True)))",
    "w * (g - (w * g).sum(-1))",
    "w * (g - (w * g).sum())",
    "w * (g - g.mean(-1, keepdim=True))",
    "w * g",
    "w * (1 - w) * g",
)
TOKEN = (
    "int((p.cumsum(0) <= uniform).sum())",
    "int(torch.searchsorted(p.cumsum(0), torch.tensor(uniform), right=True))",
    "torch.bucketize(torch.tensor(uniform), p.cumsum(0))",
    "(p.cumsum(-1) > uniform).nonzero()[0].item()",
    "(p.cumsum(-1) > uniform).int().argmax()",
    "(p.cumsum(-1) > uniform).argmax()",
    "next(i for i, c in enumerate(p.cumsum(0).tolist()) if c > uniform)",
    "p.argmax()",
    "(p - uniform).abs().argmin()",
    "(p > uniform).nonzero()[0]",
)
BEGIN, DROP = (
    ("super().__init__()",) * 6 + ("nn.Module.__init__(self)", "pass"),
    ("nn.Identity()", "nn.Dropout(0.3)", "nn.Sequential()"),
)


def program(key, drawn):
    """One answer to an exercise: of most steps a way that is right, of some another."""

    def pick(ways, right):
        return drawn.choice(ways[:right]) if drawn.random() < 0.8 else drawn.choice(ways)

    scores, scaled, softmax, mixed = pick(SCORES, 5), pick(SCALED, 7), pick(SOFTMAX, 10), pick(MIXED, 5)
    name = {"mask": "scores", "softmax": "scores"}.get(key, "s")
    split = [pick(SPLIT, 9).format(y=y) for y in ("Q", "K", "V")]
    return drawn.choice(HEADER) + FORMS[key].format(
        scaled=scaled.format(s=scores),
        mask=pick(MASK_MADE, 10),
        masked=pick(MASKED, 8).format(s="scores", m="future"),
        masked_s=pick(MASKED, 8).format(s="s", m="future"),
        softmax=softmax.format(s=name),
        mixed=mixed.format(w="weights" if key == "context" else "w"),
        projected=pick(PROJECTED, 5),
        split=pick(SPLIT, 9).format(y="x"),
        split_q=split[0],
        split_k=split[1],
        split_v=split[2],
        join=pick(JOIN, 7).format(o="heads"),
        join_o=pick(JOIN, 7).format(o="o"),
        begin=drawn.choice(BEGIN),
        drop=drawn.choice(DROP),
        gradient=pick(GRADIENT, 7),
        token=pick(TOKEN, 6),
    )


def programs(count):
    """All different; each exercise is answered about as often, as long as there are other ways to write it."""
    drawn, found, keys = random.Random(5), {}, [*FORMS]
    for turn in range(40 * count):
        key = keys[turn % len(keys)]
        found[key, program(key, drawn)] = None
        if len(found) == count:
            break
    return list(found)


@functools.cache
def job_of(key):
    exercise = EXERCISES[key]
    cases = [dict(vars(case)) for case in exercise.cases(SEED)]
    return {"entry": exercise.entry, "returns": [shown.name for shown in exercise.returns], "cases": cases}


def said_of(key, result):
    """The verdict: right or not, each sentence, and the kind of error."""
    exercise = EXERCISES[key]
    verdict = verdict_of(exercise, exercise.cases(SEED), json.dumps(result))
    return verdict.passed, verdict.tried, [render(it) for it in verdict.says], verdict.error.split(":")[0]


IN_THE_WORKER = """([script, library, jobs]) => new Promise((resolve, reject) => {
    const worker = new Worker(URL.createObjectURL(new Blob([script]))), found = []
    const next = () => {
        if (found.length === jobs.length) { worker.terminate(); resolve(found) }
        else worker.postMessage({code: jobs[found.length][0], job: jobs[found.length][1]})
    }
    worker.onerror = (event) => reject(event.message)
    worker.onmessage = ({data}) => { if (!data.ready) found.push(data.answer); next() }
    worker.postMessage({library})
})"""


@pytest.mark.filterwarnings("ignore::UserWarning")  # F.softmax without an axis
def test_whole_answers_get_the_verdict_that_they_get_from_torch(chromium, whole):
    answers = programs(ALL if whole else SAMPLE)
    context = chromium.new_context()
    page = context.new_page()
    page.set_default_timeout(0)
    ran = page.evaluate(
        IN_THE_WORKER, [worker_script(), python_library(), [[code, json.dumps(job_of(key))] for key, code in answers]]
    )
    context.close()
    different, right = [], 0
    for (key, code), ours in zip(answers, map(json.loads, ran), strict=True):
        theirs = run(code, job_of(key))
        expected, got = said_of(key, theirs), said_of(key, ours)
        right += expected[0]
        if got != expected:
            different.append((key, code, got, ours["error"], expected, theirs["error"]))
    assert 0.2 < right / len(answers) < 0.95
    assert different == [], f"{len(different)} of {len(answers)}"
