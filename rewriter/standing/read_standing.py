"""Rows beside which there is no later one of another stream, in SQL."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_condition import turn_comparison
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql.read_select import read_from
from ontoweir.rewriter.differences.name_apart import name_apart
from ontoweir.rewriter.joins.find_absence import Part, PartKind, find_absence, split_conjuncts
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.standing.nest_latest import says_which
from ontoweir.rewriter.standing.standing_rows import KEY, StandingRows
from ontoweir.rewriter.windows.read_sql_windows import is_now

if TYPE_CHECKING:
    from sqlglot import exp


def read_standing(tree: "exp.Query", catalog: Catalog) -> StandingRows | None:
    """SELECT … FROM s WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.k = s.k AND t.ts > s.ts), where
    nothing says how much later; or the same as an ANTI JOIN, or by NOT IN of columns that always
    have a value. Where the times are not compared, none may come before it either.

    None: it is something else.

    Args:
        tree: the query, without windows of rows.
        catalog: the tables.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or tree.args.get("with_") or says_which(tree):
        return None
    try:
        flat, parts = find_absence(tree)
    except SqlRefusal:
        return None
    outer = _scope(flat, catalog)
    if outer is None or not parts or flat.find(exp.Subquery, exp.Exists) is not None:
        return None
    read = [_read_part(part, n, outer, catalog) for part in parts for n in range(len(part.rows))]
    made = [one for one in read if one is not None]
    if len(made) < len(read) or not all(made[0].is_like(one) for one in made):
        return None
    return _make(flat, made, distinct=tree.args.get("distinct") is not None)


def _read_part(part: Part, number: int, outer: Scope, catalog: Catalog) -> "_Reader | None":
    """The rows that end others, of one SELECT of a NOT EXISTS or NOT IN (None: it is something
    else)."""
    from sqlglot import exp

    if part.kind is not PartKind.ABSENT or (part.compared and len(part.rows) > 1):
        return None
    inner, rows = _scope(part.rows[number], catalog), part.rows[number]
    if inner is None:
        return None
    compared = [sides for sides, _ in part.compared or ()]
    for n, sought in enumerate(compared):
        compared[n], rows = name_apart(sought, rows, outer, inner)
        inner = _scope(rows, catalog) or inner
    mine, theirs = _only_stream(outer), _only_stream(inner)
    if mine is None or theirs is None:
        return None
    made = _Reader(rows, outer, inner, mine, theirs)
    if not all(made.is_inside(join) for join in rows.args.get("joins") or ()):
        return None
    where = rows.args.get("where")
    said = [] if where is None else list(split_conjuncts(where.this))
    for searched in compared:
        shown = rows.expressions[0].unalias()
        if not (made.is_there(searched) and made.is_there(shown)):
            return None  # a NULL among them makes NOT IN unknown
        said.append(exp.EQ(this=shown.copy(), expression=searched.copy()))
    return made if all(map(made.read, said)) and made.key else None


def _scope(select: "exp.Select", catalog: Catalog) -> Scope | None:
    """The tables of a SELECT over tables alone."""
    from sqlglot import exp

    start = select.args.get("from_")
    joins = select.args.get("joins") or ()
    items = [start.this if start is not None else None, *(j.this for j in joins)]
    if not all(isinstance(i, exp.Table) for i in items):
        return None
    if any(j.args.get("side") or j.args.get("method") for j in joins):
        return None
    try:
        return read_from(select.copy(), catalog)[0]
    except SqlRefusal:
        return None


def _only_stream(scope: Scope) -> tuple[str, Stream] | None:
    streams = [(a, t) for a, t in scope.tables.items() if isinstance(t, Stream)]
    return streams[0] if len(streams) == 1 and not streams[0][1].versions else None


class _Reader:
    """Conditions of the rows that end others, read one after the other."""

    def __init__(
        self,
        rows: "exp.Select",
        outer: Scope,
        inner: Scope,
        mine: tuple[str, Stream],
        theirs: tuple[str, Stream],
    ) -> None:
        self.rows = rows
        self.outer, self.inner, self.mine, self.theirs = outer, inner, mine, theirs
        self.key: list[tuple[exp.Expr, exp.Expr]] = []
        self.local: list[exp.Expr] = []
        self.later = self.inclusive = False

    def read(self, condition: "exp.Expr") -> bool:
        """Whether it is of the rows alone, equates the key, or compares the times."""
        from sqlglot import exp

        where = self._place(condition)
        if where in ({"inner"}, {"none"}):
            self.local.append(condition)
            return True
        if not isinstance(condition, (exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE)):
            return False
        left, right = condition.this, condition.expression
        kind: type[exp.Expr] = type(condition)
        if self._place(left) == {"outer"}:
            left, right, kind = right, left, turn_comparison(kind)
        if self._place(left) != {"inner"} or self._place(right) != {"outer"}:
            return False
        if kind is exp.EQ:
            known = {self.name(own): other for other, own in self.key}
            first = known.get(self.name(right))
            if first is None:
                self.key.append((left, right))
            elif first != left:  # both are equal to one of the answers: to each other
                self.local.append(exp.EQ(this=first.copy(), expression=left.copy()))
            columns = [*left.find_all(exp.Column), *right.find_all(exp.Column)]
            return not any(map(self._is_time, columns))
        if kind not in (exp.GT, exp.GTE) or self.later:
            return False
        self.later, self.inclusive = True, kind is exp.GTE
        return self._is_time(left) and self._is_time(right)

    def is_there(self, column: "exp.Expr") -> bool:
        """Whether it is a column that always has a value."""
        from sqlglot import exp

        if not isinstance(column, exp.Column):
            return False
        side, alias, name = self._side(column)
        scope = {"inner": self.inner, "outer": self.outer}.get(side)
        found = None if scope is None else scope.tables[alias].column(name)
        return found is not None and not found.nullable

    def is_inside(self, join: "exp.Expr") -> bool:
        """Whether a join of the subquery says nothing of the rows around it."""
        on = join.args.get("on")
        return not join.args.get("using") and (on is None or self._place(on) <= {"inner", "none"})

    def are_among(self, rows: "exp.Select") -> bool:
        """Whether each answer is a row that ends the earlier ones of its key: both are of one
        stream and key, and what is said of these rows is said of the answers too."""
        from sqlglot import exp

        if self.mine[1].name != self.theirs[1].name or len(self.inner.tables) > 1:
            return False
        for other, own in self.key:
            if not isinstance(other, exp.Column) or not isinstance(own, exp.Column):
                return False
            if self._side(own)[1:] != (self.mine[0], self._side(other)[2]):
                return False
        where = rows.args.get("where")
        conjuncts = split_conjuncts(where.this) if where is not None else ()
        said = {self._plain(c, self.mine[0], inside=False) for c in conjuncts}
        return {self._plain(c, self.theirs[0], inside=True) for c in self.local} <= said

    def is_like(self, other: "_Reader") -> bool:
        """Whether both end the rows of one key, later ones or all."""
        keys = [sorted(r.name(own) for _, own in r.key) for r in (self, other)]
        said = [(r.later, r.inclusive) for r in (self, other)]
        return keys[0] == keys[1] and said[0] == said[1]

    def name(self, tree: "exp.Expr") -> str:
        """An expression of the answers, the same however its columns are named."""
        return self._plain(tree, "", inside=False)

    def _plain(self, condition: "exp.Expr", alias: str, *, inside: bool) -> str:
        """A condition in which the columns of the stream have no table."""
        from sqlglot import exp

        def named(node: "exp.Expr") -> "exp.Expr":
            if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
                return node
            _, of, name = self._side(node, inside=inside)
            return exp.column(name, None if of == alias else of, quoted=True)

        return str(condition.copy().transform(named).sql("spark"))

    def _place(self, tree: "exp.Expr") -> set[str]:
        """Of which of the two its columns are."""
        from sqlglot import exp

        beyond = (exp.Subquery, exp.Exists, exp.Window, exp.Select)
        if tree.find(*beyond) or any(map(is_now, tree.walk())):
            return {"beyond"}
        return {self._side(c)[0] for c in tree.find_all(exp.Column)} or {"none"}

    def _side(self, column: "exp.Column", *, inside: bool = True) -> tuple[str, str, str]:
        """inner or outer, its alias and column; `inside`: it is read in the subquery."""
        for side, scope in (("inner", self.inner), ("outer", self.outer))[not inside :]:
            try:
                found = scope.resolve(column.table or None, column.name)
            except SqlRefusal:
                continue
            return side, found.alias, found.column
        return "beyond", "", ""

    def _is_time(self, tree: "exp.Expr") -> bool:
        from sqlglot import exp

        if not isinstance(tree, exp.Column):
            return False
        side, alias, name = self._side(tree)
        of = self.theirs if side == "inner" else self.mine
        return (alias, name) == (of[0], of[1].timestamp)


def _make(flat: "exp.Select", read: Sequence[_Reader], *, distinct: bool) -> StandingRows:
    from sqlglot import exp

    first, rows = read[0], flat.copy()
    rows.set("distinct", None)
    shown = {first.name(e.unalias()) for e in flat.expressions}
    free = tuple(n for n, (_, own) in enumerate(first.key) if first.name(own) not in shown)
    groups = aggregates(flat)
    for n, (_, own) in enumerate(first.key):
        shows = exp.Count(this=own.copy()) if groups else own.copy()
        rows.select(exp.alias_(shows, f"{KEY} {n + 1}", quoted=True), copy=False)
    inclusive = first.inclusive or not first.later
    return StandingRows(
        rows,
        tuple(_show_enders(one, [first.name(own) for _, own in first.key]) for one in read),
        len(first.key),
        free,
        inclusive,
        not inclusive and any(one.are_among(flat) for one in read),
        distinct,
        groups=groups,
        ever=not first.later,
    )


def _show_enders(read: _Reader, key: Sequence[str]) -> "exp.Select":
    """The key of the rows that end others; `key`: what each column of it is in the answers."""
    from sqlglot import exp

    ends = {read.name(own): other for other, own in read.key}
    enders = exp.Select(from_=read.rows.args["from_"].copy())
    enders.set("joins", [join.copy() for join in read.rows.args.get("joins") or ()])
    for n, own in enumerate(key):
        enders.select(exp.alias_(ends[own].copy(), f"{KEY} {n + 1}", quoted=True), copy=False)
    present = [exp.Not(this=exp.Is(this=o.copy(), expression=exp.Null())) for o, _ in read.key]
    return enders.where(*(c.copy() for c in read.local), *present, copy=False)
