"""A server whose PostgreSQL freezes, then stops: lessons go on, pages of the class stay, and nobody reloads them."""

import asyncio
import json

import pytest
from databases import running_postgres
from replicas import awaited

pytest.importorskip("psycopg", reason="no psycopg here: install requirements-classes.txt")

from client import Session

from attention_ui.classroom.vote.page import GOES_ON
from attention_ui.classroom.vote.student import SENT_LATER
from classes.postgres import PostgresKeeper
from lessons.screen import render
from lessons.teachers.class_vote.question_link import first_asked, screen_asked, written_asked

TEXT = written_asked(first_asked("softmax"))
CARDS = len(screen_asked(TEXT)[1].cards)


@pytest.fixture(scope="module")
def database():
    with running_postgres() as server:
        yield server


async def until(true, *sessions):
    """Wait until it is true; what the server sends meanwhile is read."""
    async with asyncio.timeout(40):
        while not true():
            await asyncio.sleep(0.05)
    for session in sessions:
        await session.settle()


def chosen(session, mark):
    return [shown.label[0] for shown in session.elements("button") if mark in shown.label]


def says(session, sentence):
    return render(sentence) in session.texts("text")


async def votes_through_outages(server, database, outages):
    keeper = PostgresKeeper(database.url)
    code, key = keeper.open_class()
    keeper.ask(code, key, 0, CARDS, TEXT)
    async with Session(server.port) as student, Session(server.port) as teacher, Session(server.port) as lesson:
        await student.open("class_vote", f"class={code}")
        await teacher.open("class_vote", f"class={code}&teacher={key}")
        await lesson.open("softmax", "example=journey")
        for number, (end, begin) in enumerate(outages):
            card = "AB"[number]
            end()
            try:
                vote = asyncio.create_task(student.click(f"class_vote_{card}"))
                await lesson.set("d_k", 3 + number)
                await vote
                assert says(student, SENT_LATER) and chosen(student, "not sent yet") == [card]
                await teacher.click("class_another")
                assert says(teacher, GOES_ON) and teacher.widget("class_to_closed")
                health = await asyncio.to_thread(server.get, "/healthz")
                assert (health.status, json.loads(health.body)["status"]) == (200, "degraded")
            finally:
                begin()
            await until(lambda: chosen(student, "✓") and not says(student, SENT_LATER), student)
            await until(lambda: not says(teacher, GOES_ON), teacher)
            assert chosen(student, "✓") == [card] and sum(keeper.votes(code, 1, CARDS).first) == 1
        await teacher.click("class_to_closed")
        await until(lambda: "The vote is closed." in student.texts("text"))
        assert not [*student.exceptions, *teacher.exceptions, *lesson.exceptions]


@pytest.mark.slow
def test_postgres_freezes_and_stops_beside_a_lesson_and_all_goes_on(replicas, database):
    server = replicas(ATTENTION_LAB_CLASSES_URL=database.url).start()
    outages = [(database.freeze, database.thaw), (database.stop, database.start)]
    awaited(votes_through_outages(server, database, outages))
    lines = [json.loads(line) for line in server.words().splitlines() if line.startswith("{")]
    told = [line for line in lines if line["logger"] == "classes.prompt"]
    assert lines == told and len(outages) <= len(told) <= 8, "a line a minute for each kind of failure"
    assert all(line["event"].startswith("the database of the classes fails") for line in told)
    assert "Traceback" not in server.words()
