"""Removes self-joins on a declared key: one row, many triples."""

from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.algebra.equality_classes import EqualityClasses, map_condition, map_output
from ontoweir.rewriter.model.spj import Attribute, Occurrence, SpjQuery
from ontoweir.rewriter.passes.propagate_equalities import propagate_equalities


def remove_self_joins(query: SpjQuery, catalog: Catalog, *, whole: bool = True) -> SpjQuery:
    """Merges two occurrences of a table when all columns of one of its keys are equated.

    Keeps multiplicities: equal (hence not NULL) key columns mean that both occurrences range
    over the same row, so every pair is one row. A key with the timestamp needs equal timestamps;
    a key without it identifies the row by itself, which makes the timestamps equal. The merged
    occurrence keeps the provenance of both. `whole`: False leaves keys of streams without the
    timestamp alone.
    """
    while (pair := _find_pair(query, catalog, whole)) is not None:
        first, second, key = pair
        query = propagate_equalities(rename_alias(query, second.alias, first.alias), catalog)
        stream = catalog.streams.get(first.table)
        if stream is not None and stream.timestamp not in key:
            merged = dict.fromkeys((*query.merged, (stream.name, key)))
            query = replace(query, merged=tuple(merged))
    return query


def _find_pair(
    query: SpjQuery, catalog: Catalog, whole: bool
) -> tuple[Occurrence, Occurrence, tuple[str, ...]] | None:
    """Two occurrences that are one row, by a key: by one with the timestamp if there is one, as a
    run compares rows of one timestamp."""
    classes = EqualityClasses(query.occurrences, query.conditions)
    for n, first in enumerate(query.occurrences):
        for second in query.occurrences[n + 1 :]:
            if first.table != second.table:
                continue
            table = catalog.table(first.table)
            timestamp = table.timestamp if isinstance(table, Stream) else None
            keys = [k for k in table.keys if whole or timestamp is None or timestamp in k]
            for key in sorted(keys, key=lambda k: timestamp not in k):
                if all(
                    classes.same(Attribute(first.alias, c), Attribute(second.alias, c)) for c in key
                ):
                    return first, second, key
    return None


def rename_alias(query: SpjQuery, old: str, new: str) -> SpjQuery:
    """The query with occurrence `old` dropped and its attributes taken from `new`."""

    def change(attribute: Attribute) -> Attribute:
        return Attribute(new, attribute.column) if attribute.alias == old else attribute

    provenance = ((new if a == old else a, p) for a, p in query.provenance)
    return replace(
        query,
        occurrences=tuple(o for o in query.occurrences if o.alias != old),
        conditions=tuple(map_condition(c, change) for c in query.conditions),
        outputs=tuple((n, map_output(o, change)) for n, o in query.outputs),
        provenance=tuple(dict.fromkeys(provenance)),
    )
