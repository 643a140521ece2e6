"""Reads typed values out of a TOML table, and refuses wrong ones with their line."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from ontoweir.errors import CatalogError
from ontoweir.mappings.model.locate_toml import TomlLines


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A fix for an unknown name: the closest known one, or the known ones, twelve at most."""
    names = sorted(set(known))
    folded = {n.lower(): n for n in names}
    close = get_close_matches(name.lower(), list(folded), n=1)
    if close:
        return f"did you mean {folded[close[0]]!r}?"
    if not names:
        return "declare it first"
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return f"use one of: {', '.join(names[:12])}{more}"


_MOST = 1 << 53
"""What is declared is at most that: sums with what is counted of rows fit 64 bits."""


@dataclass(frozen=True, slots=True)
class TomlTable:
    """A TOML table at a dotted path of the project file."""

    values: Mapping[str, object]
    path: tuple[str, ...]
    lines: TomlLines

    def error(self, key: str | None, what: str, *, why: str, fix: str) -> CatalogError:
        """An error at `key` of this table (None: at the table)."""
        path = self.path if key is None else (*self.path, key)
        return CatalogError(what, why=why, fix=fix, source=self.lines.place(*path))

    def name(self, key: str | None = None) -> str:
        """The dotted path, for messages."""
        return ".".join(self.path if key is None else (*self.path, key))

    def refuse_unknown(self, known: tuple[str, ...]) -> None:
        """Refuses keys that are not `known`."""
        for key in self.values:
            if key not in known:
                raise self.error(
                    key,
                    f"unknown key {key!r} in [{self.name()}]",
                    why=f"known keys are {', '.join(known)}",
                    fix=did_you_mean(key, known),
                )

    def wrong(self, key: str, wanted: str) -> CatalogError:
        """The error for a value of the wrong type."""
        return self.error(
            key,
            f"{self.name(key)} is {self.values.get(key)!r}",
            why=f"it must be {wanted}",
            fix=f"write {wanted}",
        )

    def need(self, key: str, example: str) -> None:
        """Refuses a missing key."""
        if key not in self.values:
            raise self.error(
                None,
                f"[{self.name()}] has no {key}",
                why=f"{key} is required",
                fix=f"add {key} = {example}",
            )

    def text(self, key: str) -> str | None:
        """A string, or None when absent."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            raise self.wrong(key, "a string")
        return value

    def flag(self, key: str) -> bool:
        """A boolean, False when absent."""
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def count(self, key: str, *, least: int) -> int | None:
        """A whole number from `least` on that is counted to, or None when absent."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self.wrong(key, f"a whole number, {least} or more")
        if value > _MOST:
            raise self.wrong(key, f"{_MOST:,} at most")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings; a single string counts as a list of one; () when absent."""
        value = self.values.get(key, [])
        if isinstance(value, str):
            return (value,)
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise self.wrong(key, "a list of strings")
        return tuple(value)

    def items(self, key: str) -> list[object]:
        """A list, [] when absent."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            raise self.wrong(key, "a list")
        return list(value)

    def table(self, key: str) -> "TomlTable":
        """A table, empty when absent."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(key, "a table")
        return TomlTable(value, (*self.path, key), self.lines)
