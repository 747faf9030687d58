"""What there is to notice where one thing is changed: what moved, what is hidden, what is collected."""

from attention_core.measured.head_measures import total_variation
from attention_core.measured.measures import mean_entropy
from attention_core.text.positions import USUAL
from lessons.screen import Fixed, Integer, ListOf, Message, Percent, distinguishable, message, number, plural
from lessons.today.variants.compute import HEADS_OF_SLOPES, VariedHead

NEXT_TO_NOTHING = 5e-5  # bits of entropy, or a difference of scores


def notice_variant(varied: VariedHead) -> tuple[Message, ...]:
    """What the variant does, and what it changed in these weights."""
    return {
        "window": notice_window,
        "sink": notice_sink,
        "cap": notice_cap,
        "alibi": notice_alibi,
        "rotary": notice_rotary,
        "grouped": notice_groups,
        "cross": notice_cross,
    }[varied.kind](varied)


def moved(varied: VariedHead) -> Message:
    """How much of its weight a query puts elsewhere, on average."""
    share = float(total_variation(varied.plain.weights, varied.changed.weights).mean())
    if number(share, 4) == number(0, 4):
        return message("No weight moves, or it moves too little to see.")
    return message("On average, a query moves {share} of its weight to other keys.", share=Percent(share))


def notice_window(varied: VariedHead) -> tuple[Message, ...]:
    """How many cells the window hides."""
    hidden = int((varied.plain.visible & ~varied.changed.visible).sum())
    if hidden == 0:
        return (message("This window hides nothing here."),)
    return (
        message(
            "The window hides {hidden} of {count} visible cells. The first token is global: all see it.",
            count=int(varied.plain.visible.sum()),
            hidden=hidden,
        ),
        moved(varied),
    )


def notice_sink(varied: VariedHead) -> tuple[Message, ...]:
    """What the sink collects."""
    share = Percent(max(0.0, float(varied.computation.result.collected.mean())))  # below 0, all is rounding
    return (
        message(
            "A sink with score {score} collects {share} of a query's weight on average. That share adds no value: a "
            "head can choose to do nothing.",
            score=Fixed(varied.amount, 0),
            share=share,
        ),
    )


def notice_cap(varied: VariedHead) -> tuple[Message, ...]:
    """How much flatter the rows are."""
    before, after = mean_entropy(varied.plain.weights), mean_entropy(varied.changed.weights)
    if abs(after - before) < NEXT_TO_NOTHING:
        return (message("A cap of {cap} leaves these weights as even as they were.", cap=Fixed(varied.amount, 1)),)
    one, other = distinguishable(before, after)
    return (
        message(
            "A cap of {cap} brings scores closer together: the entropy of a row goes from {before} to {after} bits on "
            "average.",
            cap=Fixed(varied.amount, 1),
            before=one,
            after=other,
        ),
        moved(varied),
    )


def notice_alibi(varied: VariedHead) -> tuple[Message, ...]:
    """The slope of this head."""
    return (
        message(
            "Each step between query and key lowers the score by {slope}, the slope of head {head} of {heads}.",
            slope=Fixed(varied.slope, 4),
            head=varied.head % HEADS_OF_SLOPES + 1,
            heads=HEADS_OF_SLOPES,
        ),
        moved(varied),
    )


def notice_rotary(varied: VariedHead) -> tuple[Message, ...]:
    """What a score depends on then."""
    turned = message(
        "Queries and keys are turned by their positions, so a score depends on the distance between the two, not on "
        "where they are."
    )
    return (turned, *turned_before(varied), moved(varied))


def turned_before(varied: VariedHead) -> tuple[Message, ...]:
    """Where the model of the example turns them itself, how."""
    if varied.trace.rotary is None:
        return ()
    return (
        message(
            "The model turns them, too: on the left with its own base, {base}, on the right with {usual}.",
            base=Integer(round(varied.trace.rotary.base)),
            usual=Integer(round(USUAL.base)),
        ),
    )


def notice_groups(varied: VariedHead) -> tuple[Message, ...]:
    """Who shares."""
    sharing = ListOf(tuple(map(varied.trace.called, varied.group)))
    shared = plural(
        "Heads {heads} share one set of keys and values, the means of their own: {count} set for {all} heads.",
        "Heads {heads} share one set of keys and values, the means of their own: {count} sets for {all} heads.",
        varied.kv_heads,
        heads=sharing,
        all=varied.trace.example.n_heads,
    )
    return (*what_is_shown(varied), *shared_already(varied), shared, moved(varied))


def shared_already(varied: VariedHead) -> tuple[Message, ...]:
    """Who shares in the example as it is."""
    if not varied.shared_before:
        return ()
    return (
        plural(
            "Heads {heads} of this model already share W_k and W_v: {count} set for {all} heads.",
            "Heads {heads} of this model already share W_k and W_v: {count} sets for {all} heads.",
            varied.trace.kv_heads,
            heads=ListOf(tuple(map(varied.trace.called, varied.set_before))),
            all=varied.trace.example.n_heads,
        ),
    )


def what_is_shown(varied: VariedHead) -> tuple[Message, ...]:
    """Where the running example has one head, that it is shown with two."""
    if varied.asked_heads > 1:
        return ()
    return (message("The running example has one head, so it is shown here with two."),)


def notice_cross(varied: VariedHead) -> tuple[Message, ...]:
    """Which of the two sentences asks."""
    cut, n = varied.cut, len(varied.plain.q)
    return (
        message(
            "The end of the text is one sentence, which asks (tokens: {asking}); its beginning is another, "
            "which is looked at (tokens: {answering}).",
            asking=n - cut,
            answering=cut,
        ),
    )
