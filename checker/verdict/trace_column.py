"""The declared columns that one of a stream which a query makes is of."""

from ontoweir.mappings.expressions.derive_column import derive_column
from ontoweir.mappings.model.expression import fields_of
from ontoweir.rewriter.model.spj import Block, LiteralOutput, NullOutput, SpjUnion


def trace_column(union: SpjUnion, place: str) -> tuple[str, ...]:
    """The columns of the catalog's tables, each as `table.column`, that a column is of, or computed
    of; one that is not traced is as it was.

    Args:
        union: the query.
        place: the column, of one of its tables, those that it makes too.
    """
    table, _, column = place.partition(".")
    blocks = {block.stream.name: block for block in union.blocks}
    while (block := blocks.pop(table, None)) is not None:
        if block.meeting is not None:
            table = block.meeting.base
            continue
        blocks |= {b.stream.name: b for b in block.union.blocks}
        found = _find_shown(block, column)
        if found is None:
            return (place,)
        table, column = found
        for of, expression in block.union.derived:
            if of == table and derive_column(expression, ()).name == column:
                return tuple(f"{table}.{name}" for name in fields_of(expression))
    return (f"{table}.{column}",)


def _find_shown(block: Block, column: str) -> tuple[str, str] | None:
    """The table, and its column, that all answers of a block show as one column."""
    found = set()
    for query in block.union.disjuncts:
        match dict(query.outputs).get(column):
            case LiteralOutput(value=of) | NullOutput(value=of):
                tables = {o.alias: o.table for o in query.occurrences}
                found.add((tables[of.alias], of.column))
            case _:
                return None
    return found.pop() if len(found) == 1 else None
