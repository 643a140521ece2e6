"""A catalog without the rules that only say what is kept in memory."""

from collections.abc import Collection
from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog


def spare_rules(catalog: Catalog, streams: Collection[str]) -> Catalog | None:
    """The catalog without lags of which what they drop is kept on disk: answers do not rest on
    them (None: no such lag is between two of some streams).

    Args:
        catalog: the declarations.
        streams: the streams that are read.
    """
    changed = {}
    for name in catalog.streams.keys() & set(streams):
        stream = catalog.streams[name]
        left = tuple(
            lag
            for lag in stream.lags
            if lag.breach is None or not lag.breach.spill or lag.behind not in streams
        )
        if len(left) < len(stream.lags):
            changed[name] = replace(stream, lags=left)
    return replace(catalog, streams={**catalog.streams, **changed}) if changed else None
