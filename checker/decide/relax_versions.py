"""A query over relations that change, as one over the streams of their versions."""

from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog, KeyConstant, Meeting
from ontoweir.rewriter.algebra.equality_classes import map_condition, map_output
from ontoweir.rewriter.model.spj import (
    Attribute,
    Block,
    Compare,
    Condition,
    Constant,
    LiteralOutput,
    NotNull,
    Occurrence,
    Op,
    SpjQuery,
    SpjUnion,
)


def relax_versions(union: SpjUnion, catalog: Catalog) -> tuple[SpjUnion, Catalog] | None:
    """The query where rows meet all versions of their key that are not later, and a catalog in
    which a key has one version at most. None: it reads answers of queries, or computes with what
    rows have met; or rows may meet none, and no column of a version is shown; or not all rows are
    versions, or those of a time replace all others.

    Wherever the catalog's declarations hold, those of the given one do, and both queries have the
    same answers: the only version of a key is the latest. Where rows may meet none, these are the
    answers with a value in a column of the version. So a witness against this query, over this
    catalog, is one against the given query.
    """
    met = {b.stream.name: b for b in union.blocks if isinstance(b.meeting, Meeting)}
    if not met or len(met) < len(union.blocks) or union.views:
        return None
    if any(name in met for name, _ in (*union.buckets, *union.derived)):
        return None
    versions_of = [b.meeting.versions for b in met.values() if isinstance(b.meeting, Meeting)]
    if any(v.whole or v.only is not None for v in versions_of):
        return None
    if any(v.optional for v in versions_of) and union.aggregation is not None:
        return None
    shown = [_show_versions(q, met) for q in union.disjuncts]
    disjuncts = tuple(_relax(q, met, catalog) for q in shown if q is not None)
    if len(disjuncts) < len(shown):
        return None
    streams = dict(catalog.streams)
    for block in met.values():
        assert isinstance(block.meeting, Meeting)
        versions = block.meeting.versions
        stream = streams[versions.stream]
        if versions.key not in stream.keys:
            keys = (*stream.keys, versions.key)
            streams[versions.stream] = replace(stream, keys=keys, lags=())
    return replace(union, disjuncts=disjuncts, blocks=()), replace(catalog, streams=streams)


def _show_versions(query: SpjQuery, met: dict[str, Block]) -> SpjQuery | None:
    """The answers with a value in a column of each version that rows may do without (None: no such
    column is shown)."""
    more: list[NotNull] = []
    for occurrence in query.occurrences:
        block = met.get(occurrence.table)
        if block is None:
            continue
        assert isinstance(block.meeting, Meeting)
        if not block.meeting.versions.optional:
            continue
        columns = {name for _, name in block.meeting.columns}
        found = (
            o.value
            for _, o in query.outputs
            if isinstance(o, LiteralOutput)
            and o.value.alias == occurrence.alias
            and o.value.column in columns
        )
        if (value := next(found, None)) is None:
            return None
        more.append(NotNull(value))
    outputs = tuple(
        (n, replace(o, optional=False))
        if isinstance(o, LiteralOutput) and o.value in {m.attribute for m in more}
        else (n, o)
        for n, o in query.outputs
    )
    return replace(query, conditions=(*query.conditions, *more), outputs=outputs)


def _relax(query: SpjQuery, met: dict[str, Block], catalog: Catalog) -> SpjQuery:
    taken = {o.alias for o in query.occurrences}
    while True:
        found = next((o for o in query.occurrences if o.table in met), None)
        if found is None:
            return query
        query = _open(query, found, met[found.table], catalog, taken)


def _open(
    query: SpjQuery, row: Occurrence, block: Block, catalog: Catalog, taken: set[str]
) -> SpjQuery:
    """The row of a stream beside a row of its versions."""
    assert isinstance(block.meeting, Meeting)
    meeting, n = block.meeting, 1
    versions = meeting.versions
    while (alias := f"{row.alias}_version_{n}") in taken:
        n += 1
    taken.add(alias)
    columns = {name: of for of, name in meeting.columns}

    def change(attribute: Attribute) -> Attribute:
        if attribute.alias == row.alias and attribute.column in columns:
            return Attribute(alias, columns[attribute.column])
        return attribute

    conditions: list[Condition] = [map_condition(c, change) for c in query.conditions]
    for own, name in meeting.key:
        equal = Constant(own.value) if isinstance(own, KeyConstant) else Attribute(row.alias, own)
        conditions.append(Compare(Attribute(alias, name), Op.EQ, equal))
    updates = catalog.streams[versions.stream]
    time = Attribute(row.alias, block.stream.timestamp)
    before = Op.LT if versions.earlier else Op.LE
    conditions.append(Compare(Attribute(alias, updates.timestamp), before, time))
    if versions.delete is not None:
        conditions.append(Compare(Attribute(alias, versions.delete), Op.EQ, Constant(False)))
    occurrences = [replace(o, table=meeting.base) if o == row else o for o in query.occurrences]
    return replace(
        query,
        occurrences=(*occurrences, Occurrence(alias, versions.stream)),
        conditions=tuple(dict.fromkeys(conditions)),
        outputs=tuple((n, map_output(o, change)) for n, o in query.outputs),
    )
