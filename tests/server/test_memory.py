"""Memory goes back to the system where the C library can be told, and nothing breaks where it cannot."""

import asyncio
import platform

import pytest
from replicas import awaited

from attention_ui.server import memory


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library: there is nothing to tell")
def test_glibc_is_told_to_keep_few_heaps():
    assert memory.few_heaps()


def test_another_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(memory, "glibc", lambda: None)
    assert not memory.few_heaps()
    awaited(memory.give_back())


class Library:
    """Counts how often it is asked to give memory back."""

    def __init__(self):
        self.asked = []

    def malloc_trim(self, pad):
        self.asked.append(pad)


def test_memory_is_given_back_again_and_again_until_the_server_stops(monkeypatch):
    library = Library()
    monkeypatch.setattr(memory, "glibc", lambda: library)

    async def serve():
        giving_back = asyncio.create_task(memory.give_back(every=0.001))
        while len(library.asked) < 3:
            await asyncio.sleep(0.001)
        giving_back.cancel()
        await asyncio.gather(giving_back, return_exceptions=True)
        assert giving_back.cancelled()

    awaited(serve())
    assert set(library.asked) == {0}
