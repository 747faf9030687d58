"""Whose request it is: the peer, or whom a named proxy names; never what a stranger writes."""

import pytest
from replicas import awaited
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from attention_ui.process.addresses import PROXIES, sender


async def asked(peer, trusted, *headers):
    """What uvicorn makes of the peer, and then the app."""
    seen = []

    async def app(scope, *_):
        forwarded = [value.decode() for name, value in scope["headers"] if name == b"x-forwarded-for"]
        seen.append(sender(scope["client"][0], forwarded))

    scope = {"type": "http", "client": (peer, 1), "headers": [(b"x-forwarded-for", text.encode()) for text in headers]}
    await ProxyHeadersMiddleware(app, trusted)(scope, None, None)
    return seen[0]


@pytest.mark.parametrize(
    ("peer", "named", "headers", "who"),
    [
        ("9.9.9.9", None, (), "9.9.9.9"),
        ("9.9.9.9", None, ("1.1.1.1",), "9.9.9.9"),  # a stranger writes what he likes
        ("127.0.0.1", None, ("1.1.1.1",), "127.0.0.1"),  # nobody has named a proxy on this machine
        ("127.0.0.2", None, (), "127.0.0.2"),
        ("10.0.0.5", "10.0.0.5", ("1.1.1.1",), "1.1.1.1"),
        ("10.0.0.5", "10.0.0.0/24", ("1.1.1.1, 2.2.2.2",), "2.2.2.2"),  # the proxy has written the last one
        ("10.0.0.5", "10.0.0.0/24", ("1.1.1.1", "2.2.2.2"), "2.2.2.2"),
        ("10.0.0.5", "10.0.0.5,10.0.0.6", ("1.1.1.1, 2.2.2.2, 10.0.0.6",), "2.2.2.2"),  # two proxies, both named
        ("9.9.9.9", "10.0.0.5", ("1.1.1.1",), "9.9.9.9"),
        ("127.0.0.1", "127.0.0.1", ("2.2.2.2",), "2.2.2.2"),
        ("::ffff:9.9.9.9", None, (), "9.9.9.9"),
        ("2001:db8:1:2:3:4:5:6", None, (), "2001:db8:1:2::/64"),  # whoever has one has all of its network
        ("2001:db8:1:2::9", None, (), "2001:db8:1:2::/64"),
    ],
)
def test_who_asks(peer, named, headers, who, monkeypatch):
    monkeypatch.delenv(PROXIES, raising=False)
    if named:
        monkeypatch.setenv(PROXIES, named)
    assert awaited(asked(peer, named or "127.0.0.1,::1", *headers)) == who


def test_without_a_peer_it_is_this_machine():
    assert sender(None, ()) == "127.0.0.1"
