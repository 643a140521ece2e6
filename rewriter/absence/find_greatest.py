"""Solutions beside which there is none of their key with a greater value, as those of rank 1."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog, DecimalType, FloatType, IntType
from ontoweir.rewriter.absence.find_latest import as_of, find_pair, own_conditions
from ontoweir.rewriter.absence.unite_solutions import Solutions
from ontoweir.rewriter.algebra.equality_classes import condition_attributes
from ontoweir.rewriter.model.aggregation import FirstRows, Numbering, Standing
from ontoweir.rewriter.model.spj import (
    Attribute,
    LiteralOutput,
    NotNull,
    Op,
    SpjUnion,
)

HIDDEN = "of the first: "
"""How the variables are called, at the beginning, by which rows are numbered."""


def find_greatest(
    alternatives: Sequence[Solutions], head: Sequence[str], catalog: Catalog
) -> SpjUnion | None:
    """The query of the solutions with the greatest value of each key, or the least: FILTER NOT
    EXISTS { … } of the same patterns, at any time, with variables in common, the key, if there are
    any, and with a greater number.

    None: it says something else; or the rows of what must be absent are not those of the solutions
    themselves.

    Args:
        alternatives: the solutions.
        head: the answer variables.
        catalog: the tables.
    """
    pair = find_pair(alternatives, catalog)
    if pair is None or pair.stream.name not in catalog.streams:
        return None
    key: dict[str, None] = {}
    order: dict[str, bool] = {}
    for condition in pair.both.conditions:
        if {a.alias for a in condition_attributes(condition)} != {pair.row, pair.other}:
            continue
        sides = as_of(condition, pair.other)
        if sides is None or sides[1] != sides[2] or sides[1] == pair.stream.timestamp:
            return None
        op, column, _ = sides
        if op is Op.EQ:
            key[column] = None
        elif op in (Op.GT, Op.LT):
            order[column] = op is Op.GT
        else:
            return None
    alias = pair.mine.occurrences[0].alias
    values = order.keys()
    kinds = [c.type for c in pair.stream.columns if c.name in order]
    numbers = all(isinstance(kind, IntType | DecimalType | FloatType) for kind in kinds)
    if len(order) != 1 or len(kinds) != 1 or not numbers or not values.isdisjoint(key):
        return None
    mine, theirs = own_conditions(pair.mine, alias), own_conditions(pair.both, pair.other)
    if (mine[0] - values, mine[1]) != (theirs[0] - values, theirs[1]):
        return None
    ((column, descending),) = order.items()
    if column not in mine[0]:
        return None  # it may be NULL, which has no greater one
    more = [(f"{HIDDEN}key {n}", c) for n, c in enumerate(key, 1)]
    more.append((f"{HIDDEN}order 1", column))
    outputs = dict(pair.mine.outputs)
    found = pair.one.found
    query = replace(
        pair.mine,
        conditions=(*pair.mine.conditions, *(NotNull(Attribute(alias, c)) for _, c in more)),
        outputs=(
            *((n, outputs[n]) for n in head),
            *((n, LiteralOutput(Attribute(alias, c))) for n, c in more),
        ),
    )
    names = tuple(n for n, _ in more)
    first = FirstRows(Numbering.RANKS, 1, ((names[-1], descending, False),))
    return replace(
        found,
        variables=(*head, *names),
        disjuncts=(query,),
        standing=Standing(names[:-1], hidden=names, first=first),
    )
