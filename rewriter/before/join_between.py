"""SQL's rows with the latest ones before them, which say by NOT EXISTS that no other is between."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.earlier.declare_latest import LatestOf, declare_latest
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import resolve
from ontoweir.rewriter.joins.list_tables import list_tables

if TYPE_CHECKING:
    from sqlglot import exp

    from ontoweir.mappings.sql.read_scope import Scope

Tree = TypeVar("Tree", bound="exp.Query")
Name = tuple[str, str]
"""An alias, and a column."""


def join_between(tree: Tree, catalog: Catalog) -> Tree:
    """ASOF JOIN for `FROM s AS a JOIN t AS b ON b.k = a.k AND b.ts < a.ts WHERE NOT EXISTS (SELECT
    1 FROM t AS c WHERE c.k = a.k AND c.ts > b.ts AND c.ts < a.ts)`, in place: b is the latest row
    of its key before a, and has all that is asked of c. In a LEFT JOIN nothing else is asked of b.

    Args:
        tree: the query, with names as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    for select in list(tree.find_all(exp.Select)):
        for said, place in list(_list_absent(select)):
            gap = _read_gap(select, said, catalog)
            if gap is not None and _join(select, gap, place, catalog):
                break
    return tree


@dataclass(frozen=True, slots=True)
class _Gap:
    """No row of a stream is between two rows: the `first` and the `last`, by their aliases.

    `said`: NOT EXISTS; `only`: what is asked of such rows alone, as conditions on the first one;
    `equal`: its columns that equal others, and those; `inclusive`: none has the last one's time.
    """

    said: "exp.Expr"
    first: str
    last: str
    stream: Stream
    only: "tuple[exp.Expr, ...]"
    equal: "tuple[tuple[Name, Name], ...]"
    inclusive: bool


def _list_absent(select: "exp.Select") -> "Iterator[tuple[exp.Expr, exp.Expr | None]]":
    """Each NOT EXISTS of WHERE and ON, and the join that it is in (None: WHERE)."""
    from sqlglot import exp

    where = select.args.get("where")
    places: list[tuple[exp.Expr, exp.Expr | None]] = [] if where is None else [(where.this, None)]
    places += [(j.args["on"], j) for j in select.args.get("joins") or () if j.args.get("on")]
    for tree, place in places:
        for condition in split_conjuncts(tree):
            inner = condition.this.unnest() if isinstance(condition, exp.Not) else None
            if isinstance(inner, exp.Exists):
                yield condition, place


def _read_gap(select: "exp.Select", said: "exp.Expr", catalog: Catalog) -> _Gap | None:
    from sqlglot import exp

    inner = said.this.unnest().this
    inner = inner.unnest() if isinstance(inner, exp.Subquery) else inner
    if not isinstance(inner, exp.Select):
        return None
    held, where = {k for k, v in inner.args.items() if v}, inner.args.get("where")
    mine, theirs = list_tables(select, catalog), list_tables(inner, catalog)
    if held - {"expressions", "from_", "where"} or len(theirs.tables) != 1 or where is None:
        return None
    ((alias, stream),) = theirs.tables.items()
    if not isinstance(stream, Stream) or stream.versions or where.find(exp.Select) is not None:
        return None
    if alias.lower() in {a.lower() for a in mine.tables}:
        return None
    between = _Between(alias, stream, mine, theirs)
    for condition in split_conjuncts(where.this):
        if not between.add(condition):
            return None
    return between.make(said)


class _Between:
    """What is asked of the rows that are not there, condition by condition."""

    def __init__(self, alias: str, stream: Stream, mine: "Scope", theirs: "Scope") -> None:
        self.alias, self.stream, self.mine, self.theirs = alias, stream, mine, theirs
        self.only: list[exp.Expr] = []
        self.equal = list[tuple[str, Name]]()
        self.first = list[Name]()
        self.last = list[tuple[Name, bool]]()

    def add(self, condition: "exp.Expr") -> bool:
        """Whether a condition is of such a row alone, or compares a column of it."""
        from sqlglot import exp

        names = [self._resolve(c) for c in condition.find_all(exp.Column)]
        if any(n is None for n in names) or not names:
            return False
        if all(n is not None and n[0] == self.alias for n in names):
            self.only.append(condition)
            return True
        turned: dict[type[exp.Expr], type[exp.Expr]]
        turned = {exp.GT: exp.LT, exp.LT: exp.GT, exp.GTE: exp.LTE, exp.LTE: exp.GTE}
        kind: type[exp.Expr] = type(condition)
        if kind not in (*turned, exp.EQ):
            return False
        left, right = self._resolve(condition.this), self._resolve(condition.expression)
        if left is None or right is None:
            return False
        if left[0] != self.alias:
            left, right, kind = right, left, turned.get(kind, kind)
        if left[0] != self.alias or right[0] == self.alias:
            return False
        if kind is exp.EQ and left[1] != self.stream.timestamp:
            self.equal.append((left[1], right))
        elif kind is exp.GT and left[1] == self.stream.timestamp:
            self.first.append(right)
        elif kind in (exp.LT, exp.LTE) and left[1] == self.stream.timestamp:
            self.last.append((right, kind is exp.LTE))
        else:
            return False
        return True

    def make(self, said: "exp.Expr") -> _Gap | None:
        if len(self.first) != 1 or len(self.last) != 1 or not self.equal:
            return None
        (first,), ((last, inclusive),) = self.first, self.last
        base, other = self.mine.tables.get(first[0]), self.mine.tables.get(last[0])
        if base != self.stream or first[1] != self.stream.timestamp or first[0] == last[0]:
            return None
        if not isinstance(other, Stream) or other.versions or last[1] != other.timestamp:
            return None
        only = tuple(self._rename(c, first[0]) for c in self.only)
        equal = tuple(((first[0], column), of) for column, of in self.equal)
        return _Gap(said, first[0], last[0], self.stream, only, equal, inclusive)

    def _rename(self, condition: "exp.Expr", alias: str) -> "exp.Expr":
        from sqlglot import exp

        made = exp.Paren(this=condition.copy())
        for column in list(made.find_all(exp.Column)):
            name = self._resolve(column)
            assert name is not None
            column.replace(exp.column(name[1], alias, quoted=True))
        shown: exp.Expr = made.this
        return shown

    def _resolve(self, tree: "exp.Expr") -> Name | None:
        """A column of the subquery, or else of the query around it."""
        from sqlglot import exp

        if not isinstance(tree, exp.Column):
            return None
        return resolve(self.theirs, tree) or resolve(self.mine, tree)


def _join(select: "exp.Select", gap: _Gap, place: "exp.Expr | None", catalog: Catalog) -> bool:
    """Whether the query says of the first row what it says of those that are not there; then it is
    joined as the latest one."""
    scope, joins = list_tables(select, catalog), list(select.args.get("joins") or ())
    if any(j.args.get("using") or j.args.get("method") for j in joins):
        return False
    names = [j.this.alias_or_name for j in joins]
    own = joins[names.index(gap.first)] if gap.first in names else None
    inner = all(_is_inner(j) for j in joins)
    optional = own is not None and str(own.args.get("side") or "").upper() == "LEFT"
    pool: list[exp.Expr] = []
    if own is not None and optional and (place is None or place is own):
        if gap.last in names[names.index(gap.first) :]:
            return False
        pool = _list_conditions([own], None)
    elif inner:
        pool = _list_conditions(joins, select.args.get("where"))
    else:
        return False
    said = _Said([c for c in pool if c is not gap.said], gap, scope)
    if not said.is_all() or (optional and said.rest):
        return False
    if any(said.is_timed(c) for c in said.rest) and not said.is_of_few():
        return False  # else the rows of a span of time are kept, of any keys
    rows = _write_rows(gap)
    only = rows.args.get("where")
    of = LatestOf(gap.stream, said.key, None if only is None else only.this, not gap.inclusive)
    try:
        declare_latest(of, catalog, "the row before", None)
    except SqlRefusal:
        return False  # there may be several
    if not optional and not _put_last(select, gap):
        return False
    _write(select, gap, said, rows)
    return True


class _Said:
    """What a query says of the first row: `equal`, the equations of its key; `rest`, what is said
    beside of it and of others."""

    def __init__(self, pool: "Sequence[exp.Expr]", gap: _Gap, scope: "Scope") -> None:
        self.gap, self.scope = gap, scope
        shown = {self._show(c): c for c in reversed(pool)}
        self.equal = [self._find_equal(own, of, shown) for own, of in gap.equal]
        time = (gap.first, gap.stream.timestamp), (gap.last, self._stamp(gap.last))
        before, until = (f"{op} {_quote(*time[0])} {_quote(*time[1])}" for op in ("LT", "LTE"))
        self.before = shown.get(before)
        self.until = shown.get(until) if gap.inclusive else None
        self.only = [shown.get(self._show(c)) for c in gap.only]
        used = [*self.equal, *self.only, *([] if gap.inclusive else [self.before]), self.until]
        self.rest = [c for c in pool if not any(c is u for u in used)]
        if gap.inclusive and self.before is not None:
            self.until = self.before
        self.key = tuple(dict.fromkeys(own[1] for own, _ in gap.equal))

    def is_all(self) -> bool:
        """Whether it says all that is said of the rows that are not there; and of its key that it
        equals columns of the last row."""
        last = {
            c[0]
            for e in self.equal
            if e is not None
            for c in (resolve(self.scope, e.this), resolve(self.scope, e.expression))
            if c is not None
        } - {self.gap.first}
        timed = self.until if self.gap.inclusive else self.before
        known = [*self.equal, *self.only, timed]
        return all(c is not None for c in known) and last == {self.gap.last}

    def is_timed(self, condition: "exp.Expr") -> bool:
        """Whether a condition is of the first row's time, beside that it is earlier."""
        if condition is self.before:
            return False
        time = self.gap.first, self.gap.stream.timestamp
        return any(resolve(self.scope, c) == time for c in _list_columns(condition))

    def is_of_few(self) -> bool:
        """Whether all columns of the key have values that are declared."""
        stream = self.gap.stream
        held = {c for r in stream.references for c in r.columns}
        columns = [c for n in self.key if (c := stream.column(n)) is not None]
        return all(
            bool(c.enum) or None not in (c.minimum, c.maximum) or c.name in held for c in columns
        )

    def _find_equal(self, own: Name, of: Name, shown: "dict[str, exp.Expr]") -> "exp.Expr | None":
        if of == own:  # c.k = b.k, where b.k equals a column of the last row
            last = f"{_quote(self.gap.last, '')}"[:-2]
            starts = {k: c for k, c in shown.items() if k.startswith("EQ ") and _quote(*own) in k}
            return next((c for k, c in starts.items() if last in k), None)
        return shown.get(_equation(own, of))

    def _stamp(self, alias: str) -> str:
        table = self.scope.tables[alias]
        assert isinstance(table, Stream)
        return table.timestamp

    def _show(self, condition: "exp.Expr") -> str:
        """A condition, as it is said with the names of columns and in one order of its sides."""
        from sqlglot import exp

        if isinstance(condition, exp.Binary):
            left = resolve(self.scope, condition.this)
            right = resolve(self.scope, condition.expression)
            if left is not None and right is not None:
                if isinstance(condition, exp.EQ):
                    return _equation(left, right)
                if isinstance(condition, (exp.GT, exp.GTE)):
                    left, right = right, left
                if isinstance(condition, (exp.LT, exp.GT)):
                    return f"LT {_quote(*left)} {_quote(*right)}"
                if isinstance(condition, (exp.LTE, exp.GTE)):
                    return f"LTE {_quote(*left)} {_quote(*right)}"
        made = exp.Paren(this=condition.copy())
        for column in list(made.find_all(exp.Column)):
            if (name := resolve(self.scope, column)) is not None:
                column.replace(exp.column(name[1], name[0], quoted=True))
        return str(made.this.sql("spark", normalize_functions="upper"))


def _equation(left: Name, right: Name) -> str:
    return " ".join(("EQ", *sorted((_quote(*left), _quote(*right)))))


def _quote(alias: str, column: str) -> str:
    return f"`{alias}`.`{column}`"


def _list_columns(tree: "exp.Expr") -> "list[exp.Column]":
    from sqlglot import exp

    return list(tree.find_all(exp.Column))


def _is_inner(join: "exp.Expr") -> bool:
    kind = str(join.args.get("kind") or "").upper()
    return not join.args.get("side") and kind in ("", "INNER", "CROSS")


def _list_conditions(joins: "Sequence[exp.Expr]", where: "exp.Expr | None") -> "list[exp.Expr]":
    trees = [j.args["on"] for j in joins if j.args.get("on") is not None]
    trees += [] if where is None else [where.this]
    return [c for tree in trees for c in split_conjuncts(tree)]


def _write_rows(gap: _Gap) -> "exp.Select":
    """The rows of which the latest one is asked for."""
    from sqlglot import exp

    rows = exp.select("*").from_(exp.table_(gap.stream.name, quoted=True))
    for condition in gap.only:
        made = exp.Paren(this=condition.copy())
        for column in made.find_all(exp.Column):
            column.set("table", None)
        rows.where(made.this, copy=False)
    return rows


def _put_last(select: "exp.Select", gap: _Gap) -> bool:
    """Whether the first row of an inner join stands after the last one, where it may: its join is
    moved there; not where * shows columns in their order."""
    from sqlglot import exp

    joins = list(select.args["joins"])
    names = [j.this.alias_or_name for j in joins]
    place = names.index(gap.first) if gap.first in names else -1
    if place >= 0 and gap.last not in names[place:]:
        return True
    if any(e.is_star for e in select.expressions):
        return False
    if place >= 0:
        select.set("joins", [*(j for n, j in enumerate(joins) if n != place), joins[place]])
        return True
    first, start = joins[0], select.args["from_"]
    own = start.this
    start.set("this", first.this)
    if first.args.get("on") is not None:
        select.where(first.args["on"], copy=False)
    select.set("joins", [*joins[1:], exp.Join(this=own)])
    return True


def _write(select: "exp.Select", gap: _Gap, said: _Said, rows: "exp.Select") -> None:
    """ASOF JOIN of the latest row, and what else is said of all, in WHERE."""
    from sqlglot import exp

    joins = list(select.args["joins"])
    own = next(j for j in joins if j.this.alias_or_name == gap.first)
    optional = bool(own.args.get("side"))
    where = select.args.get("where")
    if optional:
        kept = [c for c in _list_conditions([], where) if c is not gap.said]
    else:
        kept = said.rest
        for join in joins:
            join.set("on", None)
    select.set("where", exp.Where(this=exp.and_(*(c.copy() for c in kept))) if kept else None)
    stamp = said.scope.tables[gap.last]
    assert isinstance(stamp, Stream)
    kind = exp.GTE if gap.inclusive else exp.GT
    time = kind(
        this=exp.column(stamp.timestamp, gap.last, quoted=True),
        expression=exp.column(gap.stream.timestamp, gap.first, quoted=True),
    )
    named = exp.TableAlias(this=exp.to_identifier(gap.first, quoted=True))
    table: exp.Expr = exp.Subquery(this=rows, alias=named)
    if not gap.only:
        table = exp.Table(this=exp.to_identifier(gap.stream.name, quoted=True), alias=named)
    equal = [
        e.copy() for n, e in enumerate(said.equal) if e is not None and e not in said.equal[:n]
    ]
    own.meta["written"] = "the row before"
    own.set("this", table)
    own.set("on", exp.and_(*equal, time))
    own.set("method", "ASOF")
    own.set("kind", None)
