"""What a plan says to the steps of its kernel."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ontoweir.checker.normal_form import NormalForm
from ontoweir.checker.plan import Table

Members = frozenset[int]


@dataclass(frozen=True, slots=True)
class PlanView:
    """A plan's normal form and its tables by their members; `bag`: multiplicities count."""

    form: NormalForm
    tables: Mapping[Members, Table]

    @property
    def bag(self) -> bool:
        """Whether the query counts matches (else it asks for distinct answers)."""
        return not self.form.distinct


def number(number: int | Fraction) -> int | float:
    """A limit as numpy wants it: whole where it is whole."""
    return int(number) if number == int(number) else float(number)
