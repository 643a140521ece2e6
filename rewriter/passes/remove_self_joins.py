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
    while pairs := _find_pairs(query, catalog, whole):
        names = {second.alias: first.alias for first, second, _ in pairs}
        query = propagate_equalities(_rename(query, names), catalog)
        lasting = [
            (stream.name, key)
            for first, _, key in pairs
            if (stream := catalog.streams.get(first.table)) is not None
            and stream.timestamp not in key
        ]
        if lasting:
            query = replace(query, merged=tuple(dict.fromkeys((*query.merged, *lasting))))
    return query


def _find_pairs(
    query: SpjQuery, catalog: Catalog, whole: bool
) -> list[tuple[Occurrence, Occurrence, tuple[str, ...]]]:
    """Occurrences that are one row, by a key: by one with the timestamp if there is one, as a run
    compares rows of one timestamp. The second of a pair is in no other."""
    classes: EqualityClasses | None = None
    pairs: list[tuple[Occurrence, Occurrence, tuple[str, ...]]] = []
    dropped: set[str] = set()
    for n, first in enumerate(query.occurrences):
        if first.alias in dropped:
            continue
        for second in query.occurrences[n + 1 :]:
            if first.table != second.table or second.alias in dropped:
                continue
            if classes is None:
                classes = EqualityClasses(query.occurrences, query.conditions)
            table = catalog.table(first.table)
            timestamp = table.timestamp if isinstance(table, Stream) else None
            keys = [k for k in table.keys if whole or timestamp is None or timestamp in k]
            for key in sorted(keys, key=lambda k: timestamp not in k):
                if all(
                    classes.same(Attribute(first.alias, c), Attribute(second.alias, c)) for c in key
                ):
                    pairs.append((first, second, key))
                    dropped.add(second.alias)
                    break
    return pairs


def _rename(query: SpjQuery, names: dict[str, str]) -> SpjQuery:
    """The query without the occurrences that `names` has, their attributes taken from others."""

    def change(attribute: Attribute) -> Attribute:
        new = names.get(attribute.alias)
        return attribute if new is None else Attribute(new, attribute.column)

    provenance = ((names.get(a, a), p) for a, p in query.provenance)
    return replace(
        query,
        occurrences=tuple(o for o in query.occurrences if o.alias not in names),
        conditions=tuple(map_condition(c, change) for c in query.conditions),
        outputs=tuple((n, map_output(o, change)) for n, o in query.outputs),
        provenance=tuple(dict.fromkeys(provenance)),
    )
