"""Compile the text of an SQL query."""

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import SpjUnion


def compile_sql(text: str, catalog: Catalog, *, name: str, file: str) -> SpjUnion:
    """As `parse_sql`, which is imported when it is used: SPARQL does not need it, and it takes as
    long to load as a short replay.

    Raises:
        QueryError: as `parse_sql`.
    """
    from ontoweir.rewriter.sql.parse_sql import parse_sql

    return parse_sql(text, catalog, name=name, file=file)
