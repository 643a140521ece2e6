"""A token that whoever asks the dashboard must know, where others than this machine reach it."""

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

COOKIE = "ontoweir-token"
_OPEN = ("/healthz", "/style.css", "/static/icon.svg")
"""What is answered without: it says nothing of the project."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: its path, and what it brings that may be the token."""

    path: str
    authorization: str | None
    cookie: str | None
    argument: str | None


def make_token() -> str:
    """A token that nobody guesses: 192 bits, as text that addresses can have."""
    return secrets.token_urlsafe(24)


def allow_token(token: str | None, asked: Asked) -> bool:
    """Whether a request may be answered: it needs no token, or brings it.

    The token is in the header `Authorization: Bearer TOKEN` (programs), in the argument `token`
    (the address that is opened first), or in the cookie that this sets (pages).
    """
    if token is None or asked.path in _OPEN:
        return True
    scheme, _, bearer = (asked.authorization or "").partition(" ")
    brought = (bearer.strip() if scheme.lower() == "bearer" else None, asked.cookie, asked.argument)
    return any(b is not None and _same(b, token) for b in brought)


def strip_token(path: str, arguments: Mapping[str, str]) -> str:
    """An address without the token in it, to which a browser is sent on."""
    rest = [f"{quote(k)}={quote(v)}" for k, v in arguments.items() if k != "token"]
    return f"{path}?{'&'.join(rest)}" if rest else path


def _same(brought: str, token: str) -> bool:
    return hmac.compare_digest(brought.encode("utf-8", "replace"), token.encode())
