"""What many ask for at once is computed once."""

import threading
from concurrent.futures import ThreadPoolExecutor

from lessons.shared.computed_once import computed_once


def test_equal_questions_asked_at_once_are_computed_once_and_the_latest_are_kept():
    asked, together = [], threading.Barrier(8)

    @computed_once(maxsize=2)
    def square(number):
        asked.append(number)
        return number * number

    def ask(number):
        together.wait()
        return square(number)

    with ThreadPoolExecutor(8) as visitors:
        assert list(visitors.map(ask, [3, 4] * 4)) == [9, 16] * 4
    assert sorted(asked) == [3, 4]
    assert [square(5), square(4), square(3)] == [25, 16, 9] and len(asked) <= 5
