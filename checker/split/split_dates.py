"""Split a query at the last date of its finite streams into parts that have plans.

While a finite stream still delivers, whatever joins it has to be kept: finitely many tuples. After
its last date all of it is there, and nothing waits for it any more ([S] preprocessing, step 3).
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import product

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import Attribute, Compare, Constant, Op, SpjQuery

MAX_STREAMS = 5
"""A query with more infinite streams beside a finite one is left as it is: parts double."""


def split_dates(
    query: SpjQuery, catalog: Catalog, normal: Callable[[SpjQuery], NormalForm]
) -> tuple[SpjQuery, ...]:
    """Disjoint parts that together are the query, or the query itself.

    Args:
        query: a satisfiable disjunct.
        catalog: the streams.
        normal: brings a part into normal form.
    """
    form = normal(query)
    dates = [m.last for m in form.members if m.last is not None]
    infinite = [m for m in form.members if not m.finite]
    if not dates or not 0 < len(infinite) <= MAX_STREAMS:
        return (query,)
    limit = Constant(max(dates))
    parts = []
    for sides in product((Op.LE, Op.GT), repeat=len(infinite)):
        times = tuple(
            Compare(Attribute(m.alias, catalog.streams[m.stream].timestamp), side, limit)
            for m, side in zip(infinite, sides, strict=True)
        )
        part = replace(query, conditions=(*query.conditions, *times))
        if normal(part).satisfiable:
            parts.append(part)
    return tuple(parts)
