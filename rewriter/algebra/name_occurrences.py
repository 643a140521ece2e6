"""Names occurrences for readers: the table's name, numbered where it occurs several times."""

from collections import Counter
from dataclasses import replace
from functools import lru_cache

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.equality_classes import map_condition, map_output
from ontoweir.rewriter.model.spj import Attribute, Occurrence, SpjQuery


def name_occurrences(query: SpjQuery, catalog: Catalog) -> SpjQuery:
    """The same query with aliases `t`, or `t_1`, `t_2` … in the order of occurrences."""
    names: dict[str, str] = {}
    total = Counter(_plain(o.table) for o in query.occurrences)
    tables = {_plain(name) for name in (*catalog.streams, *catalog.relations)}
    seen: Counter[str] = Counter()
    for occurrence in query.occurrences:
        base = _plain(occurrence.table)
        seen[base] += 1
        name = base if total[base] == 1 else f"{base}_{seen[base]}"
        while name in names.values() or (name != base and name in tables):
            name += "_"
        names[occurrence.alias] = name

    def change(attribute: Attribute) -> Attribute:
        return Attribute(names[attribute.alias], attribute.column)

    return replace(
        query,
        occurrences=tuple(Occurrence(names[o.alias], o.table) for o in query.occurrences),
        conditions=tuple(map_condition(c, change) for c in query.conditions),
        outputs=tuple((n, map_output(o, change)) for n, o in query.outputs),
        provenance=tuple((names.get(a, a), p) for a, p in query.provenance),
    )


@lru_cache(maxsize=1 << 12)
def _plain(table: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in table)
