"""Vectors on a shelf stay as they are, side by side, and go back block by block."""

import mmap
from pathlib import Path

import pytest
import torch

from runs import shelf
from runs.shelf import Shelf


def vectors(count, length=7):
    return torch.randn(count, length, generator=torch.Generator().manual_seed(3))


def blocks(kept):
    """How many of the vectors, in the order they were kept, lie in the same block."""
    places = [vector.untyped_storage().data_ptr() for vector in kept]
    return [places.count(place) for place in dict.fromkeys(places)]


def test_a_kept_vector_stays_as_it_was():
    original = vectors(5)
    kept, rack = [], Shelf()
    changing = torch.empty(7)
    for vector in original:
        kept.append(rack.keep(changing.copy_(vector)))
    changing.zero_()
    assert torch.equal(torch.stack(kept), original)


def test_vectors_lie_side_by_side_in_blocks_of_one_size(monkeypatch):
    monkeypatch.setattr(shelf, "BLOCK_BYTES", 3 * 7 * 4 + 5)
    rack = Shelf()
    kept = [rack.keep(vector) for vector in vectors(8)]
    assert blocks(kept) == [3, 3, 2]
    assert kept[0].untyped_storage().nbytes() == 3 * 7 * 4


def test_a_vector_larger_than_a_block_has_one_of_its_own(monkeypatch):
    monkeypatch.setattr(shelf, "BLOCK_BYTES", 10)
    rack = Shelf()
    kept = [rack.keep(vector) for vector in vectors(3)]
    assert blocks(kept) == [1, 1, 1] and torch.equal(torch.stack(kept), vectors(3))


def test_it_does_not_matter_whether_gradients_are_recorded_when_something_is_kept():
    rack = Shelf()
    with torch.inference_mode():
        first = rack.keep(vectors(1)[0])
    second = rack.keep(vectors(2)[1])
    factor = torch.ones(7, requires_grad=True)
    (first * second * factor).sum().backward()
    assert torch.equal(factor.grad, vectors(1)[0] * vectors(2)[1])


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux tells what memory is in use")
def test_only_what_is_written_takes_memory(monkeypatch):
    monkeypatch.setattr(shelf, "BLOCK_BYTES", 64 * 2**20)
    before, rack = resident_bytes(), Shelf()
    kept = [rack.keep(vector) for vector in vectors(3, 65_537)]
    assert 0.5 * 3 * kept[0].nbytes < resident_bytes() - before < 8 * 2**20
    kept += [rack.keep(vector) for vector in vectors(97, 65_537)]
    assert resident_bytes() - before > 16 * 2**20
    del kept, rack
    assert resident_bytes() - before < 8 * 2**20


def resident_bytes():
    """The memory of this process that is really there."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
