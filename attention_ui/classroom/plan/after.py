"""After the lesson: the questions, how the class voted, and why, for whoever was absent. A page, and a file.

Every text goes through `escape`, and the file allows itself neither a script nor anything from elsewhere.
"""

from collections.abc import Iterator
from functools import partial
from html import escape
from urllib.parse import urljoin

import streamlit as st

from attention_ui.classroom.vote.asked import Asked, asked_here
from attention_ui.classroom.vote.database import class_keeper
from attention_ui.classroom.vote.view import has_answered
from attention_ui.export.paper import whole_file
from attention_ui.page.question import LETTERS, RIGHT
from attention_ui.session import address_of, offer, said_in_link
from classes.keeper import WRITTEN
from classes.stages import ROUNDS, Room
from lessons.screen import message, not_yet_said, render, translate
from lessons.teachers.class_plan.own_question import right_number

HEIGHT = 900
WRITTEN_COLUMNS = (message("answer"), message("how many"), message("right"))


def offer_afterwards(code: str) -> None:
    """A button that saves the page, and the link to it for students."""
    offer(
        translate("Save everything for those who were absent"), partial(file_of_class, code), "class.html", "text/html"
    )
    link = urljoin(
        st.context.url or "", address_of("class_vote", {"class": code, "after": "true"} | said_in_link("lang"))
    )
    st.caption(translate("A link for anyone who was absent, valid as long as the class lasts:"))
    st.code(link, language=None, wrap_lines=True)


def afterwards(code: str) -> None:
    """The page for whoever was absent: the file, in a frame."""
    offer(
        translate("Save everything for those who were absent"), partial(file_of_class, code), "class.html", "text/html"
    )
    with st.container(key="paper_preview"):
        st.iframe(file_of_class(code).decode(), height=HEIGHT, alt=translate("What the class was asked"))


def file_of_class(code: str) -> bytes:
    """Everything that was asked and is over, as a file that needs nothing else."""
    title = translate("What the class was asked")
    return "".join(whole_file(title, sections_of(code, title), "a4")).encode()


def sections_of(code: str, title: str) -> Iterator[str]:
    """The title, and a piece for each question whose answer the class has been shown, or that others have followed."""
    room = class_keeper().look(code)
    yield f'<section class="sheet"><h1>{escape(title)}</h1>\n'
    for number, cards, text in class_keeper().asked(code):
        if number == room.number and room.stage != "explained":
            continue  # nobody is told the answer to what is asked just now
        try:
            yield question_over(room, number, cards, asked_here(text))
        except (ValueError, LookupError):
            continue
    yield "</section>\n"


def question_over(room: Room, number: int, cards: int, here: Asked) -> str:
    """A question, its answers with their votes and replies, and what there was to see."""
    lines = [f"<h2>{number} · {escape(render(here.question.prompt))}</h2>"]
    if cards == WRITTEN:
        lines.append(written_answers(room.code, number, here))
    else:
        votes = class_keeper().votes(room.code, number, cards)
        for place, card in enumerate(here.question.cards):
            right = f" <strong>{escape(render(RIGHT))}</strong>" if place == here.right else ""
            counts = " → ".join(str(taken[place]) for taken in (votes.first, votes.second) if sum(taken))
            lines.append(
                f"<p><strong>{LETTERS[place]}</strong> {escape(render(card.text))} ({counts or 0}){right}<br>"
                f"{escape(render(card.reply))}</p>"
            )
    replies = [] if cards == WRITTEN else [card.reply for card in here.question.cards]
    shown = not_yet_said((said for figure in here.figures for said in figure.notice), replies)
    if shown:
        lines.append("<ul>" + "".join(f"<li>{escape(said)}</li>" for said in shown) + "</ul>")
    return "<div>" + "\n".join(lines) + "</div>\n"


def written_answers(code: str, number: int, here: Asked) -> str:
    """Numbers with their counts, of the last round; words stay in the class."""
    if here.own.kind == "word":
        return f"<p>{escape(render(has_answered(class_keeper().answered(code, number, 1))))}</p>"
    every = class_keeper().written(code, number)
    last = max((taken for taken, *_ in every), default=ROUNDS[0])
    rows = "".join(
        f"<tr><td>{escape(answer)}</td><td>{count}</td><td>{'✓' if here.own.fits(answer) else ''}</td></tr>"
        for taken, answer, count in every
        if taken == last
    )
    head = "".join(f"<th>{escape(render(column))}</th>" for column in WRITTEN_COLUMNS)
    right = right_number(here.own)
    said = "" if right is None else f"<p><strong>{escape(render(right))}</strong></p>"
    return f"{said}<table><tr>{head}</tr>{rows}</table>"
