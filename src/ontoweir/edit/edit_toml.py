"""Set a key of a TOML text without changing the rest, comments included."""

import copy
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from ontoweir.mappings.model.locate_toml import locate_toml

_STRING = re.compile(r'"{3}.*?"{3}|\'{3}.*?\'{3}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL)


def edit_toml(text: str, path: Sequence[str], value: str | Mapping[str, str]) -> str | None:
    """The text with a value, in TOML, at a dotted path; None where no small change sets it.

    Args:
        text: valid TOML.
        path: of the key; the sections above it are there already.
        value: a value, or the keys and values of an inline table.

    The result is parsed, and compared with the intended value.
    """
    written = value if isinstance(value, str) else write_table(value)
    wanted = copy.deepcopy(tomllib.loads(text))
    node: Any = wanted
    for key in path[:-1]:
        node = node.get(key) if isinstance(node, dict) else None
    if not isinstance(node, dict):
        return None
    node[path[-1]] = tomllib.loads(f"value = {written}")["value"]
    return _first(wanted, _candidates(text, tuple(path), value, written))


def _rewrite(text: str, path: Sequence[str], written: str, *, item: bool = False) -> Iterator[str]:
    """The text as tomlkit writes it with a value, or with the first item of a list: also where
    tables are inline, or keys dotted. It leaves no space before the brace of an inline table."""
    import tomlkit  # only where a declaration is written
    from tomlkit.exceptions import TOMLKitError

    document = tomlkit.parse(text)
    node: Any = document
    try:
        for key in path[:-1]:
            node = node[key]
        if item:
            node[path[-1]].insert(0, tomlkit.value(written))
        else:
            node[path[-1]] = tomlkit.value(written)
        made = tomlkit.dumps(document)
    except (TOMLKitError, KeyError, TypeError, AttributeError):
        return
    old = set(text.split("\n"))
    lines = made.split("\n")
    yield "\n".join(n if n in old else re.sub(r"(?<=[^\s{])}", " }", n) for n in lines)
    yield made


def _first(wanted: dict[str, Any], candidates: Iterator[str]) -> str | None:
    """The first of the texts that says what is wanted."""
    for candidate in candidates:
        try:
            if tomllib.loads(candidate) == wanted:
                return candidate
        except tomllib.TOMLDecodeError:
            continue
    return None


def prepend_item(text: str, path: Sequence[str], item: str) -> str | None:
    """The text with one more item, in TOML, at the beginning of a list, which need not be there
    yet; None where no small change does that."""
    node: Any = tomllib.loads(text)
    for key in path[:-1]:
        node = node.get(key) if isinstance(node, dict) else None
    if not isinstance(node, dict):
        return None
    if not node.get(path[-1]):
        return edit_toml(text, path, f"[{item}]")
    wanted = copy.deepcopy(tomllib.loads(text))
    value = wanted
    for key in path[:-1]:
        value = value[key]
    value[path[-1]].insert(0, tomllib.loads(f"value = {item}")["value"])
    longer = _longer_lists(text, tuple(path), item)
    return _first(wanted, chain(longer, _rewrite(text, path, item, item=True)))


def _longer_lists(text: str, path: tuple[str, ...], item: str) -> Iterator[str]:
    for begin in _values(text, path):
        if text[begin] == "[":
            gap = "" if text[begin + 1].isspace() else " "
            yield f"{text[: begin + 1]}{item},{gap}{text[begin + 1 :]}"


def add_in_item(text: str, path: Sequence[str], number: int, key: str, value: str) -> str | None:
    """The text with one more key, and its value in TOML, in a table of a list of tables, the one of
    this number; None where no small change does that."""
    wanted = copy.deepcopy(tomllib.loads(text))
    node: Any = wanted
    for above in path:
        node = node[above]
    node[number][key] = tomllib.loads(f"value = {value}")["value"]
    return _first(wanted, _longer_tables(text, f"{write_key(key)} = {value}"))


def _longer_tables(text: str, entry: str) -> Iterator[str]:
    """The text with an entry more, in each inline table, and in each table of a list."""
    for end in re.finditer(r"\s*\}", text):
        yield f"{text[: end.start()]}, {entry}{text[end.start() :]}"
    for head in re.finditer(r"^\[\[.*\n", text, re.MULTILINE):
        yield f"{text[: head.end()]}{entry}\n{text[head.end() :]}"


def write_key(name: str) -> str:
    """A key, in quotes where it has to be."""
    if re.fullmatch(r"[A-Za-z0-9_-]+", name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def write_table(entries: Mapping[str, str]) -> str:
    """An inline table."""
    return "{ " + ", ".join(f"{key} = {value}" for key, value in entries.items()) + " }"


def _candidates(
    text: str, path: tuple[str, ...], value: str | Mapping[str, str], written: str
) -> Iterator[str]:
    lines = text.split("\n")
    places = locate_toml(text, "").lines
    if path in places:
        for begin in _values(text, path):
            yield text[:begin] + written + text[_end(text, begin) :]
        if not isinstance(value, str):  # a section of its own
            whole: str | None = text
            for inner, content in value.items():
                whole = None if whole is None else edit_toml(whole, (*path, inner), content)
            if whole is not None:
                yield whole
        return
    above = places.get(path[:-1])
    if above is not None:
        yield "\n".join([*lines[:above], f"{write_key(path[-1])} = {written}", *lines[above:]])
    yield from _rewrite(text, path, written)


def _values(text: str, path: tuple[str, ...]) -> Iterator[int]:
    """Where the value of a key may begin, in the line of the key."""
    line = locate_toml(text, "").lines.get(path)
    if line is not None:
        lines = text.split("\n")
        start = sum(len(earlier) + 1 for earlier in lines[: line - 1])
        key = rf"(?<![\w-])[\"']?{re.escape(path[-1])}[\"']?\s*=\s*"
        for match in re.finditer(key, lines[line - 1]):
            yield start + match.end()


def _end(text: str, start: int) -> int:
    """Where the value that starts there ends."""
    depth, at, last = 0, start, start
    while at < len(text):
        string = _STRING.match(text, at)
        if string is not None:
            at = last = string.end()
            continue
        character = text[at]
        if character == "#" and depth:
            at = text.find("\n", at)
            if at < 0:
                break
            continue
        if depth == 0 and character in ",}]\n#":
            break
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(character, 0)
        at += 1
        if not character.isspace():
            last = at
    return last
