"""Columns by which a few rows of a stream may be all that there are."""

from ontoweir.mappings.model.catalog import Catalog, Relation, Stream


def list_tied(table: Stream | Relation, catalog: Catalog) -> set[str]:
    """The columns of a table about which something is declared of several rows (keys, references,
    lags, rules that close values), its timestamp, and its buckets of time. What is computed of
    them, or compared with what a query computes, may let few rows count, which a witness of a few
    tuples does not show; each other column may have any value in any row."""
    tied = {name for key in table.keys for name in key}
    tied |= {column.name for column in table.columns if column.bucket is not None}
    if isinstance(table, Relation):
        return tied
    tied |= {table.timestamp}
    tied |= {name for reference in table.references for name in reference.columns}
    tied |= {name for lag in table.lags for name in lag.columns}
    tied |= {n for rule in table.closing for n in (*rule.columns, rule.ends) if n is not None}
    for stream in catalog.streams.values():
        tied |= {name for lag in stream.lags if lag.behind == table.name for name in lag.to}
    return tied
