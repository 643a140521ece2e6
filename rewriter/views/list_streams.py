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
