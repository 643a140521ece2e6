"""Propose how long rows come after those of another stream that they join."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Lag, Stream
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.measuring.declared import AddLag
from ontoweir.measuring.find_joins import Join
from ontoweir.measuring.propose_declarations import Proposed

if TYPE_CHECKING:
    from ontoweir.runtime.measure.measured import MeasuredLag, MeasuredStream

_SOME, _SPANS = 20, 10
"""A lag is proposed if so many values are in both, and so many such spans in the history."""


def propose_lags(
    stream: Stream,
    measured: "Mapping[str, MeasuredStream]",
    lags: "Mapping[Join, MeasuredLag | None]",
) -> Iterator[Proposed]:
    """The lags of a stream behind others that could be declared, and are not.

    Args:
        stream: as it is declared.
        measured: what was measured of the streams.
        lags: how long rows come after those that they join.
    """
    for join, found in lags.items():
        if join.stream != stream.name or found is None or found.values < _SOME:
            continue
        within = -(-found.greatest_us // stream.grid_us) * stream.grid_us
        if within * _SPANS > _history(measured[join.stream], measured[join.behind]):
            continue
        if any(
            (rule.behind, rule.columns, rule.to) == (join.behind, (join.column,), (join.to,))
            for rule in stream.lags
        ):
            continue
        rule = Lag(join.behind, (join.column,), (join.to,), within, stream.source)
        said = tell_lag(join, within, found)
        if found.one:
            said += '; with matches = "one", what waits for them is dropped when they have come'
        yield Proposed(AddLag(stream.name, rule), said)


def tell_lag(join: Join, within_us: int, found: "MeasuredLag") -> str:
    """That rows come at most so long after those that they join, in words."""
    when = f"come at most {show_duration(within_us)}" if within_us else "never come"
    value = join.column if join.column == join.to else f"{join.column} as {join.to}"
    return (
        f"rows of {join.stream} {when} after rows of {join.behind} with their {value} "
        f"({found.values:,} values are in both"
        f"{', each in one row of ' + join.stream if found.one else ''})"
    )


def _history(one: "MeasuredStream", other: "MeasuredStream") -> int:
    """From the first row of two streams to the last, in µs."""
    times = [(m.first_us, m.last_us) for m in (one, other)]
    first = min(t for t, _ in times if t is not None)
    return max(t for _, t in times if t is not None) - first
