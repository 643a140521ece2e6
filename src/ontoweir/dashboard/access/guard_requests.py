"""Which requests are answered: from whom, under which name, and what answers may do."""

import ipaddress
import socket
from collections.abc import Mapping

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; "
    "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Of every answer: nothing from other hosts, no inline script or style, in no other's frame."""


def is_local(address: str) -> bool:
    """Whether only this machine reaches an address."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def allow_host(header: str | None, address: str) -> bool:
    """Whether a Host header names a server that listens on `address`.

    A page of another host, whose name suddenly means this machine (DNS rebinding), sends its own
    name: so names are refused but those of this machine. Numbers cannot be rebound.
    """
    host = _host_of(header or "")
    if host is None:
        return False
    if host in ("localhost", address.lower()):
        return True
    if is_local(address):
        return is_local(host)
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host == socket.gethostname().lower()
    return True


def allow_origin(origin: str | None, site: str | None, host: str | None) -> bool:
    """Whether a request comes from one of our own pages, or from no page.

    Args:
        origin: the header Origin.
        site: the header Sec-Fetch-Site.
        host: the header Host, which is allowed.
    """
    if site is not None and site not in ("same-origin", "none"):
        return False
    return origin is None or origin == f"http://{host}"


def _host_of(header: str) -> str | None:
    """The host without its port, in lower case; None where it is not a host."""
    text = header.strip().lower()
    if text.startswith("["):
        host, bracket, port = text[1:].partition("]")
        port = port.removeprefix(":")
        if not bracket:
            return None
    else:
        host, _, port = text.partition(":")
    if not host or (port and not port.isdigit()) or set(host) - _ALLOWED:
        return None
    return host


_ALLOWED = set("abcdefghijklmnopqrstuvwxyz0123456789.-:_")
