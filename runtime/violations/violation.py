"""What is wrong in the rows of a table: how many, why, and where some of them are."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from ontoweir.runtime.columnar.frame import Array

SHOWN = 3
"""So many rows are shown of each violation."""


@dataclass(frozen=True, slots=True)
class Found:
    """Rows of one file that are wrong for one reason.

    `numbers`: theirs in the file (from 1, with a CSV's header), one for each row; `times`: their
    timestamps in µs, and `timed`: which have one; `rows`: their columns, in their declared types
    (NULL where a value is not of its type).
    """

    reason: str
    file: str
    numbers: Array
    times: Array
    timed: Array
    rows: pa.Table


@dataclass(frozen=True, slots=True)
class Example:
    """A row that is wrong: `number`: of Found; `values`: by column, as the file has them."""

    file: str
    number: int
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Violation:
    """`rows` rows of a table are wrong for a `reason`; some of them; `fix`: the declaration that
    would be true of them, where one is known."""

    reason: str
    rows: int
    examples: tuple[Example, ...]
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class TableViolations:
    """What is wrong in a table: of the `rows` rows that were looked at; `whole`: they are all."""

    table: str
    rows: int
    whole: bool
    violations: tuple[Violation, ...]

    @property
    def wrong(self) -> int:
        """How many rows are wrong; each is so for one reason."""
        return sum(v.rows for v in self.violations)
