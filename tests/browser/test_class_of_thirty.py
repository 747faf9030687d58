"""A class of thirty from its opening to the certificates: a teacher and three students in browsers, 26 clients."""

import asyncio
import csv
import re
import sys
import threading
import time

import pytest

from lessons.teachers.class_plan.plan import Plan
from lessons.teachers.class_plan.plan_file import written_plan
from lessons.teachers.class_plan.ready_made import ready_plan
from lessons.teachers.class_vote.question_link import screen_asked
from lessons.teachers.homework.certificate import certificate_of, written_certificate
from lessons.teachers.homework.notes import noted
from lessons.teachers.homework.stops import mark_of
from tests.browser.conftest import ROOT

sys.path.append(str(ROOT / "benchmarks"))

from client import Session

from tests.figures import FIGURE_BOX, PICTURE

CLIENTS, BROWSERS, PATIENCE_SECONDS = 26, 3, 60
VOTERS = CLIENTS + BROWSERS
LOOKS, VOTES, SHOWS, ENDS = (ready_plan(45).stops[place] for place in (0, 3, 4, -1))
PLAN = Plan(title="Week 3", stops=(LOOKS, VOTES, SHOWS, ENDS))
QUESTION = screen_asked(VOTES.screen)[1]
LETTERS = "ABCD"[: len(QUESTION.cards)]
RIGHT = LETTERS[QUESTION.right]
WRONG = next(letter for letter in LETTERS if letter != RIGHT)
NAMES = [f"student {number:02d}" for number in range(CLIENTS)]
DAMAGED, DOUBLED = 0, 2  # of the certificates of those
VIEWS = ({"width": 1440, "height": 900}, {"width": 1024, "height": 768}, {"width": 390, "height": 844})


class Clients:
    """Students without a browser, in a thread of their own: that of the tests belongs to the browser."""

    def __init__(self, url, count):
        self.visits = [Session(int(url.rpartition(":")[2]), live=True) for _ in range(count)]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def all(self, act):
        """What each does, with its place among them, all at once; until the last has done it."""
        return asyncio.run_coroutine_threadsafe(self._gathered(act), self._loop).result(2 * PATIENCE_SECONDS)

    async def _gathered(self, act):
        return await asyncio.gather(*(act(place, visit) for place, visit in enumerate(self.visits)))

    def leave(self):
        self.all(lambda _, visit: visit.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        return [error for visit in self.visits for error in visit.exceptions]


@pytest.fixture
def clients(url):
    clients = Clients(url, CLIENTS)
    yield clients
    assert not clients.leave()


async def until(true):
    """Wait until something is true of a client."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not true():
        assert time.monotonic() < end, "a client waits in vain"
        await asyncio.sleep(0.05)


def offers(visit, letter):
    return any(shown.id.endswith(f"class_vote_{letter}") for shown in visit.elements("button"))


async def choose(visit, letter):
    """Press a card as soon as it is there, and see that it is taken for the answer."""
    await until(lambda: offers(visit, letter))
    await visit.settle()
    await visit.click(f"class_vote_{letter}")
    await until(lambda: "your answer" in visit.widget(f"class_vote_{letter}").label)


def letters_of_round(voter, round_of_votes):
    """What this voter presses one after the other; the last counts. Every third changes his mind in the first round,
    and in the second half of all choose what is right.
    """
    if round_of_votes == 2:
        return (RIGHT,) if voter % 2 else (LETTERS[voter % len(LETTERS)],)
    first = LETTERS[voter % len(LETTERS)]
    return (WRONG if voter % 3 == 0 else first, first)[voter % 3 > 0 :]


def counts_of_round(round_of_votes):
    last = [letters_of_round(voter, round_of_votes)[-1] for voter in range(VOTERS)]
    return [last.count(letter) for letter in LETTERS]


def bring_plan(tab):
    """The plan as a file, on the page where one's own stands."""
    tab.page.goto(f"{tab.url}/take_home?paper=own")
    field = tab.page.locator(".st-key-plan_controls input[type=file]")
    field.set_input_files(as_file("plan", written_plan(PLAN)))
    tab.page.get_by_role("button", name="Teach a class with it").wait_for()
    return tab.settled()


def as_file(name, data):
    return {"name": f"{name}.json", "mimeType": "application/json", "buffer": data}


@pytest.fixture
def teacher(visit):
    tab = bring_plan(visit(reduced_motion="reduce", viewport={"width": 1280, "height": 720}))
    tab.page.get_by_role("button", name="Teach a class with it").click()
    tab.page.get_by_text("This class follows a plan of 4 stops.").wait_for()
    return tab.settled()


@pytest.fixture
def students(visit, teacher, clients):
    """All come in by the code: the browsers type it, the others open the link."""
    code = re.search("class=(.{6})", teacher.page.url)[1]
    tabs = [visit(reduced_motion="reduce", viewport=view) for view in VIEWS]
    for tab in tabs:
        tab.page.goto(f"{tab.url}/class_vote")
        tab.page.get_by_label("The code that your teacher shows").fill(code)
        tab.settled().page.get_by_role("button", name="Join").click()
        tab.page.get_by_text("You are in the class").wait_for()
    clients.all(lambda _, visit: visit.open("class_vote", f"class={code}"))
    return tabs


def step(teacher, place, act):
    """One key, after which the class is at this step, and this is offered next."""
    teacher.page.keyboard.press("ArrowRight")
    strip = teacher.page.locator(".st-key-class_strip")
    strip.get_by_text(f"{place}/{len(PLAN.steps)}", exact=True).wait_for()
    strip.get_by_text(act).wait_for()
    teacher.settled()


def answered(count):
    """What the teacher's page says, with how many are there or, until that is known, without."""
    return re.compile(rf"^{count} (of \d+ )?have answered$")


def vote(teacher, students, clients, round_of_votes):
    """Everybody votes, and the teacher's page counts each voter once."""
    for voter, tab in enumerate(students):
        for letter in letters_of_round(voter, round_of_votes):
            card = tab.page.locator(f".st-key-class_vote_{letter} button")
            card.click()
            card.get_by_text("your answer").wait_for()
    tab.page.reload()  # whoever comes anew and presses once more is still one
    card.get_by_text("your answer").wait_for()
    tab.settled()
    card.click()
    teacher.page.get_by_text(answered(BROWSERS)).wait_for()

    async def all_of(place, visit):
        for letter in letters_of_round(place + BROWSERS, round_of_votes):
            await choose(visit, letter)

    clients.all(all_of)
    teacher.page.get_by_text(answered(VOTERS)).wait_for()


def follow(students, clients, selector, path):
    """Everybody's page comes to the class's stop."""
    for tab in students:
        tab.page.locator(selector).first.wait_for()
        tab.settled()
    clients.all(lambda _, visit: until(lambda: visit.path == path))


def saved(tab, button):
    with tab.settled().page.expect_download() as saving:
        tab.page.get_by_role("button", name=button).click()
    return saving.value.path().read_bytes()


def table_in(data):
    return list(csv.reader(data.decode("utf-8-sig").splitlines()))


def do_homework(tab, link, name, answers):
    """From the teacher's link to the certificate."""
    tab.page.goto(link)
    tab.page.get_by_role("button", name="Begin").click()
    strip = tab.page.locator(".st-key-class_strip")
    strip.get_by_text("done").wait_for()
    tab.settled().page.get_by_role("button", name="Next →").click()
    strip.get_by_text("Answer the question").wait_for()
    for letter in answers:
        card = tab.settled().page.locator(f".st-key-projections_card_{letter} button")
        card.click()
        strip.get_by_text("right at" if letter == RIGHT else "not right yet").wait_for()
    for then in ("3/4", "4/4"):
        tab.settled().page.get_by_role("button", name="Next →").click()
        strip.get_by_role("button", name=then).wait_for()
    tab.settled().page.get_by_role("button", name="The end →").click()
    tab.page.get_by_label("Your name, if your teacher wants it").fill(name)
    tab.page.get_by_role("button", name="Make the certificate").click()
    tab.page.get_by_role("button", name="Save the certificate").wait_for()
    return saved(tab, "Save the certificate")


@pytest.mark.slow
def test_a_class_of_thirty_from_its_opening_to_the_certificates(teacher, students, clients):
    step(teacher, 1, "Ask the class")
    follow(students, clients, f".st-key-class_strip, {FIGURE_BOX}, {PICTURE}", "")
    step(teacher, 2, "Talk in pairs")
    vote(teacher, students, clients, 1)
    step(teacher, 3, "Vote again")
    for tab in students:  # while the class talks, no vote is open
        tab.page.locator(".st-key-class_vote_A").wait_for(state="detached")
        tab.settled()

    wanders, *_ = students
    wanders.page.locator(".st-key-lesson_before").get_by_text("Take home").click()
    back = wanders.page.get_by_role("button", name="Back to the class")
    back.wait_for()
    step(teacher, 4, "Show the answer")
    assert back.is_visible(), "whoever has gone elsewhere is left there"
    back.click()
    vote(teacher, students, clients, 2)
    step(teacher, 5, "Show the screen")
    for tab in students:
        tab.page.get_by_text("This is the answer.").wait_for()
    teacher.settled().page.locator(".st-key-class_menu button").click()
    heads, *lines = table_in(saved(teacher, "Save all questions and votes as CSV"))
    for taken, column in ((1, "first vote"), (2, "second vote")):
        counted = [int(line[heads.index(column)]) for line in lines]
        assert counted == counts_of_round(taken) and sum(counted) == VOTERS, "none is lost or doubled"
    step(teacher, 6, "Show the screen")
    follow(students, clients, "[class*=st-key-projections_]", "projections")
    step(teacher, 7, "The end")
    follow(students, clients, "[class*=st-key-exercise]", "exercises")

    link = homework_link(teacher)
    names = ("<b>Ada</b>", "=1+1", "Zoë")
    tries = ((RIGHT,), (WRONG, RIGHT), (WRONG,))
    handed_in = [do_homework(*student) for student in zip(students, [link] * BROWSERS, names, tries, strict=True)]
    lines = read_by_teacher(teacher, [*handed_in, *made_by_clients()])
    expected = {"<b>Ada</b>": ("1", "0"), "'=1+1": ("0", "1"), "Zoë": ("0", "0")}
    expected |= {
        name: ("1", "0") if n % 2 else ("0", "0") for n, name in enumerate(NAMES) if n not in (DAMAGED, DOUBLED)
    }
    assert {line["name"]: (line["right at the first try"], line["right later"]) for line in lines} == expected
    assert len(lines) == VOTERS - 2
    assert {line["homework"] for line in lines} == {f"Week 3 ({mark_of(PLAN)})"}


def homework_link(teacher):
    """As the teacher copies it from the page of the plan."""
    page = bring_plan(teacher).page
    page.get_by_text("As homework").click()
    return page.locator("code", has_text="homework=").inner_text()


def made_by_clients():
    """Their certificates, as a student's page makes them: one is damaged on its way, one is handed in by two."""
    mark, now = mark_of(PLAN), int(time.time())
    notes = [{noted(mark, 1, "right" if n % 2 else "wrong", now)} for n in range(CLIENTS)]
    made = [
        written_certificate(certificate_of(PLAN, name, now, note, (), ()))
        for name, note in zip(NAMES, notes, strict=True)
    ]
    made[DAMAGED] = made[DAMAGED].replace(b"Week 3", b"Week 4")
    made[DOUBLED] = made[DOUBLED - 1]
    return made


def read_by_teacher(teacher, files):
    """The lines of the table that the teacher saves, after a sentence on each file that is none."""
    page = teacher.page
    page.goto(f"{teacher.url}/take_home?paper=certificates")
    field = page.locator("input[type=file]")
    field.set_input_files([as_file(f"certificate {n}", data) for n, data in enumerate(files)])
    page.get_by_text("certificate 3.json: The checksum does not match").wait_for()
    page.get_by_text("certificate 5.json: the same certificate as certificate 4.json").wait_for()
    heads, *lines = table_in(saved(teacher, "Save as CSV"))
    return [dict(zip(heads, line, strict=True)) for line in lines]
