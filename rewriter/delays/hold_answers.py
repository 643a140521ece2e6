"""Answers that wait until one time of theirs is some time ago, whatever their others are."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.bound_differences import bound_differences
from ontoweir.rewriter.model.spj import (
    AbsencePart,
    Attribute,
    Compare,
    Deadline,
    Op,
    SpjUnion,
)

ELSE = "what else may come"
"""How the part is called, that nothing is of."""


def hold_answers(
    found: SpjUnion,
    until: str,
    keys: Sequence[str],
    stamps: Sequence[Mapping[str, Attribute]],
    catalog: Catalog,
) -> AbsencePart | None:
    """A part that nothing is of, by whose deadline all rows of an answer have come: so long after
    its time `until` (None: its rows may come any time later).

    Args:
        found: the query.
        until: one of its variables, which is a timestamp.
        keys: the variables that parts have.
        stamps: of each disjunct, the timestamps that variables are.
        catalog: with its views, blocks, buckets and derived columns (`extend_catalog`).
    """
    late = [0]
    for query, own in zip(found.disjuncts, stamps, strict=True):
        limits = bound_differences(query, catalog, domains=False)
        if limits is None:
            continue  # there is no such answer
        for occurrence in query.occurrences:
            stream = catalog.streams.get(occurrence.table)
            if stream is None or occurrence.alias == own[until].alias:
                continue
            limit = limits.get((Attribute(occurrence.alias, stream.timestamp), own[until]))
            if limit is None:
                return None
            late.append(int(limit[0]) * stream.step_us)
    first, stamp = found.disjuncts[0], stamps[0][until]
    never = replace(
        first,
        conditions=(*first.conditions, Compare(stamp, Op.LT, stamp)),
        outputs=tuple((n, o) for n, o in first.outputs if n in keys),
    )
    name = f"{found.name}, {ELSE}"
    hits = replace(found, name=name, variables=tuple(keys), disjuncts=(never,), distinct=True)
    return AbsencePart(hits, (Deadline(((until, max(late)),)),))
