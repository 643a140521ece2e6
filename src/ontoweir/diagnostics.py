"""Diagnostics: what a verdict rests on, as data; rendering is elsewhere."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ontoweir.errors import Source

LabelKind: TypeAlias = Literal["query", "mapping", "axiom", "catalog"]
"""Which of the user's files a label points into."""


@dataclass(frozen=True, slots=True)
class Label:
    """A place that a diagnostic points at, and what is to be seen there.

    `mark`: the part of the line to underline, where the place itself has no column.
    """

    kind: LabelKind
    source: Source
    text: str
    mark: str | None = None


@dataclass(frozen=True, slots=True)
class Reason:
    """A node of a because-tree: a fact, its place, and the reasons it follows from.

    A leaf (`because` empty) is something the user wrote, or left out; `hint` says what to write.
    """

    message: str
    label: Label | None = None
    hint: str | None = None
    because: tuple["Reason", ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A sentence with a code, a hint, the place to look at, and the mapping and axiom to blame.

    `labels`: every place involved. `because`: the tree down to the violated condition.
    """

    code: str
    message: str
    hint: str
    source: Source | None = None
    mapping: str | None = None
    mapping_source: Source | None = None
    axiom: str | None = None
    axiom_source: Source | None = None
    labels: tuple[Label, ...] = ()
    because: tuple[Reason, ...] = ()


CODES = {
    "E1": "OW201",
    "E2": "OW202",
    "E3": "OW203",
    "C1": "OW211",
    "C2": "OW212",
    "C3": "OW213",
    "G1": "OW214",
    "versions": "OW215",
    "declaration": "OW221",
    "warning": "OW231",
    "mapping": "OW232",
    "refused": "OW241",
    "plan": "OW299",
}
"""The code of a violated condition of the lag criterion; of versions of any number of keys; of a
declared constraint that a verdict rests on; of a warning about the input; of a mapping with
unbounded columns; of what is refused; and of a disjunct without a known plan."""
