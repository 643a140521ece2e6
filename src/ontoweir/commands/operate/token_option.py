"""`--token` and `--allow-changes`, which `ui` and `run` share."""

import argparse
import os

from ontoweir.errors import Source, UsageError

_SHORTEST = 16
"""Characters of a token, at least."""


def add_token_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--token` and `--allow-changes`."""
    parser.add_argument(
        "--allow-changes",
        action="store_true",
        help="let the dashboard register and drop queries",
    )
    parser.add_argument(
        "--token",
        metavar="TEXT|env:NAME",
        help="what whoever asks the dashboard must know (default: nothing where only this machine "
        "reaches it, else a token that is made and printed)",
    )


def read_token(text: str | None, host: str) -> str | None:
    """The token of a dashboard that listens on a host (None: it has none).

    Raises:
        UsageError: it is too short, or no variable.
    """
    from ontoweir.dashboard.access.guard_requests import is_local
    from ontoweir.dashboard.access.hold_token import make_token

    if text is None:
        return None if is_local(host) else make_token()
    token = os.environ.get(text[4:], "") if text.startswith("env:") else text
    if len(token) < _SHORTEST or not token.isascii() or not token.isprintable():
        raise UsageError(
            f"--token {text if text.startswith('env:') else '…'} is no token",
            why=f"a token is at least {_SHORTEST} printable characters of ASCII, so that nobody "
            "guesses it",
            fix="leave it out, then one is made; or write --token env:NAME, and set the variable",
            source=Source("--token"),
        )
    return token
