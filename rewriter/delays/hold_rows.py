"""Which rows of a query hold, where none of them leaves a window."""

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.delays.delay_rows import delay_rows
from ontoweir.rewriter.delays.late_rows import find_late_rows
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import SpjUnion, output_attributes


def hold_rows(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    """The query, of which some rows of each key hold (`standing`). Rows with a delay, which are
    shown some time after their own, all equally late, come that much later. Those with the first
    numbers may leave windows.

    Args:
        union: with rows that are replaced by others, but for what NOW() says of them.
        catalog: the tables.

    Raises:
        SqlRefusal: rows leave windows, or some come later than others.
    """
    if find_delay(union, catalog):
        union = delay_rows(union, extend_catalog(catalog, union), always=True)
    if not (union.ends or union.begins):
        return union
    standing = union.standing
    numbered = standing is not None and standing.first is not None
    if standing is not None and numbered and union.ends:
        return union
    which = "first rows" if numbered else "latest row"
    raise SqlRefusal(
        f"NOW() beside the {which} of each key",
        why="what is kept are rows that others take the place of, not when they leave a window; "
        "and where one of the first leaves it, one that came before would be among them again",
        fix="leave the window out, and look at the time that is shown (a delay without a grid, ts "
        "<= NOW() - INTERVAL '5' MINUTE, may stay); or ask for those of each bucket of time, "
        "PARTITION BY key, date_trunc('hour', ts); or for MAX(x) … GROUP BY key in the window; the "
        "latest row in a window is read of one stream, with the key selected, which is a declared "
        'key with the time, keys = [["key", "ts"]]',
        line=None if union.source is None else union.source.line,
    )


def find_delay(union: SpjUnion, catalog: Catalog) -> int | None:
    """How long after their time all rows come, µs (0: at their time; None: they leave windows, or
    some come later than others)."""
    if union.ends:
        return None
    if not union.begins:
        return 0
    wide = extend_catalog(catalog, union)
    delays: set[int | None] = set()
    for query in union.disjuncts:
        late = {a.alias for n in union.begins for a in output_attributes(dict(query.outputs)[n])}
        if late != {o.alias for o in query.occurrences if o.table in wide.streams}:
            return None
        for alias in late:
            rows = find_late_rows(query, alias, union.begins, wide)
            delays.add(rows.delay_us(wide.streams[rows.table].step_us))
    return delays.pop() if len(delays) == 1 else None
