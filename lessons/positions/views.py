"""What positions add to X, how they turn queries and keys, and how alike they are over distance."""

from collections.abc import Callable, Iterator

from lessons.example.example import ExampleTrace
from lessons.kit.matrices import BELOW_CONTROLS, head_matrix, token_axis
from lessons.positions.permutation import (
    N_POSITIONS,
    Similarity,
    added_positions,
    attend_with_positions,
    over_distance,
    similarity_of_query_and_key,
    similarity_of_rows,
    wavelengths,
)
from lessons.positions.positioned_head import (
    PositionedHead,
    added_step,
    angle_step,
    going_in_step,
    positioned_head,
    whose_head,
)
from lessons.screen.message import Fixed, ListOf, Magnitude, Message, Token, message, plural
from lessons.screen.screen import Axis, Cells, Curves, Line, Matrices, Matrix

DISTANCES = {"near": 1, "further": 8, "far": 32}  # of which the curve is told


def rows_view(example: ExampleTrace, own: PositionedHead) -> Matrices:
    """What goes in at each position, or how queries and keys are turned."""
    rotary = own.kind == "rotary"
    band = turned_vectors(example, own) if rotary else added_rows(own)
    notice = notice_turned(own) if rotary else notice_added(own)
    random = rotary or own.kind == "learned" or example.example.source != "journey"
    return Matrices(
        key="positions_figure",
        name=message("Shuffled tokens, and positions"),
        bands=(tuple(band),),
        first="q" if rotary else "x",
        notice=tuple(notice),
        weights=whose_head(example, own) if random else None,
        height=BELOW_CONTROLS,
    )


def added_rows(own: PositionedHead) -> Iterator[Matrix]:
    """X, and where something is added to it, that and the sum."""
    derivation = own.derivation(attend_with_positions(own.x, own.projections, own.kind, own.seed))
    x = head_matrix(derivation, "x", message("X"), own.x, key="x", given=True)
    yield x
    if own.kind == "none":
        return
    added = own.added
    titles = {"sinusoidal": message("+ sinusoidal"), "learned": message("+ learned, untrained")}
    yield Matrix(
        key="p",
        title=titles[own.kind],
        values=added,
        rows=x.rows,
        columns=x.columns,
        colour="weight",
        step=lambda i, j: added_step(own, i, j),
    )
    yield Matrix(
        key="sum",
        title=message("= what goes in"),
        values=own.x + added,
        rows=x.rows,
        columns=x.columns,
        step=lambda i, j: going_in_step(own, i, j),
        before=lambda i, j: (derivation.step("x", i, j), added_step(own, i, j)),
    )


def turned_vectors(example: ExampleTrace, own: PositionedHead) -> Iterator[Matrix]:
    """Queries and keys before and after they are turned, and the angles."""
    still = attend_with_positions(own.x, own.projections, "none", own.seed)
    turned = attend_with_positions(own.x, own.projections, "rotary", own.seed)
    before, after = positioned_head(example, own.head, "none").derivation(still), own.derivation(turned)
    rows = token_axis(tuple(name.text for name in own.names))
    pairs = Axis(message("pairs"), tuple(str(pair + 1) for pair in range(own.angles.shape[1])), one=message("pair"))

    def made_of(vector: str) -> Callable[[int, int], tuple[Cells, ...]]:
        return lambda i, j: (*(Cells(vector, i, j - j % 2 + half) for half in (0, 1)), Cells("angle", i, j // 2))

    yield head_matrix(before, "q", message("Q"), still.q, key="q", rows=rows)
    yield Matrix(
        key="angle",
        title=message("angles (radians)"),
        values=own.angles,
        rows=rows,
        columns=pairs,
        step=lambda i, j: angle_step(own, i, j),
    )
    yield head_matrix(after, "q", message("Q turned"), turned.q, key="q_turned", rows=rows, sources=made_of("q"))
    yield head_matrix(before, "k", message("K"), still.k, key="k", rows=rows)
    yield head_matrix(after, "k", message("K turned"), turned.k, key="k_turned", rows=rows, sources=made_of("k"))


def notice_added(own: PositionedHead) -> Iterator[Message]:
    """What is added to X, and how long it is beside X."""
    if own.kind == "none":
        yield message("Nothing is added: a row of X says which token it is, and nothing says where it stands.")
        return
    if own.kind == "learned":
        yield message(
            "One row for each position, drawn at random from seed {seed}. They are untrained: only training "
            "would give them a meaning.",
            seed=own.seed,
        )
    else:
        waves = wavelengths(own.x.shape[-1])
        shown = {"first": Fixed(waves[0], 1), "last": Fixed(waves[-1], 0)}
        if len(waves) == 1:
            yield message("A wave over the positions, which repeats every {first} positions.", first=shown["first"])
        else:
            yield message(
                "Waves over the positions: the first features repeat every {first} positions, the last every {last}.",
                **shown,
            )
    yield message(
        "On average an added row has the length {added}, and a row of X the length {x}.",
        added=Fixed(float(own.added.norm(dim=-1).mean())),
        x=Fixed(float(own.x.norm(dim=-1).mean())),
    )


def notice_turned(own: PositionedHead) -> Iterator[Message]:
    """How far the query of the last token is turned, and that its length stays."""
    last = len(own.names) - 1
    yield message("Nothing is added: queries and keys are turned.")
    if last == 0:
        yield message("The first position has the angle 0, so with one token nothing turns yet.")
        return
    degrees = [Fixed(angle, 1) for angle in own.angles[last].rad2deg().tolist()]
    angles = ListOf(tuple(message("{degrees}°", degrees=angle) for angle in degrees))
    yield plural(
        "The pair of features of the query of {token} turns by {angles}; its length stays {length}.",
        "The {count} pairs of features of the query of {token} turn by {angles}; its length stays {length}.",
        len(degrees),
        token=own.names[last],
        angles=angles,
        length=Fixed(float((own.x[last] @ own.projections.W_q).norm())),
    )


def distance_view(example: ExampleTrace, own: PositionedHead, token: int) -> Curves:
    """How alike two positions are: the vectors added at them, or a query and a key set there."""
    if own.kind in ("none", "rotary"):
        row, who = own.x[token], own.names[token]
        similarity = similarity_of_query_and_key(own.kind, row @ own.projections.W_q, row @ own.projections.W_k)
        notice, axis = notice_query_and_key(similarity, who), message("positions from the query to the key")
    else:
        similarity = similarity_of_rows(own.kind, own.x.shape[-1], own.seed)
        notice, axis = notice_rows(similarity, own), message("positions from one to the other")
    line = Line(
        key="mean",
        name=message("mean cosine"),
        x=similarity.distances,
        y=similarity.mean,
        low=similarity.least,
        high=similarity.most,
    )
    return Curves(
        key="distance_figure",
        name=message("Similarity over distance"),
        lines=(line,),
        width=760,
        notice=tuple(notice),
        weights=None if own.kind == "sinusoidal" else whose_head(example, own),
        x=axis,
        y=message("cosine"),
        x_domain=(similarity.distances[0], similarity.distances[-1]),
        y_domain=(-1.0, 1.0),
        height=300,
    )


def told(similarity: Similarity) -> dict[str, Fixed]:
    """The mean cosines at the distances of which a sentence speaks."""
    return {name: Fixed(similarity.at(distance)) for name, distance in DISTANCES.items()}


def notice_query_and_key(similarity: Similarity, who: Token) -> Iterator[Message]:
    """Whether a query and a key fit better when they are near."""
    if similarity.kind == "none":
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


def notice_rows(similarity: Similarity, own: PositionedHead) -> Iterator[Message]:
    """Whether rows that are added at near positions are more alike, and whether only the distance counts."""
    variation = Magnitude(similarity.variation)
    if own.kind == "learned":
        yield message(
            "The vectors of learned positions are untrained here, drawn at random from seed {seed}, so distance "
            "means nothing to them: pairs at the same distance differ by up to {variation}.",
            seed=own.seed,
            variation=variation,
        )
        return
    yield message(
        "The vectors of two sinusoidal positions have on average the cosine {near} at a distance of 1, {further} "
        "at 8 and {far} at 32.",
        **told(similarity),
    )
    width = own.x.shape[-1]
    if width % 2 == 0:
        yield only_distance(similarity)
    elif width == 1:
        yield message(
            "With one feature there is a sine without its cosine: pairs at the same distance differ by up to "
            "{variation}. With an even number of features only the distance counts.",
            variation=variation,
        )
    else:
        paired = added_positions("sinusoidal", N_POSITIONS, width, own.seed)[:, :-1]
        yield message(
            "Pairs at the same distance differ by up to {variation}, but only because the number of features, {width}, "
            "is odd: the last sine has no cosine beside it. Without that feature they differ by at most {paired}, "
            "which is rounding: then only the distance counts.",
            variation=variation,
            width=width,
            paired=Magnitude(over_distance("sinusoidal", paired, paired).variation),
        )


def only_distance(similarity: Similarity) -> Message:
    """Where all pairs at the same distance have the same cosine."""
    return message(
        "Pairs at the same distance differ by at most {variation}, which is rounding: only the distance counts.",
        variation=Magnitude(similarity.variation),
    )
