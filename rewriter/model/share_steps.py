"""One flow of time for streams of different units: in steps that go into all of them."""

from dataclasses import replace
from math import gcd

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import Catalog


class UnitsDiffer(QueryError):
    """Streams of different units of time meet in a query.

    Who compiles it does so again, over a catalog whose streams share the steps (share_steps).
    `step_us`: of which the units are whole numbers.
    """

    step_us: int

    @classmethod
    def of(cls, one_us: int, other_us: int, source: Source | None) -> "UnitsDiffer":
        """Of two units, in µs."""
        error = cls(
            f"streams with units of time of {one_us} and {other_us} µs meet",
            why="streams are compared on one grid of time",
            fix="declare the same unit for both",
            source=source,
        )
        error.step_us = gcd(one_us, other_us)
        return error


def share_steps(catalog: Catalog, step_us: int | None) -> Catalog:
    """The catalog with time in steps of `step_us` µs (None: as it is) wherever a stream's unit is a
    whole number of them; its rows stay at multiples of their unit."""
    if step_us is None:
        return catalog
    streams = {
        name: replace(stream, step_us=step_us, unit_us=stream.grid_us)
        if stream.step_us != step_us and stream.grid_us % step_us == 0
        else stream
        for name, stream in catalog.streams.items()
    }
    return replace(catalog, streams=streams)
