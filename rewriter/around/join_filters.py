"""Aggregates of the rows of a window within that of the query, as groups that are joined."""

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.own_nodes import list_own
from ontoweir.rewriter.windows.read_sql_windows import is_now

if TYPE_CHECKING:
    from sqlglot import exp

_READ = {"expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset"}
_NAMES = ("Count", "Sum", "Avg", "Min", "Max")
_ROWS = "groups of all rows"


@dataclass(frozen=True, slots=True)
class _Within:
    """`call`: the aggregate of the rows that meet a condition; `none`: what it is where no row of a
    group does (None: NULL); `zero`: it is a sum to which each other row adds 0."""

    call: "exp.Expr"
    condition: "exp.Expr"
    none: "exp.Expr | None"
    zero: bool = False


def join_filters(tree: "exp.Query") -> "exp.Query":
    """`COUNT(*) FILTER (WHERE ts > NOW() - …)`, and `SUM(CASE WHEN ts > NOW() - … THEN x END)`,
    beside other aggregates, as groups of these rows that are joined with those of all rows; another
    query as it is.

    Args:
        tree: the query, whose names are as they were written.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or not aggregates(tree) or tree.args.get("from_") is None:
        return tree
    if {name for name, value in tree.args.items() if value} - _READ or list_own(tree, exp.Window):
        return tree
    if any(e.is_star or not e.alias_or_name for e in tree.expressions):
        return tree
    found = {n: w for n in list_own(tree, exp.Expr) if (w := _read(n)) is not None}
    return _Joiner(tree.copy(), found).write() if found else tree


def _read(node: "exp.Expr") -> _Within | None:
    """An aggregate of the rows in a window (None: it is something else)."""
    from sqlglot import exp

    if isinstance(node, exp.Filter):
        call, condition = node.this, node.expression.this
        plain = type(call).__name__ in _NAMES and any(map(is_now, condition.walk()))
        return _Within(call, condition, _nothing(call)) if plain else None
    if type(node).__name__ not in _NAMES or isinstance(node.parent, exp.Filter):
        return None
    case = node.this.unnest() if isinstance(node.this, exp.Expr) else None
    if not isinstance(case, exp.Case) or case.this is not None or len(case.args["ifs"]) != 1:
        return None
    (branch,), other = case.args["ifs"], case.args.get("default")
    if not any(map(is_now, branch.this.walk())):
        return None
    value = branch.args["true"].copy()
    call = type(node)(this=value)
    zero = other is not None and isinstance(node, exp.Sum) and _is_zero(other)
    if other is None or isinstance(other.unnest(), exp.Null):
        return _Within(call, branch.this, _nothing(call))
    if not zero:
        return None
    known = isinstance(value.unnest(), exp.Literal)  # of no row it is 0, and of no NULL either
    return _Within(call, branch.this, exp.Literal.number(0) if known else None, zero=not known)


def _is_zero(tree: "exp.Expr") -> bool:
    from sqlglot import exp

    inner = tree.unnest()
    number = isinstance(inner, exp.Literal) and not inner.is_string
    return number and Decimal(inner.name) == 0


def _nothing(call: "exp.Expr") -> "exp.Expr | None":
    from sqlglot import exp

    return exp.Literal.number(0) if isinstance(call, exp.Count) else None


class _Joiner:
    """Writes the join, of the SELECT `tree`, in which `found` are aggregates of fewer rows."""

    def __init__(self, tree: "exp.Select", found: "dict[exp.Expr, _Within]") -> None:
        self.tree, self.found = tree, found
        group = tree.args.get("group")
        self.keys = [] if group is None else [k.copy() for k in group.expressions]
        self.read: dict[exp.Expr, exp.Expr] = {}

    def write(self) -> "exp.Select":
        """The query around the groups."""
        from sqlglot import exp

        outer = exp.Select()
        shown = self.tree.expressions
        outer.set(
            "expressions",
            [exp.alias_(e.unalias().copy(), e.alias_or_name, quoted=True) for e in shown],
        )
        for name in ("order", "limit", "offset"):
            if (held := self.tree.args.get(name)) is not None:
                outer.set(name, held.copy())
        if (having := self.tree.args.get("having")) is not None:
            given = {e.alias.lower(): e.unalias() for e in shown if e.alias}
            said = having.copy()
            for column in list(said.find_all(exp.Column)):
                item = None if column.table else given.get(column.name.lower())
                if (
                    item is not None
                    and column not in self.keys
                    and not column.find_ancestor(exp.AggFunc)
                ):
                    column.replace(exp.paren(item.copy()))
            outer.where(said.this, copy=False)
        joins = []
        for number, (node, within) in enumerate(self.found.items()):
            name = f"groups of rows {number}"
            value: exp.Expr = exp.column("value", name, quoted=True)
            if within.none is not None:
                value = exp.Coalesce(this=value, expressions=[within.none.copy()])
            if within.zero:
                value = _add_zeros(value, name)
            self.read[node] = value
            joins.append(self._write_join(within, name))
        calls = self._replace(outer)
        items = [exp.alias_(c, f"value {n}", quoted=True) for n, c in enumerate(calls)]
        rows = self._write_groups(
            items or [exp.alias_(exp.Count(this=exp.Star()), "all", quoted=True)]
        )
        outer.set("from_", exp.From(this=_name(rows, _ROWS)))
        for join in joins:
            outer.append("joins", join)
        return outer

    def _replace(self, outer: "exp.Select") -> "list[exp.Expr]":
        """Put columns for what is read of the groups, in place; the aggregates of all rows."""
        from sqlglot import exp

        calls: list[exp.Expr] = []
        if any(within.zero for within in self.found.values()):
            calls.append(exp.Count(this=exp.Star()))  # _add_zeros reads it
        for node in [n for n in outer.walk(prune=self._is_read) if self._is_read(n)]:
            if node in self.read:
                node.replace(self.read[node].copy())
            elif node in self.keys:
                node.replace(exp.column(f"key {self.keys.index(node)}", _ROWS, quoted=True))
            else:
                calls += [] if node in calls else [node.copy()]
                node.replace(exp.column(f"value {calls.index(node)}", _ROWS, quoted=True))
        return calls

    def _is_read(self, node: "exp.Expr") -> bool:
        from sqlglot import exp

        return node in self.read or node in self.keys or isinstance(node, (exp.AggFunc, exp.Filter))

    def _write_groups(
        self, items: "list[exp.Expr]", condition: "exp.Expr | None" = None
    ) -> "exp.Select":
        """The groups of the rows, or of those that meet a condition."""
        from sqlglot import exp

        made = self.tree.copy()
        for name in ("having", "order", "limit", "offset"):
            made.set(name, None)
        keys = [exp.alias_(k.copy(), f"key {n}", quoted=True) for n, k in enumerate(self.keys)]
        made.set("expressions", [*keys, *items])
        return made if condition is None else made.where(condition.copy(), copy=False)

    def _write_join(self, within: _Within, name: str) -> "exp.Join":
        from sqlglot import exp

        items = [exp.alias_(within.call.copy(), "value", quoted=True)]
        if within.zero:
            items.append(exp.alias_(exp.Count(this=exp.Star()), "rows", quoted=True))
        table = _name(self._write_groups(items, within.condition), name)
        if not self.keys:
            return exp.Join(this=table, kind="CROSS")
        on = [
            exp.NullSafeEQ(
                this=exp.column(f"key {n}", _ROWS, quoted=True),
                expression=exp.column(f"key {n}", name, quoted=True),
            )
            for n in range(len(self.keys))
        ]
        return exp.Join(this=table, side="LEFT", on=exp.and_(*on))


def _add_zeros(value: "exp.Expr", name: str) -> "exp.Expr":
    """A sum over the rows within, with 0 for each other one of the group, if there are such."""
    from sqlglot import exp

    none = [exp.Literal.number(0)]
    rows = exp.Coalesce(this=exp.column("rows", name, quoted=True), expressions=none)
    others = exp.LT(this=rows, expression=exp.column("value 0", _ROWS, quoted=True))
    sum_ = exp.Coalesce(this=value.copy(), expressions=[none[0].copy()])
    return exp.Case(ifs=[exp.If(this=others, true=sum_)], default=value)


def _name(select: "exp.Select", name: str) -> "exp.Subquery":
    from sqlglot import exp

    return exp.Subquery(
        this=select, alias=exp.TableAlias(this=exp.to_identifier(name, quoted=True))
    )
