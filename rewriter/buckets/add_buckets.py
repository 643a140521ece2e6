"""Buckets of time as columns of all streams, or of some."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog, Column
from ontoweir.rewriter.buckets.make_column import make_column
from ontoweir.rewriter.model.query import NamedBuckets


def add_buckets(catalog: Catalog, buckets: Sequence[NamedBuckets]) -> Catalog:
    """The catalog in which all streams (and views) have the buckets as columns."""
    if not buckets:
        return catalog
    columns = dict.fromkeys(make_column(b.bucket) for b in buckets)
    streams = {
        name: replace(
            stream,
            columns=(*stream.columns, *columns),
        )
        for name, stream in catalog.streams.items()
    }
    return replace(catalog, streams=streams)


def list_buckets(
    tables: Iterable[str], catalog: Catalog, buckets: Sequence[NamedBuckets]
) -> tuple[tuple[str, Column], ...]:
    """The columns that buckets are of those of some tables that are streams, with their names."""
    made = (
        (name, make_column(b.bucket)) for name in tables if name in catalog.streams for b in buckets
    )
    return tuple(dict.fromkeys(made))
