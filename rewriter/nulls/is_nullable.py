"""Whether NULL is shown of a column."""

from ontoweir.mappings.expressions.may_be_null import may_be_null
from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.mappings.model.never_null import never_null
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.rewriter.model.spj import LiteralOutput, NullOutput, SpjUnion

_COUNTS = (AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT)


def is_nullable(table: Stream | Relation, name: str) -> bool:
    """Whether a column is declared nullable, or is computed and may be NULL where the columns have
    values that are not declared so."""
    column = table.column(name)
    if column is None or column.bucket is not None or name in never_null(table):
        return False
    if column.expression is None:
        return column.nullable
    valued = {c.name for c in table.columns if not c.nullable}
    return may_be_null(column.expression, never_null(table) | valued)


def list_nullable_names(union: SpjUnion, catalog: Catalog) -> frozenset[str]:
    """The variables of a query, and the aggregates, of which NULL is shown in its answers."""
    names = set()
    for query in union.disjuncts:
        of = {o.alias: catalog.table(o.table) for o in query.occurrences}
        for name, output in query.outputs:
            attribute = output.value if isinstance(output, LiteralOutput | NullOutput) else None
            if attribute is not None and is_nullable(of[attribute.alias], attribute.column):
                names.add(name)
    if union.aggregation is not None:
        names.update(
            a.name
            for a in union.aggregation.aggregates
            if a.argument in names and a.function not in _COUNTS
        )
    return frozenset(names)
