"""A head in another basis, chosen for one text: the same scores, most of them from the first few features.

Scores do not change when queries and keys are rotated together: (q R)(k R)ᵀ = q kᵀ for every orthogonal R. So the basis
of a head's features, often 64 that nobody can interpret, may be chosen anew for each text. Nothing is learned and
nothing is lost: the features after the first few still belong to every sum.
"""

from jaxtyping import Float

from attention_core.base.arrays import Array, namespace

FEATURES = 8  # the first, which account for as much as they can
ROUNDS, STILL = 100, 1e-4  # of `clear_axes`: at most so many, and none once nothing moves by more than this


def turn_for_scores(
    q: Float[Array, "queries d_k"], k: Float[Array, "keys d_k"], features: int = FEATURES
) -> Float[Array, "d_k d_k"]:
    """Return an orthogonal R for which the first `features` of q R and k R make up nearly all of q kᵀ.

    The scores are U S Vᵀ, the largest parts first. The first axes span the keys of the largest parts; within that span,
    axes are chosen along which few keys are large. With no more keys than `features` the other axes add nothing at all.
    """
    xp = namespace(q)
    _, _, parts = xp.linalg.svd(q @ k.mT)  # rows: how each part of the scores is shared among the keys
    axes = xp.linalg.qr((parts[:features] @ k).mT)[0]  # d_k features
    axes = axes @ clear_axes(k @ axes)
    products = abs((q @ axes)[:, None] * (k @ axes)[None]).sum(axis=(0, 1))
    order = sorted(range(axes.shape[1]), key=lambda feature: -float(products[feature]))
    return completed(directed(axes[:, order], k))


def turn_for_values(v: Float[Array, "keys d_v"]) -> Float[Array, "d_v d_v"]:
    """Return an orthogonal R for which the first features of v R hold as much of the values as so many can.

    The first axes are the right singular vectors of v, the largest parts first: Eckart & Young 1936.
    """
    return completed(directed(namespace(v).linalg.svd(v, full_matrices=False)[2].mT, v))


def directed(axes: Float[Array, "d features"], vectors: Float[Array, "vectors d"]) -> Float[Array, "d features"]:
    """Return the axes, each in the direction in which the vector that reaches furthest along it is positive.

    An axis has two directions, and a decomposition picks one by rounding errors, which differ between processors.
    """
    xp = namespace(axes)
    along = vectors @ axes
    furthest = along[abs(along).argmax(axis=0), xp.arange(along.shape[1])]
    return axes * xp.copysign(xp.ones_like(furthest), furthest)


def clear_axes(vectors: Float[Array, "vectors features"]) -> Float[Array, "features features"]:
    """Return an orthogonal matrix after which each feature is large for few of the vectors and small for the others.

    The method is varimax, which makes the squares of each feature differ as much as they can: Kaiser 1958.
    """
    xp = namespace(vectors)
    turn = xp.eye(vectors.shape[1], dtype=vectors.dtype)
    for _ in range(ROUNDS):
        turned = vectors @ turn
        pull = vectors.mT @ (turned**3 - turned * (turned**2).mean(axis=0))
        left, _, right = xp.linalg.svd(pull)
        before, turn = turn, left @ right
        if float(abs(turn - before).max()) < STILL:
            break
    return turn


def completed(axes: Float[Array, "d features"]) -> Float[Array, "d d"]:
    """Return the axes, followed by others at right angles to all, as a square orthogonal matrix."""
    xp = namespace(axes)
    whole = xp.linalg.qr(axes, mode="complete")[0]
    return xp.concat([axes, whole[:, axes.shape[1] :]], axis=1)
