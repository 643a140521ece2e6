"""LEFT JOIN of static relations with rows of streams: rows, and groups, of all that is
registered."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal, column_names
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.differences.count_rows import COUNT, MULTIPLICITY
from ontoweir.rewriter.differences.name_columns import is_once, name_tables
from ontoweir.rewriter.differences.since_first import FIRST, never_leaves, since_first
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.split_outer import Outer, split_outer
from ontoweir.rewriter.registers.check_calls import (
    check_call,
    is_mark,
    list_calls,
    list_plain_counts,
)
from ontoweir.rewriter.registers.compare_last import LateGroups, read_late
from ontoweir.rewriter.registers.group_sides import GroupSide, count_marked, group_sides, mark
from ontoweir.rewriter.registers.name_presence import is_register
from ontoweir.rewriter.windows.rows_leave import rows_leave

if TYPE_CHECKING:
    from sqlglot import exp

_PARTNER = "has a partner"


def pad_registers(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A SELECT over static relations and a LEFT JOIN with one stream, which tells rows with and
    without partners, as groups of the relations' rows, which hold for ever, and of the matches;
    another query as it is.

    Where it groups, a row of the relations is in its group once more than its matches are, with no
    value in the stream's columns, which aggregates pass over. Else all that is shown makes groups,
    and a row without a partner is an answer while none of its matches holds.

    Raises:
        SqlRefusal: an aggregate counts rows without a partner; or it is of other clauses besides.
    """
    if not _has_left(tree) or not is_register(tree, catalog):  # type: ignore[arg-type]
        return tree
    made: exp.Select = tree.copy()  # type: ignore[assignment]
    scope = list_tables(made, catalog)
    name_tables(made, scope)
    outer = split_outer(made, scope)
    if outer is None or outer.inner is None or outer.without is None:
        return tree
    stream = scope.tables[next(a for a in scope.tables if a.lower() == outer.alias.lower())]
    others = {a: t for a, t in scope.tables.items() if a.lower() != outer.alias.lower()}
    if not isinstance(stream, Stream) or _asks_of_partners(made, outer.alias):
        return tree
    _check_clauses(made)
    one = _Padded(made, outer, scope, Scope(catalog, others), stream)
    return one.group() if aggregates(made) else one.rows()


def _has_left(tree: "exp.Query") -> bool:
    from sqlglot import exp

    joins = tree.args.get("joins") or ()
    return isinstance(tree, exp.Select) and any(
        str(j.args.get("side") or "").upper() == "LEFT" and not j.args.get("using") for j in joins
    )


def _asks_of_partners(select: "exp.Select", alias: str) -> bool:
    """Whether WHERE reads the stream: then a row whose partners do not meet it is none, and not one
    without a partner."""
    from sqlglot import exp

    where = select.args.get("where")
    columns = [] if where is None else where.find_all(exp.Column)
    return any(c.table.lower() == alias.lower() for c in columns)


def _check_clauses(select: "exp.Select") -> None:
    """Raise SqlRefusal for what is not read beside such a join."""
    allowed = {"expressions", "from_", "joins", "where", "group", "having", "distinct"}
    more = sorted(k for k, v in select.args.items() if v and k not in allowed)
    if more:
        raise SqlRefusal(
            f"{more[0].strip('_').upper()} beside a LEFT JOIN of a static relation with a stream",
            why="its answers come and go as rows leave their windows",
            fix="leave it out, and sort, limit or name them in the results",
            line=line_of(select),
        )


@dataclass(frozen=True, slots=True)
class _Padded:
    """A LEFT JOIN of relations, and its stream; `written`: its columns say of which table they
    are; `own`: the relations."""

    written: "exp.Select"
    outer: Outer
    scope: Scope
    own: Scope
    stream: Stream

    @property
    def alias(self) -> str:
        """Of the stream."""
        return next(a for a in self.scope.tables if a not in self.own.tables)

    @property
    def hidden(self) -> frozenset[tuple[str, str]]:
        """The columns that a row without a partner has no value in."""
        return frozenset((self.alias, c) for c in column_names(self.stream))

    @property
    def time(self) -> "exp.Column":
        """When a partner is there."""
        from sqlglot import exp

        return exp.column(self.stream.timestamp, self.alias, quoted=True)

    def matches(self) -> "exp.Select":
        """The rows with their partners."""
        made = _bare(self.outer.inner)
        return made if rows_leave(made) else made.where(never_leaves(self.time), copy=False)

    def registered(self) -> "exp.Select":
        """The rows of the relations, for ever."""
        made = _bare(self.outer.without)
        joins = [j for j in made.args.get("joins") or () if not _is_anti(j, self.alias)]
        made.set("joins", joins)
        return since_first(made, [self.stream], self.scope.catalog)

    def rows(self) -> "exp.Select":
        """Rows with and without partners."""
        from sqlglot import exp

        if self.written.args.get("distinct") is not None:
            raise SqlRefusal(
                "SELECT DISTINCT of a LEFT JOIN of a static relation with a stream",
                why="an answer may be of rows with a partner and of others without one",
                fix="leave DISTINCT out, or GROUP BY what is selected",
                line=line_of(self.written),
            )
        asked, shown = list(self.written.expressions), self.written.copy()
        keys = [k for k in self._compared() if k not in [e.unalias() for e in asked]]
        shown.set("expressions", [*asked, *(k.copy() for k in keys)])
        first = exp.column(FIRST, FIRST, quoted=True)
        sides = [
            GroupSide(self.registered(), first, self.hidden, {COUNT: 1, _PARTNER: 0}),
            GroupSide(self.matches(), self.time, self.hidden, {COUNT: 0, _PARTNER: 0}),
            GroupSide(self.matches(), self.time, frozenset(), {COUNT: 1, _PARTNER: 1}),
        ]
        made = group_sides(shown, sides, self.scope, ())
        items = [e.unalias() for e in made.expressions]
        group = [*items, mark(_PARTNER)]
        named = [
            exp.alias_(e.copy(), a.alias_or_name or a.sql("spark"), quoted=True)
            for e, a in zip(items, asked, strict=False)
        ]
        often = exp.alias_(exp.Sum(this=mark(COUNT)), MULTIPLICITY, quoted=True)
        made.set("expressions", [*named, often])
        made.set("group", exp.Group(expressions=[e.copy() for e in group]))
        least = exp.GT(this=exp.Min(this=mark(COUNT)), expression=exp.Literal.number(0))
        made.set("having", exp.Having(this=least))
        return made

    def group(self) -> "exp.Select":
        """Groups of them."""
        from sqlglot import exp

        written = self._count_rows()
        self._check_groups()
        late = read_late(written, self.alias, self.stream)
        for call in list_calls(late.select):
            if not is_mark(call):
                check_call(call, self.hidden)
        first = exp.column(FIRST, FIRST, quoted=True)
        sides = [
            GroupSide(self.registered(), first, self.hidden, {_PARTNER: 0, **late.marks()}),
            GroupSide(self.matches(), self.time, frozenset(), {_PARTNER: 1, **late.marks()}),
            *self._late_sides(late),
        ]
        return group_sides(late.select, sides, self.scope, ("group", "having", "distinct"))

    def _check_groups(self) -> None:
        """Raise SqlRefusal for groups by columns of the stream: of those without a value there is a
        row while some row of the relations has no partner, which a group by itself does not say."""
        from sqlglot import exp

        group = self.written.args.get("group")
        for item in [] if group is None else group.expressions:
            meant = _mean(item, self.written)
            if any((c.table, c.name) in self.hidden for c in meant.find_all(exp.Column)):
                raise SqlRefusal(
                    f"GROUP BY {show_sql(meant)}, of the stream, over a LEFT JOIN of a static "
                    "relation with it",
                    why="the rows without a partner are a group without a value, which is there "
                    "only while there are such rows",
                    fix="group by columns of the relation; or write JOIN, and ask for the rows "
                    "without a partner by NOT EXISTS",
                    line=line_of(item),
                )

    def _late_sides(self, late: LateGroups) -> list[GroupSide]:
        """Of what HAVING says of the latest time, the matches that are not that old."""
        made = []
        for name, window in late.windows.items():
            rows = _bare(self.outer.inner).where(window.copy(), copy=False)
            marks = {_PARTNER: 0, **late.marks(name)}
            made.append(GroupSide(rows, self.time, self.hidden, marks))
        return made

    def _count_rows(self) -> "exp.Select":
        """The number of partners, COUNT of their time, as a sum of what marks them; and COUNT(*) as
        what it is of one row of the relations: that number, and 1 where there is no partner."""
        from sqlglot import exp

        made, partners = self.written.copy(), count_marked(_PARTNER)
        group = made.args.get("group")
        columns = [_mean(g, made) for g in ([] if group is None else group.expressions)]
        for call in list_plain_counts(made):
            if call.this == self.time:
                call.replace(partners.copy())
                continue
            if not isinstance(call.this, exp.Star):
                continue
            if not is_once(self.own, columns):
                raise SqlRefusal(
                    "COUNT(*) over a LEFT JOIN of a static relation with a stream",
                    why="it counts a row without a partner too, and the group may have several "
                    "rows of the relation",
                    fix=f"write COUNT({self.alias}.{self.stream.timestamp}), which counts "
                    "partners; or group by a key that is declared of the relation",
                    line=line_of(self.written),
                )
            one = exp.Literal.number(1)
            call.replace(exp.Greatest(this=partners.copy(), expressions=[one]))
        return made

    def _compared(self) -> "list[exp.Expr]":
        """The columns of the relations that a partner is compared with."""
        from sqlglot import exp

        joins = self.outer.inner.args.get("joins") or () if self.outer.inner is not None else ()
        on = [j.args["on"] for j in joins if j.this.alias_or_name == self.alias and j.args["on"]]
        found = [c for o in on for p in split_conjuncts(o) for c in p.find_all(exp.Column)]
        return list(dict.fromkeys(c.copy() for c in found if c.table in self.own.tables))


def _bare(select: "exp.Select | None") -> "exp.Select":
    """Its rows alone."""
    assert select is not None
    made = select.copy()
    for key in ("group", "having", "distinct"):
        made.set(key, None)
    return made


def _mean(item: "exp.Expr", select: "exp.Select") -> "exp.Expr":
    """What is grouped by, where it is a position in SELECT or a name that is given there."""
    from sqlglot import exp

    if isinstance(item, exp.Literal) and item.name.isdigit():
        shown = select.expressions[int(item.name) - 1 : int(item.name)]
        return shown[0].unalias() if shown else item
    named = (e for e in select.expressions if e.alias and e.alias.lower() == item.name.lower())
    if isinstance(item, exp.Column) and not item.table:
        return next((e.unalias() for e in named), item)
    return item


def _is_anti(join: "exp.Expr", alias: str) -> bool:
    kind = str(join.args.get("kind") or "").upper()
    return kind == "ANTI" and join.this.alias_or_name == alias
