"""Lines of sections and keys in a TOML text, best effort: TOML parsers give none."""

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache

from ontoweir.errors import Source

_HEADER = re.compile(r"\s*\[\[?\s*(?P<path>[^\]]+?)\s*\]\]?\s*(?:#.*)?")
_ENTRY = re.compile(
    r"""\s*(?P<path>(?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"))*)\s*="""
)
_INLINE = re.compile(r"""[{,]\s*(?P<key>[\w-]+|"[^"]*")\s*=""")


@dataclass(frozen=True, slots=True)
class TomlLines:
    """Where each dotted path is first written; `origins` are places outside the file (`--set`)."""

    file: str
    lines: dict[tuple[str, ...], int]
    origins: dict[tuple[str, ...], str]

    def place(self, *path: str) -> Source:
        """The place of `path`, else of its nearest enclosing section, else the file."""
        for size in range(len(path), 0, -1):
            if (origin := self.origins.get(path[:size])) is not None:
                return Source(origin)
            if (line := self.lines.get(path[:size])) is not None:
                return Source(self.file, line)
        return Source(self.file)


def locate_toml(text: str, file: str) -> TomlLines:
    """Scans `text` for `[section]` headers and `key =` entries."""
    lines: dict[tuple[str, ...], int] = {}
    section: tuple[str, ...] = ()
    current: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if (header := _HEADER.fullmatch(line)) is not None and "=" not in header["path"]:
            section = current = split_path(header["path"])
            for size in range(1, len(section) + 1):
                lines.setdefault(section[:size], number)
            continue
        if (entry := _ENTRY.match(line)) is not None:
            current = section + split_path(entry["path"])
            lines.setdefault(current, number)
        for inner in _INLINE.finditer(line):
            lines.setdefault((*current, *split_path(inner["key"])), number)
    return TomlLines(file, lines, {})


@lru_cache(maxsize=4096)
def split_path(text: str) -> tuple[str, ...]:
    """The parts of a dotted TOML key; quoted parts may hold dots.

    >>> split_path('streams."a.b".source')
    ('streams', 'a.b', 'source')
    """
    try:
        tree: object = tomllib.loads(f"{text} = 0")
    except tomllib.TOMLDecodeError:
        return tuple(part.strip() for part in text.split("."))
    parts: list[str] = []
    while isinstance(tree, dict) and tree:
        key, tree = next(iter(tree.items()))
        parts.append(str(key))
    return tuple(parts)
