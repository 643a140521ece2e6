"""RIGHT JOIN and FULL JOIN of what comes and goes, as LEFT JOINs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import column_names, find_name

if TYPE_CHECKING:
    from sqlglot import exp

    Names = Mapping[str, list[str]]


def open_outer(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A SELECT of two tables or subqueries, whose RIGHT JOIN is a LEFT JOIN in the other order, and
    whose FULL JOIN is one of the rows of a LEFT JOIN, and of those of the second side without a
    partner; another query as it is.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    (join, *others) = tree.args.get("joins") or (None,)
    start = tree.args.get("from_")
    if not isinstance(tree, exp.Select) or start is None or join is None or others:
        return tree
    side, on = str(join.args.get("side") or "").upper(), join.args.get("on")
    if side not in ("RIGHT", "FULL") or on is None or any(e.is_star for e in tree.expressions):
        return tree
    if side == "RIGHT":
        made = tree.copy()
        made.set("from_", exp.From(this=join.this.copy()))
        made.set("joins", [exp.Join(this=start.this.copy(), side="LEFT", on=on.copy())])
        return made
    names = {i.alias_or_name: _list_names(i, catalog) for i in (start.this, join.this)}
    first, second = start.this.alias_or_name, join.this.alias_or_name
    if len(names) < 2 or not names[first] or not names[second] or on.find(exp.Query):
        return tree
    made = tree.copy()
    made.set("joins", None)
    made.set("from_", None)
    columns = {c: _find(c, names) for c in [*made.find_all(exp.Column), *on.find_all(exp.Column)]}
    if None in columns.values() or made.find(exp.Query) is not made:
        return tree
    shown = dict.fromkeys(f for c in made.find_all(exp.Column) if (f := columns[c]) is not None)
    shown = shown or {(second, names[second][0]): None}
    with_both = exp.Select(expressions=[_show(*c) for c in shown], from_=start.copy())
    with_both.append("joins", exp.Join(this=join.this.copy(), side="LEFT", on=on.copy()))
    alone = exp.Select(from_=exp.From(this=join.this.copy()))
    alone.set("expressions", [_show(*c, null=c[0] == first) for c in shown])
    said = exp.Select(expressions=[exp.Literal.number(1)], from_=start.copy())
    partner = said.where(_qualify(on, columns), copy=False)
    alone.where(exp.Not(this=exp.Exists(this=partner)), copy=False)
    rows = exp.union(with_both, alone, distinct=False, copy=False)
    name = f"{first} {second}"
    for column in list(made.find_all(exp.Column)):
        found = columns[column]
        assert found is not None
        column.replace(exp.column(_call(*found), name, quoted=True))
    table = exp.to_identifier(name, quoted=True)
    made.set("from_", exp.From(this=exp.Subquery(this=rows, alias=exp.TableAlias(this=table))))
    return made


def _call(alias: str, column: str) -> str:
    return f"{alias} {column}"


def _show(alias: str, column: str, *, null: bool = False) -> "exp.Expr":
    from sqlglot import exp

    value = exp.Null() if null else exp.column(column, alias, quoted=True)
    return exp.alias_(value, _call(alias, column), quoted=True)


def _qualify(on: "exp.Expr", columns: "Mapping[exp.Column, tuple[str, str] | None]") -> "exp.Expr":
    """A condition whose columns say of which side they are."""
    from sqlglot import exp

    def name(node: "exp.Expr") -> "exp.Expr":
        found = columns.get(node) if isinstance(node, exp.Column) else None
        return node if found is None else exp.column(found[1], found[0], quoted=True)

    return on.copy().transform(name)


def _find(column: "exp.Column", names: "Names") -> tuple[str, str] | None:
    """The side and the name of a column (None: it is of none, or of both)."""
    found = [
        (alias, name)
        for alias, known in names.items()
        for name in known
        if name.lower() == column.name.lower() and column.table.lower() in ("", alias.lower())
    ]
    return found[0] if len(found) == 1 else None


def _list_names(item: "exp.Expr", catalog: Catalog) -> list[str]:
    """The columns of a table, or of a subquery (none: they are not known)."""
    from sqlglot import exp

    if isinstance(item, exp.Table):
        known = [*catalog.streams, *catalog.relations]
        name = find_name(item.name, known)
        return [] if name is None else [*column_names(catalog.table(name))]
    if not isinstance(item, exp.Subquery) or not isinstance(item.this, exp.Query):
        return []
    if any(e.is_star for e in item.this.selects):
        return []
    return [e.alias_or_name for e in item.this.selects]
