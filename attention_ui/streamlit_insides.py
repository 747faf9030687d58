"""What the app uses of Streamlit without Streamlit promising it: all of it here, each with its reason.

Streamlit is pinned to one version. tests/ui/test_streamlit_insides.py fails where another one does these things
differently. Two more places rely on what is not promised and cannot stand here: the content security policy, which
allows the inline scripts of Streamlit's start page by their hash (server/headers.py), and frame.css.
"""

import asyncio
import copy
import functools
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn
from urllib.parse import parse_qs

import streamlit as st
from google.protobuf.message import DecodeError
from starlette.types import Message
from streamlit import runtime
from streamlit.components.v2 import component
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest
from streamlit.file_util import get_static_dir
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState
from streamlit.runtime.state.query_params import _coerce_value_for_query_url
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

from attention_ui.state import get_state

IN_BROWSER = Path(__file__).parents[1] / "in_browser"  # the scripts that run there
OURS = "attention-lab"  # before the names of the parts of a page that they draw
FREE_SECONDS = 0.02  # how often one looks whether a page that runs has ended
DAY_SECONDS = 86_400.0  # a browser's timer counts to 24 days


def front_end_folder() -> Path:
    """Where Streamlit's own front end lies: index.html, and static/ with js/ and css/.

    The security policy needs the start page, and the packing of files its scripts. Nothing public tells the folder.
    """
    return Path(get_static_dir())


def running_session() -> str | None:
    """Whose page is being computed on this thread, if any is: for the log.

    Streamlit mentions this function in its guide on threads, and says that it may change.
    """
    context = get_script_run_ctx(suppress_warning=True)
    return None if context is None else context.session_id


def came_through_history() -> bool:
    """True in the run in which the browser goes back or forward to an address. Nothing public tells it from others."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and context.is_history_navigation


def address_given() -> dict[str, list[str]]:
    """What the browser says that its address says.

    Of an address that one goes back to, st.query_params leaves out all that controls of the other page were bound to.
    """
    return parse_qs(get_script_run_ctx().query_string, keep_blank_values=True)


def address_by_controls() -> dict[str, str | None]:
    """What the controls that are bound to the address let it say by now, and None for what one finds at first.

    Of several quick changes, the last may not be in the address that the browser sends along with it.
    """
    state, said = get_script_run_ctx().session_state._state, {}
    for widget, binding in state.query_params._bindings_by_widget.items():
        metadata = state._new_widget_state.widget_metadata.get(widget)
        if metadata is None or widget not in state:
            continue
        value, begin = state[widget], metadata.deserializer(None)
        written = _coerce_value_for_query_url(metadata.serializer(value), binding.value_type)
        one = written if isinstance(written, str) else ",".join(written)
        said[binding.param_key] = None if value == begin else one
    return said


def switch_page(page, said: Mapping[str, str | list[str]]) -> NoReturn:
    """End the run of this page, and open another with all that its link says. Streamlit sleeps for 10 ms before.

    st.switch_page refuses names that a widget has bound, and drops those that are bound on the page one leaves, also
    where the page one goes to binds them again.
    """
    with get_script_run_ctx().session_state.query_params() as params:
        for widget in list(params._bindings_by_widget):
            params.unbind_widget(widget)
    st.switch_page(page, query_params=said)


def page_of_one_run(page):
    """A copy of the page that st.navigation has chosen, for one run of the frame.

    A page notes that it was run, and runs once: several visitors at a time would take it from each other.
    """
    return copy.copy(page)


def browser_mark() -> bytes | None:
    """What tells this browser from others: the random part of the cookie that Streamlit gives to every browser.

    The cookie protects the upload of files; neither its name nor its form is promised. A cookie of our own would be one
    more for everybody, and could be set only where a page is loaded. None where the browser sends none.
    """
    cookie = st.context.cookies.get(XSRF_COOKIE_NAME)
    return decode_xsrf_token_string(cookie)[0] if cookie else None


def session_is_open(session_id: str) -> bool:
    """True while this visit is connected. Nothing public knows the visits."""
    return runtime.exists() and runtime.get_instance().is_active_session(session_id)


def open_session(session_id: str) -> AppSession:
    """What Streamlit has of an open visit."""
    return runtime.get_instance()._session_mgr.get_active_session_info(session_id).session


def is_being_drawn(session_id: str) -> bool:
    """True while the page of an open visit runs; to be asked on the server's own loop.

    Who has it drawn anew just then ends that run: a press that it has not answered yet would be lost.
    """
    return session_is_open(session_id) and open_session(session_id)._scriptrunner is not None


def rerun_session(session_id: str) -> None:
    """Draw the page of an open visit anew, from outside; to be called on the server's own loop.

    So Streamlit itself does when a file of the app has changed. Publicly a page can only ask for its own next run, or
    run a part of itself again and again.
    """
    session = open_session(session_id)
    session.request_rerun(session._client_state)


def running_part() -> str | None:
    """Which part of a page, a fragment, is being drawn on this thread. Nothing public tells its number."""
    return ThreadState.get().fragment_id


def rerun_part(session_id: str, part: str) -> None:
    """Draw a part of the page of an open visit anew, from outside; to be called on the server's own loop.

    Publicly a part can only ask for its own next run, or be run again and again by the browser. A part that the page
    has no more is not drawn.
    """
    session, state = open_session(session_id), ClientState()
    state.CopyFrom(session._client_state)
    state.fragment_id, state.is_auto_rerun = part, True
    session.request_rerun(state)


def drawn_when_connected(part: Callable[..., None]) -> Callable[..., None]:
    """A part of a page, as a fragment that has the whole page drawn whenever the browser has connected again.

    Streamlit's front end asks for that only where a fragment is run again and again. A server that was killed, and
    another one, know nothing of the visit: without it the page would stay as it was, and its buttons would do nothing.
    """

    @functools.wraps(part)
    def drawn(*args: object) -> None:
        if changed_beside():
            st.rerun()
        part(*args)

    return st.fragment(drawn, run_every=DAY_SECONDS)


def changed_beside() -> bool:
    """True in the run of a part of a page that is asked for together with a change outside of that part.

    What changes at the same moment, Streamlit's front end sends as one, in the name of the part that came first: only
    that part would be drawn, and the page would never show what was pressed.
    """
    context, part = get_script_run_ctx(), running_part()
    if not context.fragment_ids_this_run:
        return False
    state = context.session_state._state
    return any(
        widget.fragment_id != part and state._widget_changed(name)
        for name, widget in state._new_widget_state.widget_metadata.items()
    )


def draw_later(seconds: float) -> None:
    """The page that is being drawn is drawn anew then, if its visitor is still there; meanwhile no thread waits.

    A fragment that asks for it again and again may ask just when a run of its page ends. Streamlit then drops what that
    run has drawn, and the page stays as it was.
    """
    session = running_session()
    if session is not None and runtime.exists():
        loop = runtime.get_instance()._get_async_objs().eventloop
        loop.call_soon_threadsafe(loop.call_later, seconds, draw_when_free, loop, session)


def draw_when_free(loop: asyncio.AbstractEventLoop, session_id: str) -> None:
    """Draw the page of an open visit anew, after what its visitor has pressed meanwhile is answered."""
    if is_being_drawn(session_id):
        loop.call_later(FREE_SECONDS, draw_when_free, loop, session_id)
    elif session_is_open(session_id):
        rerun_session(session_id)


def check_rerun() -> None:
    """End this run of the page here if its visitor has asked for another by now.

    A page that waits would otherwise compute what nobody looks at any more. Streamlit ends a run that is out of date
    wherever the script accesses session state or draws; no public function does that alone.
    """
    get_state("anything")


def uploads_kept() -> dict[tuple[str, str], int]:
    """How many bytes of each file that visitors have brought are in memory, by visit and by the file's name.

    Streamlit keeps a file as long as the visit, limits the size of each and not how many there are, and tells their sum
    to its metrics only.
    """
    if not runtime.exists():
        return {}
    manager = runtime.get_instance().uploaded_file_mgr
    with manager._lock:
        return {
            (visit, name): len(file.data)
            for visit, files in manager.file_storage.items()
            for name, file in files.items()
        }


@functools.cache
def version_of_folder(folder: Path) -> str:
    """A word that is another whenever a file in a folder is."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def name_of_part(folder: Path) -> str:
    """What Streamlit calls the part of a page that a script in this folder draws, with the version of its files."""
    return f"{OURS}.{folder.name}_{version_of_folder(folder)}"


def part_of_page(folder: Path, script: str, style: str | None = None) -> Callable:
    """A part of a page that a script in a folder draws; it is called with `key`, `data`, and what to do `on_…_change`.

    Streamlit would load a script that is handed over as a text from a blob:, which the app's own policy refuses. It
    sends files from folders that installed packages name in their pyproject.toml; a checkout is no installed package,
    and in the wheel our folders are none to Python. So the server that asks is told, as such a file would. The name,
    which is in the address of the files, holds their version: an old script never meets new data. A part that brings a
    `style` has a tree of its own, which no other style reaches.
    """
    name, manager = name_of_part(folder), get_bidi_component_manager()
    if manager.get_component_asset_root(name) is None:
        own = ComponentConfig(name.removeprefix(f"{OURS}."), folder.name)
        manager.register_from_manifest(ComponentManifest(OURS, "", [own]), folder.parent)
    return component(name, js=script, css=style, isolate_styles=style is not None)


SHORT = 200  # bytes: no message that ends a page is longer


def asks(event: Message) -> bool:
    """Whether what comes from a socket asks for something; what cannot be read may cost as much as what can."""
    if event["type"] != "websocket.receive":
        return False
    try:
        return BackMsg.FromString(event.get("bytes") or b"").WhichOneof("type") != "app_heartbeat"
    except DecodeError:
        return True


def answers(event: Message) -> bool:
    """Whether what goes to a socket says that a page is finished, and not that it was cut short."""
    data = event.get("bytes") or b""
    if not 0 < len(data) <= SHORT:
        return False
    said = ForwardMsg.FromString(data)
    return said.WhichOneof("type") == "script_finished" and said.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
