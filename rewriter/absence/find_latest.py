"""Solutions beside which there is no later one of their key, as those that later ones replace."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.absence.unite_solutions import Solutions
from ontoweir.rewriter.algebra.equality_classes import (
    condition_attributes,
    map_condition,
    valued_attributes,
)
from ontoweir.rewriter.buckets.make_column import is_bucket
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    IriOutput,
    LiteralOutput,
    NotNull,
    Op,
    SpjQuery,
    SpjUnion,
    TemplateLiteralOutput,
    output_attributes,
)


class Pair(NamedTuple):
    """Solutions of one row each, `mine`, that must have no other row of its stream beside them, as
    `both` says; the aliases there."""

    one: Solutions
    mine: SpjQuery
    both: SpjQuery
    stream: Stream
    row: str
    other: str


def find_pair(alternatives: Sequence[Solutions], catalog: Catalog) -> Pair | None:
    """Solutions beside which there must be no other row of the same stream; None: it is something
    else."""
    if len(alternatives) != 1 or len(alternatives[0].parts) != 1 or alternatives[0].missing:
        return None
    (one,) = alternatives
    ((hits, _, present),) = one.parts
    if present or len(one.found.disjuncts) != 1 or len(hits.disjuncts) != 1 or one.found.distinct:
        return None
    (mine,), (both,) = one.found.disjuncts, hits.disjuncts
    known = extend_catalog(catalog, one.found).streams
    if len(mine.occurrences) != 1 or mine.occurrences[0].table not in known:
        return None
    stream = known[mine.occurrences[0].table]
    own = {a.alias for n in one.times for a in output_attributes(dict(both.outputs)[n])}
    others = [o for o in both.occurrences if o.alias not in own]
    if len(both.occurrences) != 2 or [o.table for o in others] != [stream.name] or len(own) != 1:
        return None
    return Pair(one, mine, both, stream, own.pop(), others[0].alias)


def find_latest(
    alternatives: Sequence[Solutions], head: Sequence[str], catalog: Catalog
) -> SpjUnion | None:
    """The query of the solutions of which the latest of each key hold: FILTER NOT EXISTS { … } of
    the same patterns, at any time later, with some variables in common, which are the key.

    None: it says something else; or the rows of what must be absent are not those of the solutions
    themselves, so that one may be taken back by what is no solution.

    Args:
        alternatives: the solutions.
        head: the answer variables.
        catalog: the tables.
    """
    pair = find_pair(alternatives, catalog)
    if pair is None:
        return None
    one, mine, both, stream, row, later = pair
    key: set[str] = set()
    follows = False
    for condition in both.conditions:
        aliases = {a.alias for a in condition_attributes(condition)}
        if aliases != {row, later}:
            continue
        sides = as_of(condition, later)
        if sides == (Op.GT, stream.timestamp, stream.timestamp):
            follows = True
        elif sides is not None and sides == (Op.EQ, sides[1], sides[1]):
            key.add(sides[1])
        else:
            return None
    alias = mine.occurrences[0].alias
    if not follows or not key or not key.isdisjoint({stream.timestamp}):
        return None
    if own_conditions(mine, alias) != own_conditions(both, later):
        return None
    outputs = dict(mine.outputs)
    names = tuple(n for n in head if is_key(outputs.get(n), key))
    if {a.column for n in names for a in output_attributes(outputs[n])} != key:
        return None
    query = replace(mine, outputs=tuple((n, outputs[n]) for n in head))
    return replace(one.found, variables=tuple(head), disjuncts=(query,), standing=Standing(names))


def as_of(condition: object, later: str) -> tuple[Op, str, str] | None:
    """A comparison of the columns of two rows, as one of the later row with the other; None: it is
    something else."""
    if not isinstance(condition, Compare) or not isinstance(condition.right, Attribute):
        return None
    left, op, right = condition.left, condition.op, condition.right
    if condition.offset:
        return None
    if left.alias != later:
        left, op, right = right, op.flipped(), left
    return op, left.column, right.column


def own_conditions(query: SpjQuery, alias: str) -> tuple[frozenset[str], frozenset[object]]:
    """The columns of an occurrence that must have a value, and its other conditions."""
    valued = {a.column for c in query.conditions for a in valued_attributes(c) if a.alias == alias}
    rest = set()
    for condition in query.conditions:
        attributes = condition_attributes(condition)
        if isinstance(condition, NotNull) or any(a.alias != alias for a in attributes):
            continue
        made = map_condition(condition, lambda a: Attribute("", a.column))
        rest.add(replace(made, source=None))
    times = {c for c in valued if is_bucket(c)}
    stamps = {
        a.column
        for c in query.conditions
        if isinstance(c, Compare) and isinstance(c.right, Attribute)
        for a in (c.left, c.right)
        if c.left.column == c.right.column and c.op is not Op.EQ
    }
    return frozenset(valued - times - stamps), frozenset(rest)


def is_key(output: object, key: set[str]) -> bool:
    """Whether a term tells the values of a column of the key apart."""
    if not isinstance(output, LiteralOutput | IriOutput | TemplateLiteralOutput):
        return False
    attributes = output_attributes(output)
    return len(attributes) == 1 and attributes[0].column in key
