"""Check that a row of a group, once given, still holds at the end."""

from dataclasses import replace

from ontoweir.errors import QueryError
from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.never_null import never_null
from ontoweir.rewriter.buckets.find_closing import find_closing
from ontoweir.rewriter.groups.find_closed_groups import find_closed_groups
from ontoweir.rewriter.groups.stays_true import stays_true
from ontoweir.rewriter.model.spj import NullOutput, SpjQuery, SpjUnion


def check_having(union: SpjUnion, catalog: Catalog) -> None:
    """Nothing, if no group's row that HAVING lets through stops satisfying it.

    A group of a bucket of time, or of values that a rule closes, has one row, which is final; what
    the groups of sliding windows are is told by changes. The rows of others are updates, and the
    last one is taken for what holds: a condition must stay true.

    Args:
        union: an aggregate query.
        catalog: with its views, buckets and derived columns.

    Raises:
        QueryError: a group may leave what HAVING lets through.
    """
    assert union.aggregation is not None
    having = union.aggregation.having
    if having is None or union.ends:  # changes say that a group is no answer any more
        return
    if not union.disjuncts:  # there are no groups
        return
    if find_closing(union, catalog) or stays_true(having, union, catalog):
        return
    real = replace(union, disjuncts=tuple(q for q in union.disjuncts if _may_be(q, catalog)))
    if any(True for _ in find_closed_groups(real, catalog)):  # split_by_keys sees to the rest
        return
    shown = write_expression(having).replace('"', "")
    raise QueryError(
        f"HAVING {shown} may hold of a group, and later not",
        why="the rows of a group are updates, of which the last one holds: none would say that the "
        "group is no answer any more",
        fix="group by a bucket of time too, whose rows are final; write a condition that stays "
        "true, as on COUNT, MIN and MAX, or on SUM of a column whose declared min is not "
        "negative; group rows of streams, not answers of a subquery, by a column, and such groups "
        "come and go; or select the aggregates, and compare them in the results",
        source=union.aggregation.having_source or union.source,
    )


def _may_be(query: SpjQuery, catalog: Catalog) -> bool:
    """Whether columns that are NULL in a disjunct may be."""
    tables = {o.alias: catalog.table(o.table) for o in query.occurrences}
    return not any(
        isinstance(output, NullOutput)
        and output.value.column in never_null(tables[output.value.alias])
        for _, output in query.outputs
    )
