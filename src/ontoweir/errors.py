"""Errors for invalid input: one line `file:line: what; why; fix`, exit code 2, nothing written."""

from dataclasses import dataclass, field
from typing import Any


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
        what: what is wrong, concretely.
        why: why it matters or which rule it breaks.
        fix: what to write or do instead.
        source: where.
    """

    exit_code = 2

    def __init__(self, what: str, *, why: str, fix: str, source: Source | None = None) -> None:
        self.what, self.why, self.fix, self.source = what, why, fix, source
        super().__init__(what)

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors of other processes are raised here."""
        return _remake, (type(self), self.what, self.why, self.fix, self.source)

    def __str__(self) -> str:
        place = f"{self.source}: " if self.source is not None else ""
        text = f"{place}{self.what}; {self.why}; {self.fix}"
        return " ".join(text.split())


def _remake(
    kind: type[OntoweirError], what: str, why: str, fix: str, source: Source | None
) -> OntoweirError:
    return kind(what, why=why, fix=fix, source=source)


class UsageError(OntoweirError):
    """The command line or the API was called wrongly."""


class CatalogError(OntoweirError):
    """The project file (`ontoweir.toml`) is wrong."""


class OntologyError(OntoweirError):
    """An ontology file is wrong."""


class MappingError(OntoweirError):
    """A mapping file is wrong, or does not fit the catalog."""


class QueryError(OntoweirError):
    """A query is wrong, or outside the query language."""


class DataError(OntoweirError):
    """Data is missing, or breaks what the catalog declares."""


class RunError(OntoweirError):
    """Failed while running; state and output of finished markers are intact."""

    exit_code = 3
