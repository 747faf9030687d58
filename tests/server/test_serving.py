"""What goes over the wire, in a real server and a real browser."""

import asyncio
import base64
import gzip
import hashlib
import re

import pytest
from replicas import awaited
from starlette.datastructures import Headers

from attention_ui.server.files import OF_CHARTS, PackedFiles, accepts_gzip, pack
from attention_ui.server.headers import PrivateMetrics, SecurityHeaders, content_security_policy, frame_ancestors
from attention_ui.server.runner import runner_page, runner_version
from tests.figures import PICTURE

INDEX = "<html><head><script>\n window.x = 1\n</script><script src='./a.js'></script></head></html>"


def script_of(server):
    page = server.get("/").body.decode()
    return "/" + page.split('<script type="module" crossorigin src="./')[1].split('"')[0]


@pytest.mark.parametrize("path", ["/", "/train", "/no/such/page", "/_stcore/agent/none", "/_stcore/health", "/healthz"])
def test_every_answer_carries_the_headers(server, path):
    answer = server.get(path)
    assert answer.status == (404 if path.endswith("none") else 200)
    assert_guarded(answer)


def test_a_browser_never_keeps_a_page_with_an_old_policy(server):
    page = server.get("/")
    assert page.headers["ETag"] is page.headers["Last-Modified"] is None
    assert page.headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("accepted", ["gzip", "identity"])
def test_scripts_carry_them_too_packed_or_not(server, accepted):
    assert_guarded(server.get(script_of(server), Accept_Encoding=accepted))


def assert_guarded(answer):
    policy = answer.headers["Content-Security-Policy"]
    assert "frame-ancestors 'self'" in policy and "object-src 'none'" in policy
    assert "unsafe-eval" not in policy.replace("wasm-unsafe-eval", "")
    assert "unsafe-inline" not in policy.split("script-src")[1].split(";")[0]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    assert "camera=()" in answer.headers["Permissions-Policy"]


def test_scripts_are_packed_for_those_who_can_unpack(server):
    script = script_of(server)
    plain = server.get(script, Accept_Encoding="identity")
    packed = server.get(script, Accept_Encoding="br, gzip")
    assert plain.headers["Content-Encoding"] is None
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["Vary"] == "Accept-Encoding"
    assert packed.headers["Cache-Control"] == plain.headers["Cache-Control"]
    assert gzip.decompress(packed.body) == plain.body
    assert len(packed.body) < 0.4 * len(plain.body)
    assert server.get(script, Accept_Encoding="gzip;q=0").headers["Content-Encoding"] is None
    part = server.get(script, Accept_Encoding="gzip", Range="bytes=0-9")
    assert (part.status, part.body) == (206, plain.body[:10])
    assert server.get(script, Accept_Encoding="gzip", If_None_Match=packed.headers["ETag"]).status == 304


def test_the_start_page_says_which_scripts_draw_charts(server):
    named = re.findall(r"<\./(static/js/[^>]+)>; rel=modulepreload", server.get("/softmax").headers["Link"])
    assert len(named) == len(OF_CHARTS), "Streamlit calls its scripts by other names"
    assert all(server.get(f"/{name}").status == 200 for name in named)
    assert any(b"vega-lite" in server.get(f"/{name}", Accept_Encoding="identity").body for name in named)
    assert server.get("/healthz").headers["Link"] is None


@pytest.mark.parametrize(
    "offer, takes",
    [("gzip", True), ("br, GZIP;q=0.5", True), ("*", True), ("gzip; q=0", False), ("br", False), ("", False)],
)
def test_reading_what_a_browser_can_unpack(offer, takes):
    assert accepts_gzip(Headers({"accept-encoding": offer})) is takes


def packed_files(tmp_path, monkeypatch):
    (tmp_path / "js").mkdir()
    for name in "abc":
        (tmp_path / "js" / f"{name}.js").write_bytes(name.encode() + bytes(range(256)) * 5)
    packs = []
    monkeypatch.setattr("attention_ui.server.files.pack", lambda file: packs.append(file.stem) or pack(file))
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "d.js").write_bytes(b"d" * 1000)
    return PackedFiles(None, tmp_path, {"lab.own_1": tmp_path / "own"}), packs


def fetched(middleware, *names):
    async def fetch_all():
        return [await asyncio.gather(*(middleware._packed(f"js/{name}.js") for name in group)) for group in names]

    return awaited(fetch_all())


def test_a_file_is_packed_once_however_many_ask_at_the_same_time(tmp_path, monkeypatch):
    middleware, packs = packed_files(tmp_path, monkeypatch)
    first, second = fetched(middleware, "aaaaaaaa", "a")
    assert packs == ["a"]
    assert len({*first, *second}) == 1


def test_only_the_files_that_were_there_are_served(tmp_path, monkeypatch):
    middleware, _ = packed_files(tmp_path, monkeypatch)
    ask = {"type": "http", "method": "GET", "headers": [(b"accept-encoding", b"gzip")]}
    assert middleware._asked_for({**ask, "path": "/static/js/a.js"}) == "js/a.js"
    assert middleware._asked_for({**ask, "path": "/lab/static/js/a.js"}) == "js/a.js"
    own = "/_stcore/bidi-components/lab.own_1/d.js"
    assert middleware._asked_for({**ask, "path": own}) == "lab.own_1/d.js"
    assert middleware._asked_for({**ask, "path": own.replace("own_1", "own_2")}) is None, "an older version"
    for path in ("/static/js/../js/a.js", "/static/js/z.js", "/js/a.js", "/static/media/a.woff2"):
        assert middleware._asked_for({**ask, "path": path}) is None
    assert middleware._asked_for({**ask, "path": "/static/js/a.js", "method": "POST"}) is None
    assert middleware._asked_for({"type": "websocket", "path": "/static/js/a.js"}) is None


def test_the_policy_names_inline_scripts_by_their_hash():
    digest = base64.b64encode(hashlib.sha256(b"\n window.x = 1\n").digest()).decode()
    assert f"'sha256-{digest}'" in content_security_policy(INDEX)


def test_a_learning_platform_may_be_allowed_to_embed(monkeypatch):
    monkeypatch.setenv("ATTENTION_LAB_FRAME_ANCESTORS", "'self' https://moodle.example.edu https://*.example.org:8443")
    headers = SecurityHeaders(None, INDEX).headers
    policy = headers["Content-Security-Policy"]
    assert policy.endswith("frame-ancestors 'self' https://moodle.example.edu https://*.example.org:8443")
    assert "X-Frame-Options" not in headers
    assert SecurityHeaders(None, INDEX, "'none'").headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("wrong", ["moodle", "https://a.b; script-src *", "https://a.b/course", "*", "javascript:x"])
def test_what_is_no_origin_is_refused_in_a_sentence(wrong):
    with pytest.raises(ValueError, match="expects origins such as https://moodle"):
        frame_ancestors(wrong)


@pytest.mark.parametrize(
    "readers, client, headers, may",
    [
        ("loopback", "127.0.0.1", [], True),
        ("loopback", "::1", [], True),
        ("loopback", "::ffff:127.0.0.1", [], True),
        ("loopback", "127.0.0.1", [(b"x-forwarded-for", b"198.51.100.7")], False),
        ("loopback", "198.51.100.7", [], False),
        ("everyone", "198.51.100.7", [], True),
        ("nobody", "127.0.0.1", [], False),
    ],
)
def test_who_may_read_the_metrics(readers, client, headers, may):
    scope = {"type": "http", "client": (client, 5), "headers": headers}
    assert PrivateMetrics(None, readers).may_read(scope) is may


def test_the_metrics_in_the_server(server):
    assert b"active_sessions" in server.get("/_stcore/metrics").body
    assert server.get("/_stcore/metrics", X_Forwarded_For="198.51.100.7").status == 404


@pytest.mark.parametrize("path", ["/runner", "/lab/runner", f"/runner?v={runner_version()}&streamlitUrl=x"])
def test_the_page_that_runs_a_learners_code_may_do_less_than_any_other(server, path):
    answer = server.get(path, Accept_Encoding="gzip")
    policy = answer.headers["Content-Security-Policy"]
    assert answer.status == 200 and gzip.decompress(answer.body).decode() == runner_page()[0]
    assert policy.startswith("sandbox allow-scripts; default-src 'none'; ") and policy == runner_page()[1]
    assert "connect-src" not in policy and "http" not in policy and "allow-same-origin" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert ("immutable" in answer.headers["Cache-Control"]) is ("v=" in path)
    assert server.get(path, Accept_Encoding="identity").body.decode() == runner_page()[0]


def test_who_may_show_the_app_may_show_what_is_in_it(monkeypatch):
    monkeypatch.setenv("ATTENTION_LAB_FRAME_ANCESTORS", "https://moodle.example.edu")
    assert runner_page.__wrapped__()[1].endswith("frame-ancestors 'self' https://moodle.example.edu")


def test_healthz_says_that_the_server_can_compute(server):
    answer = server.get("/healthz")
    assert (answer.status, answer.body) == (200, b'{"status":"ok"}')
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.slow
def test_chromium_finds_nothing_against_the_policy(server, tab):
    page = tab()
    page.add_init_script(
        "window.against = []; document.addEventListener('securitypolicyviolation', "
        "e => window.against.push(`${e.violatedDirective} ${e.blockedURI}`))"
    )
    said = []
    page.on("console", lambda message: said.append(message.text))
    for path in ("", "softmax", "train?steps=100"):
        page.goto(f"{server.url}/{path}")
        page.wait_for_selector(PICTURE)
        for summary in page.locator("[data-testid=stExpander] summary").all():
            summary.click()
        if path.startswith("train"):
            page.get_by_role("button", name="Start", exact=True).click()
            page.wait_for_function("() => parseInt(document.querySelector('[data-testid=stProgress]').innerText) > 0")
        page.wait_for_timeout(500)
        assert page.evaluate("window.against") == [], path
    assert not [line for line in said if "Policy" in line]


def test_chromium_enforces_the_policy(server, tab):
    page = tab()
    page.goto(f"{server.url}/healthz")
    script = (
        "() => { const s = document.createElement('script'); s.text = 'window.ran = true'; document.body.append(s) }"
    )
    page.evaluate(script)
    assert page.evaluate("window.ran") is None
