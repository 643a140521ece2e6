"""What must not be between two rows of a solution."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.algebra.contain_spj import is_contained
from ontoweir.rewriter.algebra.equality_classes import (
    EqualityClasses,
    Types,
    map_condition,
)
from ontoweir.rewriter.before.split_row import Said, list_determined, split_row, stamp_of
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    NotNull,
    Occurrence,
    Op,
    Output,
    SpjQuery,
)


@dataclass(frozen=True, slots=True)
class Gap:
    """There is no row of a stream between two rows of a solution, of which the earlier one is of
    that stream too, and like those that are not there.

    `earlier`: that row; `time`: of the later one; `key`: the columns of the stream that equal
    columns of the solution; `only`: what else is true of the rows, as conditions on `earlier`;
    `inclusive`: none is at the time of the later row either; `told`: by which keys of the solution
    such rows would be found.
    """

    earlier: Occurrence
    time: Attribute
    key: tuple[tuple[str, Attribute], ...]
    only: tuple[Condition, ...]
    inclusive: bool
    told: frozenset[str]


def read_gap(
    found: SpjQuery, hits: SpjQuery, keys: Sequence[str], times: Sequence[str], catalog: Catalog
) -> Gap | None:
    """The gap that is left by what must not match (None: it is something else).

    A solution is told apart by its keys. Of what matches beside it, `hits`, one row is of no part
    of it; it is bound by the keys alone, and that a solution has such a row is all that `hits`
    says: both are shown by containment.

    Args:
        found: the solutions.
        hits: the solutions, and what must not be beside them, with the same keys.
        keys: the answer variables that both share.
        times: those that are times of rows.
        catalog: the tables of both.
    """
    mine, theirs = dict(found.outputs), dict(hits.outputs)
    stamps = {n: stamp_of(mine[n], found, catalog) for n in keys if n in times}
    there = {n: stamp_of(theirs[n], hits, catalog) for n in stamps}
    if None in stamps.values() or None in there.values():
        return None
    for own in hits.occurrences:
        stream = catalog.streams.get(own.table)
        if stream is None or any(a is not None and a.alias == own.alias for a in there.values()):
            continue
        said = split_row(hits, own, catalog)
        if said is None:
            continue
        key, only, ends = said
        gap = _make(found, own, stream, (key, only, ends), (mine, theirs, stamps, there, catalog))
        if gap is not None and _is_all(found, hits, gap, keys, catalog):
            return gap
    return None


_Keys = tuple[
    dict[str, Output],
    dict[str, Output],
    dict[str, Attribute | None],
    dict[str, Attribute | None],
    Catalog,
]


def _make(found: SpjQuery, own: Occurrence, stream: Stream, said: Said, keys: _Keys) -> Gap | None:
    """The gap, in the attributes of the solutions."""
    (columns, only, ends), (mine, theirs, stamps, there, catalog) = said, keys
    names = {a: n for n, a in there.items()}
    after = [stamps[names[a]] for op, a in ends if op is Op.GT and a in names]
    before = [(op, stamps[names[a]]) for op, a in ends if op is not Op.GT and a in names]
    told = {f"{op} {names[a]}" for op, a in ends if a in names}
    if len(ends) != 2 or len(after) != 1 or len(before) != 1:
        return None
    (first,), ((op, time),) = after, before
    if first is None or time is None or op not in (Op.LT, Op.LE):
        return None
    earlier = next(o for o in found.occurrences if o.alias == first.alias)
    if earlier.table != own.table or first.column != stream.timestamp or time.alias == first.alias:
        return None
    determined = list_determined(theirs, mine, Types(catalog, found.occurrences))
    classes = EqualityClasses(found.occurrences, found.conditions)
    key = list[tuple[str, Attribute]]()
    for column, outer in columns:
        of, place = determined.get(outer, (None, ""))
        if of is None or not classes.same(Attribute(earlier.alias, column), of):
            return None
        told.add(f"{column} {place}")
        others = [of, *(a for c in classes.members() for a in (c[0], *c[1]) if classes.same(a, of))]
        other = next((a for a in others if a.alias != earlier.alias), None)
        if other is None:  # of which there are several
            return None
        key.append((column, other))
    mine_only = tuple(map_condition(c, lambda a: replace(a, alias=earlier.alias)) for c in only)
    return Gap(earlier, time, tuple(dict.fromkeys(key)), mine_only, op is Op.LE, frozenset(told))


def _is_all(
    found: SpjQuery, hits: SpjQuery, gap: Gap, keys: Sequence[str], catalog: Catalog
) -> bool:
    """Whether the solutions' earlier rows are like those that are not there, and whether a solution
    beside which there is such a row is one of `hits`."""
    alike = replace(found, conditions=(*found.conditions, *gap.only))
    if not is_contained(found, alike, catalog, one_to_one=True):
        return False
    alias = "between"
    while any(o.alias == alias for o in found.occurrences):
        alias += "_"
    stream = catalog.streams[gap.earlier.table]
    time = Attribute(alias, stream.timestamp)
    said: list[Condition] = [map_condition(c, lambda a: replace(a, alias=alias)) for c in gap.only]
    said += [Compare(Attribute(alias, column), Op.EQ, of) for column, of in gap.key]
    said += [NotNull(Attribute(alias, column)) for column, _ in gap.key]
    said.append(Compare(time, Op.GT, Attribute(gap.earlier.alias, stream.timestamp)))
    said.append(Compare(time, Op.LE if gap.inclusive else Op.LT, gap.time))
    beside = replace(
        found,
        occurrences=(*found.occurrences, Occurrence(alias, gap.earlier.table)),
        conditions=(*found.conditions, *said),
        outputs=tuple((n, dict(found.outputs)[n]) for n in keys),
        provenance=(),
    )
    shown = replace(hits, outputs=tuple((n, dict(hits.outputs)[n]) for n in keys), provenance=())
    return is_contained(beside, shown, catalog)
