"""Errors for invalid input: one line `file:line: what; why; fix`, exit code 2, nothing written."""

import re
import sys
from dataclasses import dataclass, field
from typing import Any, Self

_LONG = re.compile(r"[^\s/]{200,}")
"""A word that is longer than the parts of any path."""


@dataclass(frozen=True, slots=True, order=True)
class Source:
    """A place in a user's file. `line` counts from 1; None where a format has no lines.

    `column`, `end_column`: the part of the line, in characters from 1, the end exclusive, where it
    is known. They are for showing: places that differ in them alone are equal.
    """

    file: str
    line: int | None = None
    column: int | None = field(default=None, compare=False)
    end_column: int | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


class OntoweirError(Exception):
    """Invalid input or usage.

    Args:
        what: the error, concretely.
        why: why it matters, or the rule that it violates.
        fix: what to write or do instead.
        source: its place.
    """

    exit_code = 2

    def __init__(self, what: str, *, why: str, fix: str, source: Source | None = None) -> None:
        self.what, self.why, self.fix = _shorten(what), _shorten(why), _shorten(fix)
        self.source = source
        super().__init__(self.what)

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors of other processes are raised here."""
        return _remake, (type(self), self.what, self.why, self.fix, self.source)

    def again(self) -> Self:
        """The same error, to be raised once more."""
        return type(self)(self.what, why=self.why, fix=self.fix, source=self.source)

    def _render_traceback_(self) -> list[str]:
        """What IPython and notebooks show: the user's line, and the error; no lines of ours."""
        from linecache import getline

        called, step = "", self.__traceback__
        while step is not None:
            name = step.tb_frame.f_globals.get("__name__", "")
            if name.partition(".")[0] == "ontoweir":
                break
            line = getline(step.tb_frame.f_code.co_filename, step.tb_lineno).strip()
            called, step = f"line {step.tb_lineno}: {line}", step.tb_next
        return [*([called] if called else []), f"{type(self).__name__}: {self}"]

    def __str__(self) -> str:
        place = f"{self.source}: " if self.source is not None else ""
        text = f"{place}{self.what}; {self.why}; {self.fix}"
        return " ".join(text.split())


def _shorten(text: str) -> str:
    """The text with very long words shortened in the middle."""
    return _LONG.sub(lambda word: f"{word[0][:60]}… ({len(word[0]):,} characters)", text)


def _remake(
    kind: type[OntoweirError], what: str, why: str, fix: str, source: Source | None
) -> OntoweirError:
    return kind(what, why=why, fix=fix, source=source)


class OntoweirWarning(UserWarning):
    """The input is accepted, but means less than it seems to; or much of the data is rejected."""


class UsageError(OntoweirError):
    """The command line or the API was called wrongly."""


class CatalogError(OntoweirError):
    """The project file (`ontoweir.toml`) has an error."""


class OntologyError(OntoweirError):
    """An ontology file has an error."""


class MappingError(OntoweirError):
    """A mapping file has an error, or does not fit the catalog."""


class QueryError(OntoweirError):
    """A query has an error, or is outside the query language."""


class DataError(OntoweirError):
    """Data is missing, or violates a declaration of the catalog."""


class RunError(OntoweirError):
    """Failed while running; state and output of finished markers are intact."""

    exit_code = 3


def with_article(noun: str) -> str:
    """A noun with its article, by its first letter.

    >>> with_article("alarm_code.id"), with_article("sensor.id")
    ('an alarm_code.id', 'a sensor.id')
    """
    return f"{'an' if noun[:1].lower() in tuple('aeiou') else 'a'} {noun}"


_NEEDED_BY = {
    "pyspark": ("runs live, replays long histories, and reads other formats", "pyspark"),
    "py4j": ("runs live, replays long histories, and reads other formats", "pyspark"),
    "pyarrow": ("reads data", "pyarrow numpy"),
    "numpy": ("reads data", "pyarrow numpy"),
    "flask": ("is the dashboard", "'ontoweir[ui]'"),
    "waitress": ("is the dashboard", "'ontoweir[ui]'"),
}
"""Packages that an installation may lack: what needs them, and what to install."""


def explain_missing(error: ModuleNotFoundError) -> UsageError | None:
    """The error of a package that this installation lacks (None: it is none of those known)."""
    package = (error.name or "").partition(".")[0]
    if package not in _NEEDED_BY:
        return None
    does, install = _NEEDED_BY[package]
    return UsageError(
        f"{package} is not installed",
        why=f"what {does} needs it; `check` and `rewrite` do not",
        fix=f"{sys.executable} -m pip install {install}",
    )
