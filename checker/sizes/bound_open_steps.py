"""A bound on the rows that wait because earlier ones may still come."""

from ontoweir.checker.model.plan import Bound
from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.rewriter.model.add_views import tables_of
from ontoweir.rewriter.model.spj import SpjUnion


def bound_open_steps(union: SpjUnion, catalog: Catalog) -> tuple[Bound, ...]:
    """For each stream of a query that has a lateness, the rows of its open steps: timestamps that
    are over, but for which rows may still come. Those of the last one, which is open in any stream,
    are not counted.

    Args:
        union: the query.
        catalog: the declarations.
    """
    late = [s for n in sorted(tables_of(union)) if (s := catalog.streams.get(n)) is not None]
    return tuple(Bound(count_open_rows(s), _formula(s)) for s in late if s.lateness_us)


def count_open_rows(stream: Stream) -> int:
    """The rows of a stream's open steps."""
    assert stream.max_per_timestamp is not None, "the catalog refuses a lateness without it"
    return stream.max_per_timestamp * _open_steps(stream)


def _open_steps(stream: Stream) -> int:
    return -(-stream.lateness_us // stream.grid_us)


def _formula(stream: Stream) -> str:
    steps, lateness = _open_steps(stream), show_duration(stream.lateness_us)
    return f"R({stream.name}) · {steps} open steps (lateness {lateness})"
