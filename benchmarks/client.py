"""A visitor without a browser: one session that speaks Streamlit's websocket protocol.

It does what the front end does between a click and the last message of the rerun that follows, and draws
nothing. Written for Streamlit 1.67, with the protobuf messages that Streamlit itself is built from.
"""

import asyncio
import contextlib
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

PATIENCE_SECONDS, LOOK_SECONDS = 120.0, 0.1
TRAINING_PAGES = ("train", "backward", "generate")  # their answers take longest; waits are counted apart


class ScriptFailed(Exception):
    """The server could not run the script to its end."""


@dataclass(frozen=True, eq=False)
class Shown:
    """An element on the page: its kind ("slider", "button", …), its message, and where it belongs."""

    kind: str
    proto: Any
    fragment_id: str
    run: int  # the run of the script in which it was last sent
    script: str = ""  # the hash of the script that drew it: the frame's, or the page's

    @property
    def id(self) -> str:
        """The widget's id; empty for what is no widget."""
        return getattr(self.proto, "id", "")

    @property
    def label(self) -> str:
        """The widget's label; empty where there is none."""
        return getattr(self.proto, "label", "")


def set_numbers(state: WidgetState, value: Any) -> None:
    """The value of a slider: one number, or two for a range."""
    state.double_array_value.data[:] = value if isinstance(value, list | tuple) else [value]


def set_choice(state: WidgetState, value: Any) -> None:
    """The value of a segmented control, or of a slider over labels: the chosen label, or a list of them."""
    state.string_array_value.data[:] = value if isinstance(value, list | tuple) else [value]


def plain(field: str) -> Callable[[WidgetState, Any], None]:
    """The value of a widget that keeps a single one, in this field."""
    return lambda state, value: setattr(state, field, value)


SETTERS = {
    "slider": set_numbers,
    "button_group": set_choice,
    "select_slider": set_choice,
    "number_input": plain("double_value"),
    "checkbox": plain("bool_value"),
    "selectbox": plain("string_value"),
    "text_input": plain("string_value"),
    "text_area": plain("string_value"),
    "radio": plain("string_value"),
}


def fetched(url: str) -> int:
    """How many bytes an address answers with; none of them is kept."""
    with urllib.request.urlopen(url, timeout=PATIENCE_SECONDS) as answer:
        return sum(len(part) for part in iter(lambda: answer.read(2**16), b""))


class Session:
    """One visitor of the server at a port of this machine.

    Every action returns how many seconds passed from sending it until the server said that the run of the
    script, or of the fragment, was finished. With `live`, fragments that ask to be rerun every so often are.
    `source` is the address that the visitor comes from; this machine has many: 127.0.0.1, 127.0.0.2, …
    With a `cookie`, which is sent as it is, the server knows the visitor's browser.
    One action at a time, and none while the script reruns itself: the answers would be taken for each other.
    """

    def __init__(self, port: int, *, live: bool = False, source: str = "127.0.0.1", cookie: str = ""):
        self.port = port
        self.source = source
        self.cookie = cookie
        self.live = live
        self.query_string = ""
        self.fragment_reruns: list[float] = []  # when each rerun of a fragment was finished
        self.n_messages = self.n_bytes = 0  # that have come
        self.unasked = 0  # how many of them were refreshes that the page does by itself
        self._elements: dict[tuple[int, ...], Shown] = {}
        self._states: dict[str, WidgetState] = {}
        self._pages: dict[str, str] = {}
        self._menu: list[str] = []
        self.exceptions: list[str] = []  # every error that any run of any page has shown
        self._page = self._frame = ""
        self._cache: dict[str, tuple[int, ForwardMsg]] = {}
        self._heard = 0.0
        self.finished = 0.0  # when the whole page was drawn last, by itself or asked for
        self._run = 0
        self._last_runs = {"": 0}  # of the whole script, and of each fragment
        self.ends_untold = 0  # how often the server did not say that the script had ended
        self._run_fragments: list[str] = []
        self._run_blocks: set[tuple[int, ...]] = set()  # the containers that this run has sent
        self._waiting: tuple[asyncio.Future[float], int, str] | None = None
        self._tickers: dict[str, tuple[float, asyncio.Task]] = {}
        self._socket: websockets.ClientConnection | None = None
        self._reader: asyncio.Task | None = None

    async def open(self, url_path: str = "", query_string: str = "") -> float:
        """Connect, and load the page at this path, as a new tab does."""
        started = time.perf_counter()
        self.query_string = query_string
        self._socket = await websockets.connect(
            f"ws://127.0.0.1:{self.port}/_stcore/stream",
            subprotocols=["streamlit"],
            max_size=None,
            compression=None,
            ping_interval=None,
            open_timeout=PATIENCE_SECONDS,
            close_timeout=1.0,
            local_addr=(self.source, 0),
            additional_headers={"Cookie": self.cookie} if self.cookie else None,
        )
        self._reader = asyncio.create_task(self._read())
        await self._rerun(page_name=url_path)
        return time.perf_counter() - started

    async def open_again(self, port: int, *link: str) -> float:
        """Load the page of the same link at another server, as a browser does whose server is gone; or of this link."""
        await self.close()
        link, exceptions = link or (self.path, self.query_string), self.exceptions
        Session.__init__(self, port, live=self.live, source=self.source, cookie=self.cookie)
        self.exceptions = exceptions
        return await self.open(*link)

    async def goto(self, url_path: str) -> float:
        """Go to another page through the menu. Only what the frame around all pages draws keeps its state."""
        self._page = self._pages[url_path]
        stay = {shown.id for shown in self._elements.values() if shown.script == self._frame}
        self._states = {widget_id: state for widget_id, state in self._states.items() if widget_id in stay}
        self._stop_tickers()
        return await self._rerun()

    async def set(self, name: str, value: Any) -> float:
        """Give the widget with this key or label a value."""
        widget = self.widget(name)
        SETTERS[widget.kind](self._state(widget), value)
        self._put_in_address(widget, value)
        return await self._rerun(fragment_id=widget.fragment_id)

    async def click(self, name: str) -> float:
        """Press the button with this key or label."""
        button = self.widget(name)
        press = WidgetState(id=button.id, trigger_value=True)
        return await self._rerun(press, fragment_id=button.fragment_id)

    async def save_file(self, button: str, patience: float = 1800.0) -> int:
        """Have a file made with this button, wait for the link to it, and fetch it: its bytes. The visit is `live`."""
        await self.click(button)
        begun = time.perf_counter()
        while not (links := self.elements("link_button")):
            if self.exceptions or self.is_lost or time.perf_counter() - begun > patience:
                raise TimeoutError(f"no file came from {button!r} {self.exceptions}")
            await asyncio.sleep(LOOK_SECONDS)
        address = links[0].proto.url.removeprefix("./")
        return await asyncio.to_thread(fetched, f"http://127.0.0.1:{self.port}/{address}")

    async def settle(self, seconds: float = 0.3) -> None:
        """Wait until the server has sent nothing for a while: the script may rerun itself."""
        await asyncio.sleep(seconds)  # what has come already may not have been read yet
        while (quiet := time.perf_counter() - self._heard) < seconds:
            await asyncio.sleep(seconds - quiet)

    def elements(self, kind: str = "") -> list[Shown]:
        """What is on the page, from the top; all, or only one kind."""
        return [self._elements[path] for path in sorted(self._elements) if kind in ("", self._elements[path].kind)]

    def widget(self, name: str) -> Shown:
        """The widget with this id, key or label; LookupError says what there is instead."""
        widgets = [shown for shown in self.elements() if shown.id]
        for shown in widgets:
            if shown.id == name or shown.id.endswith(f"-{name}"):
                return shown
        for shown in widgets:
            if shown.label == name:
                return shown
        known = ", ".join(shown.label or shown.id for shown in widgets)
        raise LookupError(f"no widget is called {name!r}; there are: {known}")

    def texts(self, kind: str = "") -> list[str]:
        """All pieces of text on the page, or those of one kind of element."""
        parts = ((getattr(shown.proto, "body", ""), getattr(shown.proto, "text", "")) for shown in self.elements(kind))
        return [text for pair in parts for text in pair if text]

    @property
    def pages(self) -> list[str]:
        """The paths of the pages in the menu; the page at the server's own address is the empty path."""
        return self._menu

    @property
    def path(self) -> str:
        """Where this visitor is; LookupError before any page has been loaded."""
        for path, script_hash in self._pages.items():
            if script_hash == self._page:
                return path
        raise LookupError("no page has been loaded yet")

    @property
    def on_training_page(self) -> bool:
        """Whether the visitor's page is one of those that train, and take the longest to compute."""
        return bool(self._pages) and self.path in TRAINING_PAGES

    @property
    def is_open(self) -> bool:
        """True after a connection was made, also when the server has closed it since."""
        return self._socket is not None

    @property
    def is_lost(self) -> bool:
        """True after the server has closed the connection."""
        return self._reader is not None and self._reader.done()

    async def send(self, data: bytes) -> None:
        """Send bytes as they are, whatever they may be."""
        await self._socket.send(data)

    def message(self, *, page_name: str = "", fragment_id: str = "") -> BackMsg:
        """What the front end sends to run the page, or a fragment of it, again as it stands."""
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.page_script_hash, asked.page_name = self.query_string, self._page, page_name
        asked.fragment_id = fragment_id
        asked.cached_message_hashes.extend(self._cache)
        asked.widget_states.widgets.extend(self._states.values())
        return message

    async def ask(self, message: BackMsg) -> float:
        """Send a message that asks for a run, and wait for its end."""
        fragment_id = message.rerun_script.fragment_id
        done: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._waiting = (done, self._run, fragment_id)
        started = time.perf_counter()
        await self.send(message.SerializeToString())
        finished = await asyncio.wait_for(done, PATIENCE_SECONDS)
        return finished - started

    async def cut(self) -> None:
        """Be gone without saying so, as a laptop that loses its network."""
        self._stop_tickers()
        self._socket.transport.abort()
        await self._end_reader()

    async def close(self) -> None:
        """Leave. The server keeps the session a while, as it does when a tab is closed."""
        self._stop_tickers()
        if self._socket is not None:
            await self._socket.close()
        await self._end_reader()

    async def _end_reader(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            with contextlib.suppress(asyncio.CancelledError, websockets.ConnectionClosed):
                await self._reader

    async def __aenter__(self) -> "Session":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _rerun(self, press: WidgetState | None = None, *, page_name: str = "", fragment_id: str = "") -> float:
        message = self.message(page_name=page_name, fragment_id=fragment_id)
        if press is not None:
            message.rerun_script.widget_states.widgets.append(press)
        return await self.ask(message)

    async def _read(self) -> None:
        try:
            async for data in self._socket:
                self.n_messages, self.n_bytes = self.n_messages + 1, self.n_bytes + len(data)
                self._receive(ForwardMsg.FromString(data))
        finally:
            if self._waiting is not None and not self._waiting[0].done():
                self._waiting[0].set_exception(ConnectionError("the server closed the connection"))

    def _receive(self, message: ForwardMsg) -> None:
        self._heard = time.perf_counter()
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._run += 1
            self._run_fragments = list(message.metadata.run.fragment_ids)
            self._page = message.new_session.page_script_hash or self._page
            self._frame = message.new_session.main_script_hash
            self._begin_run()
        elif kind == "navigation":
            for page in message.navigation.app_pages:
                path = "" if page.is_default else page.url_pathname
                self._pages[path] = page.page_script_hash
                if not page.is_hidden and path not in self._menu:
                    self._menu.append(path)
            self._page = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query_string = message.page_info_changed.query_string
        elif kind in ("delta", "ref_hash"):
            self._show(message)
        elif kind == "auto_rerun" and self.live:
            self._start_ticker(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            for fragment_id in message.stop_auto_rerun.fragment_ids:
                self._stop_tickers(fragment_id)
        elif kind == "script_finished":
            self._finish(message.script_finished)

    def _begin_run(self) -> None:
        """A run of the script, or of fragments, begins.

        A refresh of a fragment that arrives just when something else ends makes the server forget to say that it
        ended. But no fragment is run before that.
        """
        self._run_blocks = set()
        if not self._run_fragments:
            self._stop_tickers()
        elif self._waiting is not None:
            done, run_before, awaited = self._waiting
            if max(self._last_runs[""], self._last_runs.get(awaited, 0)) > run_before and not done.done():
                self.ends_untold += 1
                done.set_result(time.perf_counter())
        self._last_runs |= dict.fromkeys(self._run_fragments or [""], self._run)

    def _show(self, message: ForwardMsg) -> None:
        path = tuple(message.metadata.delta_path)
        if message.ref_hash:
            message = self._cache[message.ref_hash][1]
        if message.metadata.cacheable:
            self._cache[message.hash] = (self._run, message)
        kind = message.delta.WhichOneof("type")
        if kind == "add_block":
            self._run_blocks.add(path)
        elif kind == "new_element":
            element = message.delta.new_element
            name = element.WhichOneof("type")
            proto = getattr(element, name)
            kind = "select_slider" if name == "slider" and proto.options else name
            shown = Shown(kind, proto, message.delta.fragment_id, self._run, message.metadata.active_script_hash)
            self._elements[path] = shown
            self._adopt(shown)
            if name == "exception":
                self.exceptions.append(f"{shown.proto.type}: {shown.proto.message}")

    def _adopt(self, shown: Shown) -> None:
        """Take over the value that a widget starts with, or that the script gave it."""
        if shown.kind not in ("slider", "number_input", "checkbox", "text_input"):
            return
        if shown.kind == "number_input" and not (shown.proto.set_value or shown.proto.HasField("default")):
            return  # it is empty
        new = shown.id not in self._states
        if new or shown.proto.set_value:
            value = shown.proto.value if shown.proto.set_value else shown.proto.default
            if shown.kind == "slider":
                value = list(value)
            SETTERS[shown.kind](self._state(shown), value)

    def _state(self, widget: Shown) -> WidgetState:
        return self._states.setdefault(widget.id, WidgetState(id=widget.id))

    def _put_in_address(self, widget: Shown, value: Any) -> None:
        key = getattr(widget.proto, "query_param_key", "")
        if key:
            address = dict(parse_qsl(self.query_string))
            default = widget.proto.default
            if value == (next(iter(default)) if widget.kind == "slider" else default):
                address.pop(key, None)
            else:
                address[key] = str(value).lower() if isinstance(value, bool) else str(value)
            self.query_string = urlencode(address)

    def _finish(self, status: int) -> None:
        whole = status == ForwardMsg.FINISHED_SUCCESSFULLY
        fragment = status == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
        if whole:
            self.finished = time.perf_counter()
        if fragment:
            self.fragment_reruns.append(time.perf_counter())
        if whole or fragment:
            self._forget_what_was_not_sent_again(whole)
        if self._waiting is None or self._waiting[0].done():
            return
        done, run_before, awaited = self._waiting
        if status == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
            done.set_exception(ScriptFailed("the script has an error; see the log of the server"))
        elif self._run > run_before and (whole or (fragment and awaited in self._run_fragments)):
            done.set_result(time.perf_counter())

    def _forget_what_was_not_sent_again(self, whole: bool) -> None:
        """Of the whole page, or of the fragments that ran and of all that stood in their containers before."""

        def belongs(path: tuple[int, ...], shown: Shown) -> bool:
            if whole or shown.fragment_id in self._run_fragments:
                return True
            return any(path[:length] in self._run_blocks for length in range(1, len(path)))

        self._elements = {
            path: shown for path, shown in self._elements.items() if shown.run == self._run or not belongs(path, shown)
        }
        shown = {shown.id for shown in self._elements.values()}
        self._states = {widget_id: state for widget_id, state in self._states.items() if widget_id in shown}
        if whole:
            self._cache = {name: (run, kept) for name, (run, kept) in self._cache.items() if run >= self._run - 2}

    def _start_ticker(self, fragment_id: str, interval: float) -> None:
        if fragment_id in self._tickers and self._tickers[fragment_id][0] == interval:
            return  # it goes on as before
        self._stop_tickers(fragment_id)
        self._tickers[fragment_id] = (interval, asyncio.create_task(self._tick(fragment_id, interval)))

    async def _tick(self, fragment_id: str, interval: float) -> None:
        while True:
            await asyncio.sleep(interval)
            message = self.message(fragment_id=fragment_id)
            message.rerun_script.is_auto_rerun = True
            await self.send(message.SerializeToString())
            self.unasked += 1

    def _stop_tickers(self, *fragment_ids: str) -> None:
        for fragment_id in fragment_ids or tuple(self._tickers):
            if fragment_id in self._tickers:
                self._tickers.pop(fragment_id)[1].cancel()


def exceptions_on(session: Session) -> Iterator[str]:
    """The errors that a page shows its visitor."""
    for shown in session.elements("exception"):
        yield f"{shown.proto.type}: {shown.proto.message}"
