"""The rail: all lessons in the head of the page, where one is, and what is solved.

Streamlit draws the links of `st.navigation` itself, in one message: what is here is the part of their style that
depends on the visit (the rest stands in frame.css). Where a screen has no room for all names, and on a projector, the
other groups are bars that say their name when one points at them. On a phone the links are in the sidebar, and the head
says where one is.
"""

import itertools
from collections.abc import Collection

from attention_ui.contents import CONTENTS, Entry
from attention_ui.figures.roles import role_styles
from attention_ui.session import path_of
from lessons.screen import is_wide_letter, translate
from words import cached_by_language

SIDEBAR, ROOM_FOR_A_GROUP, LAPTOP, ANY = 272, 1200, 1440, 10_000  # pixels
ROOM_FOR_STOPS = 1024  # pixels: as class.css says
NAME_SIZE = 0.82  # rem: the letters of a name where there is room
NARROW_LETTER, WIDE_LETTER = 5.75, 11.7  # pixels of a name
AROUND, BETWEEN_GROUPS, AT_THE_END = 13, 7, 20  # pixels of what is around it
# A page that was opened on a phone sometimes forgets the width of the sidebar: on a larger screen it has Streamlit's.
FORGOTTEN_WIDTH = '[data-testid="stSidebar"][style*="width: 300px"]'
LINK = '[data-testid="stTopNavLink"][href$="/{address}"]'


def rail(
    here: Entry, solved: Collection[str], practised: float = 0.0, *, large: bool = False, leads: bool = False
) -> str:
    """The style of the rail on this page, for a visitor who has solved questions of these lessons.

    Of the exercises `practised` is the share that is solved, and so much of their line is drawn. With `large` figures,
    for a projector, only the lesson where one is has a name. For whoever `leads` a class through a plan, its stops
    stand there instead.
    """
    done = [entry for entry in CONTENTS if entry.address in solved]
    practice = [entry for entry in CONTENTS if entry.address == "exercises" and entry is not here]
    groups = [after for before, after in itertools.pairwise(CONTENTS) if before.section != after.section]
    place, count = CONTENTS.index(here) + 1, len(CONTENTS)
    where = translate("{place} of {count} · {title}", place=place, count=count, title=here.title)
    on_a_phone = f'content: "{where}"; --lab-place: {100 * place / count:.0f}%'
    rules = [role_styles(), f"@media (max-width: 767px) {{ .stAppHeader::after {{ {on_a_phone} }} }}"]
    rules.append(f"{FORGOTTEN_WIDTH} {{ width: {SIDEBAR}px !important }}")
    if leads:
        rules.append(f'@media (min-width: {ROOM_FOR_STOPS}px) {{ [data-testid="stTopNav"] {{ display: none }} }}')
    if done:
        rules.append(f"{links(done)} {{ border-top-color: var(--lab-weight) !important }}")
    if practised and practice:
        stops = f"var(--lab-weight) {practised:.0%}, var(--lab-line) {practised:.0%}"
        rules.append(f"{links(practice)} {{ border-image: linear-gradient(to right, {stops}) 1 }}")
    rules.append(f"{links(groups)} {{ margin-left: 0.4rem }}")
    rules.append(f":root {{ --lab-rail: {NAME_SIZE * share_of_letters():.3f}rem }}")
    others = [entry for entry in CONTENTS if entry != here]
    far = [entry for entry in others if entry.section != here.section]
    for nameless, width in ((far, room_for_all()), (others, ANY if large else ROOM_FOR_A_GROUP)):
        rules.append(f"@media (min-width: 768px) and (max-width: {width - 1}px) {{ {without_names(links(nameless))} }}")
    return "<style>" + "\n".join(rules) + "</style>"


def room_for_all() -> int:
    """The width of a screen on which all names fit beside the sidebar, in the reader's language."""
    return round(around_names() + share_of_letters() * width_of_names())


def share_of_letters() -> float:
    """How large the letters of names are, as a part of the usual: so that all names fit the screen of a laptop."""
    return min(1.0, (LAPTOP - around_names()) / width_of_names())


def around_names() -> int:
    """The pixels of a screen that are not for the letters of names."""
    groups = len({entry.section for entry in CONTENTS}) - 1
    return SIDEBAR + AT_THE_END + BETWEEN_GROUPS * groups + AROUND * len(CONTENTS)


@cached_by_language(maxsize=20)
def width_of_names() -> float:
    """About how many pixels all names take in letters of the usual size."""
    return sum(width_of(entry.name) for entry in CONTENTS)


def width_of(name: str) -> float:
    """About how many pixels a name takes: a letter of Chinese or Japanese is twice as wide."""
    return sum(WIDE_LETTER if is_wide_letter(letter) else NARROW_LETTER for letter in name)


def without_names(links: str) -> str:
    """The rules that leave bars of these links, whose names come when one points at them or tabs to them."""
    pointed = f"{links}:is(:hover, :focus-visible)"
    return (
        f"{links} {{ width: 1.5rem; min-width: 0 }} "
        f"{links} * {{ overflow: visible !important; max-width: 100% }} "
        f"{links} p {{ width: max-content; max-width: none; clip-path: inset(50%) }} "
        f"{pointed} p {{ clip-path: none; position: relative; z-index: 1; background: var(--lab-page) }}"
    )


def links(entries: Collection[Entry]) -> str:
    """The links to these lessons, as a style names them."""
    return ":is(" + ", ".join(LINK.format(address=path_of(entry.address)) for entry in entries) + ")"
