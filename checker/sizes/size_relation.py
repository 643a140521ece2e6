"""How many values a column of a static relation can have."""

from ontoweir.checker.model.constraint_graph import ConstraintGraph
from ontoweir.checker.model.declarations import size_declaration
from ontoweir.mappings.model.catalog import Column, Relation


def size_relation(
    work: ConstraintGraph, relation: Relation, column: Column
) -> tuple[int | None, str]:
    """The number of values (None: finitely many, not known), and a formula."""
    name = f"|{relation.name}.{column.name}|"
    sizes = [count_rows(work, relation)]
    known = work.statistics.columns.get((relation.name, column.name))
    if known is not None:
        sizes.append(known.distinct)
    if column.enum is not None:
        sizes.append(len(column.enum))
    numbers = [s for s in sizes if s is not None]
    if not numbers:
        return None, name
    return min(numbers), f"{name} = {min(numbers)}"


def count_rows(work: ConstraintGraph, relation: Relation) -> int | None:
    """The rows of a static relation, as known or declared by `max_rows`."""
    declared = relation.max_rows
    if declared is not None and not work.use(size_declaration(relation)):
        declared = None
    return work.statistics.rows.get(relation.name, declared)
