"""Counts rows that later ones meet, unless others came between, where that needs bounded memory."""

from collections.abc import Collection
from dataclasses import replace

from ontoweir.checker.between.bound_begun import bound_begun
from ontoweir.checker.between.split_between import split_between
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.expression import fields_of
from ontoweir.rewriter.algebra.equality_classes import condition_attributes
from ontoweir.rewriter.model.spj import Block, SpjUnion, output_attributes


def count_between(
    union: SpjUnion, catalog: Catalog, statistics: Statistics, direct: Collection[str]
) -> SpjUnion:
    """The query where answers of "S, then U, and no T between" are counted: the rows of S since the
    last T of their key are a count for each different row, which U reads and T takes to zero, so
    that no time of S is kept (change.md section 5: kills as counts taken to zero).

    Args:
        union: a query that may read answers beside which nothing is.
        catalog: the tables.
        statistics: what is known of the static data.
        direct: the streams of its blocks whose rows are counted where they are read, and so are
            one however many are equal (`reads_directly`). Of others there may be any number.
    """
    if all(block.absence is None for block in union.blocks):
        return union
    blocks = tuple(
        _count(block, union, catalog, statistics)
        if block.stream.name in direct or union.distinct or block.union.distinct
        else block
        for block in union.blocks
    )
    return replace(union, blocks=blocks)


def _count(block: Block, union: SpjUnion, catalog: Catalog, statistics: Statistics) -> Block:
    once = union.distinct or block.union.distinct
    for near in (True, False):
        between = split_between(block, _list_read(block, union), catalog, near=near, once=once)
        if between is not None and bound_begun(between, catalog, statistics).bound is not None:
            return replace(block, between=between)
    return block


def _list_read(block: Block, union: SpjUnion) -> Collection[str]:
    """The columns of a block's rows that a query reads, or another one that it reads."""
    name, stream = block.stream.name, block.stream
    read: set[str] = set()
    for query in union.disjuncts:
        aliases = {o.alias for o in query.occurrences if o.table == name}
        used = [a for c in query.conditions for a in condition_attributes(c)]
        used += [a for _, output in query.outputs for a in output_attributes(output)]
        used += [query.closing] if query.closing is not None else []
        used += [fold.attribute for fold in query.folds or ()]
        read |= {a.column for a in used if a.alias in aliases}
    tables = {table for view in union.views for table in view.tables}
    tables |= {b.meeting.base for b in union.blocks if b.meeting is not None}
    if name in tables:
        read |= {column.name for column in stream.columns}
    for table, expression in union.derived:
        read |= set(fields_of(expression)) if table == name else set()
    return {n for n in read if n != stream.timestamp and stream.column(n) is not None}
