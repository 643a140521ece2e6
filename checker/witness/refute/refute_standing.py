"""Witnesses against queries of rows that hold until others end them.

What has to be remembered is which rows hold: when they are ended, it is told. Copies of a row with
one that ends it are laid out as matches of the join of both, which shows what the row does; the
changes of the whole query confirm them.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.witness.confirm.confirm_standing import can_confirm_standing
from ontoweir.checker.witness.refute.refute_joins import refute_joins
from ontoweir.checker.witness.witness import Witness
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.equality_classes import map_condition, map_output
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    ConstantOutput,
    LiteralOutput,
    Op,
    SpjQuery,
    SpjUnion,
)
from ontoweir.rewriter.standing.answers_of import answers_of
from ontoweir.rewriter.views.expand_views import expand_views

_SEVERAL = 16
"""In so many choices of branches of the views of a row, witnesses are looked for."""


def refute_standing(
    union: SpjUnion, catalog: Catalog, known: Statistics, *, size: int = 4
) -> Witness | None:
    """A confirmed witness against a query of rows that hold until others end them; None: none was
    found, or it is no such query (`can_confirm_standing`)."""
    if not can_confirm_standing(union):
        return None
    catalog = extend_catalog(catalog, union)
    return refute_joins(_list_pairs(union, catalog), union, catalog, known, size)


def _list_pairs(union: SpjUnion, catalog: Catalog) -> Iterator[SpjQuery]:
    """The joins of rows with those that end them, over what their views are made of."""
    standing = union.standing
    assert standing is not None
    answers = answers_of(union.disjuncts, standing)
    for query in answers:
        enders = [d for d in union.disjuncts if d not in answers]
        for ender in answers if standing.ender is None else enders:
            pair = _join(query, ender, standing, catalog)
            if pair is not None:
                yield from islice(expand_views(pair, union.views), _SEVERAL)


def _join(
    query: SpjQuery, ender: SpjQuery, standing: Standing, catalog: Catalog
) -> SpjQuery | None:
    names = {o.alias for o in query.occurrences}
    renamed: dict[str, str] = {}
    for occurrence in ender.occurrences:
        alias = occurrence.alias
        while alias in names:
            alias += "_"
        names.add(alias)
        renamed[occurrence.alias] = alias

    def rename(attribute: Attribute) -> Attribute:
        return replace(attribute, alias=renamed[attribute.alias])

    times = [
        Attribute(alias, catalog.streams[o.table].timestamp)
        for of, to in ((query, None), (ender, renamed))
        for o in of.occurrences
        if o.table in catalog.streams
        for alias in [o.alias if to is None else to[o.alias]]
    ]
    if len(times) != 2:
        return None
    mine, theirs = dict(query.outputs), dict(ender.outputs)
    keys = []
    for name in standing.key:
        left, right = map_output(theirs[name], rename), mine[name]
        if isinstance(left, ConstantOutput) and left == right:
            continue
        if not isinstance(left, LiteralOutput) or not isinstance(right, LiteralOutput):
            return None
        keys.append(Compare(left.value, Op.EQ, right.value))
    later = Compare(times[1], Op.GE if standing.inclusive else Op.GT, times[0])
    wanted = [v for v in query.outputs if v[0] not in standing.hidden]
    if standing.groups is not None:
        wanted = [v for v in query.outputs if v[0] in standing.groups.group]
    outputs = tuple(
        (n, replace(o, optional=False) if isinstance(o, LiteralOutput) else o) for n, o in wanted
    )
    return SpjQuery(
        (*query.occurrences, *(replace(o, alias=renamed[o.alias]) for o in ender.occurrences)),
        (*query.conditions, *(map_condition(c, rename) for c in ender.conditions), *keys, later),
        outputs,
    )
