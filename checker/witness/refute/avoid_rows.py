"""Answers whose own rows are none of those that must not be beside them."""

from collections.abc import Iterator
from dataclasses import replace

from ontoweir.rewriter.algebra.equality_classes import condition_attributes
from ontoweir.rewriter.expressions.compare_rows import NEGATED
from ontoweir.rewriter.model.spj import (
    Absence,
    Attribute,
    Compare,
    Condition,
    Constant,
    Occurrence,
    SpjUnion,
)


def avoid_rows(opened: SpjUnion, absence: Absence, found: SpjUnion) -> Iterator[SpjUnion]:
    """The answers, beside which something must not be, whose rows of a stream are not what must
    not be: of many such answers one does not keep the other from being one.

    Args:
        opened: the answers, of rows.
        absence: what must not be beside them.
        found: the answers' query, whose aliases `absence` has.
    """
    around = {o for query in found.disjuncts for o in query.occurrences}
    for part in absence.parts:
        for query in () if part.present else part.hits.disjuncts:
            for own in (o for o in query.occurrences if o not in around):
                for condition in query.conditions:
                    if _is_local(condition, own):
                        assert isinstance(condition, Compare)
                        yield from _avoid(opened, own, condition)


def _is_local(condition: Condition, own: Occurrence) -> bool:
    """Whether it compares a column of a row with a constant."""
    local = all(a.alias == own.alias for a in condition_attributes(condition))
    return local and isinstance(condition, Compare) and isinstance(condition.right, Constant)


def _avoid(opened: SpjUnion, own: Occurrence, condition: Compare) -> Iterator[SpjUnion]:
    """The answers, of whose rows none that is of the same stream fulfils a condition."""
    disjuncts = []
    for query in opened.disjuncts:
        more = [
            replace(
                condition, left=Attribute(o.alias, condition.left.column), op=NEGATED[condition.op]
            )
            for o in query.occurrences
            if o.table == own.table
        ]
        if more:
            disjuncts.append(replace(query, conditions=(*query.conditions, *more)))
    if disjuncts:
        yield replace(opened, disjuncts=tuple(disjuncts))
