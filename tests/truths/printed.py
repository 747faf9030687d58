"""The 104 numbers that the notebooks print, and where the app shows them: a link, a matrix of its screen, its rows."""

from typing import NamedTuple


class Rows(NamedTuple):
    """Rows as a notebook prints them. Where the app shows them as a column, they stand `down`."""

    link: str
    matrix: str
    rows: tuple[str, ...]
    down: bool = False


DOT_PRODUCT = "dot_product?example=journey&view=one&asks=2"
PRINTED = {
    "000 query": Rows(DOT_PRODUCT, "dot_product_figure/query", ("0.5500 0.8700 0.6600",)),
    "000 one score": Rows(DOT_PRODUCT, "dot_product_figure/score", ("0.9544",)),
    "000 scores": Rows(
        DOT_PRODUCT, "dot_product_figure/score", ("0.9544 1.4950 1.4754 0.8434 0.7070 1.0865",), down=True
    ),
    "000 weights": Rows(
        DOT_PRODUCT, "dot_product_figure/weight", ("0.1385 0.2379 0.2333 0.1240 0.1082 0.1581",), down=True
    ),
    "002 x": Rows(
        "projections?example=batch&role=q",
        "projections_figure/x",
        (
            "0.1808 -0.0700 -0.3596 -0.9152 0.6258 0.0255 0.9545 0.0643",
            "0.3612 1.1679 -1.3499 -0.5102 0.2360 -0.2398 -0.9211 1.5433",
            "1.3488 -0.1396 0.2858 0.9651 -2.0371 0.4931 1.4870 0.5910",
            "0.1260 -1.5627 -1.1601 -0.3348 0.4478 -0.8016 1.5236 2.5086",
        ),
    ),
    "002 query": Rows(
        "projections?example=batch&role=q",
        "projections_figure/q",
        (
            "0.0110 -0.1263 0.4046 0.0332 0.2670 -0.1756 0.1955 -0.0063",
            "0.6874 -0.0661 -0.2071 0.3671 0.6184 -0.5196 0.4594 -0.2400",
            "0.0537 0.4173 0.5473 0.2127 -0.3923 0.7439 0.6044 -0.9145",
            "-0.2882 0.1333 0.5673 1.1221 0.8594 0.3488 0.5764 -0.1420",
        ),
    ),
    "002 key": Rows(
        "projections?example=batch&role=k",
        "projections_figure/k",
        (
            "0.1337 0.1884 0.2608 0.0804 -0.4088 0.2697 -0.0554 0.2315",
            "0.7615 0.6625 -0.1835 0.1656 0.8969 0.4457 -0.2870 0.5668",
            "-0.6749 -0.9168 -0.1317 0.0897 1.0475 0.3863 1.2753 -0.6169",
        ),
    ),
}
