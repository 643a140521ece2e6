"""A bound on the rows that wait because earlier ones may still come."""

from ontoweir.checker.model.plan import Bound
from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.rewriter.model.add_views import tables_of
from ontoweir.rewriter.model.spj import SpjUnion

_NAMED = 4
"""So many streams with the same numbers are named; more are counted."""


def bound_open_steps(union: SpjUnion, catalog: Catalog) -> tuple[Bound, ...]:
    """For each stream of a query that has a lateness, the rows of its open steps: timestamps that
    are over, but for which rows may still come. Those of the last one, which is open in any stream,
    are not counted.

    Args:
        union: the query.
        catalog: the declarations.
    """
    streams = [s for n in sorted(tables_of(union)) if (s := catalog.streams.get(n)) is not None]
    alike: dict[tuple[int, str], list[Stream]] = {}
    for stream in (s for s in streams if s.lateness_us):
        alike.setdefault((count_open_rows(stream), _formula(stream, "R")), []).append(stream)
    bounds = []
    for (rows, formula), mine in alike.items():
        if len(mine) <= _NAMED:
            bounds += [Bound(rows, _formula(s, f"R({s.name})")) for s in mine]
        else:
            each = f"{len(mine)} streams · (R = {mine[0].max_per_timestamp})"
            bounds.append(Bound(rows * len(mine), formula.replace("R", each, 1)))
    return tuple(bounds)


def count_open_rows(stream: Stream) -> int:
    """The rows of a stream's open steps."""
    assert stream.max_per_timestamp is not None, "the catalog refuses a lateness without it"
    return stream.max_per_timestamp * _open_steps(stream)


def _open_steps(stream: Stream) -> int:
    return -(-stream.lateness_us // stream.grid_us)


def _formula(stream: Stream, rate: str) -> str:
    steps, lateness = _open_steps(stream), show_duration(stream.lateness_us)
    return f"{rate} · {steps} open steps (lateness {lateness})"
