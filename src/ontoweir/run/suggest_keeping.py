"""Which streams of a replay would be read in less time if their rows were kept."""

from collections.abc import Iterator

from ontoweir.mappings.model.catalog import Catalog

_MANY = 1_000_000
"""Tuples from which on it is told."""
_TEXT = ("csv", "json")


def suggest_keeping(catalog: Catalog, names: set[str], tuples: int) -> Iterator[str]:
    """The streams whose text, or whose order, each replay reads, or makes, anew.

    Args:
        catalog: the declarations.
        names: the tables that the query reads.
        tuples: how many the replay has read.
    """
    for name in sorted(names & catalog.streams.keys()) if tuples >= _MANY else ():
        data = catalog.streams[name].data
        anew = data.format in _TEXT or (data.format == "parquet" and data.sort)
        local = data.path is not None and "://" not in data.path
        if anew and local and not data.keep:
            yield name
