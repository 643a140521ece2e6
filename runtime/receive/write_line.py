"""Write a message as a line of JSON, as it was sent."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime

_NONE = object()
_NO_NUMBERS = (float("inf"), float("-inf"))
"""Python reads `Infinity` and `NaN`; JSON has no such numbers."""


def write_line(payload: bytes, more: Mapping[str, str], value: str | None = None) -> bytes:
    r"""A message's line, without its end: the object that it is, as it is written, with what else
    is known of it and it has no members of these names for.

    What is no JSON object is written as text: readers reject that line, and show it.

    Args:
        payload: the message.
        more: by name, levels of its topic, and when it was received.
        value: the member that a message which is a number, a text or a boolean is (None: such
            messages are none).

    >>> write_line(b'{"t": 1.50}', {"device": "d7"})
    b'{"t": 1.50, "device": "d7"}'
    >>> write_line(b"1.50", {"device": "d7"}, "t")
    b'{"t": 1.50, "device": "d7"}'
    >>> write_line(b"open", {}, "state")
    b'{"state": "open"}'
    >>> write_line(b'{"t":1}\n{"t":2}', {"device": "d7"})
    b'"{\\"t\\":1}\\n{\\"t\\":2}"'
    """
    try:
        text = payload.decode()
    except ValueError:
        return json.dumps(payload.decode("utf-8", "backslashreplace")).encode()
    held = _read(text)
    if value is not None and text.strip() and not isinstance(held, dict | list):
        plain = held is _NONE or held in _NO_NUMBERS or held != held
        one = json.dumps(text, ensure_ascii=False) if plain else text.strip(" \t\r\n")
        text, held = f"{{{json.dumps(value, ensure_ascii=False)}: {one}}}", {value: held}
    if not isinstance(held, dict):
        return json.dumps(text).encode()
    # between tokens alone can there be ends of lines: in a string they are escaped
    line = text.strip(" \t\r\n").replace("\r", " ").replace("\n", " ")
    added = {name: level for name, level in more.items() if name not in held}
    if added:
        line = f"{line[:-1]}{', ' if held else ''}{json.dumps(added, ensure_ascii=False)[1:]}"
    return line.encode()


def write_moment(moment_us: int) -> str:
    """A time as lines have it, in microseconds since 1970.

    >>> write_moment(1_767_225_600_250_000)
    '2026-01-01T00:00:00.250000Z'
    """
    moment = datetime.fromtimestamp(moment_us // 1_000_000, UTC).replace(
        microsecond=moment_us % 1_000_000
    )
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _read(text: str) -> object:
    """The value that a text of JSON is (_NONE: it is none, or too deep)."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NONE
