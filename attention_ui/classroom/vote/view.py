"""What teachers and students see alike: the question, the figure, how the class voted, and what is kept."""

from dataclasses import replace

import streamlit as st

from attention_ui.classroom.vote.asked import Asked, asked_here
from attention_ui.classroom.vote.database import class_keeper
from attention_ui.classroom.vote.rooms import last_known, time_of
from attention_ui.page.drawing import draw_figure, draw_notice
from attention_ui.page.lesson_page import draw_group, groups
from attention_ui.page.question import LETTERS, RIGHT
from attention_ui.process.turns import yield_turn
from attention_ui.session import CLASS_VOTE, ROLE_COLOURS, marked, set_state
from attention_ui.streamlit_insides import browser_mark
from classes.stages import RefusedError, Room, Votes
from lessons.one_head.puzzle.class_task import NOT_YET, SOLVED, how_many_solved
from lessons.screen import Message, Question, format_value, message, plural, reason, render, render_all, translate
from lessons.teachers.class_plan.own_question import distribution_of_numbers, right_number, table_of_words
from lessons.teachers.class_vote.lesson import distribution_of_votes, flow, flow_table

COUNT_SECONDS, VOTES_BESIDE = 1.0, 290  # pixels of the votes, which a projector draws half as large again
WRONG = message("✗ wrong")
VERDICTS = {"right": RIGHT, "wrong": WRONG}


def asked_of(room: Room) -> Asked:
    """The question of a class, and what it looks at."""
    try:
        return asked_here(room.asked)
    except ValueError as error:
        raise RefusedError("This question was asked by another version of the app: ask another one.") from error


def draw_prompt(asked: Asked) -> None:
    """The question; to one that is new, steps.js brings whoever has scrolled down."""
    with st.container(key="class_question"):
        st.title(marked(asked.question.prompt, ROLE_COLOURS), anchor=False)


def draw_figures(room: Room, asked: Asked) -> None:
    """The figures of the lesson, covered until the answer is explained where it stands in them. Nor is it said before
    what there is to notice in them.

    A question of the teacher's own is about what there is to see.
    """
    explained = room.stage == "explained"
    set_state("class_votes_on_it", asked.own is None and not explained)
    set_state(f"{CLASS_VOTE}_in_figure", asked.own is None and asked.question.in_figure)
    set_state(f"{CLASS_VOTE}_answer", LETTERS[asked.question.right] if explained else None)
    replies = [card.reply for card in asked.question.cards] if explained and asked.right is not None else []
    yield_turn()
    for group in groups(asked.figures):
        draw_group(CLASS_VOTE, group)
        draw_notice(CLASS_VOTE, [sentence for figure in group for sentence in figure.notice], before=replies)


def has_answered(count: int, present: int = 0) -> Message:
    """How many have answered, and of how many, where it is known who is there."""
    if not present:
        return plural("{count} has answered", "{count} have answered", count)
    return plural("{count} of {present} has answered", "{count} of {present} have answered", count, present=present)


def draw_count(room: Room) -> None:
    """How many have answered by now, or solved a level. While they may, it is counted each second."""
    count = count_solved if asked_of(room).is_level else count_answers
    st.fragment(count, run_every=COUNT_SECONDS if room.voting else None)(
        room.code, room.number, room.voting, room.stage
    )


def count_answers(code: str, number: int, voting: int | None, stage: str) -> None:
    """The answers of the vote that goes on, of those who are there; or the answers of the last one."""
    try:
        taken = voting or (2 if stage == "compared" or class_keeper().answered(code, number, 2) else 1)
        count = class_keeper().answered(code, number, taken)
        present = class_keeper().present(code, number, taken) if voting else 0
    except RefusedError as error:
        st.text(format_value(reason(error)))
        return
    st.text(render(has_answered(count, present)))


def count_solved(code: str, number: int, voting: int | None, _stage: str) -> None:
    """Of those who have opened the level."""
    try:
        votes = class_keeper().votes(code, number, len((SOLVED, NOT_YET)))
    except RefusedError as error:
        st.text(format_value(reason(error)))
        return
    counts = votes.second if voting == 2 or (voting is None and sum(votes.second)) else votes.first
    st.text(render(how_many_solved(counts[SOLVED], sum(counts))))


def votes_of(room: Room) -> Votes:
    """How the class voted on its question."""
    return last_known("votes", room.code, room.number, room.cards)


def draw_written(room: Room, asked: Asked) -> None:
    """What the class wrote last: numbers as a distribution, words by their counts. Words are the teacher's to show."""
    every = last_known("written", room.code, room.number)
    last = max((taken for taken, *_ in every), default=1)
    answers = [(answer, count) for taken, answer, count in every if taken == last]
    right = right_number(asked.own) if room.stage == "explained" else None
    if right is not None:
        with st.container(key="class_right_number"):
            st.text(render(right))
    if not answers:
        st.text(translate("Nobody has answered."))
    elif asked.own.kind == "number":
        figure = distribution_of_numbers(asked.own, answers, explained=room.stage == "explained")
        draw_figure(None, figure)
        draw_notice(None, figure.notice)
    else:
        draw_figure(None, table_of_words(answers))


def draw_votes(room: Room, asked: Asked) -> None:
    """The distribution of the first vote and of the second."""
    votes = votes_of(room)
    if not sum(votes.first) + sum(votes.second):
        st.text(translate("Nobody has answered."))
        return
    figure = distribution_of_votes(asked.question, votes.first, votes.second)
    if room.stage == "explained":  # beside the cards
        figure = replace(figure, width=VOTES_BESIDE)
    draw_figure(None, figure)
    draw_notice(None, figure.notice)


def draw_moves(room: Room, asked: Asked) -> None:
    """From the first vote to the second how many went where, where anybody voted twice: a picture, and in numbers."""
    votes = votes_of(room)
    if room.stage == "shown" or not any(map(sum, votes.moved)):
        return
    moved = flow(asked.question, votes.moved, explained=room.stage == "explained" and asked.right is not None)
    for figure in (moved, flow_table(moved)):
        draw_figure(None, figure)
        draw_notice(None, figure.notice)


def cards_to_read(question: Question, *, explained: bool) -> None:
    """The cards to read; once it is explained, which is right, and what each wrong one takes for true."""
    tells = explained and question.right >= 0
    with st.container(key="class_cards"):
        for place, (letter, card) in enumerate(zip(LETTERS, question.cards, strict=False)):
            verdict = ("right" if place == question.right else "wrong") if tells else "open"
            with st.container(border=True, horizontal=True, gap="xsmall", key=f"class_card_{verdict}_{letter}"):
                st.markdown(f"**{letter}**", width="content")
                if tells:
                    st.text(render(VERDICTS[verdict]), width="content")
                st.markdown(marked(card.text), width="content")
                if card.reason is not None:
                    st.caption(marked(card.reason), width="content")
                if tells:
                    st.text(render(card.reply))


def say_what_is_kept(room: Room) -> None:
    """What is stored, for how long, and what one vote is."""
    kept = [
        message(
            "No names or addresses are kept: only counts and, for each vote, a random identifier of the "
            "browser. Everything is deleted on {time}. Each browser has one vote and is recognised by its "
            "cookie, so anyone who opens another browser can vote again.",
            time=time_of(room.until),
        )
    ]
    if browser_mark() is None:
        kept.append(message("This browser sends no cookie, so the vote belongs to this tab, as long as it stays open."))
    if not class_keeper().outlives_process:
        kept.append(message("This server keeps classes in a temporary folder: if it is restarted, they are gone."))
    st.caption(render_all(kept))
