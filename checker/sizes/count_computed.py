"""How many values a computed column can have, by those of the columns that it is computed from."""

from ontoweir.checker.model.constraint_graph import ConstraintGraph
from ontoweir.checker.sizes.limit_rows import list_declared_sizes
from ontoweir.checker.sizes.size_relation import size_relation
from ontoweir.mappings.model.catalog import Relation, Stream
from ontoweir.mappings.model.expression import Expression, fields_of, has_user_calls
from ontoweir.mappings.model.never_null import never_null
from ontoweir.rewriter.model.spj import Attribute, Compare, Constant, OneOf, Op

Count = tuple[int | None, str]


def count_computed(work: ConstraintGraph, attribute: Attribute) -> Count | None:
    """The number of values of an attribute that is computed (None: finitely many, not known), and a
    formula; None: nothing limits them, or it is a column of the data.

    An expression is a function of the columns that it reads: it has at most as many values as these
    have combinations, by their domains or by what the selection lists of them, with NULL for one
    that may be.
    """
    table, column = work.tables[attribute.alias], work.columns[attribute]
    if column.expression is None:
        return None
    if has_user_calls(column.expression):  # of which nothing is known
        return None
    total: int | None = 1
    for name in sorted(_list_read(table, column.expression)):
        read = table.column(name)
        if read is None:  # the time of a row
            return None
        if (listed := _count_listed(work, Attribute(attribute.alias, name))) is not None:
            total = None if total is None else total * listed
            continue
        if isinstance(table, Stream):
            sizes = list(list_declared_sizes(work, table, read))
        else:
            sizes = [size_relation(work, table, read)]
        if not sizes:
            return None
        known = [size for size, _ in sizes if size is not None]
        null = name not in never_null(table)
        total = None if total is None or not known else total * (min(known) + null)
    return total, f"|{attribute}|" + ("" if total is None else f" = {total:,}")


def _count_listed(work: ConstraintGraph, attribute: Attribute) -> int | None:
    """How many values the selection lists of an attribute, none of which is NULL; None: none."""
    counts = []
    for condition in work.query.conditions:
        match condition:
            case OneOf(attribute=of, values=values) if of == attribute:
                counts.append(len(values))
            case Compare(left=of, op=Op.EQ, right=Constant()) if of == attribute:
                counts.append(1)
            case _:
                pass
    return min(counts, default=None)


def _list_read(table: Stream | Relation, expression: Expression) -> set[str]:
    """The columns that an expression is computed from, itself or by others that are computed; the
    timestamp too."""
    read: set[str] = set()
    for name in fields_of(expression):
        column = table.column(name)
        inner = None if column is None else column.expression
        read |= {name} if inner is None else _list_read(table, inner)
    return read
