"""What a plan says to the steps of its kernel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ontoweir.checker.model.normal_form import NormalForm, TimeLimit
from ontoweir.checker.model.plan import Frontier, SynopsisTable
from ontoweir.runtime.columnar.frame import Array

Members = frozenset[int]


@dataclass(frozen=True, slots=True)
class PlanView:
    """A plan's normal form and its tables by their members; `bag`: multiplicities count."""

    form: NormalForm
    tables: Mapping[Members, SynopsisTable]

    @property
    def bag(self) -> bool:
        """Whether the query counts matches (else it asks for distinct answers)."""
        return not self.form.distinct

    def is_latest(self, member: int, members: Members) -> bool:
        """Whether a member's tuple always completes a match of `members`."""
        lags = [self.form.lag[member][j] for j in members if j != member]
        return all(lag is not None and lag <= 0 for lag in lags)

    def have_unequal_times(self, past: Members, now: Members) -> bool:
        """Whether a time of a past member must differ from one of the marker."""
        return any(
            d.steps != 0 and {d.left, d.right} & past and {d.left, d.right} & now
            for d in self.form.time_differences
        )

    def bias(self, frontier: Frontier) -> int:
        """What is to be added to a frontier value as it is kept. Of whole numbers, one whose terms
        are negative is kept as one less: so the least number of 64 bits has a place too."""
        return frontier_bias(frontier, self.form)


def frontier_bias(frontier: Frontier, form: NormalForm) -> int:
    """As PlanView.bias."""
    dense = any(form.classes[term.value].grain == 0 for term in frontier.terms)
    return 1 if frontier.terms[0].sign < 0 and not dense else 0


def turn(column: Array, sign: int) -> tuple[Array, int]:
    """A column times a sign, and what is to be added to the result: of whole numbers -x = ~x + 1,
    and ~x always fits."""
    if sign > 0:
        return column, 0
    return (~column, 1) if column.dtype == np.int64 else (-column, 0)


def find_window(
    table: SynopsisTable, now: Members, times: Sequence[TimeLimit]
) -> tuple[int | None, int] | None:
    """(c, d) where matches from now - c to now - d qualify, by one kept timestamp."""
    if not table.kept:
        return (None, 1)
    if len(table.kept) > 1:
        return None
    member = table.kept[0].member
    uppers = [t.steps for t in times if t.earlier == member and t.later in now]
    lowers = [-t.steps for t in times if t.later == member and t.earlier in now]
    return (min(uppers) if uppers else None, max([1, *lowers]))
