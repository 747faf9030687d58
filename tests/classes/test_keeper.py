"""Classes, stages and votes: what is counted, what is refused, and what is left when a process is killed."""

import hashlib
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from classes import keeper as keeping
from classes.keeper import DATABASE, FORGOTTEN_AFTER, LATE, NO_CLASS, NOT_YOURS, UNJOINED_MINUTES, Keeper
from classes.keys import CODE_ALPHABET, new_code, new_key, token_of, typed_code
from classes.stages import NEXT, Lead, RefusedError
from lessons.teachers.class_plan import plan

ROOT = Path(__file__).parent.parent.parent


def refused(sentence, call, *values):
    with pytest.raises(RefusedError, match=re.escape(sentence)):
        call(*values)


def test_a_class_goes_through_its_stages_and_two_rounds(keeper, room):
    code, key = room
    for token, card in (("a", 0), ("b", 1), ("c", 1)):
        keeper.vote(code, token, 1, "open", card)
    for stage, to in (("open", "closed"), ("closed", "shown"), ("shown", "again")):
        keeper.step(code, key, 1, stage, to)
    for token, card in (("a", 0), ("b", 0), ("d", 2)):
        keeper.vote(code, token, 1, "again", card)
    keeper.step(code, key, 1, "again", "compared")
    votes = keeper.votes(code, 1, 3)
    assert (votes.first, votes.second) == ((1, 2, 0), (2, 0, 1))
    assert votes.moved == ((1, 0, 0), (1, 0, 0), (0, 0, 0)), "who voted in one round alone has not moved"
    assert keeper.own(code, "b", 1) == {1: 1, 2: 0} and keeper.own(code, "d", 1) == {2: 2}
    assert keeper.answered(code, 1, 1) == keeper.answered(code, 1, 2) == 3
    keeper.ask(code, key, 1, 2, "the second question")
    assert keeper.look(code).number == 2 and keeper.look(code).stage == "open" and keeper.own(code, "b", 2) == {}
    assert keeper.asked(code) == [(1, 3, "the first question"), (2, 2, "the second question")]


def test_every_deed_of_a_teacher_raises_the_revision(keeper):
    code, key = keeper.open_class()
    seen = [keeper.revision(code)]
    keeper.ask(code, key, 0, 2, "?")
    seen.append(keeper.revision(code))
    keeper.step(code, key, 1, "open", "closed")
    seen.append(keeper.revision(code))
    assert seen == sorted(set(seen)) and seen[-1] == keeper.look(code).revision
    assert keeper.revision("NOSUCH") == -1


def test_an_answer_changes_until_the_vote_is_closed(keeper, room):
    code, key = room
    for card in (0, 2, 1):
        keeper.vote(code, "a", 1, "open", card)
    keeper.step(code, key, 1, "open", "closed")
    refused("This vote is closed", keeper.vote, code, "a", 1, "open", 0)
    refused("not one of the answers", keeper.vote, code, "a", 1, "closed", 0)
    assert keeper.votes(code, 1, 3).first == (0, 1, 0)


@pytest.mark.parametrize("card", [-1, 3, 4, 10**30, True, 1.0, "1", None, float("nan"), [0]])
def test_a_card_that_is_none_counts_nothing(keeper, room, card):
    with pytest.raises(RefusedError):
        keeper.vote(room[0], "a", 1, "open", card)
    assert keeper.votes(room[0], 1, 3).first == (0, 0, 0)


@pytest.mark.parametrize(("number", "stage"), [(0, "open"), (2, "open"), (1, "again"), (1, "'; DROP TABLE votes; --")])
def test_a_vote_on_what_is_not_asked_counts_nothing(keeper, room, number, stage):
    with pytest.raises(RefusedError):
        keeper.vote(room[0], "a", number, stage, 0)
    assert keeper.votes(room[0], 1, 3).first == (0, 0, 0)


def test_a_replayed_vote_counts_once_and_a_flood_stops_at_its_bound(keeper, room, monkeypatch):
    monkeypatch.setattr(keeping, "MOST_VOTERS", 5)
    for _ in range(20):
        keeper.vote(room[0], "a", 1, "open", 1)
    for token in "bcde":
        keeper.vote(room[0], token, 1, "open", 0)
    refused("5 have answered, which is the maximum", keeper.vote, room[0], "f", 1, "open", 0)
    keeper.vote(room[0], "a", 1, "open", 2)
    assert keeper.votes(room[0], 1, 3).first == (4, 0, 1)


@pytest.mark.parametrize("key", ["", "guess", "x" * 10**6, "\udc80", None, 7])
def test_nobody_but_the_teacher_rules_a_class(keeper, room, key):
    code, other = room[0], keeper.open_class()
    for forged in (key, other[1]):
        refused(NOT_YOURS, keeper.step, code, forged, 1, "open", "closed")
        refused(NOT_YOURS, keeper.ask, code, forged, 1, 2, "?")
        refused(NOT_YOURS, keeper.close, code, forged)
        assert not keeper.rules(code, forged)
    assert keeper.look(code).stage == "open" and keeper.rules(*room)
    refused(NO_CLASS, keeper.step, "NOSUCH", room[1], 1, "open", "closed")


def test_stages_are_not_skipped_and_a_button_pressed_twice_acts_once(keeper, room):
    code, key = room
    for to in ("explained", "compared", "waiting", "open", "nonsense"):
        refused(LATE, keeper.step, code, key, 1, "open", to)
    keeper.step(code, key, 1, "open", "closed")
    refused(LATE, keeper.step, code, key, 1, "open", "closed")
    keeper.ask(code, key, 1, 2, "?")
    refused(LATE, keeper.ask, code, key, 1, 2, "?")
    assert keeper.look(code).number == 2 and len(keeper.asked(code)) == 2
    assert set(NEXT) == {stage for stages in NEXT.values() for stage in stages} | {"waiting", "open"}


def test_a_class_is_forgotten_with_all_its_votes(keeper, room, clock):
    keeper.join(room[0])
    keeper.vote(room[0], "a", 1, "open", 0)
    clock.now += FORGOTTEN_AFTER - 1
    assert keeper.look(room[0]).until == clock.now + 1
    clock.now += 1
    refused(NO_CLASS, keeper.look, room[0])
    with pytest.raises(RefusedError):
        keeper.vote(room[0], "b", 1, "open", 0)
    keeper.forget()
    assert not keeper._one("SELECT count(*) FROM votes") and not keeper._one("SELECT count(*) FROM questions")


def test_a_class_that_nobody_joins_ends_after_fifteen_minutes(keeper, clock):
    opened = clock.now
    codes = [keeper.open_class()[0] for _ in range(3)]
    clock.now += 60 * UNJOINED_MINUTES - 1
    for _ in range(30):
        keeper.join(codes[1])
    clock.now += 1
    assert [keeper.revision(code) for code in codes] == [-1, 0, -1]
    keeper.join(codes[0])
    refused(NO_CLASS, keeper.look, codes[0])
    assert keeper.look(codes[1]).until == opened + FORGOTTEN_AFTER, "thirty have joined, and it lasts one day"
    keeper.forget()
    assert keeper._one("SELECT count(*) FROM classes") == keeper._one("SELECT count(*) FROM joined") == 1


def test_a_teacher_can_have_it_forgotten_at_once_and_other_classes_stay(keeper, room):
    other = keeper.open_class()
    keeper.vote(room[0], "a", 1, "open", 0)
    keeper.close(*room)
    assert keeper.revision(room[0]) == -1 and keeper.revision(other[0]) == 0
    assert not keeper._one("SELECT count(*) FROM votes")


def test_bounds(keeper, room, monkeypatch):
    code, key = room
    for cards, text in ((1, "?"), (5, "?"), (2, "x" * 20_001)):
        refused("A question has 2 to 4 answers", keeper.ask, code, key, 1, cards, text)
    refused("100 questions were asked", keeper.ask, code, key, 100, 2, "?")
    monkeypatch.setattr(keeping, "MOST_CLASSES", 1)
    refused("1 classes are open here", keeper.open_class)


def test_only_a_hash_of_the_key_is_kept(tmp_path):
    keeper = Keeper(tmp_path)
    code, key = keeper.open_class()
    stored = b"".join(file.read_bytes() for file in tmp_path.glob(f"{DATABASE}*"))
    assert code.encode() in stored and key.encode() not in stored


def test_three_hundred_votes_at_once_are_all_counted(keeper, room):
    tokens = [f"{place}" for place in range(300)]
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda token: keeper.vote(room[0], token, 1, "open", int(token) % 3), tokens * 2))
    assert keeper.votes(room[0], 1, 3).first == (100, 100, 100)


def test_a_vote_counts_before_it_is_closed_or_is_refused(keeper, room):
    """Whoever was told that the answer is kept is counted, and nobody else."""
    code, key = room
    counted, begun = [], threading.Event()

    def vote(token):
        begun.set()
        try:
            keeper.vote(code, str(token), 1, "open", 0)
            counted.append(token)
        except RefusedError:
            pass

    with ThreadPoolExecutor(8) as pool:
        votes = [pool.submit(vote, token) for token in range(200)]
        begun.wait()
        keeper.step(code, key, 1, "open", "closed")
        closed = keeper.answered(code, 1, 1)
        [vote.result() for vote in votes]
    assert keeper.answered(code, 1, 1) == closed == len(counted)


VOTER = """
import sys
from classes.{module} import {keeper}
keeper = {keeper}(sys.argv[1])
for voter in range(100_000):
    keeper.vote(sys.argv[2], str(voter), 1, "open", voter % 3)
    print(voter, flush=True)
"""


def kind_and_place(keeper, folder):
    """Where another process finds the same classes: SQLite in a folder, or PostgreSQL at an address."""
    kind = type(keeper).__base__
    return kind, str(folder) if kind is Keeper else keeper._url


AHEAD = """
import sys, time
right = time.time
time.time = lambda: right() + 25 * 60 * 60
from classes.{module} import {keeper}
keeper = {keeper}(sys.argv[1])
keeper.forget()
print(keeper.look(sys.argv[2]).stage)
"""


def test_a_process_whose_clock_is_wrong_forgets_no_class(keeper, tmp_path):
    kind, where = kind_and_place(keeper, tmp_path)
    keeper = kind(where)
    code, _key = keeper.open_class()
    keeper.join(code)
    script = AHEAD.format(module=kind.__module__.split(".")[1], keeper=kind.__name__)
    ran = subprocess.run([sys.executable, "-c", script, where, code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert ran.stdout == "waiting\n"
    assert 23 * 60 * 60 < keeper.look(code).until - time.time() <= FORGOTTEN_AFTER + 1, "seconds since 1970, as shown"


def killed_while_voting(kind, where, code):
    """A process that votes until it is killed; the votes of which it was told that they count."""
    module = "keeper" if kind is Keeper else "postgres"
    script = VOTER.format(module=module, keeper=kind.__name__).replace("100_000", "400")
    process = subprocess.Popen([sys.executable, "-c", script, where, code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    told = [int(process.stdout.readline()) for _ in range(40)]
    process.send_signal(signal.SIGKILL)
    rest = process.stdout.read()
    process.wait()
    process.stdout.close()
    return [*told, *(int(line) for line in rest.splitlines(keepends=True) if line.endswith("\n"))]


def test_a_process_killed_in_mid_vote_loses_nothing_and_counts_none_twice(keeper, room, tmp_path, request):
    kind, where = kind_and_place(keeper, tmp_path)
    keeper = kind(where)  # at the time of day, as the other process
    code, key = keeper.open_class()
    keeper.ask(code, key, 0, 3, "?")
    told = killed_while_voting(kind, where, code)
    after = kind(where)
    counted = sum(after.votes(code, 1, 3).first)
    assert len(told) <= counted <= len(told) + 1, "at most one was counted before it could be told"
    for voter in told:  # a browser that got no answer sends again
        after.vote(code, str(voter), 1, "open", voter % 3)
    again = sum(after.votes(code, 1, 3).first)
    assert counted <= again <= len(told) + 1, "the last one of the process may arrive after its end"
    assert after.look(code).stage == "open" and after.rules(code, key)


def test_a_database_that_comes_back_is_found_again_with_all_votes(postgres):
    pytest.importorskip("psycopg", reason="no psycopg here: install requirements-classes.txt")
    from classes.postgres import PostgresKeeper

    keeper = PostgresKeeper(postgres.url)
    code, key = keeper.open_class()
    keeper.ask(code, key, 0, 2, "?")
    keeper.vote(code, "a", 1, "open", 1)
    postgres.stop()
    refused("The votes cannot be reached just now", keeper.vote, code, "b", 1, "open", 1)
    refused("The votes cannot be reached just now", keeper.step, code, key, 1, "open", "closed")
    postgres.start()
    keeper.vote(code, "b", 1, "open", 1)
    assert keeper.votes(code, 1, 2).first == (0, 2)
    keeper.close(code, key)


def test_without_a_folder_the_classes_go_with_the_process():
    keeper = Keeper()
    assert not keeper.outlives_process and keeper.look(keeper.open_class()[0]).stage == "waiting"


def test_codes_are_easy_to_type():
    codes = {new_code() for _ in range(500)}
    assert len(codes) == 500 and all(len(code) == 6 and set(code) <= set(CODE_ALPHABET) for code in codes)
    assert not set("01OIL") & set(CODE_ALPHABET)
    assert typed_code("ab-2c d3".replace("-", "")) == typed_code("AB2 CD3") == typed_code("ab2-cd3") == "AB2CD3"


@pytest.mark.parametrize(
    "typed", ["", "ABCDE", "ABCDEFG", "AB0CDE", "ABCDÉF", "ＡＢＣＤＥＦ", " " * 60, "x" * 10**6, None]
)
def test_what_is_no_code(typed):
    assert typed_code(typed) is None


def test_keys_have_128_bits_and_tokens_tell_nothing():
    keys = {new_key() for _ in range(100)}
    assert len(keys) == 100 and all(len(key) == 22 for key in keys)
    assert token_of(b"cookie", "AAAAAA") != token_of(b"cookie", "BBBBBB") != token_of(b"other", "BBBBBB")
    assert "cookie" not in token_of(b"cookie", "AAAAAA")


def test_written_answers_are_counted_replaced_and_limited_as_cards_are(keeper):
    code, key = keeper.open_class()
    keeper.ask(code, key, 0, 0, "a word")
    for token, answer in (("a", "mask"), ("b", "mask"), ("c", "<b>"), ("a", "key")):
        keeper.write(code, token, 1, "open", answer)
    assert keeper.written(code, 1) == [(1, "<b>", 1), (1, "key", 1), (1, "mask", 1)]
    assert keeper.own_words(code, "a", 1) == {1: "key"} and keeper.answered(code, 1, 1) == 3
    refused("This vote is closed", keeper.vote, code, "d", 1, "again", 0)
    for answer in ("", "x" * 41, 7):
        refused("An answer has 1 to 40 characters", keeper.write, code, "d", 1, "open", answer)
    keeper.step(code, key, 1, "open", "closed")
    refused("This vote is closed", keeper.write, code, "d", 1, "open", "late")
    keeper.close(code, key)
    assert keeper.written(code, 1) == []


def test_a_class_is_led_once_for_every_revision_and_by_its_teacher_alone(keeper, room):
    code, key = room
    keeper.bring_plan(code, key, "the plan")
    before = keeper.look(code)
    assert (before.place, before.link, before.seconds, keeper.plan(code)) == (-1, "", 0, "the plan")
    step = Lead(0, "./mask?view=late", 90, 1, "closed")
    refused(NOT_YOURS, keeper.lead, code, "forged", before.revision, step)
    keeper.lead(code, key, before.revision, step)
    refused(LATE, keeper.lead, code, key, before.revision, step)
    revision, link, seconds, place, _ = keeper.follow(code)
    assert (revision, link, seconds, place) == (before.revision + 1, "./mask?view=late", 90, 0)
    keeper.lead(code, key, revision, Lead(1, "", 0, 2, "open", 2, "another"))
    now = keeper.look(code)
    assert (now.number, now.stage, now.cards, now.asked, now.link) == (2, "open", 2, "another", "")
    refused("too long", keeper.lead, code, key, now.revision, Lead(2, "x" * 4001, 0, 2, "open"))
    refused("too long", keeper.bring_plan, code, key, "x" * 200_001)
    keeper.lead(code, key, now.revision, Lead(2, "./softmax", 0, 2, "open"))
    keeper.ask(code, key, 2, 3, "asked beside the plan")
    assert keeper.follow(code)[1] == "", "all are where the question is"
    assert keeper.follow("NOSUCH")[0] == -1


def name_of(picture):
    return hashlib.sha256(picture).hexdigest()


def test_the_pictures_of_a_plan_are_found_by_their_hash_and_go_with_it(keeper, room, clock):
    (code, key), (other, its_key) = room, keeper.open_class()
    board, graph = b"\x89PNG\r\n\x1a\n" + bytes(range(256)), b"\xff\xd8\xff" + bytes(149_997)
    keeper.bring_plan(code, key, "the plan", (board, graph, board))
    keeper.bring_plan(other, its_key, "the same picture", (board,))
    assert keeper.picture(name_of(board)) == board and keeper.picture(name_of(graph)) == graph
    assert [keeper.picture(name) for name in (name_of(b""), "", "%", "' OR 1 --")] == [None] * 4
    refused(NOT_YOURS, keeper.bring_plan, code, "forged", "another", (b"forged",))
    assert keeper.picture(name_of(b"forged")) is None and keeper.plan(code) == "the plan"
    keeper.bring_plan(code, key, "without")
    assert keeper.picture(name_of(graph)) is None and keeper.picture(name_of(board)) == board, "another class has it"
    keeper.close(other, its_key)
    assert keeper.picture(name_of(board)) is None
    keeper.bring_plan(code, key, "again", (board,))
    clock.now += 60 * UNJOINED_MINUTES
    assert keeper.picture(name_of(board)) is None, "the class is over"


def test_a_plan_has_at_most_five_pictures_of_150_kb(keeper, room):
    code, key = room
    for pictures in ([bytes([n]) for n in range(6)], [bytes(150_001)]):
        refused("at most 5 pictures", keeper.bring_plan, code, key, "a plan", pictures)
    assert (keeping.MOST_PICTURES, keeping.MOST_PICTURE) == (plan.MOST_PICTURES, plan.MOST_PICTURE)


def test_a_database_of_before_goes_on_and_so_does_the_version_that_made_it(keeper, room):
    code, key = room
    columns = {name: columns_of(keeper, name) for name in ("classes", "questions", "votes", "joined", "written", "led")}
    assert columns["led"] == 6 and columns["classes"] == 6, "the other version inserts as many"
    keeper.bring_plan(code, key, "before")
    keeper._run("DROP TABLE pictures")
    keeper._make_tables()  # as a process does that begins
    assert keeper.plan(code) == "before" and keeper.look(code).asked == "the first question"
    keeper.bring_plan(code, key, "with a picture", (b"a picture",))
    # What the version before does where a plan is brought there.
    keeper._run("DELETE FROM led WHERE code = ?", code)
    keeper._run("INSERT INTO led VALUES (?, ?, -1, '', 0, {now})", code, "brought there")
    assert keeper.plan(code) == "brought there" and keeper.picture(name_of(b"a picture")) is None


def columns_of(keeper, table):
    return len(keeper._execute(f"SELECT * FROM {table}", (), lambda cursor: cursor.description))


def test_a_plan_is_known_by_the_revision_at_which_it_was_brought(keeper, room):
    code, key = room
    assert keeper.look(code).brought == keeper.follow(code)[-1] == -1
    keeper.bring_plan(code, key, "the plan")
    first = keeper.look(code)
    assert first.brought == first.revision == keeper.follow(code)[-1]
    keeper.lead(code, key, first.revision, Lead(0, "./mask", 0, 1, "closed"))
    assert keeper.look(code).brought == first.brought, "a step changes no plan"
    keeper.bring_plan(code, key, "another plan")
    assert keeper.look(code).brought > first.brought
    keeper._run("DELETE FROM led WHERE code = ?", code)  # as the version before does, which knows of no such table
    keeper._run("INSERT INTO led VALUES (?, ?, -1, '', 0, {now})", code, "brought by it")
    assert keeper.look(code).brought == -1


def test_present_is_who_gave_a_sign_of_life_lately_or_has_answered(keeper, room, clock):
    code, key = room
    keeper.vote(code, "early", 1, "open", 0)
    assert keeper.present(code, 1, 1) == 0, "nobody's presence is known"
    keeper.be_present(code, {"a", "b", "early"})
    keeper.be_present(code, {"b", "c"})
    assert keeper.present(code, 1, 1) == 4, "each browser counts once"
    keeper.vote(code, "of another replica", 1, "open", 0)
    assert keeper.present(code, 1, 1) == 5 and keeper.answered(code, 1, 1) == 2
    clock.now += 10
    keeper.be_present(code, {"a"})
    clock.now += 10
    assert keeper.present(code, 1, 1) == 3, "those who answered, and the one who is still there"
    assert keeper.present(code, 1, 2) == 1, "the second time nobody has answered yet"
    clock.now += 20
    assert keeper.present(code, 1, 1) == 0
    keeper.be_present(code, map(str, range(600)))
    assert keeper.present(code, 1, 2) == 500, "no more are told at once"
    keeper.be_present("NOSUCH", {"a"})
    keeper.be_present(code, set())
    keeper.close(code, key)
    assert keeper._rows("SELECT * FROM present") == []
