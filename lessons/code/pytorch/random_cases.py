"""Random cases in which ours and PyTorch's are compared."""

from collections.abc import Iterator
from functools import lru_cache

from attention_core.measured.parity import RandomCase, random_cases
from lessons.screen import Facts, Figure, ListOf, Magnitude, Message, Points, message

CASES = 300  # random ones, compared at once
MASK_NAMES = {"none": message("no mask"), "causal": message("the causal mask"), "random": message("a random mask")}


@lru_cache(maxsize=32)
def compared_cases(number: int) -> tuple[RandomCase, ...]:
    """The random cases of a number, computed once for all."""
    return tuple(random_cases(number, CASES))


def case_figures(number: int) -> Iterator[Figure]:
    """The difference that any case has at most, and a cloud with a point for each."""
    cases, name = compared_cases(number), message("How far apart random cases are")
    most = message("Of {count} cases none differs by more than", count=len(cases))
    yield Facts(key="largest_difference", name=name, facts=((most, Magnitude(max(case.difference for case in cases))),))
    differing = [case for case in cases if case.difference > 0]  # a logarithm has no place for 0
    yield Points(
        key="cases_figure",
        name=name,
        width=760,
        logarithmic=(True, True),
        notice=tuple(notice_cases(cases)),
        xs=tuple(case.tokens * case.heads * case.d_head for case in differing),
        ys=tuple(case.difference for case in differing),
        says=tuple(map(case_says, differing)),
        x=message("numbers in the output: tokens × features"),
        y=message("difference of a case"),
        weights=message("Untrained: random weights for each case, all drawn with seed {number}.", number=number),
    )


def case_says(case: RandomCase) -> Message:
    """What pointing at a case says."""
    return message(
        "tokens: {tokens}, heads: {heads}, features in a head: {features}, {mask}, {bias}: differs by {difference}",
        tokens=case.tokens,
        heads=case.heads,
        features=case.d_head,
        mask=MASK_NAMES[case.mask],
        bias=message("with bias") if case.bias else message("without bias"),
        difference=Magnitude(case.difference),
    )


def notice_cases(cases: tuple[RandomCase, ...]) -> Iterator[Message]:
    """What the cases covered."""
    sizes = [[getattr(case, name) for case in cases] for name in ("tokens", "heads", "d_head")]
    masks = ListOf(tuple(MASK_NAMES[kind] for kind in MASK_NAMES if any(case.mask == kind for case in cases)))
    yield message(
        "{count} random cases, with {tokens} to {more_tokens} tokens, {heads} to {more_heads} heads and {features} to "
        "{more_features} features in a head, with {masks}; {bias} of them with bias.",
        count=len(cases),
        masks=masks,
        bias=sum(case.bias for case in cases),
        tokens=min(sizes[0]),
        more_tokens=max(sizes[0]),
        heads=min(sizes[1]),
        more_heads=max(sizes[1]),
        features=min(sizes[2]),
        more_features=max(sizes[2]),
    )
