"""How many tuples of a member can share a timestamp, and what keys of static relations say."""

from collections.abc import Mapping

from ontoweir.checker.model.constraint_graph import ConstraintGraph
from ontoweir.checker.model.normal_form import Member, ValueClass
from ontoweir.checker.sizes.limit_rows import list_declared_sizes
from ontoweir.checker.sizes.size_relation import count_rows
from ontoweir.mappings.model.catalog import Stream
from ontoweir.mappings.model.never_null import never_null
from ontoweir.rewriter.model.spj import Attribute, Occurrence


def bound_rates(
    work: ConstraintGraph,
    members: tuple[Member, ...],
    class_of: Mapping[Attribute, int],
    classes: tuple[ValueClass, ...],
) -> tuple[int | None, ...]:
    """The most tuples of each member, statics folded in, that share a timestamp.

    A stream has at most R, and at most one for each value of a key (keys are enforced within a
    timestamp, where none of its columns is NULL: those that the query mentions, and those of keys
    over the whole stream); a static occurrence multiplies them by one where a whole key of it is
    equated with what is there, else by its size.
    """
    return tuple(
        _with_statics(work, m, _rate(work, m, class_of, classes), class_of, classes)
        for m in members
    )


def bound_totals(
    work: ConstraintGraph,
    members: tuple[Member, ...],
    class_of: Mapping[Attribute, int],
    classes: tuple[ValueClass, ...],
) -> tuple[int | None, ...]:
    """The most tuples of each member that there ever are, statics folded in (None: not known)."""
    return tuple(
        _with_statics(work, m, None if m.total is None else m.total[0], class_of, classes)
        for m in members
    )


def _rate(
    work: ConstraintGraph,
    member: Member,
    class_of: Mapping[Attribute, int],
    classes: tuple[ValueClass, ...],
) -> int | None:
    stream = work.catalog.streams[member.stream]
    limits = [] if stream.max_per_timestamp is None else [stream.max_per_timestamp]
    present = never_null(stream)
    for key in stream.keys:
        product: int | None = 1
        for column in key:
            if column == stream.timestamp:
                continue
            attribute = Attribute(member.alias, column)
            size = None
            if attribute in class_of:  # rows of which NULL is a part of the key are not limited
                group = classes[class_of[attribute]]
                size = None if group.optional else group.domain.size
            elif column in present:
                size = _declared_size(work, stream, column)
            product = None if product is None or size is None else product * size
        if product is not None:
            limits.append(product)
    if member.total is not None and member.total[0] is not None:
        limits.append(member.total[0])
    return min(limits, default=None)


def _declared_size(work: ConstraintGraph, stream: Stream, name: str) -> int | None:
    column = stream.column(name)
    assert column is not None, "the catalog checks its keys"
    sizes = (size for size, _ in list_declared_sizes(work, stream, column))
    return min((size for size in sizes if size is not None), default=None)


def _with_statics(
    work: ConstraintGraph,
    member: Member,
    rate: int | None,
    class_of: Mapping[Attribute, int],
    classes: tuple[ValueClass, ...],
) -> int | None:
    """So many tuples, each with the static rows that join it."""
    there = {member.alias}
    waiting = list(member.statics)
    while waiting and rate is not None:
        keyed = next((o for o in waiting if _is_keyed(work, o, there, class_of, classes)), None)
        occurrence = keyed or waiting[0]
        if keyed is None:
            rows = count_rows(work, work.catalog.relations[occurrence.table])
            rate = None if rows is None else rate * rows
        there.add(occurrence.alias)
        waiting.remove(occurrence)
    return rate


def _is_keyed(
    work: ConstraintGraph,
    occurrence: Occurrence,
    there: set[str],
    class_of: Mapping[Attribute, int],
    classes: tuple[ValueClass, ...],
) -> bool:
    """Whether a whole key of a static occurrence is equated with attributes that are there."""
    keys = work.catalog.relations[occurrence.table].keys
    return any(
        all(
            Attribute(occurrence.alias, column) in class_of
            and any(
                other.alias in there
                for other, _ in classes[class_of[Attribute(occurrence.alias, column)]].attributes
            )
            for column in key
        )
        for key in keys
    )


def list_determined(
    work: ConstraintGraph,
    owner: Mapping[str, int],
    class_of: Mapping[Attribute, int],
    classes: tuple[ValueClass, ...],
) -> tuple[tuple[frozenset[int], frozenset[int], int], ...]:
    """For each key of a static occurrence, the classes of its columns, all that they determine, and
    the member with which it is joined.

    Only keys whose columns are equated with others: a NULL, which rows may share, equals nothing.
    """
    determined = []
    for occurrence in work.query.occurrences:
        relation = work.catalog.relations.get(occurrence.table)
        if relation is None:
            continue
        own = frozenset(v for a, v in class_of.items() if a.alias == occurrence.alias)
        for key in relation.keys:
            attributes = [Attribute(occurrence.alias, column) for column in key]
            if not key or not all(a in class_of for a in attributes):
                continue
            values = frozenset(class_of[a] for a in attributes)
            if all(
                any(a.alias != occurrence.alias for a, _ in classes[v].attributes) for v in values
            ):
                determined.append((values, own, owner[occurrence.alias]))
    return tuple(determined)
