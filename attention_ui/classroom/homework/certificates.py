"""The panel in which a teacher reads the certificates of a class: a table, and what of the files could not be read.

Nothing of them is kept: they are read anew at each look, as long as the page holds them.
"""

from functools import partial

import streamlit as st

from attention_ui.session import offer, show_notes, show_rows
from lessons.screen import message, render, translate
from lessons.teachers.homework.certificate import MOST_BYTES
from lessons.teachers.homework.table import MOST_CERTIFICATES, Brought, csv_of_lines, lines_of, read_all

HOW_TO = message(
    "Each plan gives you a link for your students, under “As homework”. Upload the certificates "
    "that they saved, up to {most} at once. This server keeps none of them.",
    most=MOST_CERTIFICATES,
)
NO_PROOF = message(
    "The checksum reveals slips and damage, but proves nothing: anybody can write such a file, under any name."
)


def certificates_panel() -> None:
    """The files, what is wrong with some, and the table of the others."""
    st.text(render(HOW_TO))
    files = st.file_uploader(
        translate("Certificates"), type="json", accept_multiple_files=True, max_upload_size=1, key="certificates"
    )
    brought = [Brought(file.name, file.getvalue()[: MOST_BYTES + 1]) for file in files or []]
    certificates, problems = read_all(brought)
    show_notes(*problems)
    if not certificates:
        return
    lines = lines_of(certificates)
    show_rows(lines)
    st.caption(render(NO_PROOF))
    offer(translate("Save as CSV"), partial(csv_of_lines, lines), "certificates.csv", "text/csv")
