"""Of which variables of a query NULL is shown."""

from ontoweir.mappings.expressions.may_be_null import is_nullable, may_be_null
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.rewriter.model.spj import LiteralOutput, NullOutput, SpjUnion
from ontoweir.rewriter.nulls.list_nullable import shows_null

_COUNTS = (AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT)


def list_nullable_names(union: SpjUnion, catalog: Catalog) -> frozenset[str]:
    """The variables of a query, the aggregates, and what is computed of these, of which NULL is
    shown in its answers: as they are declared nullable, or an outer join makes them NULL."""
    names = set()
    for query in union.disjuncts:
        of = {o.alias: catalog.table(o.table) for o in query.occurrences}
        for name, output in query.outputs:
            attribute = output.value if isinstance(output, LiteralOutput | NullOutput) else None
            if attribute is None:
                continue
            table, column = of[attribute.alias], attribute.column
            if is_nullable(table, column) or shows_null(table, column):
                names.add(name)
    if union.aggregation is not None:
        names.update(
            a.name
            for a in union.aggregation.aggregates
            if (not names.isdisjoint(a.arguments) and a.function not in _COUNTS)
            or a.function is AggregateFunction.VAR_SAMP  # of one value
        )
        row = {*union.aggregation.row, *(a.name for a in union.aggregation.aggregates)}
        present = row - names
        names.update(n for n, made in union.aggregation.computed if may_be_null(made, present))
    return frozenset(names)
