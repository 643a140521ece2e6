"""Counts rows that later ones meet, unless others came between, where that needs bounded memory."""

from collections.abc import Collection
from dataclasses import replace

from ontoweir.checker.between.bound_begun import bound_begun
from ontoweir.checker.between.lift_comparisons import lift_comparisons, read_compared
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
    blocks = list[Block]()
    for block in union.blocks:
        if block.stream.name not in direct and not (union.distinct or block.union.distinct):
            blocks.append(block)
            continue
        counted = _count(block, union, catalog, statistics)
        if counted is None and _may_compare(block, union, direct):
            lifted = lift_comparisons(block, catalog)
            if lifted is not None:
                comparing = read_compared(union, [lifted])
                counted = _count(lifted, comparing, catalog, statistics)
        blocks.append(counted or block)
    return replace(read_compared(union, blocks), blocks=tuple(blocks))


def _may_compare(block: Block, union: SpjUnion, direct: Collection[str]) -> bool:
    """Whether who reads a block's rows may leave some out: they are members of its matches alone,
    and as many of them as there are."""
    shaped = union.standing is not None or union.joined is not None
    around = union.aggregation is not None and union.aggregation.around is not None
    once = block.union.distinct and not union.distinct
    return block.stream.name in direct and not (shaped or around or once)


def _count(block: Block, union: SpjUnion, catalog: Catalog, statistics: Statistics) -> Block | None:
    """The block whose answers are counted (None: these are no such answers, or need not be of few
    values)."""
    once = union.distinct or block.union.distinct
    for near in (True, False):
        between = split_between(block, _list_read(block, union), catalog, near=near, once=once)
        if between is not None and bound_begun(between, catalog, statistics).bound is not None:
            return replace(block, between=between)
    return None


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
