"""The streams that a query reads."""

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import SpjUnion


def list_streams(union: SpjUnion, catalog: Catalog) -> list[str]:
    """The streams of the catalog that a query reads, in views too, each once.

    Args:
        union: the query.
        catalog: without its views.
    """
    views = {v.name: v for v in union.views}
    found: dict[str, None] = {}
    waiting = [o.table for q in union.disjuncts for o in q.occurrences]
    while waiting:
        name = waiting.pop(0)
        if name in views:
            waiting += views[name].tables
        elif name in catalog.streams:
            found[name] = None
    return list(found)


def list_read(union: SpjUnion, catalog: Catalog) -> list[str]:
    """The same, with those of the queries whose answers it reads.

    Args:
        union: the query.
        catalog: without its views.
    """
    inner = [query for block in union.blocks for query in block.queries]
    found = [*list_streams(union, catalog), *(n for one in inner for n in list_read(one, catalog))]
    return list(dict.fromkeys(found))
