"""Rows of tables of windows that overlap: each row once for every window that it lies in."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ontoweir.mappings.model.sliding_buckets import make_sliding
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.own_nodes import list_own, list_windows
from ontoweir.rewriter.windows.read_sql_grid import read_interval, read_offset
from ontoweir.rewriter.windows.read_window_tables import END, START, open_overlapping

if TYPE_CHECKING:
    from sqlglot import exp

_MOST = 100
"""So many windows of one row are parts of a UNION; each is a query of its own."""


def spread_windows(tree: "exp.Query") -> None:
    """Read `SELECT … FROM TABLE(HOP(TABLE s, DESCRIPTOR(ts), slide, size))`, and CUMULATE, as over
    the UNION ALL of s with its first window, with its second one and so on, in place.

    A SELECT whose rows are grouped by their window stays as it is, also where a SELECT around it
    groups; so does one that has functions OVER them.

    Args:
        tree: the query, with names as they were written.

    Raises:
        SqlRefusal: a row lies in too many windows, or not always in as many.
    """
    from sqlglot import exp

    for select in list(tree.find_all(exp.Select)):
        items = [select.args.get("from_"), *(select.args.get("joins") or ())]
        tables = [item.this for item in items if item is not None]
        found = [t for t in tables if isinstance(t, exp.Table) and open_overlapping(t.copy())]
        for table in found:
            alias = _alias(table)
            if not _closes(select, _of(alias, {START, END}, alone=len(found) == 1)):
                table.replace(_spread(table, alias))
            elif select.args.get("distinct") is not None:
                _group(select)


Mine = Callable[["exp.Expr"], bool]
"""Whether an expression is where a window begins, or ends."""


def _of(alias: str, names: set[str], *, alone: bool) -> Mine:
    from sqlglot import exp

    def is_mine(tree: "exp.Expr") -> bool:
        if not isinstance(tree, exp.Column) or tree.name.lower() not in names:
            return False
        return tree.table.lower() == alias.lower() or (alone and not tree.table)

    return is_mine


def _closes(select: "exp.Select", is_mine: Mine) -> bool:
    """Whether rows are grouped, or ordered, by their windows."""
    from sqlglot import exp

    group, shown = select.args.get("group"), [e.unalias() for e in select.expressions]
    if any(is_mine(p) for w in list_windows(select) for p in w.args.get("partition_by") or ()):
        return True
    if group is not None:
        if group.args.get("all"):
            return any(map(is_mine, shown))
        return any(is_mine(_mean(item, select, is_mine)) for item in group.expressions)
    if (distinct := select.args.get("distinct")) is not None:
        return distinct.args.get("on") is None and any(map(is_mine, shown))
    if any(not isinstance(a.parent, exp.Window) for a in list_own(select, exp.AggFunc)):
        return False
    names = {e.alias_or_name.lower() for e in select.expressions if is_mine(e.unalias())}
    if any(e.is_star for e in select.expressions):
        names |= {START, END}
    around = _list_around(select)
    return bool(names and around) and all(
        _closes(one, _of(alias, names, alone=True)) for one, alias in around
    )


def _mean(item: "exp.Expr", select: "exp.Select", is_mine: Mine) -> "exp.Expr":
    """What an item of GROUP BY stands for: a place or a name in SELECT."""
    from sqlglot import exp

    if isinstance(item, exp.Literal) and item.name.isdigit():
        place = int(item.name) - 1
        return select.expressions[place].unalias() if place < len(select.expressions) else item
    if isinstance(item, exp.Column) and not item.table and not is_mine(item):
        named = [e for e in select.expressions if e.alias.lower() == item.name.lower()]
        return named[0].unalias() if named else item
    return item


def _list_around(select: "exp.Select") -> "list[tuple[exp.Select, str]]":
    """The SELECTs that read this one, and how they call it."""
    from sqlglot import exp

    parent = select.parent
    if isinstance(parent, exp.Subquery) and isinstance(parent.parent, (exp.From, exp.Join)):
        around = parent.parent.parent
        return [(around, parent.alias)] if isinstance(around, exp.Select) else []
    if not isinstance(parent, exp.CTE):
        return []
    tables = [
        t for t in select.root().find_all(exp.Table) if t.name.lower() == parent.alias.lower()
    ]
    found = [(t.parent.parent if t.parent else None, t.alias_or_name) for t in tables]
    if any(not isinstance(one, exp.Select) for one, _ in found):
        return []
    return [(one, alias) for one, alias in found if isinstance(one, exp.Select)]


def _group(select: "exp.Select") -> None:
    """Group by what a SELECT DISTINCT shows."""
    from sqlglot import exp

    keys = [e.unalias().copy() for e in select.expressions if e.find(exp.Column)]
    select.set("distinct", None)
    select.set("group", exp.Group(expressions=keys))


def _alias(table: "exp.Table") -> str:
    alias, _, _ = open_overlapping(table.copy()) or ("", "", ())
    return alias


def _spread(table: "exp.Table", alias: str) -> "exp.Expr":
    """The rows of a table of windows, as a subquery."""
    from sqlglot import exp

    whole = table.copy()
    found = open_overlapping(whole)
    assert found is not None
    _, kind, given = found
    time = given[0]
    slide, size = (read_interval(g) for g in given[1:3])
    offset = read_offset(given[3] if len(given) == 4 else None, table)
    sliding = make_sliding(slide, size, offset, grows=kind == "CUMULATE")
    if sliding is None or slide is None or size is None or size % slide:
        raise _refuse(
            table,
            "not all rows lie in as many windows",
            "let the size be a multiple of the slide",
        )
    if size // slide > _MOST:
        fix = f"group by {START} and {END}, or slide by more"
        raise _refuse(table, f"a row lies in {size // slide:,} windows, and each is a query", fix)
    whole.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    selects = []
    for n in range(size // slide):
        begin, end = _bucket(time, -n * slide, slide, offset), size - n * slide
        ends = _bucket(time, end, slide, offset)
        if kind == "CUMULATE":
            begin = _bucket(time, 0, size, offset)
            ends = _bucket(time, (n + 1) * slide, slide, offset)
        star = exp.Column(this=exp.Star(), table=exp.to_identifier(alias, quoted=True))
        select = exp.select(star, exp.alias_(begin, START), exp.alias_(ends, END)).from_(
            whole.copy()
        )
        if kind == "CUMULATE" and n:
            select = select.where(_lies(time, size - n * slide, size, offset))
        selects.append(select)
    made: exp.Query = selects[0]
    for select in selects[1:]:
        made = exp.union(made, select, distinct=False, copy=False)
    joins = table.args.get("joins")
    subquery = made.subquery(exp.to_identifier(alias, quoted=True), copy=False)
    if joins:
        subquery.set("joins", joins)
    return subquery


def _bucket(time: "exp.Expr", later_us: int, width_us: int, offset_us: int) -> "exp.Expr":
    """Where the bucket begins of a time that is so much later."""
    from sqlglot import exp

    moved = time.copy()
    if later_us:
        kind = exp.Add if later_us > 0 else exp.Sub
        moved = kind(this=moved, expression=_interval(abs(later_us)))
    given = [moved, _interval(width_us), *([_interval(offset_us)] if offset_us else [])]
    return exp.Anonymous(this="TUMBLE_START", expressions=given)


def _lies(time: "exp.Expr", first_us: int, size_us: int, offset_us: int) -> "exp.Expr":
    """Whether a time lies in the first part, of a length, of its window."""
    from sqlglot import exp

    size = exp.Literal.number(size_us)
    since = exp.Sub(this=exp.UnixMicros(this=time.copy()), expression=exp.Literal.number(offset_us))
    rest = exp.Mod(this=exp.Paren(this=since), expression=size)
    rest = exp.Mod(
        this=exp.Paren(this=exp.Add(this=rest, expression=size.copy())), expression=size.copy()
    )
    return exp.LT(this=rest, expression=exp.Literal.number(first_us))


def _interval(length_us: int) -> "exp.Expr":
    from sqlglot import exp

    return exp.Interval(this=exp.Literal.string(str(length_us)), unit=exp.var("MICROSECOND"))


def _refuse(table: "exp.Table", why: str, fix: str) -> SqlRefusal:
    return SqlRefusal(
        f"rows of {show_sql(table)} that are not grouped by their windows",
        why=why,
        fix=fix,
        line=line_of(table),
    )
