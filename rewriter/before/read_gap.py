"""What must not be between two rows of a solution."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.algebra.contain_spj import is_contained
from ontoweir.rewriter.algebra.equality_classes import (
    EqualityClasses,
    Types,
    condition_attributes,
    map_condition,
)
from ontoweir.rewriter.algebra.is_injective import is_injective
from ontoweir.rewriter.buckets.make_column import is_bucket
from ontoweir.rewriter.model.spj import (
    Attribute,
    BlankOutput,
    Compare,
    Condition,
    ConstantOutput,
    IriOutput,
    LiteralOutput,
    NotNull,
    NullOutput,
    Occurrence,
    Op,
    Output,
    SpjQuery,
    TemplateLiteralOutput,
)


@dataclass(frozen=True, slots=True)
class Gap:
    """There is no row of a stream between two rows of a solution, of which the earlier one is of
    that stream too, and like those that are not there.

    `earlier`: that row; `time`: of the later one; `key`: the columns of the stream that equal
    columns of the solution; `only`: what else is true of the rows, as conditions on `earlier`;
    `inclusive`: none is at the time of the later row either.
    """

    earlier: Occurrence
    time: Attribute
    key: tuple[tuple[str, Attribute], ...]
    only: tuple[Condition, ...]
    inclusive: bool


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
    stamps = {n: _stamp_of(mine[n], found, catalog) for n in keys if n in times}
    there = {n: _stamp_of(theirs[n], hits, catalog) for n in stamps}
    if None in stamps.values() or None in there.values():
        return None
    for own in hits.occurrences:
        stream = catalog.streams.get(own.table)
        if stream is None or any(a is not None and a.alias == own.alias for a in there.values()):
            continue
        said = _split(hits, own, catalog)
        if said is None:
            continue
        key, only, ends = said
        gap = _make(found, own, stream, (key, only, ends), (mine, theirs, stamps, there, catalog))
        if gap is not None and _is_all(found, hits, gap, keys, catalog):
            return gap
    return None


_Said = tuple[
    tuple[tuple[str, Attribute], ...], tuple[Condition, ...], tuple[tuple[Op, Attribute], ...]
]


def _split(hits: SpjQuery, own: Occurrence, catalog: Catalog) -> _Said | None:
    """What is said of a row: columns that equal others', what is of it alone, and how its time
    compares with others (None: anything else)."""
    key, only, ends = list[tuple[str, Attribute]](), list[Condition](), list[tuple[Op, Attribute]]()
    types = Types(catalog, hits.occurrences)
    for condition in hits.conditions:
        aliases = {a.alias for a in condition_attributes(condition)}
        if own.alias not in aliases:
            continue
        timed = any(
            is_bucket(a.column) or (a.alias == own.alias and types.step_of(a) is not None)
            for a in condition_attributes(condition)
        )
        if aliases == {own.alias}:
            if timed:
                return None
            only.append(condition)
            continue
        if not isinstance(condition, Compare) or not isinstance(condition.right, Attribute):
            return None
        turned = condition if condition.left.alias == own.alias else _turn(condition)
        if turned is None or not isinstance(turned.right, Attribute) or turned.offset:
            return None
        if timed:
            if types.step_of(turned.right) is None:
                return None
            ends.append((turned.op, turned.right))
        elif turned.op is Op.EQ:
            key.append((turned.left.column, turned.right))
        else:
            return None
    return tuple(key), tuple(only), tuple(ends)


def _turn(condition: Compare) -> Compare | None:
    """A comparison of two columns, from the other side."""
    assert isinstance(condition.right, Attribute)
    turned = {Op.EQ: Op.EQ, Op.LT: Op.GT, Op.GT: Op.LT, Op.LE: Op.GE, Op.GE: Op.LE}
    if condition.op not in turned or condition.offset:
        return None
    return Compare(condition.right, turned[condition.op], condition.left)


_Keys = tuple[
    dict[str, Output],
    dict[str, Output],
    dict[str, Attribute | None],
    dict[str, Attribute | None],
    Catalog,
]


def _make(found: SpjQuery, own: Occurrence, stream: Stream, said: _Said, keys: _Keys) -> Gap | None:
    """The gap, in the attributes of the solutions."""
    (columns, only, ends), (mine, theirs, stamps, there, catalog) = said, keys
    names = {a: n for n, a in there.items()}
    after = [stamps[names[a]] for op, a in ends if op is Op.GT and a in names]
    before = [(op, stamps[names[a]]) for op, a in ends if op is not Op.GT and a in names]
    if len(ends) != 2 or len(after) != 1 or len(before) != 1:
        return None
    (first,), ((op, time),) = after, before
    if first is None or time is None or op not in (Op.LT, Op.LE):
        return None
    earlier = next(o for o in found.occurrences if o.alias == first.alias)
    if earlier.table != own.table or first.column != stream.timestamp or time.alias == first.alias:
        return None
    determined = _list_determined(theirs, mine, Types(catalog, found.occurrences))
    classes = EqualityClasses(found.occurrences, found.conditions)
    key = list[tuple[str, Attribute]]()
    for column, outer in columns:
        of, mine_too = determined.get(outer), Attribute(earlier.alias, column)
        if of is None or not classes.same(mine_too, of):
            return None
        others = [of, *(a for c in classes.members() for a in (c[0], *c[1]) if classes.same(a, of))]
        other = next((a for a in others if a.alias != earlier.alias), None)
        if other is None:  # of which there are several
            return None
        key.append((column, other))
    mine_only = tuple(map_condition(c, lambda a: replace(a, alias=earlier.alias)) for c in only)
    return Gap(earlier, time, tuple(dict.fromkeys(key)), mine_only, op is Op.LE)


def _list_determined(
    theirs: dict[str, Output], mine: dict[str, Output], types: Types
) -> dict[Attribute, Attribute]:
    """The attributes of what matches that the keys tell, and those of the solutions they are."""
    pairs = dict[Attribute, Attribute]()
    for name, output in theirs.items():
        own = mine[name]
        if type(own) is not type(output) or not is_injective(own, types):
            continue
        parts, others = _parts_of(output), _parts_of(own)
        if len(parts) == len(others) and [p for p in parts if isinstance(p, str)] == [
            p for p in others if isinstance(p, str)
        ]:
            for one, other in zip(parts, others, strict=True):
                if isinstance(one, Attribute) and isinstance(other, Attribute):
                    pairs[one] = other
    return pairs


def _parts_of(output: Output) -> tuple[str | Attribute, ...]:
    match output:
        case LiteralOutput(value=value):
            return (value,)
        case IriOutput(parts=parts) | TemplateLiteralOutput(parts=parts) | BlankOutput(parts=parts):
            return parts
        case ConstantOutput() | NullOutput():
            return ()


def _stamp_of(output: Output, query: SpjQuery, catalog: Catalog) -> Attribute | None:
    """The timestamp of the row whose time an output is."""
    if not isinstance(output, LiteralOutput) or not is_bucket(output.value.column):
        return None
    table = next(o.table for o in query.occurrences if o.alias == output.value.alias)
    stream = catalog.streams.get(table)
    return None if stream is None else Attribute(output.value.alias, stream.timestamp)


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
