"""Parse one odd line of JSON as Spark's parser (Jackson, with Spark's settings) does."""

import json
import re
from collections.abc import Set

from ontoweir.runtime.text.convert_text import NotPlain
from ontoweir.runtime.text.open_packed import BYTE_ORDER_MARK

_BLANKS = " \t\r\n"
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*(?:"|$)', re.DOTALL)
_LENIENT = re.compile(r"'|\+[IN]|INF")
"""What Spark takes, and JSON does not: strings in single quotes, other names of infinity."""
_ODD_BYTES = re.compile(
    rb"[\xc0\xc1\xf5-\xff]|\xe0[\x80-\x9f]|\xf0[\x80-\x8f]|\xf4[\x90-\xbf]|\xed[\xa0-\xbf]"
)
"""Of what is not UTF-8, what its parser may take nevertheless."""

Cells = dict[str, str | None]


def parse_line(line: bytes, wanted: Set[str]) -> Cells | None:
    """The texts of the wanted members of the object that a line, not blank, begins with: of the
    last of a name. None: the line is not a JSON object.

    Raises:
        NotPlain: it is not certain what Spark would make of the line.
    """
    try:
        text = line.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "surrogateescape")
        return _parse_object(text, wanted)
    except (ValueError, IndexError):
        if _LENIENT.search(_STRING.sub("", text)) or _ODD_BYTES.search(line):
            raise NotPlain from None
        return None
    except RecursionError:
        raise NotPlain from None


def _parse_object(text: str, wanted: Set[str]) -> Cells:
    """
    Raises:
        ValueError, IndexError: it is not JSON.
    """
    at = _skip(text, 0)
    if text[at] == "[":
        raise NotPlain  # its elements would be rows
    _expect(text[at] == "{")
    cells: Cells = {}
    at = _skip(text, at + 1)
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        _expect(isinstance(name, str) and text[at] == ":")
        start = _skip(text, at + 1)
        value, stop = _DECODER.raw_decode(text, start)
        if name in wanted:
            raw = value if text[start] == '"' else text[start:stop]
            cells[name] = None if value is None else _replace_halves(raw)
        at = _skip(text, stop)
        if text[at] == ",":
            at = _skip(text, at + 1)
            _expect(text[at] == '"')
        else:
            _expect(text[at] == "}")
    _expect(not any("\udc80" <= c <= "\udcff" for c in text[:at]))  # what was not UTF-8
    return cells


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] and text[at] in _BLANKS:
        at += 1
    return at


def _expect(found: bool) -> None:
    if not found:
        raise ValueError


def _replace_halves(text: str) -> str:
    """Half of a surrogate pair is a question mark, as Java writes it."""
    return text.encode("utf-8", "replace").decode()
