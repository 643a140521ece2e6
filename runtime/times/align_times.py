"""Timestamps between two steps, moved to a step as their stream declares."""

from typing import assert_never

from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.columnar.frame import Array


def align_times(times: Array, stream: Stream) -> Array:
    """Timestamps on the grid of a stream's steps; as they are where it refuses those off the grid.

    Args:
        times: int64, µs since 1970. Their order stays.
        stream: whose they are.
    """
    step = stream.grid_us
    match stream.align:
        case "error":
            return times
        case "floor":
            return times // step * step
        case "round":
            return (times + step // 2) // step * step
        case _ as unreachable:
            assert_never(unreachable)


def align_time(micros: int | None, stream: Stream) -> int | None:
    """One timestamp, or none, as align_times has it."""
    match stream.align:
        case "error":
            return micros
        case "floor" | "round":
            half = stream.grid_us // 2 if stream.align == "round" else 0
            return None if micros is None else (micros + half) // stream.grid_us * stream.grid_us
        case _ as unreachable:
            assert_never(unreachable)
