"""Two servers behind the proxy of deploy/, with one PostgreSQL: one of them is killed while a class votes."""

import pytest
from databases import running_postgres
from replicas import wait_for

pytest.importorskip("psycopg", reason="no psycopg here: install requirements-classes.txt")

from classes.postgres import PostgresKeeper
from lessons.teachers.class_vote.question_link import first_asked, screen_asked, written_asked

STUDENTS = 4
CARD = "[class*=st-key-cards_class] button"


@pytest.fixture
def database():
    with running_postgres() as server:
        yield server


@pytest.mark.slow
def test_a_replica_killed_in_mid_vote_loses_no_vote_and_counts_none_twice(replicas, haproxy, database, tab):
    settings = {"ATTENTION_LAB_CLASSES_URL": database.url, "STREAMLIT_SERVER_COOKIE_SECRET": "one for both"}
    first, second = (replicas(**settings).start() for _ in range(2))
    proxy = haproxy(first, second)
    keeper = PostgresKeeper(database.url)
    code, key = keeper.open_class()
    text = written_asked(first_asked("softmax"))
    keeper.ask(code, key, 0, len(screen_asked(text)[1].cards), text)
    students = [tab() for _ in range(STUDENTS)]

    def counted():
        return keeper.votes(code, 1, 3).first

    for student in students:
        student.goto(f"{proxy.url}/class_vote?class={code}")
        student.locator(CARD).nth(0).click()
        student.locator(CARD, has_text="your answer").wait_for()
    assert counted() == (STUDENTS, 0, 0)
    assert (
        len(
            {
                cookie["value"]
                for student in students
                for cookie in student.context.cookies()
                if cookie["name"] == "replica"
            }
        )
        == 2
    ), "the students are on both"
    students[0].locator(CARD).nth(1).click(no_wait_after=True)
    first.kill()
    for student in students:

        def changed(student=student):  # a press that nobody answered is pressed again
            student.locator(CARD).nth(1).click()
            student.wait_for_timeout(500)
            return "your answer" in student.locator(CARD).nth(1).inner_text()

        wait_for(changed)
    assert counted() == (0, STUDENTS, 0)
    keeper.step(code, key, 1, "open", "closed")
    for student in students:
        student.get_by_text("Your first answer: B").wait_for()
