"""A part of a join of rows that come and go."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import SqlRefusal, column_names, find_name
from ontoweir.rewriter.aggregates.chooses_rows import chooses_rows, is_numbered
from ontoweir.rewriter.differences.since_first import list_begins
from ontoweir.rewriter.earlier.expand_stars import expand_stars
from ontoweir.rewriter.joined.place_registers import Register
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.latest_rows import is_plain
from ontoweir.rewriter.model.joined import JoinKind
from ontoweir.rewriter.windows.rows_leave import rows_leave

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass
class Part:
    """A part of a join. `item`: what FROM has there; `names`: its columns, in lower case, with how
    they are written; `sure`: those of them that are never NULL; `kind`: how it is joined; `said`:
    what holds of its own rows; `compared`: of it and parts before it, as (part, column), operator,
    (part, column); `wanted`: the columns of it that are needed."""

    alias: str
    item: "exp.Expr"
    names: dict[str, str]
    sure: frozenset[str] = frozenset()
    kind: JoinKind = JoinKind.INNER
    said: "list[exp.Expr]" = field(default_factory=list)
    compared: list[tuple[tuple[int, str], str, tuple[int, str]]] = field(default_factory=list)
    wanted: list[str] = field(default_factory=list)
    on: "list[exp.Expr]" = field(default_factory=list)
    """What else it is joined by, of it and of parts before it."""
    registers: list[Register] = field(default_factory=list)
    """The static relations that are joined within it."""
    streams: tuple[Stream, ...] = ()
    """Of a static relation, those from whose first timestamp on its rows are there."""
    apart: bool = False
    """Its rows are groups, or are joined of others: what is said of them is said after that."""

    @property
    def is_shown(self) -> bool:
        """Whether others may read its columns."""
        return self.kind in (JoinKind.INNER, JoinKind.LEFT)

    @property
    def is_chosen(self) -> bool:
        """Whether its rows are the latest, or the first, of keys."""
        from sqlglot import exp

        chosen = (exp.Window, exp.ArgMax, exp.ArgMin)
        return not self.is_table and self.item.this.find(*chosen) is not None

    @property
    def is_table(self) -> bool:
        """Whether it is a stream, and not a subquery."""
        from sqlglot import exp

        return isinstance(self.item, exp.Table)


def list_part(item: "exp.Expr", catalog: Catalog) -> Part | None:
    """A stream, or a subquery of the latest, or the first, rows of keys, as a part of a join (None:
    it is something else)."""
    from sqlglot import exp

    if not is_plain(item) or not item.alias_or_name:
        return None
    if isinstance(item, exp.Table):
        columns = _list_columns(item, catalog)
        return None if columns is None else _make(item.alias_or_name, item, columns)
    if not isinstance(item, exp.Subquery) or not isinstance(item.this, exp.Select):
        return None
    inner = item.this
    if inner.args.get("joins") or not inner.find(exp.Window, exp.ArgMax, exp.ArgMin):
        return None
    names = _list_names(inner, catalog)
    return None if names is None else _make(item.alias, item, names)


def list_static(item: "exp.Expr", catalog: Catalog) -> Part | None:
    """A static relation, whose rows are there from the first timestamp of a query's streams on, as
    a part of a join (None: it is something else)."""
    from sqlglot import exp

    if not isinstance(item, exp.Table) or not is_plain(item):
        return None
    name = find_name(item.name, [*catalog.relations])
    if name is None or not catalog.begins:
        return None
    table = catalog.table(name)
    found = {c: table.column(c) for c in column_names(table)}
    columns = [(c, column is not None and not column.nullable) for c, column in found.items()]
    made = _make(item.alias_or_name, item, columns)
    made.streams = list_begins(catalog)
    return made


def list_changing(item: "exp.Expr", catalog: Catalog) -> Part | None:
    """A subquery of rows of windows, of groups of them, or of what is made of such, as a part of a
    join (None: it is something else)."""
    from sqlglot import exp

    inner = item.this if isinstance(item, exp.Subquery) and is_plain(item) else None
    if not isinstance(inner, (exp.Select, exp.SetOperation)) or not item.alias:
        return None
    if not any(rows_leave(s) or chooses_rows(s) for s in inner.find_all(exp.Select)):
        return None
    if isinstance(inner, exp.Select) and any(e.is_star for e in inner.selects):
        shown = _show_read(item, catalog)
        if shown is None:
            return None
        item, inner = shown, shown.this
    names = [e.alias_or_name for e in inner.selects]
    several = len({name.lower() for name in names}) < len(names)
    if several or "" in names or any(e.is_star for e in inner.selects):
        return None
    if inner.find(exp.Window) is not None and not is_numbered(inner):
        return None
    sure = _list_sure(inner, catalog) if isinstance(inner, exp.Select) else set()
    made = _make(item.alias, item, [(name, name in sure) for name in names])
    beyond = (exp.Subquery, exp.SetOperation, exp.Window, exp.Limit, exp.Fetch)
    made.apart = aggregates(inner) or inner.find(*beyond) is not None
    made.apart = made.apart or bool(inner.args.get("distinct"))
    return made


def _show_read(item: "exp.Expr", catalog: Catalog) -> "exp.Expr | None":
    """A subquery that shows all columns of a table, with those in their place that what is around
    it reads: a row without a value in another one is a row (None: these are not known)."""
    from sqlglot import exp

    around, made = item.parent_select, item.copy()
    if around is None or any(e.is_star for e in around.expressions):
        return None
    try:
        expand_stars(made.this, catalog, "what others are joined with")
    except SqlRefusal:
        return None
    mine = ("", item.alias_or_name.lower())
    joins = around.args.get("joins") or ()
    read = {c.name.lower() for c in around.find_all(exp.Column) if c.table.lower() in mine}
    read |= {one.name.lower() for join in joins for one in join.args.get("using") or ()}
    kept = [e for e in made.this.expressions if e.alias_or_name.lower() in read]
    made.this.set("expressions", kept)
    return made if kept else None


def _make(alias: str, item: "exp.Expr", columns: "list[tuple[str, bool]]") -> Part:
    sure = frozenset(name for name, never in columns if never)
    return Part(alias, item, {name.lower(): name for name, _ in columns}, sure)


def _list_names(inner: "exp.Select", catalog: Catalog) -> list[tuple[str, bool]] | None:
    """The columns of a subquery over one table, or of one over it, and whether each has a value."""
    from sqlglot import exp

    start = inner.args.get("from_")
    below = None if start is None else start.this
    if isinstance(below, exp.Subquery) and isinstance(below.this, exp.Select):
        known = _list_names(below.this, catalog)
    else:
        known = _list_columns(below, catalog)
    valued = {name.lower() for name, never in known or () if never}
    made: list[tuple[str, bool]] = []
    for item in inner.expressions:
        if item.is_star:
            if known is None:
                return None
            made += known
            continue
        if not item.alias_or_name:
            return None
        column = item.unalias()
        made.append(
            (item.alias_or_name, isinstance(column, exp.Column) and column.name.lower() in valued)
        )
    return made


def _list_sure(inner: "exp.Select", catalog: Catalog) -> set[str]:
    """The columns of a subquery that are never NULL: counts, and those of its tables and subqueries
    that are not, where none of them is joined by an outer join."""
    from sqlglot import exp

    joins, start = inner.args.get("joins") or [], inner.args.get("from_")
    if start is None or any(join.args.get("side") for join in joins):
        return set()
    known: set[tuple[str, str]] = set()
    for item in [start.this, *(join.this for join in joins)]:
        below = item.this if isinstance(item, exp.Subquery) else None
        if isinstance(below, exp.Select):
            names = _list_sure(below, catalog)
        else:
            names = {name for name, never in _list_columns(item, catalog) or () if never}
        known |= {(alias, n.lower()) for n in names for alias in (item.alias_or_name.lower(), "")}
    sure = set()
    for item in inner.expressions:
        of = item.unalias()
        column = isinstance(of, exp.Column) and (of.table.lower(), of.name.lower()) in known
        if column or isinstance(of, exp.Count):
            sure.add(item.alias_or_name)
    return sure


def _list_columns(table: "exp.Expr | None", catalog: Catalog) -> list[tuple[str, bool]] | None:
    name = None if table is None else find_name(table.name, [*catalog.streams])
    stream = None if name is None else catalog.table(name)
    if not isinstance(stream, Stream) or stream.versions:
        return None
    found = {c: stream.column(c) for c in column_names(stream)}
    return [(name, column is None or not column.nullable) for name, column in found.items()]
