"""What figures that are saved as SVG files share: the file itself, and the colours of the light theme."""

from collections.abc import Iterable

from attention_ui.figures.roles import role_colours
from lessons.screen import NOT_IN_XML


def svg_file(drawn: Iterable[str], left: float, wide: float, high: float) -> bytes:
    """A file of these elements, from `left` to the right and from 0 down, without what XML cannot hold."""
    size = f'width="{wide:g}" height="{high:g}" viewBox="{left:g} 0 {wide:g} {high:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">'
    return NOT_IN_XML.sub("", "\n".join((head, *filter(None, drawn), "</svg>\n"))).encode()


def hue(role: str) -> str:
    """The colour of a role."""
    return role_colours("light")[role]
