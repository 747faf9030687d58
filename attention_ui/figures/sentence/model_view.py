"""A sentence as a real model reads it: the tables of its words, of all that its heads look at, and of what they do."""

import pyarrow as pa

from attention_ui.figures.sentence.ribbons import letter_ems, short_percent
from lessons.screen import ISOLATED, ModelView, message, render, render_all, translate, visible_text, wrapped

WORDS_APART, GLUED = 0.33, 0.06  # ems between words, and between the parts of one
LETTERS_SAID, FEWER_LETTERS, MOST_LINES = 46, 32, 9  # of a line of the card, and of a narrow one
LARGEST_BAR = 0.12  # a share from which on bars are drawn smaller
PLACE = {"head": "{head}", "job": "{job}"}  # where the browser writes which head it is, and what it does

INT, SHARE = pa.int16(), pa.float32()


def words_of_view(figure: ModelView) -> pa.Table:
    """A row for each word: where its middle is in a line, in ems, half its width, and how long the line is."""
    places, halves, end = [], [], 0.0
    words = [visible_text(token.text) for token in figure.tokens]
    for place, word in enumerate(words):
        wide = sum(map(letter_ems, word)) * 0.94
        # The parts of a word that is written from right to left stand in the order in which the model reads them.
        apart = figure.spaced[place] or word.startswith(ISOLATED)
        end += 0 if not place else WORDS_APART if apart else GLUED
        places.append(end + wide / 2)
        halves.append(wide / 2)
        end += wide
    count = len(words)
    return pa.table(
        {
            "i": pa.array(range(count), INT),
            "word": words,
            "at": pa.array(places, SHARE),
            "half": pa.array(halves, SHARE),
            "ems": pa.array([end] * count, SHARE),
        }
    )


def rows_of_view(figure: ModelView) -> pa.Table:
    """What each head gives to each token from the query, and the chosen head from every other token: one row each."""
    kept = chosen_place(figure)
    rows = [
        (kept, query, row[: query + 1]) for query, row in enumerate(figure.of_head.tolist()) if query != figure.query
    ]
    if figure.of_query is None:
        rows.append((kept, figure.query, figure.of_head.tolist()[figure.query][: figure.query + 1]))
    else:
        every = (row for layer in figure.of_query for row in layer.tolist())
        rows += [(head, figure.query, row[: figure.query + 1]) for head, row in enumerate(every)]
    columns = {f"w{at}": [row[at] if at < len(row) else None for *_, row in rows] for at in range(figure.most_tokens)}
    return pa.table(
        {
            "head": pa.array([head for head, *_ in rows], INT),
            "query": pa.array([query for _, query, _ in rows], INT),
            **{name: pa.array(column, SHARE) for name, column in columns.items()},
        }
    )


def chosen_place(figure: ModelView) -> int:
    """The chosen head among all, counted from 0."""
    layer, head = figure.chosen
    return layer * figure.n_heads + head


def guesses_of_view(figure: ModelView) -> pa.Table:
    """The tokens that may come next: what each gets, what it got before the head was off, and both in words."""
    guesses = figure.guesses
    now = [guess.share if guess.without is None else guess.without for guess in guesses]
    said = [
        short_percent(guess.share)
        if guess.without is None
        else f"{short_percent(guess.share)} → {short_percent(guess.without)}"
        for guess in guesses
    ]
    scale = 1 / max(LARGEST_BAR, *(guess.share for guess in guesses), *now) if guesses else 1.0
    return pa.table(
        {
            "k": pa.array(range(len(guesses)), INT),
            "word": pa.array([visible_text(guess.token) for guess in guesses], pa.string()),
            "share": pa.array(now, SHARE),
            "was": pa.array([guess.share for guess in guesses], SHARE),
            "off": pa.array([guess.without is not None for guess in guesses], pa.bool_()),
            "said": pa.array(said, pa.string()),
            "scale": pa.array([scale] * len(guesses), SHARE),
        }
    )


def heads_of_view(figure: ModelView) -> pa.Table:
    """Every head with the job that it has been measured to do; without the model there is none to show."""
    n = 0 if figure.of_query is None else figure.n_layers * figure.n_heads
    heads = figure.heads or [(-1, 0.0)] * n
    kinds = [figure.jobs[job].key if job >= 0 else "unmeasured" for job, _ in heads]
    return pa.table(
        {
            "i": pa.array(range(len(heads)), INT),
            "job": pa.array([job for job, _ in heads], INT),
            "kind": pa.array(kinds, pa.dictionary(pa.int8(), pa.string())),
            "share": pa.array([share for _, share in heads], SHARE),
        }
    )


def jobs_of_view(figure: ModelView) -> pa.Table:
    """The legend, and what is said of a head of each job."""
    jobs = figure.jobs
    return pa.table(
        {
            "i": pa.array(range(len(jobs)), INT),
            "kind": pa.array([job.key for job in jobs], pa.string()),
            "name": pa.array([render(job.name) for job in jobs], pa.string()),
            "title": pa.array([render(job.title) for job in jobs], pa.string()),
            "says": pa.array([on_card(render(job.says)) for job in jobs], pa.string()),
            "says_small": pa.array([on_card(render(job.says), FEWER_LETTERS) for job in jobs], pa.string()),
            "count": pa.array([job.count for job in jobs], INT),
        }
    )


def on_card(said: str, most: int = LETTERS_SAID) -> str:
    """A text in lines of a card."""
    return "\n".join(wrapped(said, most, MOST_LINES)) if said else ""


def chosen_in_view(figure: ModelView) -> pa.Table:
    """One row of what is chosen, and of the texts that stand in the picture."""
    mapped, about = figure.of_query is not None, render_all(figure.about_head)
    count = figure.n_layers * figure.n_heads
    head = f"{figure.chosen[0]}.{figure.chosen[1]}"
    title = (
        translate("Its guesses for what comes next")
        if figure.guesses
        else translate("Its guesses for what comes next\nneed the model.")
    )
    card = render(message("Head {head}: {job}", **PLACE))
    without = translate("with head {head} switched off", head=head) if figure.off else ""
    return pa.table(
        {
            "head": pa.array([chosen_place(figure)], INT),
            "query": pa.array([figure.query], INT),
            "off": [figure.off],
            "mapped": [mapped],
            "measured": [bool(figure.jobs)],
            "heading": [translate("All {count} heads: point at one", count=count)],
            "legend": [translate("What each does")],
            "first_head": [translate("head {head}", head=0)],
            "first_layer": [translate("layer {layer}", layer=0)],
            "card": [card],
            "card_small": [card.replace(f" {PLACE['job']}", f"\n{PLACE['job']}")],
            "next_title": [f"{title}\n{without}".strip()],
            "next_title_small": [without or (translate("its guesses") if figure.guesses else "")],
            "about": [on_card(about)],
            "about_small": [on_card(about, FEWER_LETTERS)],
        }
    )


def rooms_of_view(figure: ModelView) -> pa.Table:
    """What can be pointed at: each word, each head, each job."""
    counts = {"word": len(figure.tokens), "head": heads_of_view(figure).num_rows, "job": len(figure.jobs)}
    rooms = [(what, place) for what, count in counts.items() for place in range(count)]
    return pa.table(
        {
            "what": pa.array([what for what, _ in rooms], pa.dictionary(pa.int8(), pa.string())),
            "i": pa.array([place for _, place in rooms], INT),
        }
    )


def tables_of_view(figure: ModelView) -> dict[str, pa.Table]:
    """All of them."""
    return {
        "words": words_of_view(figure),
        "rows": rows_of_view(figure),
        "next": guesses_of_view(figure),
        "heads": heads_of_view(figure),
        "jobs": jobs_of_view(figure),
        "now": chosen_in_view(figure),
        "touch": rooms_of_view(figure),
    }


def view_numbers(figure: ModelView) -> pa.Table:
    """The weights of the chosen head, for a spreadsheet: queries and keys by their positions, from 1."""
    cells = [
        (query + 1, key + 1, share)
        for query, row in enumerate(figure.of_head.tolist())
        for key, share in enumerate(row[: query + 1])
    ]
    queries, keys, shares = zip(*cells, strict=True)
    return pa.table({"query": pa.array(queries, INT), "key": pa.array(keys, INT), "weight": pa.array(shares, SHARE)})
