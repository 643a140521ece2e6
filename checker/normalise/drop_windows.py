"""The order abstraction of a disjunct: timestamps compared by <, <=, =, <> only ([S] has no
differences)."""

from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.model.spj import Attribute, Compare, Condition, Op, SpjQuery


def drop_windows(query: SpjQuery, catalog: Catalog) -> SpjQuery:
    """Replace limits on time differences by what they imply about order alone.

    `t2 <= t1 + 6` says nothing, `t2 >= t1 + 2` says t1 < t2, `t2 = t1 + 3` says t1 < t2.
    """
    tables = {o.alias: catalog.table(o.table) for o in query.occurrences}
    kept: list[Condition] = []
    for c in query.conditions:
        if not isinstance(c, Compare) or not isinstance(c.right, Attribute) or not c.offset:
            kept.append(c)
            continue
        table = tables[c.left.alias]
        if not isinstance(table, Stream) or c.left.column != table.timestamp:
            kept.append(c)
            continue
        op = _order(c.op, int(c.offset))
        if op is not None:
            kept.append(replace(c, op=op, offset=0))
    return replace(query, conditions=tuple(kept))


def _order(op: Op, offset: int) -> Op | None:
    """What `left op right + offset` (offset != 0) says about the order of left and right."""
    if op is Op.NE:
        return None
    if op is Op.EQ:
        return Op.GT if offset > 0 else Op.LT
    above = op in (Op.GE, Op.GT)
    least = offset + (op is Op.GT) if above else offset - (op is Op.LT)
    if above:
        return Op.GT if least >= 1 else Op.GE if least == 0 else None
    return Op.LT if least <= -1 else Op.LE if least == 0 else None
