"""Write a message as a line of JSON, as it was sent."""

import json
from collections.abc import Mapping


def write_line(payload: bytes, levels: Mapping[str, str]) -> bytes:
    r"""A message's line, without its end: the object that it is, as it is written, with the levels
    of its topic that have names which it has no member of.

    What is no JSON object is written as text: readers reject that line, and show it.

    Args:
        payload: the message.
        levels: by name, levels of its topic.

    >>> write_line(b'{"t": 1.50}', {"device": "d7"})
    b'{"t": 1.50, "device": "d7"}'
    >>> write_line(b'{"t":1}\n{"t":2}', {"device": "d7"})
    b'"{\\"t\\":1}\\n{\\"t\\":2}"'
    """
    try:
        text = payload.decode()
        value = json.loads(text)
    except (ValueError, RecursionError):  # not UTF-8, not JSON, or too deep
        value = None
    if not isinstance(value, dict):
        return json.dumps(payload.decode("utf-8", "backslashreplace")).encode()
    # between tokens alone can there be ends of lines: in a string they are escaped
    line = text.strip(" \t\r\n").replace("\r", " ").replace("\n", " ")
    more = {name: level for name, level in levels.items() if name not in value}
    if more:
        line = f"{line[:-1]}{', ' if value else ''}{json.dumps(more, ensure_ascii=False)[1:]}"
    return line.encode()
