"""The answers among the rows of a query of which some only end others."""

from collections.abc import Iterable

from ontoweir.mappings.model.catalog import IntType
from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.rewriter.model.spj import ConstantOutput, SpjQuery

ANSWER = ConstantOutput("0", is_iri=False, kind=IntType())
ENDER = ConstantOutput("1", is_iri=False, kind=IntType())
"""What rows have as `Standing.ender`."""


def answers_of(disjuncts: Iterable[SpjQuery], standing: Standing | None) -> tuple[SpjQuery, ...]:
    """The disjuncts whose rows are answers; all of them where none only ends others."""
    if standing is None or standing.ender is None:
        return tuple(disjuncts)
    return tuple(q for q in disjuncts if dict(q.outputs)[standing.ender] == ANSWER)
