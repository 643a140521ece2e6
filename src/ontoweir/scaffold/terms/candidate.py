"""A term of an ontology that may be that of a table or a column."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, TypeAlias

Part: TypeAlias = Literal["class", "entity", "about", "column", "link"]
"""What a term would be, as `Terms` has it: of a table its class; of what rows are about the class,
and the property that leads there; the property of a column; one from a row to what it names."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A term for a part of a table. `grade`: the less, the better; `because`: the evidence;
    `doubt`: why it is not taken unasked (None: it is)."""

    part: Part
    table: str
    column: str | None
    term: str
    grade: int
    because: str
    doubt: str | None = None

    @property
    def place(self) -> str:
        """What the term would be of."""
        name = self.table if self.column is None else f"{self.table}.{self.column}"
        return f"what {name} names" if self.part in ("entity", "link", "about") else name


def rank_candidates(found: Sequence[Candidate]) -> list[Candidate]:
    """Candidates, the best of each part first. Where two fit equally well, both are doubted, and
    so is all that fits less; as is a term that fits two columns of a table."""
    kept: list[Candidate] = []
    for _, group in groupby(found, key=lambda c: (c.part, c.table, c.column)):
        ranked = sorted(group, key=lambda c: (c.doubt is not None, c.grade, c.term))
        best = [c for c in ranked if c.doubt is None and c.grade == ranked[0].grade]
        if len(best) > 1:
            both = " and ".join(c.term for c in best[:2])
            ranked = [replace(c, doubt=c.doubt or f"{both} fit equally well") for c in ranked]
        kept += ranked
    return [_doubt_shared(one, kept) for one in kept]


def _doubt_shared(one: Candidate, kept: Sequence[Candidate]) -> Candidate:
    """A candidate, doubted if another column of the table fits its term as well or better."""
    if one.part not in ("column", "link"):
        return one
    rivals = (
        c.column
        for c in kept
        if (c.part, c.table, c.term) == (one.part, one.table, one.term)
        and c.column != one.column
        and c.grade <= one.grade
    )
    rival = next(rivals, None)
    if rival is None:
        return one
    return replace(one, doubt=one.doubt or f"it fits {one.table}.{rival} as well")
