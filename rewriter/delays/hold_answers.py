"""Answers that wait until one time of theirs is some time ago, whatever their others are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.delays.span_times import limit_lateness
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


@dataclass(frozen=True, slots=True)
class HeldAnswers:
    """Answers are final `wait_us` after one of their times, as the deadlines of `parts` say."""

    parts: tuple[AbsencePart, ...]
    wait_us: int


def hold_answers(
    found: SpjUnion,
    until: str,
    keys: Sequence[str],
    parts: Sequence[AbsencePart],
    stamps: Sequence[Mapping[str, Attribute]],
    catalog: Catalog,
) -> HeldAnswers | None:
    """The parts of a query with one deadline, by which all rows of an answer have come, and all
    that may be beside it: so long after its time `until` (None: they may come any time later). Of a
    query without parts it is that of a part that nothing is of.

    Args:
        found: the query.
        until: one of its variables, which is a timestamp.
        keys: the variables that parts have.
        parts: with their own deadlines, none of which is later.
        stamps: of each disjunct, the timestamps that variables are.
        catalog: with its views, blocks, buckets and derived columns (`extend_catalog`).
    """
    deadlines = [d for part in parts for d in part.deadlines]
    late = []
    for query, own in zip(found.disjuncts, stamps, strict=True):
        us = limit_lateness(query, own[until], own, deadlines, catalog)
        if us is None:
            return None
        late.append(us)
    wait = max(late)
    last = (Deadline(((until, wait),)),)
    if parts:
        return HeldAnswers(tuple(replace(p, deadlines=last) for p in parts), wait)
    first, stamp = found.disjuncts[0], stamps[0][until]
    never = replace(
        first,
        conditions=(*first.conditions, Compare(stamp, Op.LT, stamp)),
        outputs=tuple((n, o) for n, o in first.outputs if n in keys),
    )
    name = f"{found.name}, {ELSE}"
    hits = replace(found, name=name, variables=tuple(keys), disjuncts=(never,), distinct=True)
    return HeldAnswers((AbsencePart(hits, last),), wait)
