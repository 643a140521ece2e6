"""How groups are numbered, and which numbers are asked for, in SQL as it is written."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal, column_names
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.latest.read_limit import read_limits, read_size, whole_number
from ontoweir.rewriter.ranked.open_with import open_with
from ontoweir.rewriter.windows.rows_leave import has_now

if TYPE_CHECKING:
    from sqlglot import exp

ALL = 1 << 62
"""As the last number that is told: there is none."""
_OUTER = frozenset({"expressions", "from_", "where", "qualify", "order", "limit", "offset"})
_GROUPS = frozenset({"expressions", "from_", "joins", "where", "group", "having", "windows"})


@dataclass(frozen=True, slots=True)
class Ranked:
    """`groups`: the query of the groups, with HAVING; `shown`: what is told of each, by name (None:
    its number); `window`: how they are numbered, by `keys`, in an `order`; `least`, `limit`: which
    numbers are told; `told`: what is 1 for groups that are told, besides (None: all)."""

    groups: "exp.Select"
    shown: "tuple[tuple[str, exp.Expr | None], ...]"
    window: "exp.Window"
    keys: "tuple[exp.Expr, ...]"
    order: "tuple[exp.Expr, ...]"
    least: int
    limit: int
    told: "exp.Expr | None"


def read_ranked(tree: "exp.Query", catalog: Catalog, *, rows: bool = False) -> Ranked | None:
    """The groups that a query numbers (None: it does not, or they are of buckets of time).

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
        rows: rows may be numbered too, and groups of any.

    Raises:
        SqlRefusal: they are numbered, and asked for in a way that is not read.
    """
    from sqlglot import exp

    layers = _list_layers(open_with(tree), {"distinct"} if rows else set())
    if not any(one.find(exp.Window) or one.args.get("limit") for one in layers):
        return None
    base = layers[-1]
    chosen = (exp.ArgMax, exp.ArgMin, exp.First, exp.Last)
    if not rows and (not aggregates(base) or base.find(*chosen) or not changes(base, catalog)):
        return None
    numbered = base.args.get("qualify") or any(e.find(exp.Window) for e in base.expressions)
    if base.args.get("distinct") and numbered:
        return None  # rows are numbered before equal ones are left out
    read = _Reading(base.copy())
    for key in ("qualify", "order", "limit", "offset"):
        read.groups.set(key, None)
    read.take(base, base=True)
    for layer in reversed(layers[:-1]):
        read.take(layer, base=False)
    if read.window is None:
        return None
    keys = tuple(read.window.args.get("partition_by") or ())
    told = None
    if read.told:
        case = exp.case().when(exp.and_(*read.told), exp.Literal.number(1))
        told = case.else_(exp.Literal.number(0))
    shown = tuple((n, None if e == read.window else e) for n, e in read.shown)
    if any(e is not None and e.find(exp.Window) for _, e in shown):
        raise _refuse(tree, "more than one number, or one in an expression")
    order = tuple(read.window.args["order"].expressions)
    limit = ALL if read.limit is None else read.limit
    return Ranked(read.groups, shown, read.window, keys, order, read.least, limit, told)


def _list_layers(tree: "exp.Query", more: set[str]) -> "list[exp.Select]":
    """The SELECTs, from the outermost, of which each but the last has the next in FROM, alone;
    `more`: clauses that the last may have."""
    from sqlglot import exp

    made: list[exp.Select] = []
    while isinstance(tree, exp.Select):
        made.append(tree)
        start = tree.args.get("from_")
        inside = None if start is None else start.this
        plain = not {k for k, v in tree.args.items() if v} - _OUTER and not aggregates(tree)
        if not plain or not isinstance(inside, exp.Subquery):
            allowed = _GROUPS | _OUTER | more
            return [] if {k for k, v in tree.args.items() if v} - allowed else made
        if {k for k, v in inside.args.items() if v} - {"this", "alias"}:
            return []
        alias = inside.args.get("alias")
        if alias is not None and alias.columns:
            return []
        tree = inside.this
        if more and isinstance(tree, exp.SetOperation):
            return made  # rows of several
    return []


def changes(base: "exp.Select", catalog: Catalog) -> bool:
    """Whether its groups change with every row: they are of a sliding window, or of columns of
    tables alone."""
    from sqlglot import exp

    if has_now(base):
        return True
    group = base.args.get("group")
    tables = list_tables(base, catalog)
    if len(tables.tables) != 1 + len(base.args.get("joins") or ()) or group is None:
        return False
    if {k for k, v in group.args.items() if v} - {"expressions"}:
        return False
    named = {e.alias.lower(): e.unalias() for e in base.expressions if e.alias}
    known = {c.lower() for t in tables.tables.values() for c in column_names(t)}
    times = {t.timestamp.lower() for t in tables.tables.values() if hasattr(t, "timestamp")}
    for key in group.expressions:
        of = _mean(key, base, named, known)
        if not isinstance(of, exp.Column) or of.name.lower() in times:
            return False
        if of.name.lower() not in known:
            return False
    return True


def _mean(
    key: "exp.Expr", base: "exp.Select", named: "dict[str, exp.Expr]", known: set[str]
) -> "exp.Expr":
    """What is grouped, or ordered, by: a place or a name of what is selected, or an expression."""
    from sqlglot import exp

    if isinstance(key, exp.Literal) and not key.is_string and key.is_int:
        place = int(key.this)
        if 1 <= place <= len(base.expressions):
            of: exp.Expr = base.expressions[place - 1].unalias()
            return of
    if isinstance(key, exp.Column) and not key.table:
        name = key.name.lower()
        if name in named and name not in known:
            return named[name]
    return key


@dataclass
class _Reading:
    """What was read so far. `shown`: what the last SELECT shows, by name, of the groups."""

    groups: "exp.Select"
    shown: "list[tuple[str, exp.Expr]]" = field(default_factory=list)
    window: "exp.Window | None" = None
    least: int = 1
    limit: int | None = None
    told: "list[exp.Expr]" = field(default_factory=list)

    def take(self, layer: "exp.Select", *, base: bool) -> None:
        """One more SELECT around what was read."""
        from sqlglot import exp

        if not base and (where := layer.args.get("where")) is not None:
            self._choose([self._put(c) for c in split_conjuncts(where.this)], layer)
        before = self.shown
        made: list[tuple[str, exp.Expr]] = []
        for item in layer.expressions:
            of = item.unalias()
            if isinstance(of, exp.Star) or (isinstance(of, exp.Column) and of.is_star):
                if base or any(of.args.get(k) for k in ("except_", "replace", "rename")):
                    raise _refuse(layer, f"{show_sql(item)} of groups")
                made += before
                continue
            plain = item.alias or isinstance(item, exp.Column)
            name = item.alias_or_name if plain else item.sql("spark")
            made.append((name, of.copy() if base else self._put(of)))
        named = {n.lower(): e for n, e in made}
        if len(named) < len(made):
            several = [n.lower() for n, _ in made]
            twice = next(n for n in several if several.count(n) > 1)
            raise _refuse(layer, f"of two columns that are called {twice!r}, one")
        self.shown = [] if base else before
        for window in (w for _, e in made for w in e.find_all(exp.Window)):
            self._number(window, layer)
        if (qualify := layer.args.get("qualify")) is not None:
            said = [self._name(c, named, base=base) for c in split_conjuncts(qualify.this)]
            for one in said:
                for window in one.find_all(exp.Window):
                    self._number(window, layer)
            self._choose(said, layer)
        self.shown = made
        if layer.args.get("limit") is not None:
            self._limit(layer, named, None if base else before)
        elif layer.args.get("order") is not None or layer.args.get("offset") is not None:
            raise _refuse(layer, "ORDER BY of groups without LIMIT")

    def _number(self, window: "exp.Expr", layer: "exp.Select") -> None:
        from sqlglot import exp

        kinds = (exp.RowNumber, exp.Rank, exp.DenseRank)
        known = window.args.get("order") is not None and not window.args.get("spec")
        if not isinstance(window, exp.Window) or not isinstance(window.this, kinds) or not known:
            raise _refuse(layer, f"{show_sql(window)} of groups that change")
        if window.args.get("alias"):
            raise _refuse(layer, f"{show_sql(window)}, a window by its name,")
        if self.window is not None and self.window != window:
            raise _refuse(layer, "more than one number")
        self.window = window

    def _choose(self, said: "Sequence[exp.Expr]", layer: "exp.Select") -> None:
        """Which are told: by their number, or by what they are."""
        from sqlglot import exp

        found = read_limits(said, {})
        if found is None and any(c.find(exp.Window) for c in said):
            raise _refuse(layer, "a number without a last one, or in an expression")
        if found is None and self.window is None:
            clause = ("having", exp.Having) if aggregates(self.groups) else ("where", exp.Where)
            known = self.groups.args.get(clause[0])
            whole = [*([] if known is None else [known.this]), *said]
            self.groups.set(clause[0], clause[1](this=exp.and_(*whole)))
            return
        if found is None:
            self.told += said
            return
        if any(c.find(exp.Window) for c in found.rest) or self.limit is not None:
            raise _refuse(layer, "numbers that are chosen twice")
        self.least, self.limit = found.least, found.limit
        self.told += found.rest

    def _limit(
        self,
        layer: "exp.Select",
        named: "dict[str, exp.Expr]",
        before: "list[tuple[str, exp.Expr]] | None",
    ) -> None:
        """ORDER BY … LIMIT n, with OFFSET, or FETCH FIRST n ROWS WITH TIES; `before`: what the
        SELECT inside shows (None: there is none)."""
        from sqlglot import exp

        order = layer.args.get("order")
        if order is None or self.window is not None:
            raise _refuse(layer, "LIMIT without ORDER BY, or beside a number,")
        size = read_size(layer)
        if size is None:
            raise _refuse(layer, f"{show_sql(layer.args['limit'])} of groups")
        ordered = []
        for item in order.expressions:
            made, by = item.copy(), item.this
            if isinstance(by, exp.Literal):
                place = whole_number(by)
                if place is None or not 1 <= place <= len(self.shown):
                    raise _refuse(layer, show_sql(order))
                made.set("this", self.shown[place - 1][1].copy())
            else:
                one = self._name(by, named, base=True)
                made.set("this", one if before is None else self._order(by, named, before))
            ordered.append(made)
        number = exp.Rank() if size.ties else exp.RowNumber()
        self.window = exp.Window(this=number, order=exp.Order(expressions=ordered))
        self.least, self.limit = size.least, size.limit

    def _name(self, tree: "exp.Expr", named: "dict[str, exp.Expr]", *, base: bool) -> "exp.Expr":
        """What names of the SELECT itself stand for, else those of what it reads."""
        from sqlglot import exp

        def put(node: "exp.Expr") -> "exp.Expr":
            if isinstance(node, exp.Column) and not node.table and node.name.lower() in named:
                return named[node.name.lower()].copy()
            return node

        return tree.copy().transform(put) if base else self._put(tree, named)

    def _order(
        self, by: "exp.Expr", named: "dict[str, exp.Expr]", before: "list[tuple[str, exp.Expr]]"
    ) -> "exp.Expr":
        """What is ordered by: names that the SELECT gives, or else those of what it reads."""
        from sqlglot import exp

        def own(node: "exp.Expr") -> bool:
            return isinstance(node, exp.Column) and not node.table and node.name.lower() in named

        shown = self.shown
        self.shown = before
        try:
            return by.copy().transform(
                lambda node: (
                    named[node.name.lower()].copy()
                    if own(node)
                    else self._put(node)
                    if isinstance(node, exp.Column)
                    else node
                )
            )
        finally:
            self.shown = shown

    def _put(self, tree: "exp.Expr", named: "dict[str, exp.Expr] | None" = None) -> "exp.Expr":
        """What the columns of the SELECT inside stand for, of the groups."""
        from sqlglot import exp

        of = {n.lower(): e for n, e in self.shown}

        def put(node: "exp.Expr") -> "exp.Expr":
            if not isinstance(node, exp.Column):
                return node
            found = of.get(node.name.lower(), (named or {}).get(node.name.lower()))
            if found is None:
                raise SqlRefusal(
                    f"unknown column {node.name!r}",
                    why="it is read of a subquery that does not show it",
                    fix="use one of: " + ", ".join(n for n, _ in self.shown),
                    line=line_of(node),
                )
            simple = isinstance(found, (exp.Column, exp.AggFunc, exp.Window))
            return found.copy() if simple else exp.Paren(this=found.copy())

        return tree.copy().transform(put)


def _refuse(tree: "exp.Expr", what: str) -> SqlRefusal:
    return SqlRefusal(
        f"{what} is outside what is read of the first groups",
        why="groups of a sliding window, or of all rows, change with every row, so that what holds "
        "are those with the first numbers of one order",
        fix="write SELECT k, COUNT(*) AS n … GROUP BY k ORDER BY n DESC, k LIMIT 3, or QUALIFY "
        "RANK() OVER (PARTITION BY … ORDER BY COUNT(*) DESC) <= 3; or group by a bucket of time, "
        "whose groups are final, date_trunc('hour', ts)",
        line=line_of(tree),
    )
