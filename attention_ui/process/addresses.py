"""Whose request it is, for what one stranger may do: nobody can choose what stands here."""

import os
from collections.abc import Iterable
from ipaddress import ip_address, ip_network

PROXIES = "FORWARDED_ALLOW_IPS"  # the addresses and networks of the proxies in front, a setting of uvicorn's
THIS_MACHINE = "127.0.0.1"
NETWORK_BITS = 64  # of IPv6: whoever has one address has all of its network


def proxies_named() -> bool:
    """Whether the settings say which proxies stand in front."""
    return bool(os.environ.get(PROXIES))


def sender(peer: str | None, forwarded: Iterable[str]) -> str:
    """The address that a request comes from; of IPv6 its network. `forwarded` are the headers X-Forwarded-For.

    uvicorn has put what the last named proxy says in the place of the peer. Where none is named, it believes whatever
    is on this machine; a proxy there may hand on what a stranger has written, so then it is the machine that asks.
    """
    if peer is None:
        return THIS_MACHINE
    if not proxies_named() and any(peer in header for header in forwarded):
        return THIS_MACHINE
    try:
        address = ip_address(peer)
    except ValueError:
        return peer[:NETWORK_BITS]
    address = getattr(address, "ipv4_mapped", None) or address
    if address.version == 4:
        return str(address)
    return str(ip_network((address, NETWORK_BITS), strict=False))
