"""A bound on the rows that are kept as those before others."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.checker.model.declarations import Declaration
from ontoweir.checker.model.imply_conditions import imply_conditions
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.model.plan import Bound
from ontoweir.checker.plans.bound_versions import KeptVersions, bound_by_domains
from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.model.preceding import Preceding
from ontoweir.rewriter.model.spj import Attribute, NotNull, SpjQuery


def bound_preceding(
    preceding: Preceding,
    disjuncts: Sequence[SpjQuery],
    catalog: Catalog,
    statistics: Statistics,
) -> KeptVersions:
    """Of each key so many of the last rows are kept as the query looks back on, and with the last
    of them what runs from the first row on: one number, or value, for each such column. Where they
    lie in a span, or a bucket, of time, they are at most all rows of that, whatever their keys.

    Args:
        preceding: what is kept.
        disjuncts: the rows that count.
        catalog: with the streams of answers that the query reads.
        statistics: what is known of the static data.
    """
    base, rows = catalog.streams[preceding.base], preceding.kept
    steps = -(-preceding.span_us // base.step_us)
    if not rows and not steps:
        return KeptVersions(Bound(0, "no row is kept"), (), ())
    if preceding.within:
        longest = min(bucket.longest_us for bucket in preceding.within)
        every = _bound_rate(base, -(-longest // base.step_us))
        found = _bound_each(preceding, disjuncts, catalog, statistics)
        return found if _is_less(found, every) else every
    if steps and not rows and not preceding.after:
        every = _bound_rate(base, steps)
        if base.max_per_timestamp is not None:
            return every
        found = _bound_each(preceding, disjuncts, catalog, statistics)
        return every if found.bound is None or found.bound.rows is None else found
    return _bound_each(preceding, disjuncts, catalog, statistics)


def _bound_each(
    preceding: Preceding,
    disjuncts: Sequence[SpjQuery],
    catalog: Catalog,
    statistics: Statistics,
) -> KeptVersions:
    """The rows of each key."""
    base, rows = catalog.streams[preceding.base], preceding.kept
    steps = -(-preceding.span_us // base.step_us)
    last = KeptVersions(Bound(rows, f"the last {rows} of {base.name}"), (), ())
    if not preceding.key and not steps:
        return last
    if steps and not any(set(k) <= {*preceding.key, base.timestamp} for k in base.keys):
        if preceding.after:
            return KeptVersions(None, (f"the rows of {base.name} at one time",), ())
        if preceding.key:
            last = _bound_keys(preceding, disjuncts, rows, catalog, statistics)
        return _add(_bound_rate(base, steps).bound, last)
    most = max(rows, steps + preceding.after if steps else 0)
    return _bound_keys(preceding, disjuncts, most, catalog, statistics)


def _bound_rate(base: Stream, steps: int) -> KeptVersions:
    """All rows of so many steps."""
    rate = base.max_per_timestamp
    rows = None if rate is None else rate * steps
    return KeptVersions(Bound(rows, f"R({base.name}) · {steps} steps"), (), ())


def _is_less(found: KeptVersions, other: KeptVersions) -> bool:
    """Whether it is the lesser bound, as far as is known: of two that are no numbers, this."""
    if found.bound is None or other.bound is None:
        return False
    if other.bound.rows is None:
        return True
    return found.bound.rows is not None and found.bound.rows <= other.bound.rows


def _add(young: Bound | None, last: KeptVersions) -> KeptVersions:
    """The rows of a span, and the last ones of each key."""
    if young is None or last.bound is None:
        return last
    known = young.rows is not None and last.bound.rows is not None
    rows = (young.rows or 0) + (last.bound.rows or 0) if known else None
    return replace(last, bound=Bound(rows, f"{young.formula} + {last.bound.formula}"))


def _bound_keys(
    preceding: Preceding,
    disjuncts: Sequence[SpjQuery],
    rows: int,
    catalog: Catalog,
    statistics: Statistics,
) -> KeptVersions:
    """So many rows for each key."""
    base = catalog.streams[preceding.base]
    wide = replace(catalog, streams={**catalog.streams, base.name: replace(base, keys=(), lags=())})
    total = Bound(0, "")
    conditions: dict[Declaration, None] = {}
    for query in disjuncts:
        (read,) = query.occurrences
        attributes = [Attribute(read.alias, name) for name in preceding.key]
        known_of = () if preceding.only is None else imply_conditions(preceding.only, read.alias)
        said = (*query.conditions, *known_of, *map(NotNull, attributes))
        held = replace(query, conditions=said)
        one = bound_by_domains(held, attributes, wide, statistics)
        if one.bound is None:
            return KeptVersions(None, tuple(dict.fromkeys(one.unbounded)), ())
        conditions |= dict.fromkeys(one.conditions)
        known = total.rows is not None and one.bound.rows is not None
        formula = one.bound.formula if rows == 1 else f"{rows} · {one.bound.formula}"
        total = Bound(
            (total.rows or 0) + rows * (one.bound.rows or 0) if known else None,
            f"{total.formula} + {formula}" if total.formula else formula,
        )
    return KeptVersions(total, (), tuple(conditions))
