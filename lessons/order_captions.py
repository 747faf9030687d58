"""Sentences of the lesson on order, each computed from the numbers it speaks of."""

from jaxtyping import Float
from torch import Tensor

from attention_core.permutation import Residual, Shuffle, Similarity, wavelengths
from lessons.captions import magnitude, name, number, plural

NAMES = {"none": "no positions", "sinusoidal": "sinusoidal", "learned": "learned", "rotary": "rotary"}
SAME_DISTANCE = 2e-5  # cosines that differ by less are told as equal


def shuffle_caption(tokens: tuple[str, ...], shuffled: Shuffle, measured: Residual) -> str:
    """What the shuffle does to the output."""
    if len(tokens) == 1:
        return "One token has one order only: take a longer sentence to shuffle."
    if shuffled.permutation == tuple(range(len(tokens))):
        return "These places are the sentence's own order. Ask for another shuffle to see what moves."
    if not measured.knows_order:
        return unseen_caption(measured)
    gap = (shuffled.shuffled.output - shuffled.output_moved).abs()
    row, feature = divmod(int(gap.argmax()), gap.shape[-1])
    one, other = (float(output[row, feature]) for output in (shuffled.output_moved, shuffled.shuffled.output))
    return (
        f"The order shows: number {feature + 1} of the output of {name(tokens, shuffled.permutation[row])} is "
        f"{number(one, 3)} if we attend first and {number(other, 3)} if we shuffle first, the largest difference "
        f"of all. {why_it_shows(measured)}"
    )


def unseen_caption(measured: Residual) -> str:
    """Where the order leaves no trace: how small the residual is, and that it is rounding."""
    always = measured.kind == "none" and not measured.causal
    return (
        f"The output moves along, row by row: no number differs by more than {magnitude(measured.residual)}. "
        f"Computed with twice as many digits it is {magnitude(measured.precise)}, so that is rounding. "
        + ("This head does not know the order." if always else "With these tokens and this order, nothing shows.")
    )


def why_it_shows(measured: Residual) -> str:
    """What tells the head one order from another."""
    if measured.kind == "none":
        return "No positions are given: the causal mask alone tells what came before."
    mask = " and the mask" if measured.causal else ""
    return f"The tokens moved, but the positions{mask} stayed where they were."


def leak_caption(residuals: tuple[Residual, ...]) -> str:
    """Without positions: nothing without the mask, and what the mask alone gives away."""
    free, masked = (next(r for r in residuals if r.kind == "none" and r.causal is causal) for causal in (False, True))
    if not masked.knows_order:
        return (
            f"Without positions this order leaves {magnitude(free.residual)}, "
            f"and {magnitude(masked.residual)} with the causal mask."
        )
    return (
        f"Without positions this order leaves {magnitude(free.residual)}. The causal mask alone makes it "
        f"{magnitude(masked.residual)}: who stands first sees nobody else, so a mask gives order away."
    )


def residual_rows(residuals: tuple[Residual, ...]) -> list[dict[str, str]]:
    """A row for each kind of positions: the residual without a mask and with the causal one."""
    kinds = dict.fromkeys(residual.kind for residual in residuals)
    cells = {(r.kind, r.causal): magnitude(r.residual) for r in residuals}
    return [
        {"positions": NAMES[kind], "no mask": cells[kind, False], "causal mask": cells[kind, True]} for kind in kinds
    ]


def added_caption(
    kind: str, x: Float[Tensor, "tokens d_model"], positions: Float[Tensor, "tokens d_model"], seed: int
) -> str:
    """What is added to X, and how long it is beside X."""
    if kind == "none":
        return "Nothing is added: a row of X says which token it is, and nothing says where it stands."
    lengths = [number(float(rows.norm(dim=-1).mean())) for rows in (positions, x)]
    sizes = f"On average a row that is added is {lengths[0]} long, a row of X {lengths[1]}."
    if kind == "learned":
        return f"One row for each place, drawn from seed {seed} as before any training; training would move it. {sizes}"
    waves = wavelengths(x.shape[-1])
    slowest = f", the slowest every {waves[-1]:.0f} places" if len(waves) > 1 else ""
    return f"Waves over the places: the quickest comes round every {number(waves[0], 1)} places{slowest}. {sizes}"


def rotation_caption(
    tokens: tuple[str, ...],
    q: Float[Tensor, "tokens d_k"],
    turned: Float[Tensor, "tokens d_k"],
    angles: Float[Tensor, "tokens pairs"],
) -> str:
    """How far the query of the last token is turned, and that its length stays."""
    last, degrees = len(tokens) - 1, [f"{angle:.0f}°" for angle in angles[-1].rad2deg().tolist()]
    before, after = (number(float(rows[last].norm())) for rows in (q, turned))
    return (
        f"Nothing is added; queries and keys are turned. The {plural('pair', len(degrees))} of features of the query "
        f"of {name(tokens, last)} {'turns' if len(degrees) == 1 else 'turn'} by {', '.join(degrees)}; "
        f"its length was {before} and is {after}."
    )


def similarity_caption(similarity: Similarity, token: str) -> str:
    """How likeness falls with distance, and whether the distance is all that counts."""
    values = [f"{number(similarity.at(distance))} at a distance of {distance}" for distance in (1, 8, 32)]
    if similarity.kind in ("none", "rotary"):
        who = f"the query and the key of {token} have the cosine"
    else:
        who = "the rows of two places have on average the cosine"
    spread = similarity.variation
    if similarity.kind == "none":
        rest = "Without positions it is the same at every distance."
    elif spread < SAME_DISTANCE:
        rest = f"Pairs at the same distance differ by at most {magnitude(spread)}: only the distance counts."
    else:
        rest = (
            f"Pairs at the same distance differ by up to {magnitude(spread)}: it is not the distance alone that counts."
        )
    return f"{NAMES[similarity.kind].capitalize()}: {who} {', '.join(values)}. {rest}"
