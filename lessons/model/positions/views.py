"""What positions add to X, how they turn queries and keys, and how alike they are over distance."""

from collections.abc import Iterator
from typing import Any

from attention_core.text.embeddings import Rotary
from attention_core.text.positions import (
    N_POSITIONS,
    USUAL,
    PositionedRows,
    PositionKind,
    Similarity,
    TurnedVectors,
    add_positions,
    scores_by_distance,
    similarity_of_query_and_key,
    similarity_of_rows,
    turn_vectors,
    turned_features,
    wavelengths,
)
from lessons.example.example import ExampleTrace, as_stored, projection_of, whose_weights
from lessons.model.positions.own_head import compute_with_positions, mixed_below, own_rotary, whose_head
from lessons.screen import (
    Axis,
    Curves,
    Figure,
    Fixed,
    Integer,
    Line,
    ListOf,
    Magnitude,
    Matrices,
    Matrix,
    Message,
    Percent,
    Token,
    message,
    plural,
)
from lessons.shared.matrices import token_axis, traced_matrix
from lessons.trace.computation import Computation

DISTANCES = {"near": 1, "further": 8, "far": 32}  # of which the curve is told
MOST_ANGLES = 4  # that are told one by one
View = tuple[Figure, Computation, tuple[str, ...]]  # the picture, what it was computed by, and what the program shows


def rows_view(trace: ExampleTrace, head: int, kind: PositionKind) -> View:
    """What goes in at each position, or how queries and keys are turned."""
    rotary = kind == "rotary"
    computation = compute_with_positions(turn_vectors if rotary else add_positions, trace, head, kind)
    found = computation.result
    band = turned_vectors(trace, computation) if rotary else added_rows(trace, computation, kind)
    notice = notice_turned(trace, found) if rotary else notice_added(trace, found, kind)
    random = rotary or kind == "learned" or not trace.example.given_by.writes_x
    figure = Matrices(
        key="positions_figure",
        name=message("Shuffling and positions"),
        bands=(tuple(band),),
        first="q" if rotary else "x",
        notice=tuple(notice),
        weights=whose_head(trace, kind) if random else None,
    )
    shown = ("angles", "q_turned", "k_turned") if rotary else ("positions", "going_in")
    return figure, computation, shown if kind != "none" else ("going_in",)


def added_rows(trace: ExampleTrace, computation: Computation, kind: PositionKind) -> Iterator[Matrix]:
    """X, and where something is added to it, that and the sum."""
    titles = {"sinusoidal": message("+ sinusoidal"), "learned": message("+ learned, untrained")}
    yield traced_matrix(computation, "x", message("X"), trace.tokens, given=True)
    if kind in titles:
        yield traced_matrix(computation, "positions", titles[kind], trace.tokens, key="p", colour="weight")
        yield traced_matrix(computation, "going_in", message("= input"), trace.tokens, key="sum")


def turned_vectors(trace: ExampleTrace, computation: Computation) -> Iterator[Matrix]:
    """Queries and keys before and after they are turned, and the angles."""
    rows, n_pairs = token_axis(trace.tokens), computation.result.angles.shape[1]
    pairs = Axis(message("pairs"), tuple(str(pair + 1) for pair in range(n_pairs)), one=message("pair"))
    titles = {
        "q": message("Q"),
        "angles": message("angles (radians)"),
        "q_turned": message("Q turned"),
        "k": message("K"),
        "k_turned": message("K turned"),
    }
    for path, title in titles.items():
        look: dict[str, Any] = {"key": "angle", "columns": pairs} if path == "angles" else {"colour": path[0]}
        yield traced_matrix(computation, path, title, trace.tokens, rows=rows, **look)


def notice_added(trace: ExampleTrace, rows: PositionedRows, kind: PositionKind) -> Iterator[Message]:
    """What is added to X, and how long it is beside X."""
    if rows.positions is None:
        yield (
            message("Nothing is added to X.")
            if mixed_below(trace)
            else message("A row of X says which token it is, but not where it is.")
        )
        return
    if kind == "learned":
        yield message(
            "One row for each position, drawn at random from seed {seed}: untrained.",
            seed=trace.example.seed,
        )
    else:
        waves = wavelengths(trace.x.shape[-1])
        if len(waves) > 1:
            yield message(
                "Waves over the positions: the first features repeat every {first} positions, the last every {last}.",
                first=Fixed(waves[0], 1),
                last=Fixed(waves[-1], 0),
            )
    yield message(
        "On average an added row has length {added}, a row of X length {x}.",
        added=Fixed(float(rows.positions.norm(dim=-1).mean())),
        x=Fixed(float(trace.x.norm(dim=-1).mean())),
    )


def notice_turned(trace: ExampleTrace, turned: TurnedVectors) -> Iterator[Message]:
    """How far the query of the last token is turned, and that its length stays."""
    last = len(trace.names) - 1
    yield message("Nothing is added: queries and keys are turned.")
    if (rotary := own_rotary(trace)) is not None:
        yield from notice_own_turn(turned.q.shape[-1], rotary)
    if last == 0:
        return
    degrees = [Fixed(angle, 1) for angle in turned.angles[last].rad2deg().tolist()]
    if len(degrees) > MOST_ANGLES:
        yield message(
            "At the position of {token}, the first pair has turned by {first}° and the last by {last}°.",
            token=trace.names[last],
            first=degrees[0],
            last=Magnitude(degrees[-1].value),
        )
        return
    angles = ListOf(tuple(message("{degrees}°", degrees=angle) for angle in degrees))
    yield plural(
        "In the query of {token}, the pair of features turns by {angles}; the length of the query stays {length}.",
        "In the query of {token}, the {count} pairs of features turn by {angles}; the length of the "
        "query stays {length}.",
        len(degrees),
        token=trace.names[last],
        angles=angles,
        length=Fixed(float(turned.q[last].norm())),
    )


def notice_own_turn(d_k: int, rotary: Rotary) -> Iterator[Message]:
    """What turns in the model of an example, and after how many tokens the quickest and the slowest are round."""
    features = turned_features(d_k, rotary)
    periods = [rotary.stretch * tokens for tokens in wavelengths(features, rotary.base)]
    turning = {"features": features, "all": d_k}
    which = message("all {all}", all=d_k) if features == d_k else message("{features} of the {all}", **turning)
    said = {"which": which, "base": Integer(round(rotary.base))}
    if len(periods) > 1:
        yield message(
            "The model itself turns {which} features in this way, with base {base}. The first pair comes "
            "round after {first} tokens, the last after {last}.",
            first=Fixed(periods[0], 1),
            last=Integer(round(periods[-1])),
            **said,
        )


def distance_view(trace: ExampleTrace, head: int, kind: PositionKind, token: int) -> View:
    """How alike two positions are: the vectors added at them, or a query and a key set there."""
    if kind in ("none", "rotary"):
        row = trace.x[token]
        computation = compute_with_positions(similarity_of_query_and_key, trace, head, kind, row=row)
        similarity, axis = computation.result, message("positions from the query to the key")
        notice = notice_query_and_key(similarity, kind, trace.names[token])
    else:
        width = trace.x.shape[-1]
        computation = compute_with_positions(similarity_of_rows, trace, head, kind, d_model=width)
        similarity, axis = computation.result, message("positions from one to the other")
        notice = notice_rows(similarity, trace, kind)
    line = Line(
        key="mean",
        name=message("mean cosine"),
        x=similarity.distances,
        y=similarity.mean,
        low=similarity.least,
        high=similarity.most,
    )
    figure = Curves(
        key="distance_figure",
        name=message("Similarity by distance"),
        lines=(line,),
        width=760,
        notice=tuple(notice),
        weights=None if kind == "sinusoidal" else whose_head(trace, kind),
        x=axis,
        y=message("cosine"),
        x_domain=(similarity.distances[0], similarity.distances[-1]),
        y_domain=(-1.0, 1.0),
        height=300,
    )
    return figure, computation, ("mean",)


def score_figure(trace: ExampleTrace, head: int, token: int) -> Curves:
    """The score of two tokens of the example's own model, with as many positions between them as one likes.

    The key is the one that this query gives most. Beside the model's own turn stands the usual one.
    """
    stored, weights = as_stored(trace), trace.heads.weights[head, token]
    key = int(weights[: token + 1].argmax())  # one that does not come after the query
    query, of_key = (stored.x if stored.added is None else stored.x + stored.added)[[token, key]]
    vectors = query @ projection_of(stored, "q", head), of_key @ projection_of(stored, "k", head)
    turns = dict.fromkeys((trace.rotary or USUAL, USUAL))
    curves = [scores_by_distance(*vectors, trace.scale, rotary).tolist() for rotary in turns]
    lines = tuple(
        Line(
            key=f"base{place}",
            name=message("base {base}", base=Integer(round(rotary.base))),
            x=tuple(range(N_POSITIONS + 1)),
            y=tuple(scores),
            style="dashed" if place else "line",
            colour="muted" if place else "ink",
        )
        for place, (rotary, scores) in enumerate(zip(turns, curves, strict=True))
    )
    return Curves(
        key="score_figure",
        name=message("The score of two tokens by their distance"),
        heading=message("The same two tokens, further and further apart"),
        lines=lines,
        width=760,
        height=300,
        notice=(notice_scores(trace, token, key, float(weights[key]), curves[0]),),
        weights=whose_weights(trace),
        x=message("positions from the key to the query"),
        y=message("scaled score"),
        chosen=float(token - key),
    )


def notice_scores(trace: ExampleTrace, token: int, key: int, weight: float, scores: list[float]) -> Message:
    """What the score of two tokens is where they stand, and what it would be elsewhere."""
    there = {"here": Fixed(scores[token - key]), **{name: Fixed(scores[at]) for name, at in DISTANCES.items()}}
    return message(
        "{query} puts {weight} of its weight on {key}: the scaled score is {here}. At a distance of 1 the same two "
        "vectors would score {near}, at 8 {further} and at 32 {far}.",
        query=trace.names[token],
        weight=Percent(weight),
        key=message("itself") if token == key else trace.names[key],
        **there,
    )


def told(similarity: Similarity) -> dict[str, Fixed]:
    """The mean cosines at the distances of which a sentence speaks."""
    return {name: Fixed(similarity.at(distance)) for name, distance in DISTANCES.items()}


def notice_query_and_key(similarity: Similarity, kind: PositionKind, who: Token) -> Iterator[Message]:
    """Whether a query and a key fit better when they are near."""
    if kind == "none":
        yield message(
            "Without positions the query and the key of {token} have the cosine {cosine} at every distance.",
            token=who,
            cosine=Fixed(similarity.at(0)),
        )
        return
    yield message(
        "The query and the key of {token}, turned by rotary positions, have the cosine {near} at a distance of "
        "1, {further} at 8 and {far} at 32.",
        token=who,
        **told(similarity),
    )
    yield only_distance(similarity)


def notice_rows(similarity: Similarity, trace: ExampleTrace, kind: PositionKind) -> Iterator[Message]:
    """Whether rows that are added at near positions are more alike, and whether only the distance counts."""
    variation = Magnitude(similarity.variation)
    if kind == "learned":
        yield message(
            "Learned positions are untrained here (seed {seed}), so they do not show distance: pairs at the same "
            "distance differ by up to {variation}.",
            seed=trace.example.seed,
            variation=variation,
        )
        return
    yield message(
        "On average, the vectors of two sinusoidal positions have the cosine {near} at a distance of 1, "
        "{further} at 8 and {far} at 32.",
        **told(similarity),
    )
    if trace.x.shape[-1] % 2 == 0:
        yield only_distance(similarity)
    else:
        yield message(
            "With an odd number of features, the last sine has no matching cosine: pairs of positions at "
            "the same distance differ by up to {variation}.",
            variation=variation,
        )


def only_distance(similarity: Similarity) -> Message:
    """Where all pairs at the same distance have the same cosine."""
    return message(
        "Pairs at the same distance differ by at most {variation}, which is rounding: only the distance counts.",
        variation=Magnitude(similarity.variation),
    )
