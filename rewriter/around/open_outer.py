"""RIGHT JOIN and FULL JOIN of what comes and goes, as LEFT JOINs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import SqlRefusal, column_names, find_name
from ontoweir.rewriter.earlier.expand_stars import expand_stars
from ontoweir.rewriter.joins.own_nodes import list_own

if TYPE_CHECKING:
    from sqlglot import exp

    Names = Mapping[str, list[str]]


def open_outer(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A SELECT whose first join is a RIGHT JOIN, with a LEFT JOIN in the other order, or a FULL
    JOIN, over the rows of a LEFT JOIN, and those of the second side without a partner; another
    query as it is.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    (join, *others) = tree.args.get("joins") or (None,)
    start = tree.args.get("from_")
    if not isinstance(tree, exp.Select) or start is None or join is None:
        return tree
    side = str(join.args.get("side") or "").upper()
    if side not in ("RIGHT", "FULL") or any(e.is_star for e in tree.expressions):
        return tree
    names = {i.alias_or_name: _list_names(i, catalog) for i in (start.this, join.this)}
    if len(names) < 2 or not all(names.values()):
        return tree
    if (using := join.args.get("using")) is not None:
        tree = _open_using(tree, [one.name for one in using], [*names])
        join = tree.args["joins"][0]
    on = join.args.get("on")
    if on is None or on.find(exp.Query):
        return tree
    made = tree.copy()
    if side == "RIGHT":
        made.set("from_", exp.From(this=join.this.copy()))
        first = exp.Join(this=start.this.copy(), side="LEFT", on=on.copy())
        made.set("joins", [first, *(one.copy() for one in others)])
        return made
    return _Full(names, on).write(made)


def _open_using(tree: "exp.Select", using: list[str], aliases: list[str]) -> "exp.Select":
    """A SELECT whose first join says ON what it says by USING: a column of both is that of the
    first side which has a value."""
    from sqlglot import exp

    made, known = tree.copy(), {name.lower() for name in using}
    sides = [[exp.column(n, alias, quoted=True) for alias in aliases] for n in using]
    for item in made.expressions:
        if isinstance(item, exp.Column) and not item.table and item.name.lower() in known:
            item.replace(exp.alias_(item.copy(), item.name, quoted=True))
    for column in list_own(made, exp.Column):
        if isinstance(column, exp.Column) and not column.table and column.name.lower() in known:
            one, other = (exp.column(column.name, alias, quoted=True) for alias in aliases)
            column.replace(exp.Coalesce(this=one, expressions=[other]))
    join = made.args["joins"][0]
    join.set("using", None)
    equal = [exp.EQ(this=one.copy(), expression=other.copy()) for one, other in sides]
    join.set("on", exp.and_(*equal))
    return made


class _Full:
    """Writes a FULL JOIN of two items, with the columns of each by its alias (`names`)."""

    def __init__(self, names: "Names", on: "exp.Expr") -> None:
        self.names, self.on = names, on

    def write(self, made: "exp.Select") -> "exp.Select":
        """The SELECT over the rows of both; it is changed in place."""
        from sqlglot import exp

        first, second = self.names
        start, (join, *others) = made.args["from_"], made.args["joins"]
        made.set("from_", None)
        made.set("joins", others)
        own = [c for c in made.find_all(exp.Column) if c.find_ancestor(exp.Select) is made]
        read = [(c, f) for c in own if (f := self._find(c)) is not None]
        shown = dict.fromkeys(found for _, found in read) or {(second, self.names[second][0]): None}
        both = exp.Select(expressions=[_show(*c) for c in shown], from_=start.copy())
        both.append("joins", exp.Join(this=join.this.copy(), side="LEFT", on=self.on.copy()))
        alone = exp.Select(from_=exp.From(this=join.this.copy()))
        alone.set("expressions", [_show(*c, null=c[0] == first) for c in shown])
        partner = exp.Select(expressions=[exp.Literal.number(1)], from_=start.copy())
        partner.where(self._qualify(), copy=False)
        alone.where(exp.Not(this=exp.Exists(this=partner)), copy=False)
        rows = exp.union(both, alone, distinct=False, copy=False)
        name = f"{first} {second}"
        for column, found in read:
            column.replace(exp.column(_call(*found), name, quoted=True))
        alias = exp.TableAlias(this=exp.to_identifier(name, quoted=True))
        made.set("from_", exp.From(this=exp.Subquery(this=rows, alias=alias)))
        return made

    def _qualify(self) -> "exp.Expr":
        """The condition, whose columns say of which side they are."""
        from sqlglot import exp

        def name(node: "exp.Expr") -> "exp.Expr":
            found = self._find(node) if isinstance(node, exp.Column) else None
            return node if found is None else exp.column(found[1], found[0], quoted=True)

        return self.on.copy().transform(name)

    def _find(self, column: "exp.Column") -> tuple[str, str] | None:
        """The side and the name of a column (None: it is of none, or of both)."""
        found = [
            (alias, name)
            for alias, known in self.names.items()
            for name in known
            if name.lower() == column.name.lower() and column.table.lower() in ("", alias.lower())
        ]
        return found[0] if len(found) == 1 else None


def _call(alias: str, column: str) -> str:
    return f"{alias} {column}"


def _show(alias: str, column: str, *, null: bool = False) -> "exp.Expr":
    from sqlglot import exp

    value = exp.Null() if null else exp.column(column, alias, quoted=True)
    return exp.alias_(value, _call(alias, column), quoted=True)


def _list_names(item: "exp.Expr", catalog: Catalog) -> list[str]:
    """The columns of a table, or of a subquery (none: they are not known)."""
    from sqlglot import exp

    if isinstance(item, exp.Table):
        known = [*catalog.streams, *catalog.relations]
        name = find_name(item.name, known)
        return [] if name is None else [*column_names(catalog.table(name))]
    if not isinstance(item, exp.Subquery) or not isinstance(item.this, exp.Query):
        return []
    inner = item.this
    if isinstance(inner, exp.Select) and any(e.is_star for e in inner.selects):
        inner = inner.copy()
        try:
            expand_stars(inner, catalog, "an outer join")
        except SqlRefusal:
            return []
    return [] if any(e.is_star for e in inner.selects) else [e.alias_or_name for e in inner.selects]
