"""What must not be beside answers, in the words of these."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from ontoweir.rewriter.algebra.equality_classes import map_condition, map_output
from ontoweir.rewriter.model.spj import (
    Absence,
    Attribute,
    Block,
    Compare,
    Condition,
    Occurrence,
    SpjQuery,
    SpjUnion,
)

_MOST = 200
"""How many ways to map the rows of an answer onto those of what is beside it are tried."""


def align_hits(union: SpjUnion) -> SpjUnion:
    """The query, of whose blocks what must not be beside answers names their rows as the answers
    do: it is unfolded by itself, so that a table that is read more often there has other aliases.

    Args:
        union: it may read answers beside which something is, or is not.
    """
    if all(block.absence is None for block in union.blocks):
        return union
    return replace(union, blocks=tuple(_align_block(block) for block in union.blocks))


def _align_block(block: Block) -> Block:
    if block.absence is None:
        return block
    found, keys = block.union.disjuncts, block.absence.keys
    parts = tuple(
        replace(
            part,
            hits=replace(
                part.hits, disjuncts=tuple(_align(q, found, keys) for q in part.hits.disjuncts)
            ),
        )
        for part in block.absence.parts
    )
    return replace(block, absence=Absence(keys, parts, block.absence.held))


def _align(query: SpjQuery, found: Sequence[SpjQuery], keys: Sequence[str]) -> SpjQuery:
    for answer in found:
        for names in islice(_map_rows(answer.occurrences, query.occurrences), _MOST):
            made = _rename(query, names, answer)
            if _has_all(made, answer, keys):
                written = {_plain(c): c for c in answer.conditions}
                conditions = tuple(written.get(_plain(c), c) for c in made.conditions)
                return replace(made, conditions=conditions)
    return query


def _map_rows(
    mine: Sequence[Occurrence], theirs: Sequence[Occurrence]
) -> Iterator[Mapping[str, str]]:
    """The ways to name some of `theirs` as `mine`, the same aliases first."""
    if not mine:
        yield {}
        return
    first, rest = mine[0], mine[1:]
    for one in sorted(theirs, key=lambda o: o.alias != first.alias):
        if one.table != first.table:
            continue
        for more in _map_rows(rest, [o for o in theirs if o != one]):
            yield {one.alias: first.alias, **more}


def _rename(query: SpjQuery, names: Mapping[str, str], answer: SpjQuery) -> SpjQuery:
    """The query with other aliases; what is of no answer gets one that no answer has."""
    taken = {*(o.alias for o in answer.occurrences)}
    of = dict(names)
    for occurrence in query.occurrences:
        if occurrence.alias in of:
            continue
        alias = occurrence.alias
        while alias in taken:
            alias += "_"
        taken.add(alias)
        of[occurrence.alias] = alias
    if all(one == other for one, other in of.items()):
        return query

    def change(attribute: Attribute) -> Attribute:
        return replace(attribute, alias=of[attribute.alias])

    return replace(
        query,
        occurrences=tuple(replace(o, alias=of[o.alias]) for o in query.occurrences),
        conditions=tuple(map_condition(c, change) for c in query.conditions),
        outputs=tuple((n, map_output(o, change)) for n, o in query.outputs),
        provenance=tuple((of.get(alias, alias), p) for alias, p in query.provenance),
        closing=None if query.closing is None else change(query.closing),
    )


def _has_all(query: SpjQuery, answer: SpjQuery, keys: Sequence[str]) -> bool:
    """Whether a query says what is said of an answer, and shows the same of it."""
    outputs, shown = dict(query.outputs), dict(answer.outputs)
    if any(outputs.get(n) != shown.get(n) for n in keys):
        return False
    said = {_plain(c) for c in query.conditions}
    return all(_plain(c) in said for c in answer.conditions)


def _plain(condition: Condition) -> Condition:
    """A condition, whoever wrote it, and on whichever side."""
    condition = replace(condition, source=None)
    if isinstance(condition, Compare) and isinstance(condition.right, Attribute):
        left, right = condition.left, condition.right
        if (left.alias, left.column) > (right.alias, right.column):
            return replace(
                condition,
                left=right,
                right=left,
                op=condition.op.flipped(),
                offset=-condition.offset,
            )
    return condition
