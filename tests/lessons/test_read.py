"""The lesson on the language model: everything its screens say, computed again from its weights by another way."""

import functools
import json
import math
from dataclasses import replace

import pytest
import torch
from learnt_oracle import measured_in
from screens import JUDGE, Case, Ranked, by_largest, check_case, check_conditions, chosen, holds
from torch.nn.functional import layer_norm

from attention_core.head_patterns import NAME_PAIRS
from attention_core.language_model import PRETRAINED, language_model
from attention_core.pieces import START
from lessons.example.language_model_text import (
    NO_NAME,
    PATTERN_NAMES,
    SENTENCES_READ,
    ReadChoices,
    all_heads,
    name_of_head,
    read,
    swap_names,
)
from lessons.read.lesson import how_it_was_read, read_screen
from lessons.screen.format import percent, render
from lessons.screen.program import program_of
from lessons.screen.screen import Arcs, HeadMaps, Matrices, Parts, Table
from tests.printed import largest

KEPT = json.loads((PRETRAINED / "scores.json").read_text())
HAND = "<b>Grandmother</b> *met* ☃ Mr. Holmes, and Holmes met her"
CASES = [
    ReadChoices(),
    ReadChoices(SENTENCES_READ["names"], layer=3, head=2, off=True, word=11),
    ReadChoices(SENTENCES_READ["names"], swapped=True, layer=2, head=2),
    ReadChoices(SENTENCES_READ["king"], twice=True, layer=3, head=0, word=20, off=True),
    ReadChoices(HAND, layer=1, head=1),
    ReadChoices("the dog " * 40, layer=0, head=3, word=70),
    ReadChoices("dog", layer=3, head=3, off=True),
    ReadChoices("", layer=0, head=1),
]


def forward(case, off=False):
    return computed_by_pytorch(read(case.choices).encoded.ids, (case.choices.layer, case.choices.head) if off else None)


@functools.lru_cache(maxsize=3)
def computed_by_pytorch(ids, off):
    """Weights of all heads and logits, with PyTorch's own functions, in double precision."""
    model, ids = language_model().model, torch.tensor(ids)
    x, weights, n = model.token_table.double()[ids], [], len(ids)
    angles = torch.arange(n)[:, None] * 10000 ** (-torch.arange(0, 32, 2).double() / 32)
    turn = torch.polar(torch.ones_like(angles), angles)

    def turned(vectors):
        return torch.view_as_real(torch.view_as_complex(vectors.reshape(4, n, 16, 2).contiguous()) * turn).flatten(2)

    def norm(x, part):
        return layer_norm(x, (64,), part.gain.double(), part.shift.double())

    def by_head(x, W):
        return (x @ W.double()).unflatten(-1, (4, -1)).transpose(0, 1)

    for number_of_layer, layer in enumerate(model.layers):
        a, normed = layer.attention, norm(x, layer.norm)
        q, k, v = turned(by_head(normed, a.W_q)), turned(by_head(normed, a.W_k)), by_head(normed, a.W_v)
        hidden = torch.ones(n, n).triu(1).bool()
        weights.append((q @ k.mT / math.sqrt(32)).masked_fill(hidden, -math.inf).softmax(-1))
        found = weights[-1] @ v
        if off and number_of_layer == off[0]:
            found[off[1]] = 0
        x = x + found.transpose(0, 1).flatten(1) @ a.W_o.double()
        normed, mlp = norm(x, layer.mlp.norm), layer.mlp
        up = (normed @ mlp.W_up.double() + mlp.b_up.double()).relu()
        x = x + up @ mlp.W_down.double() + mlp.b_down.double()
    return torch.stack(weights), norm(x, model.norm) @ model.W_unembed.double() + model.b_unembed.double()


def surprise(case, off=False):
    following = torch.tensor(read(case.choices).encoded.ids[1:])
    chances = forward(case, off)[1][:-1].log_softmax(-1)
    return -float(chances[torch.arange(len(following)), following].mean())


def query_of(case):
    n = len(read(case.choices).encoded.ids)
    return n - 1 if case.choices.word is None else min(case.choices.word, n - 1)


def called(case):
    return f"layer {case.choices.layer + 1}, head {case.choices.head + 1}"


def pattern_of(case):
    """The name that the rule gives the head, by the kept scores alone; and whether it is earned."""
    return pattern_of_head(case.choices.layer, case.choices.head)


def pattern_of_head(layer, head):
    def above(name):
        return KEPT["naming"][name]["heads"][layer][head] - KEPT["naming"][name]["even"]

    def earned(kept):
        weight = kept["heads"][layer][head]
        return weight >= 0.4 and weight >= 2 * kept["even"] and weight > kept["untrained"]

    names = [name for name in KEPT["naming"] if all(earned(KEPT[texts][name]) for texts in ("naming", "confirming"))]
    return max(names or KEPT["naming"], key=above), bool(names)


def about(earned):
    def expected(case, sentence):
        name, is_earned = pattern_of(case)
        assert is_earned == earned
        kept = KEPT["confirming"][name]
        weight = kept["heads"][case.choices.layer][case.choices.head]
        even = kept["even"] * 100
        numbers = {"weight": weight, "even": even, "count": kept["n"]}
        return {"head": called(case), "name": name, "texts": measured_in(name)} | numbers

    return expected


def row_of(case):
    return forward(case)[0][case.choices.layer, case.choices.head, query_of(case), : query_of(case) + 1].tolist()


def looks_most(case, sentence):
    keys = sentence.arguments.get("keys")
    named = [token.position for token in (keys.items if keys else (sentence.arguments["key"],))]
    ranked = Ranked(row_of(case), named, percent)
    expected = {"query": query_of(case), "weight": max(row_of(case)), "ranked": ranked}
    return expected | ({"keys": named} if keys else {"key": named[0]})


def named_pairs(name, ids):
    """By loops: which keys the pattern names for each query from the third on."""
    tokens = language_model().pieces.tokens
    mark = [not any(map(str.isalnum, tokens[i])) and tokens[i] not in ("<unk>", "▁", START) for i in ids]
    for i in range(2, len(ids)):
        for j in range(i + 1):
            if {
                "previous token": j == i - 1,
                "start": j == 0,
                "punctuation": mark[j] and not mark[i],
                "same token": j < i and ids[j] == ids[i],
                "induction": 0 < j < i and ids[j - 1] == ids[i],
            }[name]:
                yield i, j


def score_of(case, name, layer, head):
    ids = read(case.choices).encoded.ids
    pairs = list(named_pairs(name, ids))
    n = len({i for i, _ in pairs})
    weights = forward(case)[0][layer, head]
    least = max(n, 1)
    return sum(float(weights[i, j]) for i, j in pairs) / least, sum(1 / (i + 1) for i, _ in pairs) / least, n


def pattern_on_this_text(case, sentence):
    name, _ = pattern_of(case)
    weight, even, n = score_of(case, name, case.choices.layer, case.choices.head)
    assert n > 0
    return {"count": n, "name": name, "weight": weight, "even": even}


def nothing_for_it(case, sentence):
    name, _ = pattern_of(case)
    assert score_of(case, name, case.choices.layer, case.choices.head)[2] == 0
    return {"name": name}


def score_of_map(case, sentence):
    heads = [map for figure in case.screen.figures if isinstance(figure, HeadMaps) for map in figure.maps]
    which = next(i for i, one in enumerate(heads) if one.score is sentence)
    layer, head = divmod(which, 4)
    weight, even, _ = score_of(case, pattern_of(with_head(case, layer, head))[0], layer, head)
    return {"weight": weight, "even": even}


def with_head(case, layer, head):
    return Case(None, 0, ReadChoices(case.choices.text, layer=layer, head=head), case.screen)


def from_pronoun(case, sentence):
    names = [token.text for token in read(case.choices).names]
    pair = next(pair for pair in NAME_PAIRS if all(name.split()[-1] in names for name in pair))
    her, him = (names.index(name.split()[-1]) for name in pair)
    pronoun = next(i for i, name in enumerate(names) if name in ("she", "he") and i > max(her, him))
    row = forward(case)[0][case.choices.layer, case.choices.head, pronoun]
    return {"pronoun": pronoun, "hers": row[her], "his": row[him], "her": her, "him": him}


def before_the_swap(case, sentence):
    expected = from_pronoun(Case(None, 0, replace(case.choices, swapped=False), case.screen), sentence)
    return {name: value for name, value in expected.items() if name != "pronoun"}


def pronoun_difference():
    pairs = zip(KEPT["pronoun"]["matching"], KEPT["pronoun"]["other"], strict=True)
    return max(m - o for matching, other in pairs for m, o in zip(matching, other, strict=True))


def no_pronoun_head(case, sentence):
    assert pronoun_difference() < 0.4
    return {"n": KEPT["pronoun"]["n"], "heads": 16, "difference": pronoun_difference(), "needed": 0.4}


def chances(case):
    return forward(case)[1][query_of(case)].softmax(-1).tolist()


def expects(case, sentence):
    token = sentence.arguments["token"].position
    ranked = Ranked(chances(case), [token], percent)
    return {"query": query_of(case), "token": token, "share": max(chances(case)), "ranked": ranked}


def expects_several(case, sentence):
    tied = largest(chances(case), sentence.arguments["count"])
    ranked = Ranked(chances(case), tied, percent)
    return {"query": query_of(case), "count": len(tied), "share": max(chances(case)), "ranked": ranked}


def costs(case, sentence):
    whole, less = surprise(case), surprise(case, off=True)
    return {"head": called(case), "whole": whole, "less": less}


def of_candidate(case, sentence):
    part = next(
        part
        for figure in case.screen.figures
        if isinstance(figure, Parts)
        for part in figure.parts
        if sentence in part.says
    )
    place = next(place for place, said in enumerate(part.says) if said is sentence)
    token = sentence.arguments["token"].position
    return {"token": token, "share": forward(case, off=place == 1)[1][query_of(case)].softmax(-1)[token]}


def after_layer(case, sentence):
    rows = next(figure for figure in case.screen.figures if figure.key == "read_layers").cells
    step = next(step for step, row in enumerate(rows) if any(cell is sentence for cell in row))
    model, token = language_model().model, sentence.arguments["token"].position
    trace = language_model().trace(read(case.choices).encoded.ids)
    x = trace.layers[step - 1].output if step else trace.layers[0].x
    normed = layer_norm(x[query_of(case)], (64,), model.norm.gain, model.norm.shift)
    shares = (normed @ model.W_unembed + model.b_unembed).softmax(-1)
    place = next(place for place, cell in enumerate(rows[step]) if cell is sentence)
    assert float(shares[token]) == pytest.approx(sorted(shares.tolist())[-place], abs=1e-5)
    return {"token": token, "share": shares[token]}


ORACLE = {
    "Trained on ten novels and on generated stories, {steps} steps from seed {seed}: in novels that it had not "
    "read, it predicts {share} of {count} next tokens correctly.": lambda case, sentence: {
        "steps": int(KEPT["about"]["step"]),
        "seed": int(KEPT["about"]["seed"]),
        "share": KEPT["predictions"]["novels, second set"]["right"],
        "count": KEPT["predictions"]["novels, second set"]["n"],
    },
    "This head ({head}) has earned no name. It comes closest to “{name}”: {weight} of its weight on {count} "
    "queries ({texts}); spread evenly, it would be {even}%.": about(False),
    "This head ({head}) has earned the name “{name}”: {weight} of its weight on {count} queries ({texts}); "
    "spread evenly, it would be {even}%.": about(True),
    "From {query} it looks most at {key}: {weight}.": looks_most,
    "From {query} it looks most at {keys}: {weight} each.": looks_most,
    "From {query} it looks equally at {count} tokens: {weight} each.": lambda case, sentence: {
        "query": query_of(case),
        "count": sentence.arguments["count"],
        "weight": max(row_of(case)),
        "ranked": Ranked(row_of(case), largest(row_of(case), sentence.arguments["count"]), percent),
    },
    "On this text, {name}: {weight} over {count} query; spread evenly: {even}.": pattern_on_this_text,
    "This text has no case of “{name}”.": nothing_for_it,
    "From {pronoun} it puts {hers} on {her} and {his} on {him}.": from_pronoun,
    "Before the names were swapped it was {hers} on {her} and {his} on {him}.": before_the_swap,
    "layer {layer}, head {head}": chosen,
    "{layer}.{head} {name}": chosen,
    "here {weight}, evenly {even}": score_of_map,
    "weights of {head}": lambda case, sentence: {"head": called(case)},
    "without {head}": lambda case, sentence: {"head": called(case)},
    "None of the {total} heads has earned a name.": lambda case, sentence: {"total": 16},
    "{count} of {total} heads has earned a name, layer and head before it: {names}.": lambda case, sentence: {
        "count": sum(name_of_head(*place) != NO_NAME for place in all_heads()),
        "total": 16,
        "names": [
            f"{layer + 1}.{head + 1} {pattern_of(with_head(case, layer, head))[0]}"
            for layer, head in all_heads()
            if pattern_of(with_head(case, layer, head))[1]
        ],
    },
    "We looked for a head that finds whom “she” or “he” means, and there is none: over {n} sentences with the "
    "names in both orders, none of its {heads} heads puts more than {difference} more on the name that agrees "
    "than on the other. A name requires {needed}.": no_pronoun_head,
    "After {query} it expects {token} most: {share}.": expects,
    "After {query} it gives {count} tokens the same: {share}.": expects_several,
    "Its mean surprise −ln p over the {count} token of this text is {whole}.": lambda case, sentence: {
        "count": len(read(case.choices).encoded.ids) - 1,
        "whole": surprise(case),
    },
    "Without {head} its mean surprise −ln p over this text is {less}, with it {whole}.": costs,
    "Without {head} its mean surprise −ln p over this text stays {whole}.": lambda case, sentence: {
        name: value for name, value in costs(case, sentence).items() if name != "less"
    },
    "Point at a word to see only its arcs. Weights under {limit} are not drawn.": lambda case, sentence: {
        "limit": 0.05
    },
    "Rows are queries, columns are keys; point at a cell to read its weight. Those under {limit} are not drawn.": (
        lambda case, sentence: {"limit": 0.02}
    ),
    "{token}: {share}": of_candidate,
    "{token} {share}": after_layer,
    "after layer {layer}": chosen,
    "The last norm and the map to the vocabulary, applied to {query} after each layer; they were trained only "
    "on the output of the last one.": lambda case, sentence: {"query": query_of(case)},
    "{weight} of its weight goes there.": lambda case, sentence: sentence_weight(case, sentence),
    "untrained heads, at most": lambda case, sentence: {},
    "Where each name comes from: the score of every head": holds(lambda case: rows_of_scores(case) == heads_in_order()),
}
WEIGHTS_IN_REPLIES = (
    "That token followed it the first time. An induction head would look there; this one puts only {weight} there.",
    "A previous-token head would look there; this one puts only {weight} there.",
    "Many heads rest on the start; this one puts only {weight} there.",
    "That is the same token in the first copy: only {weight} goes there.",
    "Only {weight} of its weight goes there.",
)


def said_twice(case):
    """The weights of the head on the text said twice."""
    ids = read(case.choices).encoded.ids[1:32]
    return computed_by_pytorch((0, *ids, *ids), None)[0][case.choices.layer, case.choices.head]


def rows_of_scores(case):
    """Which heads the table of scores has, in their order, and whose name was earned."""
    table = next(figure for figure in case.screen.figures if figure.key == "read_scores")
    return [(row[0], render(row[1]) != render(NO_NAME)) for row in table.cells]


def heads_in_order():
    whose = [(layer, head) for layer in range(4) for head in range(4)]
    return [(f"{layer + 1}.{head + 1}", pattern_of_head(layer, head)[1]) for layer, head in whose]


def sentence_weight(case, sentence):
    """Said of a card, which is checked with its question: here only that some query has such a weight."""
    weights = said_twice(case).flatten().tolist()
    return {"weight": min(weights, key=lambda weight: abs(weight - sentence.arguments["weight"].value))}


ORACLE |= dict.fromkeys(WEIGHTS_IN_REPLIES, sentence_weight)
ORACLE |= {
    "Repeat the text. From {query} in the second copy, which token does {head} look at most?": lambda case, sentence: {
        "head": called(case),
        "query": sentence.arguments["query"].position,
        "concept": True,
    },
    "With all heads, the mean surprise over this text is {whole}. What is it without {head}?": lambda case, sentence: {
        "whole": surprise(case),
        "head": called(case),
    },
    "In a head that spreads its weight evenly, how much does {query}, token {place} of {total}, put on each "
    "token that it sees?": lambda case, sentence: {
        "query": sentence.arguments["query"].position,
        "place": sentence.arguments["query"].position + 1,
        "total": len(read(case.choices).encoded.ids),
    },
}


def strongest(case, prompt):
    query = prompt.arguments["query"].position
    row = said_twice(case)[query, : query + 1]
    replies = {"{weight} of its weight goes there.": int(row.argmax())} | dict.fromkeys(WEIGHTS_IN_REPLIES, ...)
    return replies | {JUDGE: by_largest(row.tolist())}


def without_head(case, prompt):
    whole, less = surprise(case), surprise(case, off=True)
    return {
        "Everything else runs as before, without what this head adds to each token.": less,
        "It would be the same only if nothing used what the head adds.": whole,
        "That is as far off in the other direction: on this text, the head does the opposite.": 2 * whole - less,
        "Heads do not share the work evenly: one may matter much, another little.": whole * 16 / 15,
        "That counts the head twice.": 2 * less - whole,
    }


def spread(case, prompt):
    query, n = prompt.arguments["query"].position, len(read(case.choices).encoded.ids)
    return {
        "It sees itself and all tokens before it, and the weights sum to 1.": 1 / (query + 1),
        "The tokens after it are masked.": 1 / n,
        "No weight goes to what comes next.": 1 / (query + 2),
        "A token sees itself as well.": 1 / query if query else math.nan,
        "Weights are shared among the tokens of the text, not the vocabulary.": 1 / 4000,
        "Each head has its own weight of 1 to spread; heads do not share it.": 1 / read(case.choices).weights.shape[1],
        "All of them together get 1, not each of them.": 1.0,
    }


ANSWERS = {
    "Repeat the text. From {query} in the second copy, which token does {head} look at most?": strongest,
    "With all heads, the mean surprise over this text is {whole}. What is it without {head}?": without_head,
    "In a head that spreads its weight evenly, how much does {query}, token {place} of {total}, put on each "
    "token that it sees?": spread,
}


@pytest.mark.parametrize("choices", CASES, ids=lambda choices: choices.text[:12] or "nothing")
def test_every_number_of_the_screen_is_computed_again(choices):
    case = Case(None, 0, choices, read_screen(choices))
    check_case(case, ORACLE, ANSWERS)
    check_conditions(case, ORACLE)


@pytest.mark.parametrize("choices", CASES[1:5:3], ids=lambda choices: choices.text[:12])
def test_what_is_drawn_is_what_the_model_computes(choices):
    screen = read_screen(choices)
    case = Case(None, 0, choices, screen)
    weights, logits = forward(case)
    by_kind = {type(figure): figure for figure in screen.figures}
    drawn = by_kind[Arcs]
    assert torch.allclose(drawn.shares.double(), weights[choices.layer, choices.head], atol=1e-4)
    assert len(drawn.tokens) == len(read(choices).encoded.ids) and drawn.chosen == query_of(case)
    for place, one in zip(all_heads(), by_kind[HeadMaps].maps, strict=True):
        assert torch.allclose(one.shares.double(), weights[place], atol=1e-4)
        assert one.chosen == (place == (choices.layer, choices.head))
    assert torch.allclose(by_kind[Matrices].matrices[0].values.double(), drawn.shares.double())
    assert logits.shape[-1] == 4000


def test_the_table_of_scores():
    choices = CASES[3]
    case = Case(None, 0, choices, read_screen(choices))
    table = next(figure for figure in case.screen.figures if isinstance(figure, Table) and figure.key == "read_scores")
    for (layer, head), row in zip(all_heads(), table.cells, strict=True):
        name, earned = pattern_of(with_head(case, layer, head))
        kept = KEPT["confirming"][name]
        weight, even, n = score_of(case, name, layer, head)
        assert render(row[1]) == (name if earned else render(NO_NAME)) and render(row[2]) == name
        said = [value.value if value != "–" else value for value in row[3:5]]
        assert said == ([pytest.approx(weight, abs=1e-5), pytest.approx(even)] if n else ["–", "–"]) and row[5] == n
        assert render(row[6]) == measured_in(name)
        found = [value.value for value in row[7:10]]
        assert found == [kept["heads"][layer][head], kept["even"], kept["untrained"]] and row[10] == kept["n"]


def test_the_page_says_what_was_done_to_the_text():
    said = {template.template: template for template in how_it_was_read(ReadChoices(HAND))}
    assert "The model knows lower-case letters only." in said
    pieces = said["{words}: {count} word that it reads in pieces, a dot before each but the first."]
    assert pieces.count == len(pieces.arguments["words"].items) > 0
    assert all("".join(word.split("·")) in HAND.lower() for word in pieces.arguments["words"].items)
    unknown = said["{count} character that it has never seen is shown as {unknown}."]
    assert unknown.count == sum(HAND.count(character) for character in "<>*/☃")
    assert how_it_was_read(ReadChoices("the dog")) == ()
    cut = render(how_it_was_read(ReadChoices("the dog " * 40))[0])
    assert cut == "It sees 64 tokens at once, so 17 tokens at the end of your text are left out."
    twice = render(how_it_was_read(ReadChoices("the dog " * 20, twice=True))[0])
    assert twice == "It sees 64 tokens at once, so 9 tokens at the end of your text are left out."
    assert [render(said) for said in how_it_was_read(ReadChoices(""))] == [
        "There is nothing to read: type a word or two."
    ]


def test_said_twice_and_swapped():
    once, twice = read(ReadChoices("the old dog")).encoded, read(ReadChoices("the old dog", twice=True)).encoded
    assert twice.ids == (*once.ids, *once.ids[1:]) and twice.tokens[0] == START
    assert swap_names("Mary saw John, and the woman Mary.") == "john saw mary, and the woman john."
    assert swap_names("The woman saw the man.") == "The man saw the woman."
    assert swap_names("A dog.") == "A dog."


def test_patterns_are_all_named():
    assert set(PATTERN_NAMES) == set(KEPT["naming"]) and all(
        render(said) == name for name, said in PATTERN_NAMES.items()
    )


def test_the_program_to_copy_computes_the_weights_of_the_head():
    choices, printed = ReadChoices("the old dog saw the cat", layer=3, head=2), {}
    screen = read_screen(choices)
    program = program_of(screen.code.call())
    exec(compile(program.text, "copied", "exec", dont_inherit=True), printed)
    case = Case(None, 0, choices, screen)
    assert torch.allclose(printed["result"].weights.double(), forward(case)[0][3, 2], atol=1e-4)
