"""A bound on the rows that are kept as those before others."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.checker.model.declarations import Declaration
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.model.plan import Bound
from ontoweir.checker.plans.bound_versions import KeptVersions, bound_by_domains
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.preceding import Preceding
from ontoweir.rewriter.model.spj import Attribute, NotNull, SpjQuery


def bound_preceding(
    preceding: Preceding,
    disjuncts: Sequence[SpjQuery],
    catalog: Catalog,
    statistics: Statistics,
) -> KeptVersions:
    """Of each key so many of the last rows are kept as the query looks back on, and with the last
    of them what runs from the first row on: one number, or value, for each such column.

    Args:
        preceding: what is kept.
        disjuncts: the rows that count.
        catalog: with the streams of answers that the query reads.
        statistics: what is known of the static data.
    """
    base, rows, span_us = catalog.streams[preceding.base], preceding.kept, preceding.span_us
    steps = -(-span_us // base.step_us)
    if not rows and not steps:
        return KeptVersions(Bound(0, "no row is kept"), (), ())
    last = KeptVersions(Bound(rows, f"the last {rows} of {base.name}"), (), ())
    if not preceding.key and not steps:
        return last
    rate = base.max_per_timestamp
    if steps and not rows and rate is not None and not preceding.after:
        return KeptVersions(Bound(rate * steps, f"R({base.name}) · {steps} steps"), (), ())
    if steps and not any(set(k) <= {*preceding.key, base.timestamp} for k in base.keys):
        if rate is None or preceding.after:
            return KeptVersions(None, (f"the rows of {base.name} at one time",), ())
        if preceding.key:
            last = _bound_keys(preceding, disjuncts, rows, catalog, statistics)
        return _add(Bound(rate * steps, f"R({base.name}) · {steps} steps"), last)
    most = max(rows, steps + preceding.after if steps else 0)
    return _bound_keys(preceding, disjuncts, most, catalog, statistics)


def _add(young: Bound, last: KeptVersions) -> KeptVersions:
    """The rows of a span, and the last ones of each key."""
    if last.bound is None:
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
        held = replace(query, conditions=(*query.conditions, *map(NotNull, attributes)))
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
