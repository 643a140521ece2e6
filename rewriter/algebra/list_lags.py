"""Declared lags as comparisons of timestamps: how long after a row those that join it may come."""

from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog, Lag
from ontoweir.rewriter.algebra.equality_classes import EqualityClasses
from ontoweir.rewriter.model.spj import Attribute, Compare, Op, SpjQuery, SpjUnion


def list_lags(query: SpjQuery, catalog: Catalog) -> tuple[tuple[str, Lag, Compare], ...]:
    """Every declared lag that applies to two occurrences: the stream it is declared of, the lag,
    and the comparison that it says.

    A lag of U behind S on columns applies to a U and an S that the selection joins on all these
    columns ([B]: a k-constraint, counted in time): t(U) <= t(S) + within.
    """
    applied = []
    classes: EqualityClasses | None = None
    for late in query.occurrences:
        stream = catalog.streams.get(late.table)
        if stream is None:
            continue
        for lag in stream.lags:
            for early in query.occurrences:
                if early.table != lag.behind or early.alias == late.alias:
                    continue
                classes = classes or EqualityClasses(query.occurrences, query.conditions)
                pairs = zip(lag.columns, lag.to, strict=True)
                if all(
                    classes.same(Attribute(late.alias, a), Attribute(early.alias, b))
                    for a, b in pairs
                ):
                    right = Attribute(early.alias, catalog.streams[early.table].timestamp)
                    left = Attribute(late.alias, stream.timestamp)
                    steps = lag.within_us // stream.step_us
                    applied.append(
                        (stream.name, lag, Compare(left, Op.LE, right, steps, lag.source))
                    )
    return tuple(applied)


def apply_lags(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    """The union with every declared lag that applies as a condition: what its answers are."""
    disjuncts = []
    for query in union.disjuncts:
        more = dict.fromkeys(c for _, _, c in list_lags(query, catalog))
        conditions = (*query.conditions, *(c for c in more if c not in query.conditions))
        disjuncts.append(replace(query, conditions=conditions) if more else query)
    return replace(union, disjuncts=tuple(disjuncts))
