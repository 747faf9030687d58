"""The maps of many heads on one sentence: their places, in pixels, and the tables of their cells and titles."""

import math

import pyarrow as pa

from lessons.screen import HeadMaps, labelled, number, quote_token, render

LARGEST_MAP, LARGEST_MAP_CELL, BETWEEN = 190, 24, 12  # pixels
MAP_NAMES, MAP_SCORES = 13, 11  # pixels of the letters above a map


def map_size(figure: HeadMaps) -> int:
    """The pixels of a side of each map."""
    return min(LARGEST_MAP, LARGEST_MAP_CELL * len(figure.tokens), figure.width // figure.in_a_row - BETWEEN)


def above_map(letters: int) -> int:
    """The pixels of the two lines above a map, whose letters have so many pixels at least."""
    return max(MAP_NAMES, letters) + max(MAP_SCORES, letters) + 16


def corner(figure: HeadMaps, which: int, letters: int) -> tuple[int, int]:
    """Where the upper left corner of a map is."""
    above = above_map(letters)
    row, column = divmod(which, figure.in_a_row)
    across = figure.width // figure.in_a_row
    return column * across, row * (map_size(figure) + above + BETWEEN) + above


def maps_height(figure: HeadMaps, letters: int = 0) -> int:
    """The pixels of all rows of maps."""
    return corner(figure, len(figure.maps) - 1, letters)[1] + map_size(figure)


def map_cells(figure: HeadMaps, letters: int = 0) -> pa.Table:
    """A row for each weight that is drawn: its square, and what pointing at it says."""
    size, names = map_size(figure) / len(figure.tokens), [quote_token(token) for token in figure.tokens]
    rows = []
    for which, one in enumerate(figure.maps):
        left, top = corner(figure, which, letters)
        called = render(one.name)
        for query, key in (one.shares >= figure.least).nonzero().tolist():
            weight = float(one.shares[query, key])
            said = labelled(called, f"{names[query]} → {names[key]} {number(weight)}")
            side = size * math.sqrt(weight)  # its area is the weight
            gap = (size - side) / 2
            rows.append((left + key * size + gap, top + query * size + gap, side, weight, said))
    x, y, sides, weights, said = zip(*rows, strict=True)
    return pa.table(
        {
            "x": pa.array(x, pa.float32()),
            "x2": pa.array([at + side for at, side in zip(x, sides, strict=True)], pa.float32()),
            "y": pa.array(y, pa.float32()),
            "y2": pa.array([at + side for at, side in zip(y, sides, strict=True)], pa.float32()),
            "v": pa.array(weights, pa.float32()),
            "say": pa.array(said, pa.string()),
        }
    )


def map_frames(figure: HeadMaps, letters: int = 0) -> pa.Table:
    """A row for each map: its frame, its name and its score."""
    corners = [corner(figure, which, letters) for which in range(len(figure.maps))]
    size = map_size(figure)
    return pa.table(
        {
            "x": pa.array([left for left, _ in corners], pa.float32()),
            "x2": pa.array([left + size for left, _ in corners], pa.float32()),
            "y": pa.array([top for _, top in corners], pa.float32()),
            "y2": pa.array([top + size for _, top in corners], pa.float32()),
            "name": pa.array([render(one.name) for one in figure.maps], pa.string()),
            "score": pa.array(["" if one.score is None else render(one.score) for one in figure.maps], pa.string()),
            "tone": pa.array(["ink" if one.chosen else "ghost" for one in figure.maps], pa.string()),
        }
    )
