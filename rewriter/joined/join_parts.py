"""Rows of windows joined with the latest, or the first, rows of keys, as one query."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog, ColumnType
from ontoweir.mappings.model.expression import Expression
from ontoweir.mappings.sql.read_scope import SqlRefusal, SqlUnitsDiffer
from ontoweir.rewriter.aggregates.nest_scalars import nest_scalars
from ontoweir.rewriter.aggregates.read_joined_row import read_joined_condition, read_joined_row
from ontoweir.rewriter.aggregates.row_union import show_columns
from ontoweir.rewriter.aggregates.run_groups import run_groups
from ontoweir.rewriter.aggregates.unite_parts import PART, unite_parts
from ontoweir.rewriter.differences.since_first import list_begins
from ontoweir.rewriter.joined.nest_tables import nest_tables
from ontoweir.rewriter.joined.part import Part
from ontoweir.rewriter.joined.part_rows import PartRows, read_begun, read_rows
from ontoweir.rewriter.joined.read_joined import JoinedSql, read_joined
from ontoweir.rewriter.joined.refuse_beside import refuse_beside
from ontoweir.rewriter.joined.write_row import name_column
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.model.joined import Joined, JoinedPart, JoinKind
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.ranked.open_statics import open_statics
from ontoweir.rewriter.registers.require_values import require_values
from ontoweir.rewriter.standing.make_standing import types_of
from ontoweir.rewriter.windows.rows_leave import rows_leave

if TYPE_CHECKING:
    from sqlglot import exp


class PartReader(Protocol):
    """Reads a part of a join; `rows`: it is of rows of a stream, any of which may show NULL."""

    def __call__(self, one: "exp.Select", *, rows: bool) -> SpjUnion:
        """The query."""


def join_parts(
    tree: "exp.Query",
    catalog: Catalog,
    read: "Callable[[exp.Query], SpjUnion]",
    fresh: "PartReader",
    file: str,
) -> SpjUnion:
    """The query of what is joined of rows that come and go by themselves (SpjUnion.joined): a
    SELECT of rows of a window, with the latest or the first rows of keys, or groups of windows;
    another one as it is read.

    Args:
        tree: the query, whose names are as they were written.
        catalog: what it may read (Catalog.begins: the streams of the whole).
        read: reads a query.
        fresh: reads a part of it, by itself.
        file: where it is written.

    Raises:
        SqlRefusal: it is not read, for what a part of it is, if that is not read by itself.
    """
    from sqlglot import exp

    nested, ran = tree, False
    found = None if _has_values(tree) else read_joined(tree, catalog)
    if found is None:
        scalars = nest_scalars(tree, catalog)
        running = run_groups(scalars, catalog)
        ran = running != scalars
        nested = nest_tables(open_statics(running, catalog), catalog)
        found = read_joined(nested, catalog)
    if found is not None:
        joiner = _Joiner(found, catalog, fresh, file)
    made = None if found is None or found.may_be_less else joiner.join()
    if isinstance(made, SpjUnion):
        return made
    try:
        return read(tree)  # of windows alone when each answer ends may be known
    except SqlUnitsDiffer:
        raise  # it is read again, in steps that all streams have in common
    except (SqlRefusal, QueryError) as refusal:
        with suppress(SqlRefusal, QueryError):  # of a register nothing is kept there
            if nested != tree:
                return read(nested)
        if found is not None and found.may_be_less:
            made = joiner.join()
        if isinstance(made, SpjUnion):
            return made
        leave = any(rows_leave(select) for select in tree.find_all(exp.Select))
        if isinstance(refusal, QueryError) or (made is not None and (ran or not leave)):
            raise
        made = refuse_beside(tree, catalog) if made is None else made
        if made is None:
            raise
        raise made from refusal  # what a part is says more than what it would be in a join


def _has_values(tree: "exp.Query") -> bool:
    """Whether HAVING reads a subquery as a value."""
    from sqlglot import exp

    having = tree.args.get("having")
    return having is not None and having.find(exp.Subquery) is not None


class _Joiner:
    """Makes the query of a join."""

    def __init__(self, found: JoinedSql, catalog: Catalog, read: "PartReader", file: str) -> None:
        self.found, self.catalog, self.read, self.file = found, catalog, read, file
        self.streams = list_begins(catalog)
        self.parts: list[PartRows] = []

    def join(self) -> SpjUnion | SqlRefusal | None:
        """The query of the parts, or why one of them is refused (None: it is none of these)."""
        steps = [stream.step_us for stream in self.streams]
        if len({*steps}) > 1:
            raise SqlUnitsDiffer(min(steps), max(steps), None)
        try:
            return self._join()
        except SqlRefusal as refusal:
            return refusal

    def _require(self) -> None:
        """Let the rows of streams have values where they are shown and are not declared to be NULL,
        and so what is computed of such: of COALESCE(a, 7) not a, but the value."""
        from sqlglot import exp

        row, shown = self.found.row, {(n, c) for _, n, c in self.found.shown}
        if row is not None and (row.args.get("group") or aggregates(row)):
            return
        if row is not None:
            parts = self.found.parts
            named = {name_column(parts[n], c): (n, c) for n, c in shown}
            sure = {name for name, (n, c) in named.items() if c in parts[n].sure}
            told = [require_values(e.unalias(), sure) for e in row.expressions]
            shown = {named[c] for strict, _ in told for c in strict if c in named}
            for value in (value for _, value in told if value is not None):
                row.where(exp.Not(this=exp.Is(this=value, expression=exp.Null())), copy=False)
        for n, part in enumerate(self.found.parts):
            if part.is_table and not part.streams and part.kind is JoinKind.INNER:
                for name in (c for c in part.names.values() if (n, c) in shown and c in part.sure):
                    column = exp.column(name, part.alias, quoted=True)
                    part.said.append(exp.Not(this=exp.Is(this=column, expression=exp.Null())))

    def _join(self) -> SpjUnion | None:
        self._require()
        for part in self.found.parts:
            rows = read_rows(part, self.catalog, self.read)
            if rows is None:
                return None
            self.parts.append(rows)
        made: list[JoinedPart[SpjUnion]] = []
        for n, part in enumerate(self.found.parts):
            compared = self._compare(n, part)
            if compared is None:
                return None
            union = self.parts[n].union
            until, since = _rename(union.ends, n), _rename(union.begins, n)
            groups = self.parts[n].groups
            ever = "static" if part.streams else None
            made.append(replace(compared, until=until, since=since, groups=groups, ever=ever))
        shown = tuple((v, f"{n} {self.parts[n].names[c]}") for v, n, c in self.found.shown)
        row = None
        if self.found.row is not None or any(p.union.joined for p in self.parts):
            typed = [(v, self._type(n, self.parts[n].names[c])) for v, n, c in self.found.shown]
            columns = [(v, kind) for v, kind in typed if kind is not None]
            if len(columns) < len(typed):
                return None
            if self.found.row is None:
                of = zip(shown, columns, strict=True)
                shown, row = show_columns([(v, name, kind) for (v, name), (_, kind) in of])
            else:
                row = read_joined_row(self.found.row, columns, self.catalog, self.file)
        aggregations = [part.groups for part in made] + ([] if row is None else [row.groups])
        if any(a is not None and not a.group for a in aggregations):
            first = read_begun(self.streams, self.read)
            self.parts.append(first)
            until = _rename(first.union.ends, len(made))
            made.append(JoinedPart(first.union, kind=JoinKind.BEGUN, until=until, ever=""))
        unions = [part.union for part in self.parts]
        joined = Joined(PART, tuple(made), shown, self.found.distinct, row)
        kinds = [{v: types_of(u, v, self.catalog) for v in u.variables} for u in unions]
        if any(len(of) != 1 for kind in kinds for of in kind.values()):
            return None
        return unite_parts(unions, joined, kinds)

    def _type(self, number: int, column: str) -> ColumnType | None:
        """The type of a column of a part (None: it has several, or none)."""
        kinds = self.parts[number].kinds[column]
        return next(iter(kinds)) if len(kinds) == 1 else None

    def _compare(self, number: int, part: Part) -> JoinedPart[SpjUnion] | None:
        """How a part is joined with those before it (None: columns of two types are compared)."""
        from sqlglot import exp

        equal, said, more = [], [], [self._name(c) for c in part.on]
        for one, kind, other in part.compared:
            (n, left), (m, right) = ((of, self.parts[of].names[c]) for of, c in (one, other))
            types = self._type(n, left), self._type(m, right)
            if None in types:
                return None
            if types[0] != types[1]:
                sides = (
                    exp.column(f"{n} {left}", quoted=True),
                    exp.column(f"{m} {right}", quoted=True),
                )
                more.append(getattr(exp, kind)(this=sides[0], expression=sides[1]))
                continue
            mine = (f"{n} {left}", f"{m} {right}")
            if kind == "EQ" and (number == n) != (number == m):
                equal.append(mine if number == m else (mine[1], mine[0]))
            else:
                said.append((mine[0], _OPS[kind], mine[1]))
        on = self._read_condition(exp.and_(*more)) if more else None
        union = self.parts[number].union
        return JoinedPart(union, tuple(equal), tuple(said), part.kind, on=on)

    def _name(self, condition: "exp.Expr") -> "exp.Expr":
        """A condition (write_condition) in the words of the joined parts."""
        from sqlglot import exp

        names = {
            name_column(self.found.parts[n], column): f"{n} {name}"
            for n, part in enumerate(self.parts)
            for column, name in part.names.items()
        }
        made = condition.copy()
        for column in made.find_all(exp.Column):
            column.set("this", exp.to_identifier(names[column.name], quoted=True))
        return made

    def _read_condition(self, condition: "exp.Expr") -> Expression:
        columns = [
            (f"{n} {name}", kind)
            for n, part in enumerate(self.parts)
            for name in part.names.values()
            if (kind := self._type(n, name)) is not None
        ]
        return read_joined_condition(condition, columns, self.catalog)


_OPS = {"EQ": "=", "NEQ": "<>", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}


def _rename(names: Sequence[str], number: int) -> tuple[str, ...]:
    return tuple(f"{number} {name}" for name in names)
