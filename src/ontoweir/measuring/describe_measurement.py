"""A measurement as JSON."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.measuring.find_joins import Join
from ontoweir.measuring.measure_project import Changed, Judged, Measurement
from ontoweir.measuring.write_declarations import show_lines

if TYPE_CHECKING:
    from ontoweir.runtime.measure.measured import MeasuredColumn, MeasuredLag, MeasuredStream

SHARES = (0.5, 0.99, 0.999, 0.9999)
"""Of so many of the rows the greatest delay is told."""
LAG_SHARES = (0.5, 0.99, 0.999)
"""Of so many of the values of a join the greatest lag is told."""


def describe_measurement(measurement: Measurement, project: str) -> dict[str, Any]:
    """A measurement as JSON.

    Args:
        measurement: what was measured.
        project: the text of the project file.
    """
    return {
        "streams": {n: _describe_stream(m) for n, m in measurement.streams.items()},
        "lags": [_describe_lag(j, found) for j, found in measurement.lags.items()],
        "ratios": [
            {
                "stream": one,
                "to": other,
                "ratio": found.overall,
                "least": found.least,
                "most": found.most,
                "span": show_duration(found.width_us),
                "spans": found.spans,
                "alone": found.alone,
            }
            for (one, other), found in measurement.ratios.items()
        ],
        "declarations": [_describe_judged(j, project) for j in measurement.judged],
        "queries": [
            {
                "query": r.query,
                "verdict": r.before.name,
                "bound": _bound(r.before),
                "needs": [show_lines(project, p.declared) for p in r.needed],
                "then": {"verdict": r.after.name, "bound": _bound(r.after)},
            }
            for r in measurement.remedies
        ],
    }


def _describe_stream(measured: "MeasuredStream") -> dict[str, Any]:
    late = measured.lateness
    return {
        "rows": measured.rows,
        "first": show_instant(measured.first_us),
        "last": show_instant(measured.last_us),
        "without_time": measured.untimed,
        "repeats": measured.repeats,
        "left_out": measured.left_out,
        "unit": None if measured.step_us is None else show_duration(measured.step_us),
        "gap": None if measured.gap_us is None else show_duration(measured.gap_us),
        "lateness": {
            "max": show_duration(late.greatest_us),
            "rows": late.count_late(0),
            "quantiles": {f"{share:.2%}": show_duration(late.quantile(share)) for share in SHARES},
            "exact": late.exact,
        },
        "max_per_timestamp": measured.rate,
        "rate": _describe_rate(measured),
        "determines": [
            {"column": one, "determines": [b for a, b in measured.determines if a == one]}
            for one in dict.fromkeys(a for a, _ in measured.determines)
        ],
        "every_pair": measured.every_pair,
        "keys": [[*key] for key in measured.keys],
        "whole_keys": list(measured.whole_keys),
        "columns": {n: _describe_column(c) for n, c in measured.columns.items()},
        "references": {n: [f"{r}.{c}" for r, c in f] for n, f in measured.references.items()},
        "rules": [
            {
                "clustered": name,
                "within": show_duration(c.span_us),
                "gap": show_duration(c.gap_us),
                "rows": c.between,
                "max_rows_per_value": c.most_rows,
            }
            for name, c in measured.columns.items()
            if c.gap_us is not None and c.span_us is not None
        ]
        + [
            {"ordered": name, "slack": c.order[0], "rows": c.order[1]}
            for name, c in measured.columns.items()
            if c.order is not None
        ],
    }


def _describe_rate(measured: "MeasuredStream") -> dict[str, Any] | None:
    """How many rows come in how much time."""
    rates = measured.rates
    if rates is None:
        return None
    shares = zip(LAG_SHARES, rates.quantiles, strict=True)
    return {
        "per_second": mean_rate(measured),
        "busiest_per_second": rates.busiest,
        "span": show_duration(rates.width_us),
        "per_timestamp": {f"{share:.2%}": rows for share, rows in shares},
    }


def mean_rate(measured: "MeasuredStream") -> float | None:
    """The rows a second of the time from the first timestamp to the end of the last (None: that has
    no length)."""
    if measured.rates is None or measured.first_us is None or measured.last_us is None:
        return None
    span = measured.last_us - measured.first_us + (measured.step_us or 0)
    return sum(measured.rates.counts) / span * 1e6 if span else None


def _describe_lag(join: Join, found: "MeasuredLag | None") -> dict[str, Any]:
    told: dict[str, Any] = {
        "stream": join.stream,
        "column": join.column,
        "behind": join.behind,
        "to": join.to,
        "values": None if found is None else found.values,
        "within": None,
    }
    if found is not None and found.values:
        told["within"] = show_duration(found.greatest_us)
        told["matches"] = "one" if found.one else "many"
        told["quantiles"] = {
            f"{share:.2%}": show_duration(q)
            for share, q in zip(LAG_SHARES, found.quantiles, strict=True)
        }
    return told


def _describe_column(column: "MeasuredColumn") -> dict[str, Any]:
    return {
        "nulls": column.nulls,
        "min": _plain(column.minimum),
        "max": _plain(column.maximum),
        "distinct": column.distinct,
        "values": None if column.values is None else [_plain(v) for v in column.values],
    }


def _describe_judged(judged: Judged, project: str) -> dict[str, Any]:
    return {
        "toml": show_lines(project, judged.proposed.declared),
        "evidence": judged.proposed.evidence,
        "loses": judged.proposed.loses,
        "changes": [_describe_change(c) for c in judged.changes],
    }


def _describe_change(changed: Changed) -> dict[str, Any]:
    return {
        "query": changed.query,
        "from": changed.before.name,
        "to": changed.after.name,
        "bound": _bound(changed.after),
    }


def _bound(verdict: Verdict) -> Mapping[str, Any] | None:
    bound = verdict.bound
    return None if bound is None else {"rows": bound.rows, "formula": bound.formula}


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, int | float | str | bool) else str(value)


def show_instant(micros: int | None) -> str | None:
    """A time in µs since 1970, UTC (None: none)."""
    if micros is None:
        return None
    return (datetime(1970, 1, 1) + timedelta(microseconds=micros)).isoformat()
