"""A SELECT of columns, around a subquery of groups that change, as one of the groups."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Relation
from ontoweir.mappings.sql.read_scope import Scope, column_names, find_name
from ontoweir.rewriter.differences.name_columns import is_known, name_tables
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.latest_rows import is_plain
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import mean_group
from ontoweir.rewriter.ranked.open_with import open_with
from ontoweir.rewriter.windows.rows_leave import rows_leave

if TYPE_CHECKING:
    from sqlglot import exp

_AROUND = {"expressions", "from_", "joins", "where"}
_INSIDE = {"expressions", "from_", "joins", "where", "group", "having"}


def merge_groups(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """Groups of rows in windows in the place of a SELECT that shows all that they are grouped by,
    and other columns of a subquery of such groups, or what is computed of them: its conditions are
    in WHERE, or in HAVING. A static relation that it joins by a declared key of its own, equal to
    what is grouped by, is joined before: it has one row for all rows of a group, or none. Another
    query as it is.

    Args:
        tree: the query, with names as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    opened = open_with(tree)
    if not isinstance(opened, exp.Select) or {k for k, v in opened.args.items() if v} - _AROUND:
        return tree
    item = opened.args["from_"].this if opened.args.get("from_") else exp.Null()
    inner = item.this if isinstance(item, exp.Subquery) and is_plain(item) else None
    if not isinstance(inner, exp.Select) or {k for k, v in inner.args.items() if v} - _INSIDE:
        return tree
    beyond = (exp.AggFunc, exp.Window, exp.Query)
    if any(e.is_star or e.find(*beyond) for e in opened.expressions):
        return tree
    if not aggregates(inner) or not rows_leave(inner) or inner.find(exp.Window) is not None:
        return tree
    scope = list_tables(inner, catalog)
    if not is_known(inner, scope):
        return tree
    merger = _Merger(inner.copy(), item.alias_or_name, scope)
    return tree if (made := merger.merge(opened, catalog)) is None else made


class _Merger:
    """`inner`: the groups, which become the query; `shown`: what their columns are."""

    def __init__(self, inner: "exp.Select", alias: str, scope: Scope) -> None:
        name_tables(inner, scope)
        self.inner, self.alias, self.scope = inner, alias.lower(), scope
        self.shown = {e.alias_or_name.lower(): e.unalias() for e in inner.expressions}
        self.groups = _list_groups(inner, scope)
        self.joined: dict[str, Relation] = {}

    def merge(self, outer: "exp.Select", catalog: Catalog) -> "exp.Select | None":
        """The groups as the outer SELECT has them (None: it is more than can be merged)."""
        from sqlglot import exp

        if self.groups is None or "" in self.shown:
            return None
        joins = outer.args.get("joins") or ()
        tables = list_tables(outer, catalog).tables
        for join in joins:
            name = join.this.alias_or_name
            table = tables.get(name)
            taken = {a.lower() for a in self.scope.tables}
            if not isinstance(table, Relation) or name.lower() in taken | {self.alias}:
                return None
            self.joined[name.lower()] = table
        for join in joins:
            if not self._join(join):
                return None
        items = [self._item(e) for e in outer.expressions]
        if any(item is None for item in items):
            return None
        values = [item.unalias() for item in items if item is not None]
        if any(group not in values for group in self.groups):
            return None
        where = outer.args.get("where")
        for conjunct in () if where is None else split_conjuncts(where.this):
            if not self._said(conjunct):
                return None
        plain = [v for v in values if v.find(exp.AggFunc) is None]
        read = [v for v in plain if any(map(self._is_joined, v.find_all(exp.Column)))]
        self.inner.set("expressions", [item for item in items if item is not None])
        named = [g.copy() for g in dict.fromkeys([*self.groups, *read])]
        if len(plain) == len(values) and not self.groups:
            return None
        if len(plain) == len(values) and self.inner.args.get("having") is None:
            self.inner.set("group", None)
            self.inner.set("distinct", exp.Distinct())  # all that tells groups apart is shown
        else:
            self.inner.set("group", exp.Group(expressions=named) if named else None)
        return self.inner

    def _is_joined(self, column: "exp.Column") -> bool:
        return column.table.lower() in self.joined

    def _mean(self, tree: "exp.Expr") -> "exp.Expr | None":
        """An expression in the words of the groups (None: it has others)."""
        from sqlglot import exp

        made = exp.Paren(this=tree.copy())
        for column in list(made.find_all(exp.Column)):
            found = self._find(column)
            if found is None:
                return None
            whole = column.parent is made or isinstance(found, (exp.Column, exp.Literal))
            column.replace(found.copy() if whole else exp.Paren(this=found.copy()))
        meant: exp.Expr = made.this
        return meant

    def _find(self, column: "exp.Column") -> "exp.Expr | None":
        """What a column of the outer SELECT is."""
        from sqlglot import exp

        of, name = column.table.lower(), column.name.lower()
        found: list[exp.Expr] = []
        if of in ("", self.alias) and name in self.shown:
            found.append(self.shown[name])
        for alias, table in self.joined.items():
            known = find_name(name, column_names(table))
            if of in ("", alias) and known is not None:
                found.append(exp.column(known, alias, quoted=True))
        return found[0] if len(found) == 1 else None

    def _item(self, item: "exp.Expr") -> "exp.Expr | None":
        from sqlglot import exp

        meant, name = self._mean(item.unalias()), item.alias_or_name
        if meant is None or not name:
            return None
        return exp.alias_(self._gather(meant), name, quoted=True)

    def _gather(self, meant: "exp.Expr") -> "exp.Expr":
        """An expression with aggregates, in which what is joined is the greatest of its one value
        in a group."""
        from sqlglot import exp

        if meant.find(exp.AggFunc) is None:
            return meant
        whole = exp.Paren(this=meant)
        for column in [c for c in whole.find_all(exp.Column) if self._is_joined(c)]:
            column.replace(exp.Max(this=column.copy()))
        gathered: exp.Expr = whole.this
        return gathered

    def _join(self, join: "exp.Expr") -> bool:
        """Whether a join is of one row for each group, or none; it is made before, then."""
        from sqlglot import exp

        side, kind = (str(join.args.get(k) or "").upper() for k in ("side", "kind"))
        more = {k for k, v in join.args.items() if v} - {"this", "on", "side", "kind"}
        on = join.args.get("on")
        if more or on is None or side not in ("", "LEFT") or kind not in ("", "INNER", "OUTER"):
            return False
        name = join.this.alias_or_name.lower()
        said, equated = list[exp.Expr](), set[str]()
        for conjunct in split_conjuncts(on):
            meant = None if conjunct.find(exp.Query) else self._mean(conjunct)
            if meant is None or not self._is_of_groups(meant):
                return False
            said.append(meant)
            sides = (meant.this, meant.expression) if isinstance(meant, exp.EQ) else ()
            own = [s for s in sides if isinstance(s, exp.Column) and s.table.lower() == name]
            if len(own) == 1 and any(s in (self.groups or ()) for s in sides):
                equated.add(own[0].name)
        if not any(key and equated >= {*key} for key in self.joined[name].keys):
            return False
        made = join.copy()
        made.set("on", exp.and_(*said, copy=False))
        self.inner.append("joins", made)
        return True

    def _is_of_groups(self, meant: "exp.Expr") -> bool:
        """Whether it is one value for all rows of a group: of what is grouped by, and joined."""
        from sqlglot import exp

        rest = exp.Paren(this=meant.copy())
        for node in list(rest.find_all(exp.Expr)):
            if node is not rest and node in (self.groups or ()):
                node.replace(exp.Null())
        return rest.find(exp.AggFunc) is None and all(
            map(self._is_joined, rest.find_all(exp.Column))
        )

    def _said(self, conjunct: "exp.Expr") -> bool:
        """Whether a condition is read: in WHERE, if it is of what is grouped by, or in HAVING."""
        from sqlglot import exp

        meant = None if conjunct.find(exp.Query) else self._mean(conjunct)
        if meant is None:
            return False
        if self._is_of_groups(meant):
            self.inner.where(meant, copy=False)
            return bool(self.groups)  # one group has a row over nothing, too
        having = self.inner.args.get("having")
        both = [*([] if having is None else [having.this]), self._gather(meant)]
        self.inner.set("having", exp.Having(this=exp.and_(*both, copy=False)))
        return True


def _list_groups(inner: "exp.Select", scope: Scope) -> "Sequence[exp.Expr] | None":
    """What rows are grouped by (None: by several sets)."""
    group = inner.args.get("group")
    if group is None:
        return []
    if {k for k, v in group.args.items() if v} != {"expressions"}:
        return None
    return [mean_group(item, inner, scope) for item in group.expressions]
