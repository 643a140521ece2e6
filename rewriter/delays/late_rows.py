"""What a disjunct reads of rows that begin to be shown some time after their own."""

from collections.abc import Sequence
from dataclasses import dataclass

from ontoweir.mappings.model.catalog import Catalog, Column
from ontoweir.mappings.model.time_bucket import Moments
from ontoweir.rewriter.algebra.equality_classes import condition_attributes
from ontoweir.rewriter.model.spj import (
    Attribute,
    Condition,
    SpjQuery,
    output_attributes,
)
from ontoweir.rewriter.windows.window import earliest_us

_TAKEN = ("at", "until", "multiplicity")
"""What the columns of answers are called that are theirs."""


@dataclass(frozen=True, slots=True)
class LateRows:
    """Rows of a table, under an alias, that begin to be shown at the last of `edges`, columns of
    it.

    `columns`: its columns that are read, and what the stream of late rows calls them; `times`:
    those of them that follow from its timestamp; `conditions`: those of this occurrence alone.
    """

    table: str
    alias: str
    edges: tuple[Column, ...]
    columns: tuple[tuple[str, str], ...]
    times: tuple[Column, ...]
    conditions: tuple[Condition, ...]

    def delay_us(self, step_us: int) -> int | None:
        """How long after its time every row is there, in whole steps (None: not always equally
        long)."""
        bucket = self.edges[0].bucket
        assert bucket is not None
        if len(self.edges) > 1 or not isinstance(bucket.buckets, Moments):
            return None
        return -(-bucket.latest_us // step_us) * step_us

    @property
    def spread_us(self) -> int:
        """The rows that are there at one time have times in a span no longer than this."""
        buckets = [e.bucket for e in self.edges if e.bucket is not None]
        return max(b.latest_us for b in buckets) - max(map(earliest_us, buckets))


def find_late_rows(
    query: SpjQuery, alias: str, begins: Sequence[str], catalog: Catalog
) -> LateRows:
    """What a disjunct reads of an occurrence with delays.

    Args:
        query: the disjunct.
        alias: of the occurrence.
        begins: the variables that say when rows begin to be shown.
        catalog: with views, blocks, buckets and derived columns.
    """
    table = next(o.table for o in query.occurrences if o.alias == alias)
    stream, outputs = catalog.streams[table], dict(query.outputs)
    edges = [a for n in begins for a in output_attributes(outputs[n])]
    read = [a for c in query.conditions for a in condition_attributes(c)]
    read += [a for n, o in query.outputs if n not in begins for a in output_attributes(o)]
    names = [a.column for a in read if a.alias == alias and a.column != stream.timestamp]
    known = {c.name: c for c in stream.columns}
    times = {n: known[n] for n in names if n in known and known[n].bucket is not None}
    return LateRows(
        table,
        alias,
        tuple(dict.fromkeys(known[a.column] for a in edges if a.alias == alias)),
        tuple((n, f"{n} of the row" if n in _TAKEN else n) for n in dict.fromkeys(names)),
        tuple(times.values()),
        tuple(c for c in query.conditions if {a.alias for a in condition_attributes(c)} == {alias}),
    )


def timestamp_of(rows: LateRows, catalog: Catalog) -> Attribute:
    """The timestamp of the rows."""
    return Attribute(rows.alias, catalog.streams[rows.table].timestamp)
