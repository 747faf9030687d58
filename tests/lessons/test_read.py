"""The lesson on the real model: what its screens say, computed again by `transformers` with the very same tensors."""

import functools
import math
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from compare_with_transformers import fed_with
from screens import JUDGE, Case, Ranked, by_largest, by_thought, check_case, check_conditions, chosen

from lessons.example.real_model import DEFAULT_TEXT
from lessons.model.read.choices import BEGINS, HEADS_DRAWN, MOST_TOKENS, TEXTS, VIEW, ReadChoices
from lessons.model.read.flip import ANIMALS, ENDINGS, THINGS, sentence_of
from lessons.model.read.lesson import read_screen
from lessons.model.read.reading import Reading, how_it_was_read, shown
from lessons.screen import Arcs, HeadMaps, Matrices, format_value, percent, program_of, render
from lessons.shared.head_jobs import JOBS, HeadJobs, Share
from tests.printed import readings, with_decimals

pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")

HOSTILE = "Grüße aus **Zürich**, 東京 <b>and</b> $x^2$ 🙂 don't"


def begun(view, **changed):
    """The choices with which a view begins."""
    begin = BEGINS[view]
    layer, head = map(int, begin.head.split("."))
    asked = ReadChoices(view=view, text=TEXTS[begin.sentence], layer=layer, head=head)
    return replace(asked, **{"word": 7 if begin.word else None} | changed)


CASES = [
    *map(begun, VIEW.options),
    begun("one", together=(1, 5)),
    begun("one", text="Hi", together=(0, 40)),
    begun("one", text=HOSTILE, layer=2, head=1),
    begun("maps", maps="all"),
    begun("maps", text="the", word=3),
    begun("sink", text="the"),
    begun("guesses", text=TEXTS["names"]),
    begun("off", text="the", seed=5),
    begun("patch", seed=3, layer=29, head=1),
    begun("patch", patched=(180, 227)),
    begun("patch", patched=(210, 9999, *range(0, 270, 7)), seed=2),
    begun("patch", other="Too short"),
    begun("patch", other=TEXTS["names"]),
]


# What `transformers` computes of the same tensors.


@pytest.fixture(scope="module")
def fed():
    """The model of `transformers`, made once the first test has opened ours."""
    return functools.cache(fed_with)


class Theirs:
    """One pass: weights, values, what stands between the parts, scores; a head may be switched off or patched."""

    def __init__(self, model, ids, outputs):
        self.model, layers = model, model.model.layers
        self.values, self.heads, self.between, hooks = [], [], [], []
        for number, layer in enumerate(layers):
            attention = layer.self_attn
            hooks.append(attention.v_proj.register_forward_hook(lambda m, i, out: self.values.append(out[0])))

            def before_o(module, given, number=number):
                (found,) = given
                self.heads.append(found[0].clone())
                found = found.clone()
                for (layer, head), output in outputs.items():
                    if layer == number:
                        found[0, :, 64 * head : 64 * head + 64] = output
                return (found,)

            hooks.append(attention.o_proj.register_forward_pre_hook(before_o))
            hooks.append(
                layer.post_attention_layernorm.register_forward_pre_hook(lambda m, i: self.between.append(i[0][0]))
            )
            hooks.append(layer.register_forward_hook(lambda m, i, out: self.between.append(tensor_of(out)[0])))
        try:
            with torch.inference_mode():
                found = model(torch.tensor([ids]), output_attentions=True)
        finally:
            for hook in hooks:
                hook.remove()
        self.weights, self.scores = torch.cat(found.attentions), found.logits[0]

    def output(self, layer, head):
        return self.heads[layer][:, 64 * head : 64 * head + 64]

    def lengths(self):
        """layers, heads, keys: of each value; three heads share one."""
        values = torch.stack(self.values).unflatten(-1, (3, 64)).norm(dim=-1)
        return values.movedim(-1, 1).repeat_interleave(3, dim=1)

    def early(self, query, embedded):
        x = torch.stack([embedded, *(x[query] for x in self.between)])
        with torch.inference_mode():
            return self.model.lm_head(self.model.model.norm(x)).softmax(-1)


def tensor_of(output):
    return output[0] if isinstance(output, tuple) else output


class RealCase(Case):
    """A case with both models at hand."""


def case_of(choices, smollm2, fed, jobs=None, encoder=None):
    case = RealCase(None, 0, choices, read_screen(choices, smollm2, encoder, jobs))
    text = smollm2.tokenizer.encode(choices.text or DEFAULT_TEXT, add_special_tokens=False).ids[:MOST_TOKENS]
    about = {"theirs": fed(smollm2.transformer), "ours": smollm2, "ids": text, "jobs": jobs, "encoder": encoder}
    for name, value in about.items():
        object.__setattr__(case, name, value)
    return case


@functools.lru_cache(maxsize=40)
def run_theirs(model, ids, places=(), there=None):
    """With the outputs of some heads as in another text, or without them."""
    return Theirs(
        model, ids, {place: 0 if there is None else run_theirs(model, there).output(*place) for place in places}
    )


def whole(case):
    return run_theirs(case.theirs, tuple(case.ids))


def place_of(case):
    return case.choices.layer, case.choices.head


def query_of(case):
    word = case.choices.word
    return len(case.ids) - 1 if word is None else min(word, len(case.ids) - 1)


def called(case):
    return f"{case.choices.layer}.{case.choices.head}"


def head_weights(case):
    return whole(case).weights[place_of(case)]


def row_of(case):
    query = query_of(case)
    return head_weights(case)[query, : query + 1].tolist()


# One head, and many.


def looks(case, sentence):
    row = row_of(case)
    keys = [key.position for key in sentence.arguments["keys"].items]
    return {
        "head": called(case),
        "query": query_of(case),
        "weight": max(row),
        "keys": keys,
        "count": len(keys),
        "ranked": Ranked(row, keys, percent),
    }


def many(row):
    return sum(bool(readings(weight, percent) & readings(max(row), percent)) for weight in row)


def summed(case, sentence):
    chosen_keys = [key for key in case.choices.together if key < len(case.ids)]
    return {
        "query": query_of(case),
        "keys": chosen_keys,
        "weight": sum(float(head_weights(case)[query_of(case), key]) for key in chosen_keys),
    }


def of_layer(case, sentence):
    query = query_of(case)
    rows = whole(case).weights[case.choices.layer][:, query, : query + 1]
    flat, n = rows.flatten().tolist(), query + 1
    best = max(range(len(flat)), key=flat.__getitem__)
    return {
        "head": f"{case.choices.layer}.{best // n}",
        "query": query,
        "key": best % n,
        "weight": max(flat),
        "ranked": Ranked(flat, [best], percent),
    }


def to_first(case):
    """layers, heads: the mean weight on the first token."""
    weights = whole(case).weights[..., 0]
    return weights[..., 1:].mean(-1) if len(case.ids) > 1 else weights[..., 0]


def lengths_to_first(case):
    weights, lengths = whole(case).weights, whole(case).lengths()
    n = len(case.ids)
    shares = [
        weights[..., query, 0] * lengths[..., 0] / (weights[..., query, :] * lengths).sum(-1)
        for query in range(min(1, n - 1), n)
    ]
    return torch.stack(shares).mean(0)


def resting(case, sentence):
    return {"all": 270, "count": int((to_first(case) > 0.5).sum())}


def of_chosen(case, sentence):
    return {
        "head": called(case),
        "weight": float(to_first(case)[place_of(case)]),
        "length": float(lengths_to_first(case)[place_of(case)]),
    }


def of_shown_row(case, sentence):
    """The table below is of one query, not of their mean."""
    lengths = next(figure for figure in case.screen.figures if figure.key == "read_lengths")
    weights = next(matrix for matrix in lengths.matrices if matrix.key == "weights").values[:, 0]
    row = whole(case).weights[place_of(case)][query_of(case), : query_of(case) + 1]
    assert torch.allclose(weights, row, atol=1e-4)
    return {"query": query_of(case)}


def longest(case, sentence):
    lengths = whole(case).lengths()[place_of(case)][: query_of(case) + 1].tolist()
    return {"head": called(case), "first": 0, "length": lengths[0], "others": sum(lengths[1:]) / (len(lengths) - 1)}


# Guesses.


def early(case):
    return early_theirs(case.theirs, tuple(case.ids), query_of(case))


@functools.lru_cache(maxsize=4)
def early_theirs(model, ids, query):
    return run_theirs(model, ids).early(query, model.model.embed_tokens(torch.tensor(ids[query])))


def step_called(step):
    if step == 0:
        return "the embedding"
    return f"the {('MLP', 'attention')[step % 2]} of layer {(step - 1) // 2}"


def first_for_good(chances):
    leads = chances.argmax(-1).tolist()
    return next(step for step in range(len(leads)) if set(leads[step:]) == {leads[-1]})


def leads(case, sentence):
    chances = early(case)
    final = int(chances[-1].argmax())
    return {
        "query": query_of(case),
        "token": final,
        "chance": float(chances[-1, final]),
        "step": step_called(first_for_good(chances)),
    }


def rises(case, sentence):
    chances = early(case)
    of_final = chances[:, chances[-1].argmax()].tolist()
    steps = [after - before for before, after in pairwise(of_final)]
    best = max(range(len(steps)), key=steps.__getitem__)
    return {
        "step": step_called(best + 1),
        "before": of_final[best],
        "after": of_final[best + 1],
        "ranked": Ranked(steps, [best], percent),
    }


def guesses(case, place=None):
    return run_theirs(case.theirs, tuple(case.ids), (place,) if place else ()).scores[query_of(case)].softmax(-1)


def likeliest(case):
    return guesses(case).topk(8).indices.tolist()


def changes(case):
    difference = (guesses(case, place_of(case)) - guesses(case)).abs()
    return [float(difference[token]) for token in likeliest(case)]


def changed(case, sentence):
    found = changes(case)
    best = max(range(8), key=found.__getitem__)
    token = likeliest(case)[best]
    return {
        "head": called(case),
        "token": token,
        "whole": float(guesses(case)[token]),
        "less": float(guesses(case, place_of(case))[token]),
    }


def without_others(case, sentence):
    token = sentence.arguments["token"].position
    others = [place for place in drawn_heads(case)]
    found = [float(guesses(case, place)[token]) for place in others]
    return {"count": HEADS_DRAWN, "token": token, "least": min(found), "most": max(found), "concept": True}


def drawn_heads(case):
    places = Reading(case.choices, case.ours).random_heads(HEADS_DRAWN)
    assert len(set(places) - {place_of(case)}) == HEADS_DRAWN
    return places


def guess_cell(case, sentence):
    """Said of a bar: its share is that of the token with all heads, or without the one."""
    token, share = sentence.arguments["token"].position, sentence.arguments["share"].value
    shares = [float(guesses(case, place)[token]) for place in (None, place_of(case))]
    return {"token": token, "share": min(shares, key=lambda one: abs(one - share))}


# Patches.


def ids_there(case):
    return tuple(case.ours.tokenizer.encode(case.choices.other, add_special_tokens=False).ids)


def answers_of(case):
    there = run_theirs(case.theirs, ids_there(case))
    return int(whole(case).scores[-1].argmax()), int(there.scores[-1].argmax())


def difference(case, scores):
    one, other = answers_of(case)
    return float(scores[-1, one] - scores[-1, other])


def group_of(case):
    """The chosen head and no more than 29 others of the model, the first ones."""
    others = sorted(n for n in set(case.choices.patched) if n < 270 and n != 9 * case.choices.layer + case.choices.head)
    return tuple(sorted([place_of(case), *((n // 9, n % 9) for n in others[:29])]))


def random_groups(case):
    group = group_of(case)
    groups = Reading(case.choices, case.ours).random_groups(HEADS_DRAWN, group)
    heads = [place for one in groups for place in one]
    assert len(groups) == HEADS_DRAWN and all(len(one) == len(group) for one in groups)
    assert len(set(heads) - set(group)) == len(heads) == HEADS_DRAWN * len(group)
    return groups


def patched(case, group):
    return difference(case, run_theirs(case.theirs, tuple(case.ids), group, ids_there(case)).scores)


def ends(case):
    return difference(case, whole(case).scores), difference(case, run_theirs(case.theirs, ids_there(case)).scores)


def way(case, group):
    here, there = ends(case)
    return (here - patched(case, group)) / (here - there)


def moved(case, sentence):
    here, there = ends(case)
    one, other = answers_of(case)
    return {
        "one": one,
        "other": other,
        "here": here,
        "patched": patched(case, group_of(case)),
        "there": there,
        "way": way(case, group_of(case)),
    } | ({"head": called(case)} if len(group_of(case)) == 1 else {"count": len(group_of(case))})


def moved_by_others(case, sentence):
    ways, n = [abs(way(case, group)) for group in random_groups(case)], len(group_of(case))
    return {"count": HEADS_DRAWN, "most": max(ways), "concept": True} | ({} if n == 1 else {"n": n})


def of_two_lengths(case, sentence):
    here, there = len(case.ids), len(ids_there(case))
    assert here != there
    return {"here": here, "there": there}


def same_answer(case, sentence):
    one, other = answers_of(case)
    assert one == other
    return {"token": one}


def no_change(case, sentence):
    """The rows of “it” in both sentences, of all heads."""
    rows = []
    for ending in ENDINGS:
        ids = case.ours.tokenizer.encode(sentence_of(ANIMALS[0], THINGS[0], ending)).ids
        it = ids.index(case.ours.tokenizer.encode(" it").ids[0])
        rows.append(run_theirs(case.theirs, tuple(ids)).weights[:, :, it])
    change = float((rows[0] - rows[1]).abs().max())
    assert change < 1e-5
    return {"model": "SmolLM2-135M-Instruct", "all": 270, "change": 0.0}


ORACLE = {
    "From {query}, head {head} looks most at {keys}: {weight}.": looks,
    "From {query}, head {head} looks most at {keys}: {weight} each.": looks,
    "From {query}, the head gives {keys} a total weight of {weight}.": summed,
    "In this layer, head {head} puts the most weight on one token from {query}: {weight} on {key}.": of_layer,
    "Heads that give the first token more than half of their weight on this text: {count} of {all}.": resting,
    "On average over all queries, head {head} gives the first token {weight} of its weight; by length, that is "
    "{length} of what the head adds.": of_chosen,
    "What does each token add to the output at {query}?": of_shown_row,
    "In head {head}, the value of {first} has length {length}; the others average {others}.": longest,
    "{query} sees no other token.": lambda case, sentence: {"query": 0},
    "After {query} the model guesses {token} ({chance}); read off layer by layer, that guess comes "
    "first from {step} onwards.": leads,
    "Its probability rises most in {step}: from {before} to {after}.": rises,
    "Without head {head}, {token} goes from {whole} to {less}.": changed,
    "Without a randomly drawn head, {token} is at {most}.": without_others,
    "{token}: {share}": guess_cell,
    "Here the model guesses {one}, there {other}. With only head {head} taken from there, the "
    "difference of their scores goes from {here} to {patched}, {way} of the way to {there}.": moved,
    "Here the model guesses {one}, there {other}. With only these {count} heads taken from there, "
    "the difference of their scores goes from {here} to {patched}, {way} of the way to {there}.": moved,
    "A head drawn at random goes {most} of the way, in one direction or the other.": moved_by_others,
    "A group of {n} heads drawn at random goes {most} of the way, in one direction or the other.": moved_by_others,
    "Both texts must have the same number of tokens: this one has {here}, the other {there}.": of_two_lengths,
    "After both texts the first guess is {token}, so there is no distance to cover.": same_answer,
    "In {model}, “it” cannot see the deciding word, which comes later: none of its weights, in "
    "{all} heads, changes by more than {change}.": no_change,
}
AS_CHOSEN = (
    "{token}",
    "rank of {token}",
    "probability of {token}",
)


def final_or_changed(case, sentence):
    """Which token a heading names: the guess in the end, the one that changes most, or one that leads at some step."""
    token = sentence.arguments["token"].position
    if case.choices.view == "off":
        assert token in likeliest(case)
    else:
        assert token in early(case).argmax(-1).tolist()
    return {"token": token}


def limit(case, sentence):
    """No weight as large as the limit is left out, and of small maps no more are drawn than a browser bears."""
    figure = case.screen.figures[0]
    drawn = torch.stack([one.shares for one in figure.maps]) if isinstance(figure, HeadMaps) else figure.shares
    assert int((drawn >= figure.least).sum()) <= 4000
    return {"limit": figure.least}


ORACLE |= dict.fromkeys(AS_CHOSEN, final_or_changed)
ORACLE |= {
    "Point at a word to see its arcs alone. Weights under {limit} are not drawn.": limit,
    "Rows are queries, columns are keys; point at a cell to read its weight. Weights under {limit} "
    "are not drawn.": limit,
    "to the first token: {weight}": lambda case, sentence: {
        "weight": min(
            to_first(case)[case.choices.layer].tolist(), key=lambda one: abs(one - sentence.arguments["weight"].value)
        )
    },
    **dict.fromkeys(("the MLP of layer {layer}", "the attention of layer {layer}"), chosen),
    "score of {one} − {other}": chosen,
}


# Questions.


def asked_row(case, prompt):
    query = prompt.arguments["query"].position
    return head_weights(case)[query, : query + 1].tolist()


def looks_where(case, prompt):
    row = asked_row(case, prompt)
    return {"{weight} of its weight goes to {key}.": ..., JUDGE: by_largest(row)}


def some_weight(case, sentence):
    """Said of a card, which is checked with its question: here only that some query has such a weight."""
    said, key = sentence.arguments["weight"].value, sentence.arguments["key"].position
    return {"weight": min(head_weights(case)[:, key].tolist(), key=lambda weight: abs(weight - said)), "key": key}


def given_to_first(case, prompt):
    row, lengths = row_of(case), whole(case).lengths()[place_of(case)].tolist()
    added = [weight * length for weight, length in zip(row, lengths, strict=False)]
    numbers = {
        "its weight": row[0],
        "its share of what is added": added[0] / sum(added),
        "as much as each of the others": 1 / len(row),
        "the weight of all the others": 1 - row[0],
        "the weight of the last token": row[-1],
    }
    return {"It is in the first row, in violet.": ..., JUDGE: by_thought(numbers)}


def step_of(said):
    return 1 + 2 * said.arguments["layer"] + ("MLP" in said.template)


def first_there(case, prompt):
    right = int(early(case)[step_of(prompt.arguments["step"])].argmax())
    return {
        "Its probability there is {chance}.": right,
        "{token} comes first at another step, not at this one.": ...,
        JUDGE: lambda card: card.text.arguments["thing"].position == right,
    }


def head_missing(case, prompt):
    less = float(guesses(case, place_of(case))[prompt.arguments["token"].position])
    return {
        "Everything else runs as before, without what this head adds to each token.": ...,
        "This head adds a part of what leads to the guess, and other heads add theirs.": 0.0,
        "Heads do not all have the same part in a guess.": ...,
        "That is the same change in the other direction.": 2 * prompt.arguments["whole"].value - less,
        "No fixed part of a guess belongs to a head.": prompt.arguments["whole"].value / 2,
        JUDGE: lambda card: bool(
            readings(less, with_decimals(card.text.arguments["number"].decimals))
            & {format_value(card.text.arguments["number"])}
        ),
    }


def loses_most(case, prompt):
    best = likeliest(case)[max(range(8), key=changes(case).__getitem__)]
    return {
        "{token} changes by {change}.": ...,
        JUDGE: lambda card: card.text.arguments["thing"].position == best,
    }


def moves_furthest(case, prompt):
    heads = [place_of(case), *drawn_heads(case)]
    ways = {".".join(map(str, place)): abs(way(case, (place,))) for place in heads}
    return {
        "{head}: the answer moves {way} of the way.": ...,
        JUDGE: lambda card: card.text.arguments["thing"] == max(ways, key=ways.__getitem__),
    }


def one_word_later(case, prompt):
    reply = (
        "In {model}, “it” cannot see the deciding word, which comes later: none of its weights, in "
        "{all} heads, changes by more than {change}."
    )
    wrong = (
        "“it” comes before that word and cannot read it, so the street gains nothing.",
        "“it” comes before that word and cannot read it, so the animal gains nothing.",
        "No weight is shared out anew: “it” reads the same tokens as before.",
    )
    return {reply: ..., **dict.fromkeys(wrong, ...), JUDGE: lambda card: "none of them" in render(card.text)}


def spread(case, prompt):
    query = prompt.arguments["query"].position
    numbers = {
        "one whole, shared with all before it": 1 / (query + 1),
        "one whole, shared by all tokens of the text": 1 / len(case.ids),
        "one whole, shared with what comes next": 1 / (query + 2),
        "one whole, shared by those before it": 1 / query if query else math.nan,
        "one whole, shared by the vocabulary": 1 / 49152,
        "one whole, shared by all heads": 1 / 9,
        "one whole on each of them": 1.0,
    }
    return {"It sees itself and all before it, and the weights sum to 1.": ..., JUDGE: by_thought(numbers)}


EVEN = (
    "If a head spreads its weight evenly, how much does {query}, token {place} of {total}, put on "
    "each token that it sees?"
)
LATER = "“tired” becomes “wide”. What happens to the weights of “it” in a causal model?"
ANSWERS = {
    "From {query}, which token does head {head} look at most?": looks_where,
    EVEN: spread,
    "From {query}, how much of its weight does head {head} give to the first token?": given_to_first,
    "Read off after {step}, which token comes first?": first_there,
    "With all heads, {token} has the probability {whole}. What is it without head {head}?": head_missing,
    "Without head {head}, which of these guesses changes most?": loses_most,
    "Patched on its own, which of these heads moves the answer furthest?": moves_furthest,
    LATER: one_word_later,
}


def of_some(values):
    """A reply to a card, which is checked with its question: here only that it says one of these numbers."""

    def oracle(case, sentence):
        others = {name: said for name, said in sentence.arguments.items() if isinstance(said, str)}
        ((name, said),) = ((name, said) for name, said in sentence.arguments.items() if name not in others)
        return others | {name: min(values(case), key=lambda value: abs(value - said.value))}

    return oracle


ORACLE |= {
    "{weight} of its weight goes to {key}.": some_weight,
    "From {query}, which token does head {head} look at most?": lambda case, sentence: {
        "query": sentence.arguments["query"].position,
        "head": called(case),
        "concept": True,
    },
    EVEN: lambda case, sentence: {
        "query": sentence.arguments["query"].position,
        "place": sentence.arguments["query"].position + 1,
        "total": len(case.ids),
    },
    "From {query}, how much of its weight does head {head} give to the first token?": lambda case, sentence: {
        "query": query_of(case),
        "head": called(case),
    },
    "Its probability there is {chance}.": of_some(lambda case: early(case).amax(-1).tolist()),
    "With all heads, {token} has the probability {whole}. What is it without head {head}?": lambda case, sentence: {
        "token": sentence.arguments["token"].position,
        "whole": float(guesses(case)[sentence.arguments["token"].position]),
        "head": called(case),
    },
    "Without head {head}, which of these guesses changes most?": lambda case, sentence: {
        "head": called(case),
        "concept": True,
    },
    "Patched on its own, which of these heads moves the answer furthest?": lambda case, sentence: {"concept": True},
    "{token} changes by {change}.": lambda case, sentence: {
        "token": sentence.arguments["token"].position,
        "change": changes(case)[likeliest(case).index(sentence.arguments["token"].position)],
    },
    "{token} comes first at another step, not at this one.": lambda case, sentence: {
        "token": next(
            first for first in early(case).argmax(-1).tolist() if first == sentence.arguments["token"].position
        )
    },
    "{head}: the answer moves {way} of the way.": of_some(
        lambda case: [way(case, (place,)) for place in [place_of(case), *drawn_heads(case)]]
    ),
}


@pytest.mark.part(2)
@pytest.mark.parametrize("choices", CASES, ids=lambda choices: f"{choices.view} {choices.text[:8]}")
def test_every_number_of_the_screen_is_computed_again(choices, smollm2, fed):
    case = case_of(choices, smollm2, fed)
    check_case(case, ORACLE, ANSWERS)
    check_conditions(case, ORACLE)


def test_what_is_drawn_is_what_the_model_computes(smollm2, fed):
    one, maps, sink, guessed = (case_of(begun(view), smollm2, fed) for view in ("one", "maps", "sink", "guesses"))
    arcs, numbers = one.screen.figures
    assert isinstance(arcs, Arcs) and isinstance(numbers, Matrices)
    for drawn in (arcs.shares, numbers.matrices[0].values):
        assert torch.allclose(drawn, head_weights(one), atol=1e-4)
    assert [token.text for token in arcs.tokens] == DEFAULT_TEXT.split() and arcs.chosen == 7
    for head, drawn in enumerate(maps.screen.figures[0].maps):
        assert torch.allclose(drawn.shares, whole(maps).weights[18, head], atol=1e-4) and drawn.chosen == (head == 6)
    upper, lower = sink.screen.figures[0].matrices
    assert torch.allclose(upper.values.mT, to_first(sink), atol=1e-4)
    assert torch.allclose(lower.values.mT, lengths_to_first(sink), atol=1e-3)
    chances = early(guessed)
    curve = guessed.screen.figures[0]
    assert [where for _, where in curve.marks] == [first_for_good(chances) / 2]
    assert torch.allclose(torch.tensor(curve.lines[0].y), chances[:, chances[-1].argmax()].clamp(min=1e-7), atol=1e-3)
    for row, step in zip(guessed.screen.figures[1].cells, reversed(range(61)), strict=True):
        assert render(row[0]) == step_called(step) and row[1].position == int(chances[step].argmax())
        assert row[3].value == 1 + int((chances[step] > chances[step, chances[-1].argmax()]).sum())


def test_facts_that_the_lesson_is_about(smollm2):
    def said(view, **changed):
        return " ".join(
            render(line) for figure in read_screen(begun(view, **changed), smollm2).figures for line in figure.notice
        )

    assert "From “it”, head 13.8 looks most at “cat”: 80%." in said("one")
    assert "the model guesses “Paris” (77%)" in said("guesses")
    assert "“tired” goes from 0.066 to 0.029" in said("off")
    assert "these 3 heads taken from there" in said("patch", patched=(180, 227))
    assert "61% of the way" in said("patch") and "“Mary”, there “John”" in said("patch")


def with_share(share, layer=13, head=8):
    nothing = [[0.0] * 9 for _ in range(30)]
    reached = [[share if (i, j) == (layer, head) else 0.0 for j in range(9)] for i in range(30)]
    chance = [[0.125] * 9 for _ in range(30)]
    shares = {job.key: Share(nothing, chance, 0.25, 7) for job in JOBS}
    return HeadJobs(shares | {"it_to_noun": Share(reached, chance, 0.25, 96)})


def test_a_head_has_the_name_that_it_has_earned_and_it_is_said_by_what(smollm2):
    def said(share):
        screen = read_screen(begun("one"), smollm2, jobs=with_share(share))
        return render(screen.figures[0].head), render(screen.figures[0].notice[-1])

    assert said(0.79) == (
        "13.8, “it” → a noun",
        "Measured job: from “it” to a noun, with 0.79 of its weight over 96 queries; heads with shuffled weights give "
        "0.12 on average.",
    )
    assert said(0.39) == (
        "13.8",
        "It has earned no name. The nearest is from “it” to a noun, with 39% of its weight; a name requires 40%.",
    )
    maps = read_screen(begun("maps", layer=13), smollm2, jobs=with_share(0.79)).figures[0].maps
    assert [render(one.score) for one in maps] == ["a mixture"] * 8 + ["“it” → a noun"]


def test_signs_of_ours_that_were_typed_are_told_from_ours(smollm2):
    assert shown("·cat") == shown(" ·cat") == "U+00B7cat" and shown("cat") == "·cat" and shown(" ·") == "U+00B7"
    called = "".join(name.text for name in Reading(begun("one", text="a␣b ⏎ l·l"), smollm2).names)
    assert "U+2423" in called and "U+23CE" in called and "␣" not in called and "⏎" not in called


def test_texts_in_any_language_are_cut_and_read(smollm2):
    names = Reading(begun("one", text=HOSTILE), smollm2).names
    assert [name.text for name in names[:3]] == ["Gr", "·ü", "·ß"] and names[-2:][0].text == "don"
    assert shown(" ") == "␣" and shown(" the") == "the" and shown("ing") == "·ing"
    assert shown("ing", begins=True) == "ing" and shown("'t") == "'t" and shown("\n") == "⏎" and shown("\u00a0") == "␣"
    pieces = Reading(begun("one", text="a न मे"), smollm2).names
    assert [piece.text for piece in pieces] == ["a", "न₁", "·न₂", "म₁", "·म₂", "◌े"]
    letter = smollm2.tokenizer.encode("👩").ids
    called = [Reading(begun("one", text="a"), smollm2).in_vocabulary(token).text for token in letter]
    assert called == ["<F09F>", "<91>", "<A9>"], "no sign for what is unknown"
    long = Reading(begun("one", text="one two " * 30), smollm2)
    assert len(long.names) == MOST_TOKENS
    assert render(how_it_was_read(long)[0]) == (
        "This page reads 48 tokens, so 12 tokens at the end of your text are left out."
    )
    empty = Reading(begun("one", text="  "), smollm2)
    assert render(how_it_was_read(empty)[0]) == f"There is nothing to read, so the model reads “{DEFAULT_TEXT}”."
    assert " ".join(name.text for name in empty.names) == DEFAULT_TEXT
    assert how_it_was_read(Reading(begun("one"), smollm2)) == ()


@pytest.mark.parametrize("view", ["one", "sink", "patch"])
def test_the_program_to_copy_computes_the_numbers_of_the_figure(view, smollm2):
    printed, screen = {}, read_screen(begun(view), smollm2)
    call = screen.code.call()
    exec(compile(program_of(call).text, "copied", "exec", dont_inherit=True), printed)
    for shown_as, expected in call.shows.items():
        assert torch.allclose(eval(shown_as, printed), expected, atol=1e-3)
