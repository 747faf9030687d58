"""Files that are made on demand, as a browser gets them: by a token, from the disk, while their visit is open."""

import asyncio
import re

from replicas import awaited, wait_for

from attention_ui.practice.take_home_view import file_of_sheets
from benchmarks.client import Session
from lessons.teachers.take_home.sheet import SheetChoices


async def link_to(visitor):
    for _ in range(600):
        if links := visitor.elements("link_button"):
            return "/" + links[0].proto.url.removeprefix("./")
        await asyncio.sleep(0.05)
    raise AssertionError(visitor.texts())


def test_a_file_comes_as_it_was_made_and_is_gone_with_its_visit(server):
    async def saved():
        async with Session(server.port, live=True) as teacher:
            await teacher.open("take_home", "paper_sheets=3&paper_seed=8&says_language=a")
            await teacher.click("export_make")
            link = await link_to(teacher)
            answers = [await asyncio.to_thread(server.get, path, Accept="text/html") for path in (link, f"/base{link}")]
            return link, answers

    link, answers = awaited(saved())
    for answer in answers:
        assert answer.status == 200 and answer.body == file_of_sheets(SheetChoices(seed=8), 3, "a4")
        assert re.fullmatch(r'attachment; filename="worksheet_\w+\.html"', answer.headers["Content-Disposition"])
        assert answer.headers["Content-Type"] == "application/octet-stream", "no page of this origin"
        assert answer.headers["X-Content-Type-Options"] == "nosniff" and answer.headers["Cache-Control"] == "no-store"
    wait_for(lambda: server.get(link).status == 404, server.words)
    gone = server.get(link, Accept_Language="de")
    assert gone.body.decode() == "Diese Datei gibt es nicht mehr. Auf ihrer Seite lässt sie sich neu erstellen."
    for path in ("/file/x", "/file/", "/file/..%2fapp.py", "/file/%00"):
        assert not server.get(path).headers["Content-Disposition"]


def test_who_comes_second_is_told_so_and_who_leaves_holds_up_nobody(server):
    link = "paper=platform&platform_versions=20&platform_lessons=5,6"

    async def pressed():
        async with Session(server.port, live=True) as second:
            async with Session(server.port, live=True) as first:
                await first.open("take_home", link)
                await second.open("take_home", f"{link}&platform_seed=7")
                await first.click("export_make")
                await second.click("export_make")
                (waits,) = second.elements("progress")
                (makes,) = first.elements("progress")
            found = await link_to(second)
        return waits.proto.text, makes.proto.text, found

    waits, makes, _ = awaited(pressed())
    assert waits == "1 other file is made before yours." and re.fullmatch(r"\d+% of your file has been made\.", makes)
