"""Serve the dashboard: for as long as the process lives, or in the process of a run."""

import logging
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, TypeAlias

from ontoweir.dashboard.access.guard_requests import is_local
from ontoweir.dashboard.site import Site
from ontoweir.errors import Source, UsageError

Wait: TypeAlias = Callable[[], None]
"""Waits until the server ends."""

PORT = 4080
HOST = "127.0.0.1"
_LOOK = 1.0
"""Seconds after which a signal is noticed that another thread than the one that waits has taken."""


def parse_address(text: str, option: str) -> tuple[str, int]:
    """`[HOST:]PORT`, the host 127.0.0.1 by default. Port 0 is any free port.

    Raises:
        UsageError: it is not an address.
    """
    parts = re.fullmatch(r"(?:(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):)?(\d{1,5})", text)
    if parts is None or int(parts[2]) > 65_535:
        raise UsageError(
            f"{option} {text!r} is not an address",
            why="an address is PORT or HOST:PORT, the port at most 65535",
            fix=f"write e.g. {option} {PORT}",
            source=Source(option),
        )
    host = HOST if parts[1] is None else parts[1].strip("[]")
    return host.lower(), int(parts[2])


def require_web() -> None:
    """Raise UsageError where the web framework is not installed."""
    try:
        import flask  # noqa: F401
        import waitress  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"the dashboard needs {error.name or 'a web framework'}, which is not installed",
            why="it comes with the extra `ui`, which other commands do not need",
            fix="run `pip install 'ontoweir[ui]'`, or `pip install flask waitress`",
        ) from None


@contextmanager
def serve_dashboard(site: Site, port: int) -> Iterator[tuple[str, Wait]]:
    """Listen, and answer in threads while the block runs.

    Gives the address to open, and a function that waits until the server ends.

    Raises:
        UsageError: the address cannot be listened on, or the framework is missing.
    """
    require_web()
    from waitress.server import create_server

    from ontoweir.dashboard.check_queries import Checks
    from ontoweir.dashboard.make_app import make_app

    try:
        listening = _listen(site.host, port)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {site.host}:{port}: {error.strerror or error}",
            why="the address is in use, or not of this machine",
            fix="name another port, or 0 for any free port",
        ) from None
    closing = Event()
    checks = Checks(site.project, site.overrides, strict=site.strict, limit=site.limit)
    server: Any = create_server(
        make_app(site, checks, closing),
        sockets=[listening],
        threads=8,
        ident=None,
        max_request_body_size=1 << 18,
        max_request_header_size=1 << 15,
        connection_limit=100,
    )
    # that requests wait a moment for a thread is not worth a line
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    ended = Event()

    def run() -> None:
        try:
            server.run()
        finally:
            ended.set()

    def wait() -> None:
        while not ended.wait(_LOOK):  # not join: interrupted, it takes the thread as ended
            pass

    thread = Thread(target=run, name="ontoweir dashboard", daemon=True)
    thread.start()
    shown = f"[{site.host}]" if ":" in site.host else site.host
    entry = "" if site.token is None else f"?token={site.token}"
    try:
        yield f"http://{shown}:{server.effective_port}/{entry}", wait
    finally:
        closing.set()
        server.task_dispatcher.shutdown()  # answers under way still wake the loop
        server.trigger.pull_trigger(lambda: _finish(server))
        thread.join(timeout=5)  # longer only if somebody does not read his answer
        server.close()
        checks.close()


def _finish(server: Any) -> None:
    """In the server's loop: it ends when all answers are sent. What it waits for is closed after
    it: closed files would be an error to it, and to whoever wakes it."""
    server.del_channel()
    server.trigger.del_channel()
    for channel in list(server.active_channels.values()):
        channel.close_when_flushed = True


def _listen(host: str, port: int) -> socket.socket:
    """A socket at an address.

    Raises:
        OSError: it is not to be had.
    """
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(128)
    except OSError:
        made.close()
        raise
    return made


def say_where(url: str, host: str) -> list[str]:
    """The message for stderr."""
    lines = [f"dashboard: {url}"]
    if not is_local(host):
        lines.append(
            f"warning: who reaches {host} and knows the token can read it and check queries, and "
            "nothing is encrypted; leave the host out to serve this machine alone"
        )
    return lines
