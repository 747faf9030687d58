"""The rail: all lessons in the head of the page, where one is, and which questions were answered in this visit.

Streamlit draws the links of `st.navigation` itself, in one message: what is here is the part of their style that
depends on the visit (the rest stands in frame.css). On a phone the links are in the sidebar, and the head says where
one is.
"""

import itertools
from collections.abc import Collection
from pathlib import Path

from attention_ui.contents import CONTENTS, Entry
from attention_ui.figures.roles import role_styles

LINK = '[data-testid="stTopNavLink"][href$="/{address}"]'


def rail(here: Entry, answered: Collection[str]) -> str:
    """The style of the rail on this page, for a visitor who has answered questions of these lessons."""
    done = [entry for entry in CONTENTS if Path(entry.file).stem in answered]
    groups = [after for before, after in itertools.pairwise(CONTENTS) if before.section != after.section]
    place, count = CONTENTS.index(here) + 1, len(CONTENTS)
    on_a_phone = f'content: "{place} of {count} · {here.title}"; --lab-place: {100 * place / count:.0f}%'
    rules = [role_styles(), f"@media (max-width: 767px) {{ .stAppHeader::after {{ {on_a_phone} }} }}"]
    if done:
        rules.append(f"{links(done)} {{ border-top-color: var(--lab-weight) !important }}")
    rules.append(f"{links(groups)} {{ margin-left: 0.5rem }}")
    return "<style>" + "\n".join(rules) + "</style>"


def links(entries: Collection[Entry]) -> str:
    """The links to these lessons, as a style names them."""
    return ":is(" + ", ".join(LINK.format(address=address_of(entry)) for entry in entries) + ")"


def address_of(entry: Entry) -> str:
    """The end of the address of a lesson; the first has none of its own."""
    return "" if entry is CONTENTS[0] else entry.address
