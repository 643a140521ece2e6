"""Which of the columns that the mappings' SQL computes a query reads."""

from collections.abc import Iterable, Iterator

from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.model.expression import Expression
from ontoweir.rewriter.algebra.equality_classes import condition_attributes
from ontoweir.rewriter.model.spj import (
    SpjQuery,
    SpjUnion,
    ViewBranch,
    column_attributes,
    output_attributes,
)


def list_derived(
    union: SpjUnion, derived: Iterable[tuple[str, Expression]]
) -> tuple[tuple[str, Expression], ...]:
    """Those of some derived columns that disjuncts, or the branches of views, read: others are not
    computed."""
    known = {(table, write_expression(expression)): expression for table, expression in derived}
    if not known:
        return ()
    branches = (b for view in union.views for b in (*view.branches, *view.without))
    parts: tuple[SpjQuery | ViewBranch, ...] = (*union.disjuncts, *branches)
    read = {used for part in parts for used in _list_columns(part)}
    return tuple((table, e) for (table, name), e in known.items() if (table, name) in read)


def _list_columns(part: SpjQuery | ViewBranch) -> Iterator[tuple[str, str]]:
    """The columns that a query or a branch reads, by their tables."""
    tables = {o.alias: o.table for o in part.occurrences}
    used = [a for condition in part.conditions for a in condition_attributes(condition)]
    if isinstance(part, SpjQuery):
        used += [a for _, output in part.outputs for a in output_attributes(output)]
    else:
        used += [a for column in part.columns for a in column_attributes(column)]
    for attribute in used:
        yield tables[attribute.alias], attribute.column
