"""A bound on the values that are remembered to find rows that break a rule."""

from collections.abc import Iterator

from ontoweir.checker.model.plan import Bound
from ontoweir.mappings.model.catalog import Breach, Catalog, ClosingRule, Lag, Stream
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.rewriter.model.add_views import tables_of
from ontoweir.rewriter.model.spj import SpjUnion


def bound_remembered(union: SpjUnion, catalog: Catalog) -> tuple[Bound, ...]:
    """For each rule of a query's streams with `on_violation` and `remember`, the values that are
    remembered at one time: those of the rows that have come in so long a time, or all that there
    can be.

    Args:
        union: the query.
        catalog: the declarations.
    """
    read = sorted(tables_of(union) & catalog.streams.keys())
    return tuple(bound for name in read for bound in _bound(name, set(read), catalog))


def _bound(name: str, read: set[str], catalog: Catalog) -> Iterator[Bound]:
    stream = catalog.streams[name]
    for lag in stream.lags:
        if lag.breach is not None and not lag.breach.spill and lag.behind in read:
            yield from _count(catalog.streams[lag.behind], lag, lag.to, lag.breach)
            if lag.one:
                yield from _count(stream, None, lag.columns, lag.breach)
    for rule in stream.closing:
        if rule.breach is not None:
            yield from _count(stream, rule, rule.columns, rule.breach)


def _count(
    stream: Stream, rule: Lag | ClosingRule | None, columns: tuple[str, ...], breach: Breach
) -> Iterator[Bound]:
    named = ", ".join(columns)
    if isinstance(rule, ClosingRule) and rule.late_rows is not None:
        rate, text = stream.max_per_timestamp, f"({rule.late_rows} + 1 + R({stream.name}))"
        size = None if rate is None else rule.late_rows + 1 + rate
        yield Bound(size, f"{text} remembered {named}")
        return
    if breach.values is not None:
        yield Bound(breach.values, f"{breach.values} remembered {named}")
    if breach.remember_us is None:
        return
    span = 0
    if rule is not None:
        span = rule.within_us if isinstance(rule, Lag) else rule.gap_us or 0
    steps = -(-(breach.remember_us + span) // stream.grid_us)
    rate = stream.max_per_timestamp
    text = f"R({stream.name}) · {steps} steps of remembered {named}"
    if span:
        text += f" ({show_duration(span)} and {show_duration(breach.remember_us)})"
    yield Bound(None if rate is None else rate * steps, text)
