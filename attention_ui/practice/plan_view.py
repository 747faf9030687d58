"""A plan for a lesson as the teacher reads it: stop after stop, what to ask, which answers come, what to show then."""

from collections.abc import Mapping

import streamlit as st

from attention_ui.page.contents import CONTENTS
from attention_ui.session.links import SHOWN_WITH, address_of, said_in_link
from lessons.screen.format import render, render_all, translate
from lessons.screen.message import message
from lessons.take_home.plans import PLANS, Expected, Stop, begins_at, if_time_is_short, planned


def plan_panel(minutes: int) -> None:
    """All stops of a plan. What they say is shown literally."""
    plan = PLANS[minutes]
    st.text(render_all(if_time_is_short(plan)))
    st.caption(
        translate("Each link opens its screen in a new tab, with its controls. The answers are those of that screen.")
    )
    for place, stop in enumerate(plan):
        with st.container(border=True, key=f"plan_stop_{place + 1}", gap="xsmall"):
            draw_stop(stop, place + 1, begins_at(plan, place))


def draw_stop(stop: Stop, number: int, begins: int) -> None:
    """One stop: when, its links, what to ask the room, and what will come."""
    found = planned(stop)
    st.subheader(f"{number} · {title_of_stop(stop)}", anchor=False)
    when = message(
        "{count} minutes, from {begins} to {ends}", count=stop.minutes, begins=begins, ends=begins + stop.minutes
    )
    left = [message("can be left out")] if stop.out else []
    ends = [message("a good place to end")] if stop.ends else []
    st.caption(" · ".join(map(render, [when, *left, *ends])))
    asks, screen = st.columns([3, 1], vertical_alignment="bottom")
    with asks:
        st.markdown(translate("**Ask the room**") if stop.opens else translate("**Let the room write**"))
        st.text(render(found.asks))
    screen.link_button(translate("Open the screen"), url_of_stop(stop), type="primary")
    if found.right:
        st.markdown(translate("**Right**"))
        st.text(said_of_answer(found.right))
    st.markdown(translate("**What else will come, and what to say**"))
    says = said_of_answer if stop.opens else said_of_mistake
    st.text("\n".join(f"• {says(answer)}" for answer in found.wrong))
    if stop.then:
        shows, screen = st.columns([3, 1], vertical_alignment="bottom")
        with shows:
            st.markdown(translate("**Then show**"))
            st.text(render_all(found.shows))
        screen.link_button(translate("Open what to show"), url_of_what_is_shown(stop))


def said_of_mistake(answer: Expected) -> str:
    """A known mistake of an exercise, by what helps."""
    return render(answer.reply)


def said_of_answer(answer: Expected) -> str:
    """An answer, the thought behind it, and the reply."""
    text = render(answer.text).rstrip(".。")
    if answer.thought is None:
        return translate("{text}: {reply}", text=text, reply=answer.reply)
    return translate("{text} ({thought}): {reply}", text=text, thought=answer.thought, reply=answer.reply)


def title_of_stop(stop: Stop) -> str:
    """The title of a stop's page."""
    address = stop.opens.address if stop.opens else "exercises"
    return next(entry.name for entry in CONTENTS if entry.address == address)


def url_of_stop(stop: Stop) -> str:
    """The link of its screen, or of its exercise, seen from the page of the plan."""
    if stop.exercise:
        return url_of("exercises", {"exercise": stop.exercise})
    return url_of(stop.opens.address, stop.opens.settings)


def url_of_what_is_shown(stop: Stop) -> str:
    """The link of the screen that is shown after the answers."""
    return url_of(stop.then.address, stop.then.settings | planned(stop).shown)


def url_of(address: str, settings: Mapping[str, str]) -> str:
    """The link of a page with its controls, for whom the plan is shown: large, in their language."""
    along = said_in_link(*SHOWN_WITH)
    hidden = ",".join(link["hide"] for link in (along, settings) if "hide" in link)
    return address_of(address, along | settings | ({"hide": hidden} if hidden else {}))
