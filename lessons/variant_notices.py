"""What there is to notice where one thing is changed: what moved, what is hidden, what is collected."""

from attention_core.attention import attend
from attention_core.head_measures import total_variation
from lessons.formatting import apart, number
from lessons.sentence import All, Number, Sentence, Share, Size, say, say_count
from lessons.variant_heads import HEADS_OF_SLOPES, VariedHead
from lessons.variant_measures import mean_entropy


def notice_variant(varied: VariedHead) -> tuple[Sentence, ...]:
    """What the variant does, and what it changed in these weights."""
    return {
        "window": notice_window, "sink": notice_sink, "cap": notice_cap, "alibi": notice_alibi,
        "rotary": notice_rotary, "grouped": notice_groups, "cross": notice_cross,
    }[varied.kind](varied)  # fmt: skip


def moved(varied: VariedHead) -> Sentence:
    """How much of its weight a query puts elsewhere, on average."""
    share = float(total_variation(varied.plain.weights, varied.changed.weights).mean())
    if number(share, 4) == number(0, 4):
        return say("No weight moves, or too little to be seen.")
    return say("A query puts {share} of its weight on other keys than before, on average.", share=Share(share))


def notice_window(varied: VariedHead) -> tuple[Sentence, ...]:
    """How many cells the window hides."""
    hidden = int((varied.plain.visible & ~varied.changed.visible).sum())
    if hidden == 0:
        return (say("This window hides nothing here: every key that was visible is near enough, or is the first."),)
    return (say("Of {count} visible cells the window hides {hidden}. The first token is global: all see it, and it "
                "sees what the mask lets it see.", count=int(varied.plain.visible.sum()), hidden=hidden),
            moved(varied))  # fmt: skip


def notice_sink(varied: VariedHead) -> tuple[Sentence, ...]:
    """What the sink collects."""
    share = Share(float(varied.collected.mean()))
    return (say("A sink of score {score} collects {share} of a query's weight on average. What it collects mixes no "
                "value, so a head may do nothing.", score=Number(varied.amount, 0), share=share),)  # fmt: skip


def notice_cap(varied: VariedHead) -> tuple[Sentence, ...]:
    """How much flatter the rows are."""
    before, after = mean_entropy(varied.plain.weights), mean_entropy(varied.changed.weights)
    if number(before, 4) == number(after, 4):
        return (say("A cap of {cap} changes next to nothing: the scores of this head are small beside it.",
                    cap=Number(varied.amount, 1)),)  # fmt: skip
    one, other = apart(before, after)
    return (say("With a cap of {cap} the entropy of a row goes from {before} to {after} bits on average: scores come "
                "closer together, and the weights are shared out more evenly.", cap=Number(varied.amount, 1),
                before=one, after=other), moved(varied))  # fmt: skip


def notice_alibi(varied: VariedHead) -> tuple[Sentence, ...]:
    """The slope of this head."""
    return (say("Each step between query and key takes {slope} off the score: the slope of head {head} of {heads}.",
                slope=Number(varied.slope, 4), head=varied.head % HEADS_OF_SLOPES + 1, heads=HEADS_OF_SLOPES),
            moved(varied))  # fmt: skip


def notice_rotary(varied: VariedHead) -> tuple[Sentence, ...]:
    """What a score depends on then."""
    return (say("Queries and keys are turned by their positions, so a score depends on the two vectors and on how far "
                "apart they stand, not on where."), moved(varied))  # fmt: skip


def notice_groups(varied: VariedHead) -> tuple[Sentence, ...]:
    """Who shares."""
    sharing = All(tuple(head + 1 for head in varied.group))
    shared = say_count(
        "Heads {heads} share one set of keys and values, the means of their own: {count} set for {all} heads.",
        "Heads {heads} share one set of keys and values, the means of their own: {count} sets for {all} heads.",
        varied.kv_heads, heads=sharing, all=varied.example.example.n_heads)  # fmt: skip
    return (*what_is_shown(varied), shared, moved(varied))


def what_is_shown(varied: VariedHead) -> tuple[Sentence, ...]:
    """Where the running example has one head, that it is shown with two."""
    if varied.asked_heads > 1:
        return ()
    return (say("The running example has one head, so it is shown here with two."),)


def notice_cross(varied: VariedHead) -> tuple[Sentence, ...]:
    """Two sentences, and that the order of the one that answers does not matter."""
    cut, n = varied.cut, len(varied.plain.q)
    return (say("The last {asking} tokens are one sentence and ask; the first {answering} are another, and all of them "
                "may be looked at.", asking=n - cut, answering=cut),
            say("Keys and values of the first sentence in the reverse order change no output by more than {change}.",
                change=Size(shuffle_change(varied))))  # fmt: skip


def shuffle_change(varied: VariedHead) -> float:
    """By how much the outputs differ when keys and values of the first sentence stand in the reverse order."""
    a, cut = varied.changed, varied.cut
    other = attend(a.q[cut:], a.k[:cut].flip(0), a.v[:cut].flip(0), scale=varied.example.scale)
    return float((a.output[cut:] - other.output).abs().max())
