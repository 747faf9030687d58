"""The lesson on cost: every count again with plain loops, every sentence from those."""

import math
import re
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from arithmetic_checks import evaluate
from hypothesis import given
from hypothesis import strategies as st
from screens import JUDGE, Case, by_thought, check_said, chosen
from transformers import LlamaConfig, LlamaForCausalLM

from attention_core.base.randomness import generator
from attention_core.measured.costs import LayerSizes, count_layer, layer_parameters, multiplications, squared_from
from attention_core.model.small_model import draw_model
from attention_core.one_head.heads import KeyValues
from attention_core.stored.few_bits import few_bits_model
from attention_core.stored.tokenizing import gguf_tokenizer
from lessons.example.edits import Edit
from lessons.example.example import Example, run_example
from lessons.screen import Curves, Facts, Parts, Table, format_value, render, render_all
from lessons.today.cost.counted_view import COST_STEPS, SHORT_NAMES, count_tables
from lessons.today.cost.lesson import Choices, screen
from lessons.today.cost.published_models import PUBLISHED
from lessons.today.cost.sliding_window import SLIDING_MODEL, TALE, notice_sliding, real_slide, slide_of, small_slide
from tests.printed import readings, with_decimals
from tests.rounding import assert_close_for_size

LETTER = re.compile(r"[a-z]\w*")
SQUARED = ("scores", "softmax", "mix")
STEP_NAMES = {render(name): step for step, name in COST_STEPS.items()}


def cases(trace):
    yield Choices()
    for model, tokens in (("gpt2", 16), ("llama3_8b", 8192), ("gemma_2b", 131072), ("mistral_7b", 4097)):
        yield Choices(model=model, tokens=tokens)
    for query, block in ((-1, 2), (0, 1), (len(trace.tokens) // 2, 1), (-1, 5), (-1, 12)):
        yield Choices("blocks", query=query, block=block)


def sizes_of(case):
    if case.choices.model != "example":
        model = PUBLISHED[case.choices.model]
        heads = {"n_heads": model.n_heads, "n_kv_heads": model.n_kv_heads}
        widths = {"d_model": model.d_model, "d_k": model.d_head, "d_v": model.d_head}
        return LayerSizes(tokens=case.choices.tokens, **heads, **widths)
    (h, n, d_k), d_v = case.trace.heads.q.shape, case.trace.heads.v.shape[-1]
    kv = 3 if case.trace.example.source == "language" else h
    return LayerSizes(tokens=n, d_model=case.trace.x.shape[1], n_heads=h, n_kv_heads=kv, d_k=d_k, d_v=d_v)


class Loops:
    """One layer in plain loops that count: products, and which numbers each step reads and writes."""

    def __init__(self, s):
        self.products, self.touched = dict.fromkeys(STEP_NAMES.values(), 0), {}
        n, d, h, g = s.tokens, s.d_model, s.n_heads, s.n_kv_heads
        for name, heads, width in (("q", h, s.d_k), ("k", g, s.d_k), ("v", g, s.d_v)):
            for a in range(heads):
                for i in range(n):
                    for j in range(width):
                        for c in range(d):
                            self.multiply("projections", (name, "x", i, c), (name, "W", a, c, j), (name, a, i, j))
        for a in range(h):
            of = a * g // h
            for i in range(n):
                for j in range(n):
                    for c in range(s.d_k):
                        self.multiply("scores", ("q", a, i, c), ("k", of, j, c), ("s", a, i, j))
                    self.multiply("softmax", ("s", a, i, j), None, ("w", a, i, j))  # by the scale
                    self.multiply("softmax", None, None, ("w", a, i, j))  # by 1 over the sum of the row
                    for c in range(s.d_v):
                        self.multiply("mix", ("w", a, i, j), ("v", of, j, c), ("o", a, i, c))
        for i in range(n):
            for j in range(d):
                for a in range(h):
                    for c in range(s.d_v):
                        self.multiply("join", ("o", a, i, c), ("W_o", a, c, j), ("y", i, j))

    def multiply(self, step, one, other, result):
        self.products[step] += 1
        self.touched.setdefault(step, set()).update({one, other, result} - {None})

    def moved(self):
        return {step: len(numbers) for step, numbers in self.touched.items()}

    def parameters(self):
        numbers = set().union(*self.touched.values())
        return len([number for number in numbers if "W" in str(number[:2])])

    def cached(self):
        return len(
            [
                number
                for number in set().union(*self.touched.values())
                if number[0] in "kv" and number[1] != "x" and number[1] != "W"
            ]
        )


SMALL = st.builds(
    LayerSizes,
    tokens=st.sampled_from([1, 2, 5]),
    d_model=st.sampled_from([1, 3, 7]),
    n_heads=st.sampled_from([4, 8]),
    n_kv_heads=st.sampled_from([1, 2, 4]),
    d_k=st.sampled_from([1, 3]),
    d_v=st.sampled_from([2, 5]),
)


@given(SMALL)
def test_the_counts_are_those_of_plain_loops(sizes):
    loops, counts = Loops(sizes), count_layer(sizes)
    assert counts.multiplications._asdict() == loops.products
    assert counts.moved._asdict() == loops.moved()
    assert (counts.parameters, counts.cache) == (loops.parameters(), loops.cached())


@given(SMALL)
def test_the_formulas_in_the_tables_give_the_counts_in_digits_and_in_letters(sizes):
    letters = {short: getattr(sizes, name) for name, short in SHORT_NAMES.items()}
    for table in count_tables(sizes):
        for _, formula, arithmetic, number in table.cells:
            assert evaluate(arithmetic) == number.value
            assert LETTER.sub(lambda letter: str(letters[letter[0]]), formula) == arithmetic


def squares(sizes, tokens=None):
    """What grows with n², and all, multiplied out."""
    n = sizes.tokens if tokens is None else tokens
    squared = n * n * sizes.n_heads * (sizes.d_k + sizes.d_v + 2)
    return squared, squared + n * layer_parameters(sizes)


@given(SMALL)
def test_the_square_takes_over_where_it_is_said_to(sizes):
    equal = squared_from(sizes)
    for tokens in range(1, equal + 5):
        squared, all_of_it = squares(sizes, tokens)
        assert (squared > all_of_it - squared) == (tokens >= equal)


def test_published_models_keep_what_is_known_of_them():
    assert {key: model.bytes_of_token for key, model in PUBLISHED.items() if key != "gpt3"} == {
        "gpt2": 36 * 1024,
        "llama2_7b": 512 * 1024,
        "llama2_70b": 320 * 1024,
        "mistral_7b": 128 * 1024,
        "gemma_2b": 18 * 1024,
        "llama3_8b": 128 * 1024,
        "smollm2": 30 * 3 * 64 * 2 * 2,
    }
    assert PUBLISHED["llama2_7b"].bytes_of_cache == 2 * 2**30
    assert PUBLISHED["mistral_7b"].bytes_of_cache == PUBLISHED["llama3_8b"].bytes_of_cache / 2 == 2**29
    for model in PUBLISHED.values():
        assert model.n_heads % model.n_kv_heads == 0 and model.n_heads * model.d_head == model.d_model


def figures_of(example, choices, kind):
    return [figure for figure in screen(run_example(example), 0, choices).figures if isinstance(figure, kind)]


def test_tables_facts_shares_and_curves_show_the_counts():
    example = Example(source="sentence", text="a b c d e", d_model=7, d_k=3, d_v=2, n_heads=2)
    loops = Loops(LayerSizes(tokens=5, d_model=7, n_heads=2, n_kv_heads=2, d_k=3, d_v=2))
    (parts,), (facts,) = (figures_of(example, Choices(), kind) for kind in (Parts, Facts))
    for part in parts.parts:
        for numbers, share in zip((loops.products, loops.moved()), part.shares, strict=True):
            assert share == pytest.approx(numbers[STEP_NAMES[format_value(part.name)]] / sum(numbers.values()))
    everything = [sum(loops.products.values()), sum(loops.moved().values()), loops.parameters(), loops.cached()]
    assert [fact.value for _, fact in facts.facts] == everything
    products, moved, caches = figures_of(example, Choices(), Table)
    for table, numbers in ((products, loops.products), (moved, loops.moved())):
        for (what, _, arithmetic, number), (step, count) in zip(table.cells, numbers.items(), strict=False):
            assert STEP_NAMES[render(what)] == step and evaluate(arithmetic) == number.value == count
    assert [row[3].value for row in moved.cells[5:]] == everything[2:]
    for row in caches.cells:
        arithmetic, said = format_value(row[1]).split(" = ")
        assert evaluate(arithmetic) == int(said.replace(",", ""))
        assert row[3].value * 2**30 == int(said.replace(",", "")) * row[2].value
    curves, _ = figures_of(example, Choices(), Curves)
    squared, rest = curves.lines
    for n, one, other in zip(squared.x, squared.y, rest.y, strict=True):
        counted = Loops(LayerSizes(tokens=n, d_model=7, n_heads=2, n_kv_heads=2, d_k=3, d_v=2)).products if n < 9 else 0
        assert not counted or (one, one + other) == (sum(counted[s] for s in SQUARED), sum(counted.values()))


def test_very_large_numbers_are_written_in_billions():
    (facts,) = figures_of(Example(), Choices(model="llama3_8b", tokens=8192), Facts)
    count = sum(multiplications(PUBLISHED["llama3_8b"].sizes(8192)))
    assert (
        format_value(facts.facts[0][1]) == f"{count / 1e9:.2f} billion"
        and format_value(facts.facts[3][1]) == "16,777,216"
    )


def test_what_is_beyond_the_context_of_a_model_is_said():
    def said(**choices):
        (parts,) = figures_of(Example(), Choices(**choices), Parts)
        return render_all(parts.notice)

    assert "GPT-2 small was trained to read at most 1,024 tokens" in said(model="gpt2", tokens=2048)
    assert "trained to read" not in said(model="llama3_8b", tokens=4096)


def share_of_square(case, sentence):
    squared, everything = squares(sizes_of(case))
    return {"tokens": sizes_of(case).tokens, "share": squared / everything}


def greater_from(case, sentence):
    sizes = sizes_of(case)
    tokens = sentence.arguments["tokens"].value
    for n, more in ((tokens, True), (tokens - 1, False)):
        squared, everything = squares(sizes, n)
        assert (2 * squared > everything) == more
    return {"tokens": tokens}


def doubled(case, sentence):
    n = 2 * sizes_of(case).tokens
    (squared, now), (squared_then, then) = squares(sizes_of(case)), squares(sizes_of(case), n)
    assert squared_then == 4 * squared and then - squared_then == 2 * (now - squared)
    return {"twice": n, "times": then / now}


def share_of_step(case, sentence):
    step = STEP_NAMES[render(sentence.arguments["step"])]
    said = [sentence.arguments[name].value for name in ("count", "all")]
    counts = count_layer(sizes_of(case))
    several = counts.multiplications._asdict(), counts.moved._asdict()
    numbers = next(numbers for numbers in several if [numbers[step], sum(numbers.values())] == said)
    count = numbers[step]
    return {"step": ..., "count": count, "all": sum(numbers.values()), "share": count / sum(numbers.values())}


def bytes_kept(case, sentence):
    said = sentence.arguments
    return {name: said[name] for name in ("layers", "heads", "features")} | {
        "bytes": 4 * said["layers"] * said["heads"] * said["features"]
    }


def context_of(case, sentence):
    model = PUBLISHED[case.choices.model]
    if sentence.template.startswith("This is more"):  # than the number before: there, n² is not the greater part yet
        squared, everything = squares(sizes_of(case), model.context)
        assert 2 * squared <= everything
    else:
        assert case.choices.tokens > model.context
    return {"model": model.name, "context": model.context}


def window_of(case, sentence):
    model = PUBLISHED[case.choices.model]
    assert case.choices.tokens > model.window
    return {"model": model.name, "window": model.window}


def products_of_step(case, sentence):
    count = multiplications(sizes_of(case))._asdict()[STEP_NAMES[render(sentence.arguments["step"])]]
    return {"step": ..., "n": count, "count": count, "concept": True}


WINDOWED = "{model} keeps only a window of {window} tokens; this counts a layer without it."
PRODUCTS = (
    "The same layer with n = {tokens} tokens: how many multiplications does Q Kᵀ take, with h = {heads} and "
    "d_k = {d_k}?"
)
LONGER = (
    "With {tokens} tokens, Q Kᵀ takes {count} multiplications. How many does it take with {times} times as many tokens?"
)
CACHE = (
    "How many numbers does the cache of this layer hold after {tokens} tokens (key/value heads: "
    "{heads}, d_k = {d_k}, d_v = {d_v})?"
)
BUSIEST = "With n = {tokens} and d_model = {features}, which step takes the most multiplications?"
TAKES_MOST = "{step} takes {n} multiplication."


def row_of(case):
    """The scores of the query in NumPy, of the keys that it may look at, and their values; the ends of the blocks."""
    a, n = case.attention, len(case.trace.tokens)
    query = case.choices.query % n
    scale = case.trace.example.d_k**-0.5 if case.trace.example.scaling else 1.0
    keys = [key for key in range(n) if key <= query or not case.trace.example.causal]
    scores = np.array([float(a.q[query].double() @ a.k[key].double()) * scale for key in keys])
    ends = [min(begin + case.choices.block, len(keys)) for begin in range(0, len(keys), case.choices.block)]
    return keys, scores, a.v[keys].double().numpy(), ends


def same_row(case, sentence):
    """No matter to which moment a sentence belongs: there must be one at which all of its numbers are right."""
    keys, scores, values, ends = row_of(case)
    said, several = sentence.arguments, []
    for before, end in zip([0, *ends], ends, strict=False):
        largest = scores[:end].max()
        powers = np.exp(scores[:end] - largest)
        rescale = np.exp(scores[:before].max() - largest) if before else 0.0
        known = {"largest": largest, "factor": rescale, "total": powers.sum(), "count": end}
        if "key" in said and said["key"].position in keys[:end]:
            at = keys.index(said["key"].position)
            known |= {"key": keys[at], "score": scores[at], "power": powers[at], "share": powers[at] / powers.sum()}
        if "feature" in said:
            output = (powers[:, None] * values[:end]).sum(0) / powers.sum()
            known |= {"feature": said["feature"], "value": output[said["feature"] - 1]}
        several.append({name: known[name] for name in said if name in known})
    full = [known for known in several if known.keys() == said.keys()]
    return min(
        full,
        key=lambda known: (
            abs(float(known[min(said)]) - as_float(said[min(said)]))
            + sum(abs(float(known[name]) - as_float(said[name])) for name in said)
        ),
    )


def as_float(argument):
    return float(getattr(argument, "position", getattr(argument, "value", argument)))


def rising(case, sentence):
    _, scores, _, ends = row_of(case)
    rises = [b for b in range(1, len(ends)) if scores[: ends[b]].max() > scores[: ends[b - 1]].max() + 1e-5]
    by = [np.exp(scores[: ends[b - 1]].max() - scores[: ends[b]].max()) for b in rises]
    return {"blocks": [b + 1 for b in rises], "by": by, "count": len(rises), "concept": True}


def chosen_with_maxima(case, sentence):
    _, scores, _, ends = row_of(case)
    block = sentence.arguments["block"]
    before, after = (scores[: ends[b]].max() for b in (block - 2, block - 1))
    return {"block": block, "before": before, "after": after, "concept": True}


def answer_rescaled(case, prompt):
    before, after = (prompt.arguments[name].value for name in ("before", "after"))

    def judge(card):
        said = card.text.arguments["number"]
        return format_value(said) in readings(math.exp(before - after), with_decimals(said.decimals))

    reply = "Each power was e^(s − m) and must become e^(s − m'), which is e^(m − m') times as large."
    wrong = (
        "That is the other way round: against a larger maximum every power becomes smaller.",
        "The powers so far were taken against the old maximum, so they must change.",
        "Powers of e are rescaled by a power of e, not by a difference.",
        "Powers of e are rescaled by a power of e, not by a quotient.",
        "Nothing is thrown away: the earlier blocks still count.",
    )
    numbers = math.exp(min(after - before, 50)), 1.0, after - before, before / after if after else math.nan, 0.0
    assert before < after, "the maximum rises"
    return {reply: math.exp(before - after), **dict(zip(wrong, numbers, strict=True)), JUDGE: judge}


def answer_held(case, prompt):
    reply = "Those of one block. Of all earlier blocks, only a maximum, a sum and one row of values are kept."
    block, n = prompt.arguments["block"], prompt.arguments["tokens"]
    wrong = {
        "The row of scores is never whole: each block is read, added up and dropped.": n,
        "That is the number of blocks.": n / block,
        "A block is read as a whole, not key by key.": 1,
        "That would be the scores of as many queries as there are keys. This is one query.": n * n,
        "The other blocks leave no scores behind, only a maximum, a sum and one row of values.": n - block,
    }
    return {
        reply: block,
        **wrong,
        JUDGE: lambda card: int(card.text.arguments["number"].value) == prompt.arguments["block"],
    }


RESCALED = (
    "Block {block} raises the largest score from {before} to {after}. By what factor is everything summed so far "
    "multiplied?"
)
HELD = "{tokens} keys are read in blocks of {block}. How many scores of a query are held at once?"


@torch.inference_mode()
def slid(model, ids, context):
    """A model on a text: kept keys stand in lists, and each window is read anew beside them."""
    kept = [
        list(zip(*(x.unbind(-2) for x in layer.attention.present), strict=True))
        for layer in model(ids[:context]).layers
    ]
    gaps, moved, same = [[] for _ in kept], [], []
    for last in range(context, len(ids)):
        past = [
            KeyValues(*(torch.stack(x, dim=-2) for x in zip(*rows[-(context - 1) :], strict=True))) for rows in kept
        ]
        trace, anew = model(ids[last : last + 1], past=past), model(ids[last - context + 1 : last + 1])
        for rows, gap, layer, fresh in zip(kept, gaps, trace.layers, anew.layers, strict=True):
            rows.append(tuple(x[..., -1, :] for x in layer.attention.present))
            keys, new = torch.stack([k for k, _ in rows[-context:]], dim=-2), fresh.attention.present.k
            gap.append(float(((keys - new) ** 2).sum().sqrt() / (new**2).sum().sqrt()))
        one, other = (found.logits[-1].softmax(-1) for found in (trace, anew))
        moved.append(float((one - other).clamp(min=0).sum()))
        same.append(int(one.argmax()) == int(other.argmax()))
    n = len(same)
    return [sum(gap) / n for gap in gaps], sum(moved) / n, sum(same) / n, n


@cache
def slid_small():
    ids = torch.randint(64, (48,), generator=generator(1))
    return slid(draw_model(SLIDING_MODEL, generator(0)), ids, 32)


def slide_said(case, sentence):
    gaps, *_, n = slid_small()
    sizes = {"context": 32, "n": n, "layers": len(gaps), "first": 100 * gaps[0], "last": 100 * gaps[-1]}
    return {"model": "A small model with random weights"} | sizes


def same_output(case, sentence):
    _, scores, values, _ = row_of(case)
    powers = np.exp(scores - scores.max())
    last = case.screen.figures[1].matrices[5].values[-1].double().numpy()
    assert last == pytest.approx((powers[:, None] * values).sum(0) / powers.sum(), rel=1e-4, abs=1e-5)
    plain = case.attention.output[case.choices.query % len(case.trace.tokens)]
    assert float(np.abs(last - plain.double().numpy()).max()) < 1e-4
    return {"difference": sentence.arguments["difference"].value}


def test_a_host_that_keeps_few_bits_lets_the_window_of_a_small_model_slide(smollm2):
    """Ten visitors have room on it only without the passes of the real one."""
    model, settings = few_bits_model(smollm2.files.path)
    few = SimpleNamespace(name=smollm2.name, transformer=model, tokenizer=gguf_tokenizer(settings))
    assert slide_of(few) is small_slide() and slide_of(smollm2) is real_slide(smollm2)


def test_the_window_of_the_real_model_slides_as_a_plain_loop_finds(smollm2, shapes_taken_for_granted):
    ids = torch.tensor(smollm2.tokenizer.encode(TALE).ids[:32])
    gaps, moved, same, n = slid(smollm2.transformer, ids, 24)
    slide = real_slide(smollm2)
    assert (slide.context, slide.found.n, len(gaps)) == (24, n, 30)
    assert slide.found.keys.tolist() == pytest.approx(gaps, abs=1e-4)
    assert (slide.found.moved, slide.found.same) == (pytest.approx(moved, abs=1e-4), same)
    said = render_all(tuple(notice_sliding(slide)))
    assert f"sees 24 tokens at once here; its window slides over {n} more" in said
    assert f"{100 * moved:.1f}% of the next token's probability moves" in said
    figure = screen(run_example(replace(REAL, real_model=smollm2)), 0, Choices()).figures[-1]
    assert list(figure.lines[0].y) == pytest.approx(gaps, abs=1e-4) and figure.notice == tuple(notice_sliding(slide))


ORACLE = {
    "{model} sees {context} tokens at once here; its window slides over {n} more. In layer 1, kept keys differ by "
    "{first}% of their length from keys computed afresh; in layer {layers} by {last}%, because they come from tokens "
    "that still saw what has left the window.": slide_said,
    "After the last block the output differs from that of the plain softmax by at most {difference}.": same_output,
    "largest so far {largest}": lambda case, sentence: same_row(case, sentence) | {"concept": True},
    "from the largest so far": lambda case, sentence: {"concept": True},
    "largest m": lambda case, sentence: {"concept": True},
    "all before × {factor}": same_row,
    "sum so far {total}": same_row,
    "output from {count} key": same_row,
    "{key}: score {score}, e to the difference {power}, {share} of the sum so far": same_row,
    "output so far, feature {feature}: {value}": same_row,
    "Block {blocks} brings a larger score than all before it: what was summed so far is multiplied by {by}, e to the "
    "difference of the two maxima.": rising,
    RESCALED: chosen_with_maxima,
    HELD: chosen,
    "{step}: {count} of {all}, {share}": share_of_step,
    "Scores, softmax and weights · V grow with n²; the rest grows with n. At n = {tokens}, the part "
    "that grows with n² takes {share} of the multiplications.": share_of_square,
    "From n = {tokens} on, it is the greater part.": greater_from,
    "n² is larger from {tokens} on": greater_from,
    "here, n = {tokens}": lambda case, sentence: {"tokens": sizes_of(case).tokens},
    "With twice as many tokens, {twice}, there are four times as many scores, and the layer takes {times} times as "
    "many multiplications.": doubled,
    "2·{layers}·{heads}·{features}·2 = {bytes}": bytes_kept,
    "{model} was trained to read at most {context} tokens at once; the count continues beyond that.": context_of,
    WINDOWED: window_of,
    PRODUCTS: lambda case, sentence: chosen(case, sentence) | widths(case, heads="n_heads", d_k="d_k"),
    CACHE: lambda case, sentence: chosen(case, sentence) | widths(case, heads="n_kv_heads", d_k="d_k", d_v="d_v"),
    LONGER: lambda case, sentence: (
        chosen(case, sentence) | {"count": products_of_scores(case, sentence.arguments["tokens"])}
    ),
    BUSIEST: lambda case, sentence: widths(case, tokens="tokens", features="d_model") | {"concept": True},
    TAKES_MOST: products_of_step,
}


def widths(case, **names):
    return {name: getattr(sizes_of(case), size) for name, size in names.items()}


def products_of_scores(case, n):
    return sum(sizes_of(case).n_heads * sizes_of(case).d_k for _ in range(n)) * n


def answer_products(case, prompt):
    s, n = sizes_of(case), prompt.arguments["tokens"]
    right = products_of_scores(case, n)
    thoughts = {
        "d_k products for each pair of tokens, in each head": right,
        "one product for each pair of tokens, in each head": s.n_heads * n * n,
        "d_k products for each token, in each head": s.n_heads * n * s.d_k,
        "d_k products and sums for each pair, in each head": 2 * right,
        "d_k·d_k products for each pair of tokens, in each head": right * s.d_k,
        "d_k products for every three tokens, in each head": right * n,
    }
    reply = "Each of the n·n pairs takes a dot product of d_k products, in each head."
    return {reply: ..., JUDGE: by_thought(thoughts)}


def answer_longer(case, prompt):
    n, times = prompt.arguments["tokens"], prompt.arguments["times"]
    before, after = products_of_scores(case, n), products_of_scores(case, n * times)
    thoughts = {
        "more queries and more keys": after,
        "more queries, and the same keys": before * times,
        "only the new pairs": after - before,
        "more queries, more keys, and more for each pair": before * times**3,
        "more queries and more keys, each of them twice": 2 * after,
    }
    reply = "More queries meet more keys, so the number of pairs grows with the square."
    return {reply: ..., JUDGE: by_thought(thoughts)}


def answer_cache(case, prompt):
    s, n = sizes_of(case), prompt.arguments["tokens"]
    keys, values = n * s.n_kv_heads * s.d_k, n * s.n_kv_heads * s.d_v
    thoughts = {
        "keys and values of all tokens": keys + values,
        "keys of all tokens": keys,
        "keys and values of a single token": (keys + values) // n,
        "queries, keys and values of all tokens": keys + values + n * s.n_heads * s.d_k,
        "keys, values and scores of all tokens": keys + values + n * n * s.n_heads,
    }
    reply = "A key and a value for each token and key/value head. Later tokens need no earlier query or score."
    return {reply: ..., JUDGE: by_thought(thoughts)}


def answer_busiest(case, prompt):
    counts = multiplications(sizes_of(case))._asdict()
    assert sorted(counts.values())[-1] > sorted(counts.values())[-2], "no question where two tie"
    named = {render(name): counts[step] for step, name in COST_STEPS.items()}
    return {TAKES_MOST: ..., JUDGE: lambda card: named[render(card.text)] == max(counts.values())}


@cache
def real_parameters():
    """Those of the real model as `transformers` builds it from the numbers of its config.json, by their names."""
    sizes = {"vocab_size": 49152, "hidden_size": 576, "intermediate_size": 1536, "num_hidden_layers": 30}
    heads = {"num_attention_heads": 9, "num_key_value_heads": 3}
    config = LlamaConfig(**sizes, **heads, tie_word_embeddings=True)
    with torch.device("meta"):
        model = LlamaForCausalLM(config)
    model.tie_weights()
    return {name: parameter.numel() for name, parameter in model.named_parameters()}


def real_multiplications(case, sentence):
    """An MLP multiplies each token with each number of its maps."""
    n, s = len(case.trace.tokens), sizes_of(case)
    maps = sum(size for name, size in real_parameters().items() if name.startswith("model.layers.0.mlp"))
    products = 2 * s.d_model * (s.n_heads + s.n_kv_heads) * s.d_k * n + s.n_heads * n * n * (s.d_k + s.d_v + 2)
    return {"count": n, "attention": products, "mlp": n * maps}


def real_cache(case, sentence):
    """A key and a value are as long as what W_k and W_v give."""
    kept, heads = (
        sum(size // 576 for name, size in real_parameters().items() if any(part in name for part in parts))
        for parts in (("k_proj", "v_proj"), ("q_proj",))
    )
    alone = 2 * heads  # a key and a value as wide as the queries
    return {"kept": kept, "sets": 3, "heads": 9, "layers": 30, "alone": alone, "times": alone / kept}


ORACLE |= {
    "The embedding is used twice: at the end, {model} also multiplies by it to score {count} tokens.": (
        lambda case, sentence: {"model": "SmolLM2-135M", "count": 49152}
    ),
    "For the {count} token here, the attention of a layer takes {attention} multiplications, and its MLP {mlp}.": (
        real_multiplications
    ),
    "For each token, the cache keeps {kept} numbers: a key and a value for {sets} of {heads} heads "
    "in each layer (n_layers = {layers}). Without sharing, it would keep {alone}: {times} times as many.": real_cache,
    "All of {model}": chosen,
    "The parameters of {model}": chosen,
    "whole model, {count} layer": lambda case, sentence: {"count": 30},
}

ANSWERS = {
    RESCALED: answer_rescaled,
    HELD: answer_held,
    PRODUCTS: answer_products,
    LONGER: answer_longer,
    CACHE: answer_cache,
    BUSIEST: answer_busiest,
}


@pytest.mark.parametrize("model", PUBLISHED)
def test_wherever_a_window_is_left_out_of_the_count_that_is_said(model):
    window = PUBLISHED[model].window
    for tokens in (16, 4096, 4097, 131072):
        shown = screen(run_example(Example()), 0, Choices(model=model, tokens=tokens))
        said = {sentence.template for figure in shown.figures for sentence in figure.notice}
        assert (WINDOWED in said) == (window is not None and tokens > window)


def test_the_film_ends_with_the_plain_softmax_whatever_the_block():
    trace = run_example(Example(source="sentence", text="a b c d e f g", d_k=3, d_v=5, causal=False))
    for block in (1, 2, 3, 7, 12):
        passing, figure = screen(trace, 0, Choices("blocks", query=4, block=block)).figures
        assert len(passing.moments) == -(-7 // block)
        scores = trace.heads.scaled[0, 4]
        assert_close_for_size(passing.moments[-1].output, trace.heads.output[0, 4], scores, trace.heads.v)
        shares = [size / passing.moments[-1].total for size in passing.moments[-1].sizes]
        assert_close_for_size(shares, trace.heads.weights[0, 4], scores)
        assert figure.matrices[-1].values[0].tolist() == trace.heads.output[0, 4].tolist()


def test_the_right_card_is_the_busiest_step():
    ask = screen(run_example(Example()), 0, Choices(model="gpt2", tokens=16)).ask
    question = next(q for q in map(ask, range(50)) if q.prompt.template == BUSIEST)
    assert render(question.cards[question.right].text) == "Q, K and V"
    assert question.cards[question.right].reply.arguments["count"] == 16 * 768 * 3 * 768


# The real model.

REAL = Example(source="language", text="", layer=14)
NAMES_OF_PARTS = {
    "embedding": ("embed_tokens",),
    **{f"W_{role}": (f"{role}_proj",) for role in "qkvo"},
    "MLP": ("mlp",),
    "norms": ("layernorm", "model.norm"),
    "total": ("",),
}


def test_the_real_layer_is_counted_with_the_keys_that_its_heads_share():
    trace = run_example(REAL)
    for choices in (Choices(), Choices(model="smollm2", tokens=8192)):
        case = Case(trace, 8, choices, screen(trace, 8, choices))
        check_said(case, ORACLE, ANSWERS)
    layer = {name: size for name, size in real_parameters().items() if name.startswith("model.layers.13.self_attn")}
    facts = dict((render(name), count.value) for name, count in screen(trace, 8, Choices()).figures[1].facts)
    assert facts["parameters"] == sum(layer.values())
    assert facts["numbers in the cache"] == 10 * 2 * 3 * 64


def test_the_parameters_of_each_part_of_the_real_model_are_those_of_transformers():
    table = next(figure for figure in screen(run_example(REAL), 8, Choices()).figures if figure.key == "cost_whole")
    parameters = real_parameters()
    for row, (name, parts) in zip(table.cells, NAMES_OF_PARTS.items(), strict=True):
        own = {key: size for key, size in parameters.items() if any(part in key for part in parts)}
        in_layer = sum(size for key, size in own.items() if key.startswith("model.layers.13."))
        assert (render(row[0]), row[1].value, row[2].value) == (name, in_layer, sum(own.values()))
        assert row[3].value == pytest.approx(sum(own.values()) / 134_515_008)


def test_the_published_sizes_of_the_real_model_are_those_of_the_layer_that_ships():
    published, counted = PUBLISHED["smollm2"], sizes_of(Case(run_example(REAL), 8, Choices(), None))
    assert published.sizes(10) == counted
    config = run_example(REAL).trained.config
    assert (published.layers, published.context) == (config.n_layers, config.context)


def test_of_other_examples_and_of_published_models_no_whole_model_is_told():
    for example, choices in ((Example(), Choices()), (REAL, Choices(model="gpt2"))):
        assert all(figure.key != "cost_whole" for figure in screen(run_example(example), 0, choices).figures)


def test_an_edit_by_hand_changes_no_count():
    edited = Example(source="language", text="", layer=14, edits=(Edit("W_k", 3, 5, 2.0),))
    facts, own = (screen(run_example(example), 8, Choices()).figures[1].facts for example in (edited, REAL))
    assert [number.value for _, number in facts] == [number.value for _, number in own]
