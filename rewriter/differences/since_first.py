"""Rows of static relations that hold for ever, from the first timestamp of some streams on."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import find_name

if TYPE_CHECKING:
    from sqlglot import exp

FIRST = "first moment"
"""How the table of the first timestamp is called, and its column."""
FIRST_TIME = "first timestamp"
"""How the rows are called that have it."""


def since_first(select: "exp.Select", streams: Sequence[Stream], catalog: Catalog) -> "exp.Select":
    """A SELECT over static relations as one of rows that hold from the first timestamp of any row
    of some streams on, for ever.

    Before it there is no time, and no answer; from then on static rows always hold.

    Args:
        select: its columns say of which table they are.
        streams: one at least, of this part of the query.
        catalog: it knows those of the whole query (Catalog.begins).
    """
    from sqlglot import exp

    made = from_first(select, streams, catalog)
    return made.where(never_leaves(exp.column(FIRST, FIRST, quoted=True)), copy=False)


def from_first(select: "exp.Select", streams: Sequence[Stream], catalog: Catalog) -> "exp.Select":
    """The same, of which nothing says that it is in a window."""
    from sqlglot import exp

    made = select.copy()
    alias = exp.TableAlias(this=exp.to_identifier(FIRST, quoted=True))
    known = list_begins(catalog) or streams
    first = exp.Subquery(this=first_moment(known), alias=alias)
    made.append("joins", exp.Join(this=first, kind="CROSS"))
    return made


def begin_with(tree: "exp.Query", catalog: Catalog) -> Catalog:
    """The catalog for all parts of a query: there is what always holds from the first timestamp of
    any of its streams on."""
    from sqlglot import exp

    tables = [t for t in tree.find_all(exp.Table) if not _is_named(t)]
    names = (find_name(t.name, catalog.streams) for t in tables)
    return replace(catalog, begins=tuple(dict.fromkeys(n for n in names if n is not None)))


def _is_named(table: "exp.Table") -> bool:
    """Whether WITH of a query around it gives a table its name."""
    above: list[exp.Expr] = []
    node = table.parent
    while node is not None:
        above.append(node)
        node = node.parent
    for one in above:
        names = one.args.get("with_")
        for named in names.expressions if names is not None else ():
            if any(named is other for other in above):
                break  # a query of WITH knows those before it
            if named.alias.lower() == table.name.lower():
                return True
    return False


def list_begins(catalog: Catalog) -> tuple[Stream, ...]:
    """The streams of the whole query (Catalog.begins)."""
    return tuple(catalog.streams[name] for name in catalog.begins)


def never_leaves(time: "exp.Expr") -> "exp.Expr":
    """The condition of a window that a time never leaves."""
    from sqlglot import exp

    return exp.GTE(this=time.copy(), expression=_since_ever().copy())


@lru_cache(maxsize=1)
def _since_ever() -> "exp.Expr":
    """The begin of the bucket of all time (ALL_TIME)."""
    import sqlglot

    text = "DATE_BIN(INTERVAL '3652059' DAY, NOW(), TIMESTAMP '0001-01-01 00:00:00')"
    made: exp.Expr = sqlglot.parse_one(text, dialect="spark")
    return made


def first_moment(streams: Sequence[Stream]) -> "exp.Select":
    """The first timestamp of any row of some streams, as one row."""
    from sqlglot import exp

    one, before = FIRST_TIME, "earlier one"
    inner = exp.Select(
        expressions=[exp.Literal.number(1)], from_=exp.From(this=_times(streams, before))
    )
    inner.where(exp.LT(this=_time(streams, before), expression=_time(streams, one)), copy=False)
    shown = exp.alias_(_time(streams, one), FIRST, quoted=True)
    made = exp.Select(expressions=[shown], from_=exp.From(this=_times(streams, one)))
    made.where(exp.Not(this=exp.Exists(this=inner)), copy=False)
    return made.distinct(copy=False)


def begun_moment(streams: Sequence[Stream]) -> "exp.Select":
    """One row that is there from the first timestamp of any row of some streams on, for ever."""
    from sqlglot import exp

    alias = exp.TableAlias(this=exp.to_identifier(FIRST, quoted=True))
    time = exp.column(FIRST, FIRST, quoted=True)
    made = exp.Select(
        expressions=[exp.alias_(time.copy(), FIRST, quoted=True)],
        from_=exp.From(this=exp.Subquery(this=first_moment(streams), alias=alias)),
    )
    return made.where(never_leaves(time), copy=False)


def _times(streams: Sequence[Stream], alias: str) -> "exp.Expr":
    """The rows of streams, as a table with their times."""
    from sqlglot import exp

    named = exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
    first, *others = streams
    if not others:
        return exp.Table(this=exp.to_identifier(first.name, quoted=True), alias=named)
    rows: exp.Query | None = None
    for stream in streams:
        column = exp.alias_(exp.column(stream.timestamp, quoted=True), FIRST, quoted=True)
        table = exp.Table(this=exp.to_identifier(stream.name, quoted=True))
        select = exp.Select(expressions=[column], from_=exp.From(this=table))
        rows = select if rows is None else exp.union(rows, select, distinct=False, copy=False)
    return exp.Subquery(this=rows, alias=named)


def _time(streams: Sequence[Stream], alias: str) -> "exp.Expr":
    from sqlglot import exp

    name = streams[0].timestamp if len(streams) == 1 else FIRST
    return exp.column(name, alias, quoted=True)
