"""Groups without aggregates, and DISTINCT of a bucket of time."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.phrasings.group_parts import group_parts
from ontoweir.rewriter.windows.read_sql_grid import is_grid

if TYPE_CHECKING:
    from sqlglot import exp

_SLIDING = ("HOP", "CUMULATE", "HOP_START", "CUMULATE_START", "HOP_END", "CUMULATE_END")


def group_distinct(select: "exp.Select", catalog: Catalog) -> None:
    """Where a SELECT DISTINCT shows a bucket of time, let it group by all that it shows; where one
    groups, has no aggregate, and no bucket or timestamp that groups are final by, let it be a
    SELECT DISTINCT; in place.

    Both are the same rows. With a bucket they are final, each once, when it is over; without, each
    is told when it is found.

    Args:
        select: its groups by parts of a time are by buckets already (`group_parts`).
        catalog: the tables.
    """
    from sqlglot import exp

    if isinstance(select.parent, (exp.SetOperation, exp.In, exp.Exists)):
        return
    if any(e.find(exp.Window) for e in select.expressions) or select.args.get("qualify"):
        return
    if select.args.get("distinct") is not None:
        _group(select, catalog)
        return
    group = select.args.get("group")
    if group is None or select.args.get("having") or not group.expressions:
        return
    if any(v for k, v in group.args.items() if k != "expressions"):
        return
    if any(e.find(exp.AggFunc) for e in select.expressions):
        return
    shown = [e.unalias() for e in select.expressions]
    meant = [_meant(item, select) for item in group.expressions]
    if all(m in shown for m in meant) and not any(_is_final(m, catalog) for m in meant):
        select.set("group", None)
        select.set("distinct", exp.Distinct())


def _group(select: "exp.Select", catalog: Catalog) -> None:
    """Group by what a SELECT DISTINCT shows, if a bucket is among it."""
    from sqlglot import exp

    if select.args["distinct"].args.get("on") or select.args.get("group"):
        return
    if any(e.is_star or e.find(exp.AggFunc, exp.Select) for e in select.expressions):
        return
    plain = [e.unalias() for e in select.expressions]
    made = select.copy()
    made.set("distinct", None)
    keys = [e.copy() for e in plain if e.find(exp.Column)]
    made.set("group", exp.Group(expressions=keys))
    group_parts(made, catalog)
    if not any(_is_bucket(key) for key in made.args["group"].expressions):
        return
    for name in ("distinct", "group", "expressions"):
        select.set(name, made.args.get(name))


def _is_bucket(key: "exp.Expr") -> bool:
    from sqlglot import exp

    return is_grid(key) or (isinstance(key, exp.Anonymous) and key.name.upper() in _SLIDING)


def _is_final(key: "exp.Expr", catalog: Catalog) -> bool:
    """Whether groups may be final by it: a bucket, a stream's timestamp, or a name that a subquery
    or a table of windows may give to one."""
    from sqlglot import exp

    names = {stream.timestamp.lower() for stream in catalog.streams.values()}
    names |= {"window_start", "window_end"}
    known = {c.name.lower() for t in catalog.streams.values() for c in t.columns}
    known |= {c.name.lower() for t in catalog.relations.values() for c in t.columns}
    if _is_bucket(key):
        return True
    columns = {c.name.lower() for c in key.find_all(exp.Column)}
    return bool(columns & names) or not columns <= known


def _meant(item: "exp.Expr", select: "exp.Select") -> "exp.Expr":
    """What a position in SELECT, or a name that it gives, stands for."""
    from sqlglot import exp

    if isinstance(item, exp.Literal) and not item.is_string and item.this.isdigit():
        place = int(item.this) - 1
        if 0 <= place < len(select.expressions):
            inner: exp.Expr = select.expressions[place].unalias()
            return inner
    if isinstance(item, exp.Column) and not item.table:
        given = [e for e in select.expressions if e.alias.lower() == item.name.lower()]
        if len(given) == 1:
            named: exp.Expr = given[0].unalias()
            return named
    return item
