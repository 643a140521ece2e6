"""What a plan says to the steps of its kernel."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ontoweir.checker.model.normal_form import NormalForm
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
