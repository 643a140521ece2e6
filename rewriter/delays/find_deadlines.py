"""Until when what is to be beside answers, or is not, may come."""

from collections.abc import Mapping

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.bound_differences import bound_differences
from ontoweir.rewriter.delays.refuse_late import refuse_late
from ontoweir.rewriter.model.spj import AbsencePart, Attribute, Deadline, SpjQuery, SpjUnion


def find_deadlines(
    query: SpjQuery, stamps: Mapping[str, Attribute], catalog: Catalog, part: AbsencePart
) -> list[Deadline]:
    """For every stream of a part, until when its rows may come (change.md §4).

    Args:
        query: a disjunct of the part.
        stamps: the timestamps of the answer that its variables are.
        catalog: with its views, blocks, buckets and derived columns (`extend_catalog`).
        part: what is to be there, or not.

    Raises:
        QueryError: rows of one may come at any time.
    """
    limits = bound_differences(query, catalog, domains=False)
    if limits is None:
        return []  # no row is ever beside an answer
    own = {a.alias for a in stamps.values()}
    deadlines = []
    for occurrence in query.occurrences:
        stream = catalog.streams.get(occurrence.table)
        if stream is None or occurrence.alias in own:
            continue
        stamp = Attribute(occurrence.alias, stream.timestamp)
        found = {n: limits.get((stamp, a)) for n, a in stamps.items()}
        after = tuple(
            (n, int(limit[0]) * stream.step_us) for n, limit in found.items() if limit is not None
        )
        last = limits.get((stamp, None))
        if last is not None and any(
            limit is not None and (top := limits.get((a, None))) and top[0] + limit[0] <= last[0]
            for a, limit in ((stamps[n], limit) for n, limit in found.items())
        ):
            last = None  # it follows from the time of the answer, which is limited
        if not after and last is None:
            named = ", ".join(_list_written(occurrence.table, part.hits))
            raise refuse_late(named, query, present=part.present)
        deadlines.append(Deadline(after, None if last is None else int(last[0]) * stream.step_us))
    return deadlines


def _list_written(name: str, union: SpjUnion) -> list[str]:
    """The tables that a query reads by a name, as they are declared: those of a view, or of the
    rows of another query, are its own."""
    below = [t for v in union.views if v.name == name for t in v.tables]
    inner = [b.union for b in union.blocks if b.stream.name == name]
    below += [o.table for u in inner for q in u.disjuncts for o in q.occurrences]
    made = [t for n in below if n != name for t in _list_written(n, union)]
    return list(dict.fromkeys(made)) or [name]
