"""The stream of what becomes of the groups of a query."""

from math import gcd

from ontoweir.mappings.model.catalog import ANSWERS, Catalog, Stream
from ontoweir.rewriter.blocks.declare_block import AT, is_there
from ontoweir.rewriter.blocks.declare_groups import declare_groups, limit_groups
from ontoweir.rewriter.buckets.find_closing import find_closing
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import Attribute, Block, SpjQuery, SpjUnion


def declare_updates(union: SpjUnion, name: str, catalog: Catalog) -> Block | None:
    """The rows of groups, each at the time from which on it holds, until the next one of its group,
    as a stream (None: it is no query of groups of all rows so far, or of static relations alone).

    Their types; the domains of the columns that are grouped, and of MIN, MAX and COUNT; the group
    with the time as a key, as at one time a group has one row.

    Args:
        union: a query that shows all that it groups by.
        name: what the stream is called.
        catalog: the tables, with the streams of answers that the query reads.
    """
    groups = union.aggregation
    if groups is None or not groups.group or not groups.aggregates:
        return None
    beyond = (groups.panes, groups.session_us, groups.around, groups.numbered)
    made = (union.standing, union.joined, *beyond)
    if union.ends or union.begins or groups.one_each or any(one is not None for one in made):
        return None
    wide = extend_catalog(catalog, union)
    if find_closing(union, wide) is not None or not set(groups.group) <= set(groups.columns):
        return None
    stamps = [stamp for q in union.disjuncts if (stamp := _find_stamp(q, wide)) is not None]
    if not stamps or len(stamps) < len(union.disjuncts):
        return None
    read = [s for q in union.disjuncts for s in _list_streams(q, wide)]
    columns = declare_groups(union, stamps, frozenset(), None, wide)
    told = [c for c in columns.columns if c.name in groups.group]
    known = tuple(r for r in columns.references if r.relation in catalog.relations)
    stream = Stream(
        name,
        ANSWERS,
        AT,
        gcd(*(s.step_us for s in read)),
        limit_groups(told, len(groups.group), _count_rows(union, wide)),
        columns.columns,
        ((*groups.group, AT),),
        known,
        read[0].source,
        filled=tuple(n for n in groups.group if is_there(n, union, wide)),
    )
    return Block(stream, union)


def _list_streams(query: SpjQuery, catalog: Catalog) -> list[Stream]:
    """The streams that a disjunct reads, each as often as it does."""
    return [catalog.streams[o.table] for o in query.occurrences if o.table in catalog.streams]


def _find_stamp(query: SpjQuery, catalog: Catalog) -> Attribute | None:
    """The timestamp of the first stream of a disjunct."""
    for occurrence in query.occurrences:
        if occurrence.table in catalog.streams:
            return Attribute(occurrence.alias, catalog.streams[occurrence.table].timestamp)
    return None


def _count_rows(union: SpjUnion, catalog: Catalog) -> int | None:
    """The most matches of one time, where each is one row of a stream (None: not known)."""
    total = 0
    for query in union.disjuncts:
        most = [s.max_per_timestamp for s in _list_streams(query, catalog)]
        if len(query.occurrences) != 1 or most[0] is None:
            return None
        total += most[0]
    return total
