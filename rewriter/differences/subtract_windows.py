"""EXCEPT, EXCEPT ALL and INTERSECT ALL of rows in windows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.differences.count_rows import COUNT, Side, count_rows, is_plain
from ontoweir.rewriter.differences.name_columns import is_known, is_static, name_tables
from ontoweir.rewriter.differences.since_first import never_leaves, since_first
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.windows.rows_leave import is_windowed, rows_leave

if TYPE_CHECKING:
    from sqlglot import exp

_SUM, _LEAST, _GREATEST = (f"{f}(`{COUNT}`)" for f in ("SUM", "MIN", "MAX"))


def subtract_windows(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """EXCEPT [ALL], or INTERSECT ALL, of SELECTs of rows in windows, as groups of the rows of both
    that hold; another query as it is. NULL is a value here, as SQL has it.

    Rows of static relations are rows in windows that never end; if there are such, those of streams
    may have no window either.

    The first may be EXCEPT ALL likewise, and each a UNION ALL: a row is as often an answer as the
    first have it more often than all others together, and so it is if they are taken away one after
    the other, as none is taken away that is not there.
    """
    from sqlglot import exp

    if not isinstance(tree, (exp.Except, exp.Intersect)) or _says_more(tree):
        return tree
    every, both = not tree.args.get("distinct"), isinstance(tree, exp.Intersect)
    if both and not every:
        return tree  # a join
    first = list_first(tree.this, chained=every and not both)
    other = _list_united(tree.expression)
    if first is None or other is None:
        return tree
    added, taken = first[0], [*first[1], *other]
    for select in [*added, *taken] if not every else ():
        select.set("distinct", None)
    streams = [t for s in [*added, *taken] for t in _list_streams(s, catalog)]
    static = any(_is_static(s, catalog) for s in [*added, *taken])
    if static and streams and any(_is_static(s, catalog) for s in added):
        added, taken = ([_hold(s, streams, catalog) for s in of] for of in (added, taken))
    if not all(map(is_read, [*added, *taken])):
        return tree
    width = len(added[0].expressions)
    if any(len(select.expressions) != width for select in [*added, *taken]):
        return tree
    less = -1 if every and not both else 0
    sides = [Side(s, tuple(e.unalias() for e in s.expressions), 1) for s in added]
    sides += [Side(s, tuple(e.unalias() for e in s.expressions), less) for s in taken]
    names = [e.alias_or_name for e in added[0].expressions]
    if both:
        often = f"LEAST({_SUM}, COUNT(*) - {_SUM})"
        return count_rows(sides, names, f"{_LEAST} < 1 AND {_GREATEST} > 0", often)
    if every:
        return count_rows(sides, names, f"{_SUM} > 0", _SUM)
    return count_rows(sides, names, f"{_LEAST} > 0", None)


def _says_more(tree: "exp.Query") -> bool:
    return any(tree.args.get(k) for k in ("limit", "offset", "order", "with_", "by_name"))


def list_first(
    tree: "exp.Expr", *, chained: bool
) -> "tuple[list[exp.Select], list[exp.Select]] | None":
    """The SELECTs of the first side of EXCEPT whose rows count, and those whose rows are taken away
    (None: it is something else).

    Args:
        tree: the first side.
        chained: it may be EXCEPT ALL itself.
    """
    from sqlglot import exp

    inner = tree.unnest()
    if isinstance(inner, exp.Except):
        if not chained or inner.args.get("distinct") or _says_more(inner):
            return None
        first = list_first(inner.this, chained=True)
        other = _list_united(inner.expression)
        return None if first is None or other is None else (first[0], [*first[1], *other])
    united = _list_united(inner)
    return None if united is None else (united, [])


def _list_united(tree: "exp.Expr") -> "list[exp.Select] | None":
    """The SELECTs of a UNION ALL (None: it is something else)."""
    from sqlglot import exp

    inner = tree.unnest()
    if isinstance(inner, exp.Select):
        return [inner]
    if type(inner) is not exp.Union or inner.args.get("distinct") or _says_more(inner):
        return None
    left, right = _list_united(inner.this), _list_united(inner.expression)
    return None if left is None or right is None else [*left, *right]


def _list_streams(select: "exp.Select", catalog: Catalog) -> list[Stream]:
    """Those that it reads."""
    tables = list_tables(select, catalog).tables.values()
    return [t for t in tables if isinstance(t, Stream) and not t.versions]


def _is_static(select: "exp.Select", catalog: Catalog) -> bool:
    scope = list_tables(select, catalog)
    return is_known(select, scope) and is_static(scope)


def _hold(select: "exp.Select", streams: Sequence[Stream], catalog: Catalog) -> "exp.Select":
    """A SELECT whose rows are in windows: those of static relations for ever, and those of streams
    without a window too."""
    from sqlglot import exp

    scope = list_tables(select, catalog)
    if not is_known(select, scope) or not is_plain(select, "distinct"):
        return select
    made = select.copy()
    name_tables(made, scope)
    if is_static(scope):
        return since_first(made, streams, catalog)
    if rows_leave(made) or not _list_streams(made, catalog):
        return made
    alias, stream = next((a, t) for a, t in scope.tables.items() if isinstance(t, Stream))
    return made.where(never_leaves(exp.column(stream.timestamp, alias, quoted=True)), copy=False)


def is_read(select: "exp.Select") -> bool:
    """Whether the rows of a SELECT are in a window, and each of its columns is of tables."""
    from sqlglot import exp

    if not is_plain(select) or not is_windowed(select):
        return False
    return all(e.find(exp.Column) is not None for e in select.expressions)
