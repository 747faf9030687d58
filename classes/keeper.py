"""Keeps classes and their votes in a database: SQLite here, and with the same statements PostgreSQL.

A vote is one statement, which looks at the stage, counts and replaces in one: what it has answered is kept, whatever
happens to the process, and sent twice it counts once.
"""

import contextlib
import hashlib
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from classes.keys import hashed, new_code, new_key
from classes.stages import NEXT, ROUNDS, VOTES_IN, Lead, RefusedError, Room, UnreachableError, Votes, told_as

LIMIT_SECONDS = 2.0  # how long anybody waits for the database
PRESENT_SECONDS = 15  # after a sign of life, for which somebody counts as present
FORGOTTEN_AFTER, UNJOINED_MINUTES = 24 * 60 * 60, 15
MOST_CLASSES, MOST_QUESTIONS, MOST_VOTERS = 1000, 100, 500
MOST_CARDS, MOST_TEXT = 4, 20_000  # of a question: its cards, and the characters it is made again from
MOST_ANSWER, MOST_PLAN, MOST_LINK = 40, 200_000, 4_000  # characters of an answer, a plan, a link
MOST_PICTURES, MOST_PICTURE = 5, 150_000  # of a plan; the bytes of one
WRITTEN = 0  # cards of a question whose answer is written
DATABASE = "classes.sqlite3"

TABLES = (
    """CREATE TABLE IF NOT EXISTS classes (
        code TEXT PRIMARY KEY, key_hash TEXT NOT NULL, until DOUBLE PRECISION NOT NULL,
        revision INTEGER NOT NULL, number INTEGER NOT NULL, stage TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS questions (
        code TEXT REFERENCES classes ON DELETE CASCADE, number INTEGER, cards INTEGER NOT NULL, asked TEXT NOT NULL,
        PRIMARY KEY (code, number))""",
    """CREATE TABLE IF NOT EXISTS votes (
        code TEXT REFERENCES classes ON DELETE CASCADE, number INTEGER, round INTEGER, token TEXT,
        card INTEGER NOT NULL, PRIMARY KEY (code, number, round, token))""",
    "CREATE TABLE IF NOT EXISTS joined (code TEXT PRIMARY KEY REFERENCES classes ON DELETE CASCADE)",
    """CREATE TABLE IF NOT EXISTS written (
        code TEXT REFERENCES classes ON DELETE CASCADE, number INTEGER, round INTEGER, token TEXT,
        answer TEXT NOT NULL, PRIMARY KEY (code, number, round, token))""",
    """CREATE TABLE IF NOT EXISTS led (
        code TEXT PRIMARY KEY REFERENCES classes ON DELETE CASCADE, plan TEXT NOT NULL, place INTEGER NOT NULL,
        link TEXT NOT NULL, timer DOUBLE PRECISION NOT NULL, since DOUBLE PRECISION NOT NULL)""",
    # They go with the plan that shows them, also where another version of the app brings the next one.
    """CREATE TABLE IF NOT EXISTS pictures (
        hash TEXT, code TEXT REFERENCES led ON DELETE CASCADE, data BYTEA NOT NULL, PRIMARY KEY (hash, code))""",
    # The revision at which a plan was brought tells it from others. It goes with the plan, also where another version
    # of the app, which knows nothing of it, brings the next one.
    """CREATE TABLE IF NOT EXISTS brought (
        code TEXT PRIMARY KEY REFERENCES led ON DELETE CASCADE, revision INTEGER NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS present (
        code TEXT REFERENCES classes ON DELETE CASCADE, token TEXT, seen DOUBLE PRECISION NOT NULL,
        PRIMARY KEY (code, token))""",
)
LOOK = """SELECT c.code, c.until, c.revision, c.number, c.stage, coalesce(q.cards, 0), coalesce(q.asked, ''),
    coalesce(l.place, -1), coalesce(l.link, ''), CASE WHEN l.timer > {now} THEN l.timer - {now} ELSE 0 END,
    coalesce({now} - l.since, 0), coalesce(b.revision, -1)
    FROM classes c LEFT JOIN questions q ON q.code = c.code AND q.number = c.number LEFT JOIN led l ON l.code = c.code
    LEFT JOIN brought b ON b.code = c.code WHERE c.code = ? AND c.until > {now}"""
FOLLOW = """SELECT c.revision, coalesce(l.link, ''),
    CASE WHEN l.timer > {now} THEN l.timer - {now} ELSE 0 END, coalesce(l.place, -1), coalesce(b.revision, -1)
    FROM classes c LEFT JOIN led l ON l.code = c.code LEFT JOIN brought b ON b.code = c.code
    WHERE c.code = ? AND c.until > {now}"""
PICTURE = """SELECT p.data FROM pictures p JOIN classes c ON c.code = p.code
    WHERE p.hash = ? AND c.until > {now} LIMIT 1"""
GO_ON = """UPDATE classes SET stage = ?, revision = revision + 1
    WHERE code = ? AND key_hash = ? AND number = ? AND stage = ?"""
ASK = """UPDATE classes SET stage = 'open', revision = revision + 1, number = number + 1
    WHERE code = ? AND key_hash = ? AND number = ?"""
LEAD = """UPDATE classes SET stage = ?, revision = revision + 1, number = ?
    WHERE code = ? AND key_hash = ? AND revision = ?"""
# A vote is a card, or an answer that somebody wrote: two tables of one form.
ANSWER = """INSERT INTO {table} (code, number, round, token, {column})
    SELECT c.code, c.number, ?, ?, ? FROM classes c JOIN questions q ON q.code = c.code AND q.number = c.number
    WHERE c.code = ? AND c.number = ? AND c.stage = ? AND c.until > {{now}} AND {fits}
    AND (? > (SELECT count(*) FROM {table} WHERE code = c.code AND number = c.number AND round = ?)
         OR EXISTS (SELECT 1 FROM {table} WHERE code = c.code AND number = c.number AND round = ? AND token = ?))
    {{of_a_class}} ON CONFLICT (code, number, round, token) DO UPDATE SET {column} = excluded.{column}"""
VOTE = ANSWER.format(table="votes", column="card", fits="? < q.cards")
WRITE = ANSWER.format(table="written", column="answer", fits="? = q.cards")
JOIN = """INSERT INTO joined (code) SELECT code FROM classes WHERE code = ? AND until > {now}
    ON CONFLICT (code) DO NOTHING"""
SIGN = """INSERT INTO present (code, token, seen) SELECT c.code, t.column1, {{now}} FROM classes c
    CROSS JOIN (VALUES {tokens}) t WHERE c.code = ? AND c.until > {{now}}
    ON CONFLICT (code, token) DO UPDATE SET seen = excluded.seen"""
HERE = "SELECT token FROM present WHERE code = ? AND seen > {now} - ?"
ANSWERED = """SELECT token FROM votes WHERE code = ? AND number = ? AND round = ?
    UNION SELECT token FROM written WHERE code = ? AND number = ? AND round = ?"""
MOVED = """SELECT a.card, b.card, count(*) FROM votes a JOIN votes b
    ON b.code = a.code AND b.number = a.number AND b.token = a.token AND b.round = 2
    WHERE a.code = ? AND a.number = ? AND a.round = 1 GROUP BY a.card, b.card"""

NO_CLASS = told_as("There is no class with this code now: compare it with the teacher's, letter by letter.")
NOT_YOURS = told_as("Only its teacher can control a class, with the key in the teacher's own link.")
LATE = told_as("Too late: the class has moved on, so nothing was done.")
UNREACHABLE = told_as("The votes cannot be reached just now. Try again in a moment.")


def check_question(after: int, cards: int, asked: str) -> None:
    """Refuse a question that cannot be put to a class after so many others."""
    if (cards != WRITTEN and not 2 <= cards <= MOST_CARDS) or len(asked) > MOST_TEXT:
        raise RefusedError(
            "A question has 2 to {most_cards} answers and at most {most_text} characters.",
            most_cards=MOST_CARDS,
            most_text=f"{MOST_TEXT:,}",
        )
    if after >= MOST_QUESTIONS:
        raise RefusedError(
            "{most_questions} questions were asked, which is the maximum: open another class.",
            most_questions=MOST_QUESTIONS,
        )


class Keeper:
    """Classes in one SQLite file of this folder; without a folder, in one that goes with the process.

    Every method raises `RefusedError`, with a sentence, where something cannot be, and `UnreachableError` where that is
    the database's fault. Safe in many threads; several processes of one machine may share the folder.
    """

    begin = "BEGIN IMMEDIATE"
    of_a_class = ""  # what locks the class while a vote is written: SQLite has one writer at a time anyway
    # Seconds since 1970 as the database counts them: of several processes, each may have a clock of its own.
    now = "CAST(strftime('%s', 'now') AS INTEGER)"

    def __init__(self, folder: str | Path | None = None):
        self._start()
        self.outlives_process = folder is not None
        if folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="attention-lab-classes-", ignore_cleanup_errors=True)
            folder = self._temporary.name
        Path(folder).mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(
            Path(folder) / DATABASE, timeout=LIMIT_SECONDS, check_same_thread=False, isolation_level=None
        )
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON", "secure_delete = ON"):
            self._connection.execute(f"PRAGMA {pragma}")
        self._make_tables()

    def open_class(self) -> tuple[str, str]:
        """A new class: its code, and the key that rules it, of which only a hash is kept. Where nobody joins, it ends
        after fifteen minutes.
        """
        self.forget()
        code, key = new_code(), new_key()
        with self._changing():
            if self._one("SELECT count(*) FROM classes") >= MOST_CLASSES:
                raise RefusedError(
                    "{most_classes} classes are open here, which is the maximum. Try again in an hour.",
                    most_classes=MOST_CLASSES,
                )
            self._run(
                "INSERT INTO classes VALUES (?, ?, {now} + ?, 0, 0, 'waiting')",
                code,
                hashed(key),
                60 * UNJOINED_MINUTES,
            )
        return code, key

    def join(self, code: str) -> None:
        """Somebody is in the class besides its teacher: from the first one on, it lasts its full time."""
        if self._rows("SELECT 1 FROM joined WHERE code = ?", code):
            return
        with self._changing():
            if self._run(JOIN, code):
                longer = FORGOTTEN_AFTER - 60 * UNJOINED_MINUTES
                self._run("UPDATE classes SET until = until + ? WHERE code = ?", longer, code)

    def look(self, code: str) -> Room:
        """The class as it is now."""
        rows = self._rows(LOOK, code)
        if not rows:
            raise RefusedError(NO_CLASS)
        return Room(*rows[0])

    def revision(self, code: str) -> int:
        """Grows with all that a teacher does; −1 where there is no such class. The cheapest question there is."""
        rows = self._rows("SELECT revision FROM classes WHERE code = ? AND until > {now}", code)
        return rows[0][0] if rows else -1

    def rules(self, code: str, key: str) -> bool:
        """True for the key of this class."""
        return bool(self._rows("SELECT 1 FROM classes WHERE code = ? AND key_hash = ?", code, hashed(key)))

    def ask(self, code: str, key: str, after: int, cards: int, asked: str) -> None:
        """Put a question to the class, which comes `after` the question with this number: pressed twice, it is one."""
        check_question(after, cards, asked)
        with self._changing():
            self._ruled(code, key, ASK, code, hashed(key), after)
            self._run("INSERT INTO questions VALUES (?, ?, ?, ?)", code, after + 1, cards, asked)
            self._run("UPDATE led SET link = '', timer = 0 WHERE code = ?", code)  # all are where the question is

    def lead(self, code: str, key: str, revision: int, to: Lead) -> None:
        """Bring the class to a step of its plan, once, however often and from wherever it is pressed."""
        if to.asked:
            check_question(to.number - 1, to.cards, to.asked)
        if len(to.link) > MOST_LINK:
            raise RefusedError("This link is too long to open.")
        with self._changing():
            self._ruled(code, key, LEAD, to.stage, to.number, code, hashed(key), revision)
            if to.asked:
                self._run("INSERT INTO questions VALUES (?, ?, ?, ?)", code, to.number, to.cards, to.asked)
            place = "UPDATE led SET place = ?, link = ?, timer = {now} + ?, since = {now} WHERE code = ?"
            if not self._run(place, to.place, to.link, to.seconds, code):
                self._run("INSERT INTO led VALUES (?, '', ?, ?, {now} + ?, {now})", code, to.place, to.link, to.seconds)

    def bring_plan(self, code: str, key: str, plan: str, pictures: Collection[bytes] = ()) -> None:
        """Put a plan in the place of the one before, with the pictures that it shows; the class begins anew with it."""
        if len(plan) > MOST_PLAN:
            raise RefusedError("This plan is too long: leave out some of its stops.")
        if len(pictures) > MOST_PICTURES or any(len(data) > MOST_PICTURE for data in pictures):
            raise RefusedError("A plan has at most {most} pictures, each of a limited size.", most=MOST_PICTURES)
        with self._changing():
            self._ruled(
                code,
                key,
                "UPDATE classes SET revision = revision + 1 WHERE code = ? AND key_hash = ?",
                code,
                hashed(key),
            )
            self._run("DELETE FROM led WHERE code = ?", code)
            self._run("INSERT INTO led VALUES (?, ?, -1, '', 0, {now})", code, plan)
            for name, data in {hashlib.sha256(data).hexdigest(): data for data in pictures}.items():
                self._run("INSERT INTO pictures (hash, code, data) VALUES (?, ?, ?)", name, code, data)
            self._run("INSERT INTO brought SELECT code, revision FROM classes WHERE code = ?", code)

    def plan(self, code: str) -> str:
        """The plan of a class, as a text; empty where it has none."""
        rows = self._rows("SELECT plan FROM led WHERE code = ?", code)
        return rows[0][0] if rows else ""

    def picture(self, name: str) -> bytes | None:
        """The picture with this hash that a class has in its plan; None where none has."""
        rows = self._rows(PICTURE, name)
        return bytes(rows[0][0]) if rows else None

    def follow(self, code: str) -> tuple[int, str, float, int, int]:
        """The revision of a class, the link that its students follow, the seconds left of its timer, the step, and the
        revision at which its plan was brought.
        """
        rows = self._rows(FOLLOW, code)
        return tuple(rows[0]) if rows else (-1, "", 0.0, -1, -1)

    def be_present(self, code: str, tokens: Collection[str]) -> None:
        """The browsers with these tokens give a sign of life, all in one statement."""
        those = sorted(tokens)[:MOST_VOTERS]  # in one order: two processes that tell of the same wait for each other
        if those:
            self._run(SIGN.format(tokens=", ".join(["(?)"] * len(those))), *those, code)

    def present(self, code: str, number: int, taken: int) -> int:
        """How many gave a sign of life lately or have answered in this round; 0 where no sign is known."""
        which = (code, number, taken)
        union = f"SELECT count(*) FROM ({HERE} UNION {ANSWERED}) t WHERE EXISTS ({HERE})"
        return self._rows(union, code, PRESENT_SECONDS, *which, *which, code, PRESENT_SECONDS)[0][0]

    def step(self, code: str, key: str, number: int, stage: str, to: str) -> None:
        """Go on from one stage of a question to another."""
        if to not in NEXT.get(stage, ()):
            raise RefusedError(LATE)
        with self._changing():
            self._ruled(code, key, GO_ON, to, code, hashed(key), number, stage)

    def close(self, code: str, key: str) -> None:
        """Forget the class, with all its votes."""
        with self._changing():
            self._ruled(code, key, "DELETE FROM classes WHERE code = ? AND key_hash = ?", code, hashed(key))

    def vote(self, code: str, token: str, number: int, stage: str, card: int) -> None:
        """Choose a card in this stage of this question; whoever has chosen already chooses anew."""
        if VOTES_IN.get(stage) is None or type(card) is not int or not 0 <= card < MOST_CARDS:
            raise RefusedError("This is not one of the answers; nothing was counted.")
        self._answer(VOTE, code, token, number, stage, card, card)

    def write(self, code: str, token: str, number: int, stage: str, answer: str) -> None:
        """Write an answer in this stage of this question, in the place of the one before."""
        if VOTES_IN.get(stage) is None or not isinstance(answer, str) or not 0 < len(answer) <= MOST_ANSWER:
            raise RefusedError(
                "An answer has 1 to {most_answer} characters; nothing was counted.", most_answer=MOST_ANSWER
            )
        self._answer(WRITE, code, token, number, stage, answer, WRITTEN)

    def _answer(
        self, statement: str, code: str, token: str, number: int, stage: str, answer: object, fits: int
    ) -> None:
        """One answer of one token, in the round of this stage."""
        taken = VOTES_IN[stage]
        if not self._run(statement, taken, token, answer, code, number, stage, fits, MOST_VOTERS, taken, taken, token):
            room = self.look(code)
            if (room.number, room.stage) == (number, stage):
                raise RefusedError(
                    "{most_voters} have answered, which is the maximum; this answer was not counted.",
                    most_voters=MOST_VOTERS,
                )
            raise RefusedError("This vote is closed; your answer was not changed.")

    def own(self, code: str, token: str, number: int) -> dict[int, int]:
        """What somebody chose in each round."""
        statement = "SELECT round, card FROM votes WHERE code = ? AND number = ? AND token = ?"
        return dict(self._rows(statement, code, number, token))

    def own_words(self, code: str, token: str, number: int) -> dict[int, str]:
        """What somebody wrote in each round."""
        statement = "SELECT round, answer FROM written WHERE code = ? AND number = ? AND token = ?"
        return dict(self._rows(statement, code, number, token))

    def written(self, code: str, number: int) -> list[tuple[int, str, int]]:
        """What was written in each round, and by how many."""
        statement = """SELECT round, answer, count(*) FROM written WHERE code = ? AND number = ?
            GROUP BY round, answer ORDER BY round, count(*) DESC, answer"""
        return self._rows(statement, code, number)

    def answered(self, code: str, number: int, taken: int) -> int:
        """How many have answered in a round, with a card or in writing."""
        count = "SELECT count(*) FROM {} WHERE code = ? AND number = ? AND round = ?"
        which = (code, number, taken)
        return self._rows(f"SELECT ({count.format('votes')}) + ({count.format('written')})", *which, *which)[0][0]

    def votes(self, code: str, number: int, cards: int) -> Votes:
        """How the class voted."""
        rows = self._rows(
            "SELECT round, card, count(*) FROM votes WHERE code = ? AND number = ? GROUP BY round, card", code, number
        )
        counts = {(taken, card): count for taken, card, count in rows}
        moved = {(before, after): count for before, after, count in self._rows(MOVED, code, number)}
        first, second = (tuple(counts.get((taken, card), 0) for card in range(cards)) for taken in ROUNDS)
        return Votes(first, second, tuple(tuple(moved.get((i, j), 0) for j in range(cards)) for i in range(cards)))

    def asked(self, code: str) -> list[tuple[int, int, str]]:
        """All questions that were put to the class: their numbers, how many cards they have, and what they are."""
        return self._rows("SELECT number, cards, asked FROM questions WHERE code = ? ORDER BY number", code)

    def forget(self) -> None:
        """Delete the classes whose time is over."""
        self._run("DELETE FROM classes WHERE until <= {now}")

    def abort(self) -> None:
        """From another thread: end what the database does just now and does not get done."""
        self._connection.interrupt()

    def _ruled(self, code: str, key: str, statement: str, *values: object) -> None:
        """A teacher's statement: refused where it changes nothing, with the reason."""
        if not self._run(statement, *values):
            self.look(code)
            why = LATE if self.rules(code, key) else NOT_YOURS
            raise RefusedError(why)

    def _start(self) -> None:
        self._lock, self._inside = threading.RLock(), False

    def _make_tables(self) -> None:
        for table in TABLES:
            self._run(table)

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """Several statements as one: all of them, or none."""
        with self._lock:
            self._run(self.begin)
            self._inside = True
            try:
                yield
                self._run("COMMIT")
            except BaseException:
                with contextlib.suppress(UnreachableError):  # the reason is more worth than that it cannot be undone
                    self._run("ROLLBACK")
                raise
            finally:
                self._inside = False

    def _one(self, statement: str) -> int:
        return self._rows(statement)[0][0]

    def _rows(self, statement: str, *values: object) -> list[tuple]:
        return self._execute(statement, values, lambda cursor: list(map(tuple, cursor.fetchall())))

    def _run(self, statement: str, *values: object) -> int:
        """Run a statement; the number of rows that it changed."""
        return self._execute(statement, values, lambda cursor: cursor.rowcount)

    def _spoken(self, statement: str) -> str:
        """A statement as this database wants it."""
        return statement.format(now=self.now, of_a_class=self.of_a_class)

    def _execute(self, statement: str, values: Sequence[object], result: Callable[[Any], Any]) -> Any:
        try:
            with self._lock:
                return result(self._connection.execute(self._spoken(statement), values))
        except sqlite3.Error as error:
            raise UnreachableError(UNREACHABLE) from error
