"""Diagnostics: what a verdict rests on, as data; rendering is elsewhere."""

from dataclasses import dataclass

from ontoweir.errors import Source


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A sentence with a code, a hint, the place to look at, and the mapping and axiom to blame.

    `because`: the diagnostics this one follows from.
    """

    code: str
    message: str
    hint: str
    source: Source | None = None
    mapping: str | None = None
    mapping_source: Source | None = None
    axiom: str | None = None
    axiom_source: Source | None = None
    because: tuple["Diagnostic", ...] = ()


CODES = {
    "E1": "OW201",
    "E2": "OW202",
    "E3": "OW203",
    "C1": "OW211",
    "C2": "OW212",
    "C3": "OW213",
    "G1": "OW221",
}
"""The code of a violated condition of the lag criterion."""
