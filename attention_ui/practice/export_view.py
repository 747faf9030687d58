"""What offers a file that takes long to make: the button, how far it is, and the link to it."""

import streamlit as st

from attention_ui.export.line import Export, Write, exports
from attention_ui.process.waiting import look_again_when
from attention_ui.streamlit_insides import running_session
from lessons.screen import Fixed, Percent, plural, render, translate
from words import language

MEGABYTE = 1_000_000


def offer_export(label: str, name: str, content: object, write: Write, n_steps: int, code: str = "") -> None:
    """A button that has a file made. Then its place in the line, or how much of it has been made; then a link to it.

    `content` tells the file from others: another one is offered anew. It speaks the language of the page, or that
    with this `code`.
    """
    session, code = running_session() or "", code or language().code
    content = (name, code, content)
    export = exports().of(session)
    if export is not None and export.ended is None:
        st.fragment(watch_export)(session)
        return
    if export is not None and export.content == content and not export.failed:
        draw_link(export)
        return
    if export is not None and export.failed:
        st.warning(translate("The file could not be made. Try again."))
    wanted = (session, content, name, write, n_steps, code)
    st.button(label, key="export_make", on_click=ask_for, args=wanted, type="tertiary")


def ask_for(*wanted) -> None:
    """The button was pressed."""
    exports().join(Export(*wanted))


def watch_export(session: str) -> None:
    """How far it is, until it has been made or is gone: then the page is drawn anew."""
    export = exports().of(session)
    if export is None or export.ended is not None:
        st.rerun()
    share, before = export.share, exports().before(export)
    if before:
        said = render(
            plural("{count} other file is made before yours.", "{count} other files are made before yours.", before)
        )
    else:
        said = translate("{share} of your file has been made.", share=Percent(share))
    st.progress(share, said)
    st.button(translate("Cancel"), key="export_cancel", on_click=exports().leave, args=(session,))
    look_again_when(lambda: export.ended is not None or (export.share, exports().before(export)) != (share, before))


def draw_link(export: Export) -> None:
    """The link to a file that has been made."""
    size = Fixed(max(export.size / MEGABYTE, 0.1), 1)
    st.link_button(translate("Download {file} ({size} MB)", file=export.name, size=size), f"./file/{export.token}")
    st.caption(translate("The link works for ten minutes, while this page is open."))
