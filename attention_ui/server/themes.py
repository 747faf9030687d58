"""What the browser must know of the theme is put together once.

Streamlit tells it at the beginning of each run of a page, and each time looks through all options there are, for six
sections: more than half a millisecond, in which no page is computed.
"""

import functools
import inspect

from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

NAME = "_populate_theme_msg"


def write_theme_once() -> bool:
    """From now on copy what each section said the first time. False where this Streamlit does it in another way."""
    written = getattr(app_session, NAME, None)
    if getattr(written, "__module__", "") == __name__:
        return True
    if not callable(written) or list(inspect.signature(written).parameters) != ["msg", "section"]:
        return False

    @functools.cache
    def theme(section: str) -> CustomThemeConfig:
        made = CustomThemeConfig()
        written(made, section)
        return made

    def copy_theme(msg: CustomThemeConfig, section: str = "theme") -> None:
        if theme(section).ByteSize():  # an empty section is left out, not there and empty
            msg.MergeFrom(theme(section))

    setattr(app_session, NAME, copy_theme)
    return True
