"""How many rows a stream can ever have: one for each value of a key without the timestamp."""

from collections.abc import Iterator
from math import prod

from ontoweir.checker.model.constraint_graph import HIGH_NODE, LOW_NODE, ZERO_NODE, ConstraintGraph
from ontoweir.checker.model.declarations import (
    domain_declaration,
    key_declaration,
    list_stream_keys,
)
from ontoweir.checker.model.difference_bounds import DifferenceBounds
from ontoweir.checker.model.normal_form import Kind
from ontoweir.checker.model.units import kind_of
from ontoweir.checker.sizes.size_relation import size_relation
from ontoweir.mappings.model.catalog import Column, Stream
from ontoweir.rewriter.model.spj import Attribute, Occurrence

Count = tuple[int | None, str]
"""How many there are (None: finitely many, the number is not known), and a formula."""


def limit_rows(
    work: ConstraintGraph, occurrence: Occurrence, bounds: DifferenceBounds
) -> Count | None:
    """The most rows of a stream that can ever pass the selection; None: nothing limits them.

    A key that does not hold the timestamp says that no two rows of the whole stream share it (and
    that none of its columns is NULL); if its columns have finitely many values, which the
    selection or the catalog says, so has the stream. The query need not mention the key.
    """
    stream = work.catalog.streams[occurrence.table]
    limits: list[Count] = []
    for key in list_stream_keys(stream):
        if not work.use(key_declaration(stream, key)):
            continue
        sizes = [_size(work, stream, occurrence.alias, column, bounds) for column in key]
        if any(size is None for size in sizes):
            continue
        counts = [size for size, _ in (s for s in sizes if s is not None)]
        known = [c for c in counts if c is not None]
        text = " · ".join(text for _, text in (s for s in sizes if s is not None))
        limits.append((prod(known) if len(known) == len(counts) else None, text))
    return min(limits, key=lambda c: (c[0] is None, c[0] or 0), default=None)


def _size(
    work: ConstraintGraph, stream: Stream, alias: str, name: str, bounds: DifferenceBounds
) -> Count | None:
    column = stream.column(name)
    assert column is not None, "the catalog checks its keys"
    sizes = [
        *_by_selection(work, Attribute(alias, name), bounds),
        *list_declared_sizes(work, stream, column),
    ]
    return min(sizes, key=lambda c: (c[0] is None, c[0] or 0), default=None)


def _by_selection(
    work: ConstraintGraph, attribute: Attribute, bounds: DifferenceBounds
) -> Iterator[Count]:
    """By the limits that the query sets: rows outside are not admitted."""
    node = work.values.get(attribute)
    if node is None:
        return
    grain, kind = work.grains[node], kind_of(work.columns[attribute].type)
    if kind is Kind.STRING or not grain:
        return
    up, down = bounds.limit(node, ZERO_NODE), bounds.limit(ZERO_NODE, node)
    if up is not None and down is not None:
        size = max(int((up.value + down.value) // grain) + 1, 0)
        yield size, f"|{attribute}| = {size}"
    elif (up or bounds.limit(node, HIGH_NODE)) and (down or bounds.limit(LOW_NODE, node)):
        yield None, f"|{attribute}|"


def list_declared_sizes(work: ConstraintGraph, stream: Stream, column: Column) -> Iterator[Count]:
    """How many values a column can have, by its domain or its references."""
    name = f"|{stream.name}.{column.name}|"
    if column.enum is not None or column.minimum is not None or column.maximum is not None:
        used = work.use(domain_declaration(stream, column))
        if used and column.enum is not None:
            yield len(set(column.enum)), f"{name} = {len(set(column.enum))}"
        kind, grain = kind_of(column.type), work.units.grain(column.type)
        low, high = column.minimum, column.maximum
        if used and grain and kind is not Kind.STRING and low is not None and high is not None:
            span = work.units.value(high, kind) - work.units.value(low, kind)
            size = max(int(span // grain) + 1, 0)
            yield size, f"{name} = {size}"
    elif kind_of(column.type) is Kind.BOOLEAN:
        yield 2, f"{name} = 2"
    for relation, target in work.references(stream, column):
        yield size_relation(work, relation, target)
