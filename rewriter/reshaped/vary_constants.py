"""Groups by what says from which part of a UNION ALL a row is: `'door' AS kind` in each part.

A constant that takes the place of a column tells no groups apart. Here it is computed of each row,
though all rows of a part have the same, as what UNPIVOT calls its columns (`read_unpivots`).
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import find_name
from ontoweir.rewriter.reshaped.compute_constant import compute_constant

if TYPE_CHECKING:
    from sqlglot import exp


def vary_constants(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """The query with constants of the parts of a UNION ALL in FROM, where it groups by them, as
    values that are computed.

    Args:
        tree: as it is written.
        catalog: the tables.
    """
    from sqlglot import exp

    if not any(_list_grouped(united) for united in tree.find_all(exp.Subquery, exp.CTE)):
        return tree
    tree = tree.copy()
    for united in list(tree.find_all(exp.Subquery, exp.CTE)):
        grouped = _list_grouped(united)
        written = list(_list_parts(united.this)) if grouped else []
        parts = [part for part in written if isinstance(part, exp.Select) and _is_plain(part)]
        if not parts or len(parts) < len(written):
            continue
        for place, item in enumerate(parts[0].selects):
            if item.alias_or_name.lower() not in grouped:
                continue
            for part in parts:
                _vary(part, place, catalog)
    return tree


def _list_grouped(united: "exp.DerivedTable") -> set[str]:
    """The names by which queries group that read a UNION ALL (none: it is none)."""
    from sqlglot import exp

    if not isinstance(united.this, exp.Union) or united.this.args.get("distinct"):
        return set()
    if isinstance(united, exp.CTE):
        named = (t for t in united.root().find_all(exp.Table) if t.name == united.alias)
        readers = [table.parent_select for table in named]
    else:
        readers = [united.parent_select]
    return {name for reader in readers if reader is not None for name in _list_keys(reader)}


def _list_keys(reader: "exp.Select") -> "Iterator[str]":
    """The names of columns that a query groups by, itself or by their places in SELECT."""
    from sqlglot import exp

    group = reader.args.get("group")
    for key in () if group is None else group.expressions:
        if isinstance(key, exp.Literal) and key.is_int and 0 < int(key.name) <= len(reader.selects):
            key = reader.selects[int(key.name) - 1].unalias()
        if isinstance(key, exp.Column):
            yield key.name.lower()


def _list_parts(tree: "exp.Expr") -> "Iterator[exp.Expr]":
    from sqlglot import exp

    if isinstance(tree, exp.Union) and not tree.args.get("distinct"):
        yield from _list_parts(tree.this)
        yield from _list_parts(tree.expression)
    else:
        yield tree


def _is_plain(part: "exp.Select") -> bool:
    """Whether it is of rows, not of groups."""
    from sqlglot import exp

    clauses = ("group", "having", "distinct", "qualify")
    plain = not any(part.args.get(c) for c in clauses)
    return plain and not any(item.find(exp.AggFunc, exp.Window) for item in part.selects)


def _vary(part: "exp.Select", place: int, catalog: Catalog) -> None:
    """Compute a constant of a part, of a column of its first table that is no timestamp."""
    from sqlglot import exp

    item = part.selects[place] if place < len(part.selects) else None
    constant = None if item is None else item.unalias()
    table = part.find(exp.Table)
    if item is None or table is None or not isinstance(constant, exp.Literal):
        return
    name = find_name(table.name, (*catalog.streams, *catalog.relations))
    held = None if name is None else catalog.streams.get(name) or catalog.relations.get(name)
    if held is None or not held.columns:
        return
    column = exp.column(
        exp.to_identifier(held.columns[0].name, quoted=True),
        table=exp.to_identifier(table.alias_or_name, quoted=True),
    )
    item.replace(
        exp.alias_(compute_constant(constant, column), item.alias_or_name or "c", quoted=True)
    )
