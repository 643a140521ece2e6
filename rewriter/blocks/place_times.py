"""Times that rows of an aggregate SELECT have, as the time when these are final, less so much."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from ontoweir.rewriter.model.query import (
    ClassAtom,
    ConjunctiveQuery,
    Filter,
    NamedBuckets,
    TimeFilter,
    Variable,
)
from ontoweir.rewriter.model.spj import Op


@dataclass(frozen=True, slots=True)
class Behind:
    """So long before a time; `row`: the class of the rows that have it."""

    time: Variable
    us: int
    row: str = ""


def place_times(
    query: ConjunctiveQuery, behind: Mapping[Variable, Sequence[Behind]]
) -> ConjunctiveQuery:
    """A branch with times in the place of variables that follow from them; where a pattern has a
    variable as its time, or several times do, they are equal.

    Args:
        query: the branch.
        behind: what each variable is, by those SELECTs that show it.
    """
    rows = {b.row for known in behind.values() for b in known}
    atoms = tuple(a for a in query.atoms if not (isinstance(a, ClassAtom) and a.cls in rows))
    there = {atom.time for atom in atoms}
    first: dict[Variable, Behind] = {}
    equal: list[TimeFilter] = []
    for variable, known in behind.items():
        of = [b for b in known if b.time in there]
        if not of:
            continue
        if variable in there:
            of = [Behind(variable, 0), *of]
        first[variable], *others = of
        for other in others:
            offset = timedelta(microseconds=other.us - of[0].us)
            equal.append(TimeFilter(other.time, Op.EQ, of[0].time, offset, query.source))

    def put(f: Filter) -> Filter:
        return _put(f, first) if isinstance(f, TimeFilter) else f

    return replace(
        query,
        atoms=atoms,
        filters=(*map(put, query.filters), *equal),
        choices=tuple(
            replace(c, cases=tuple(tuple(map(put, case)) for case in c.cases))
            for c in query.choices
        ),
        buckets=tuple(_place(b, first) for b in query.buckets),
    )


def _put(f: TimeFilter, first: Mapping[Variable, Behind]) -> TimeFilter:
    """left - l op right - r + offset, as left op right + offset + l - r."""
    left = first.get(f.left, Behind(f.left, 0))
    us, right = left.us, f.right
    if isinstance(right, Variable) and right in first:
        us, right = us - first[right].us, first[right].time
    return replace(f, left=left.time, right=right, offset=f.offset + timedelta(microseconds=us))


def _place(named: NamedBuckets, first: Mapping[Variable, Behind]) -> NamedBuckets:
    if named.time not in first:
        return named
    made = first[named.time]
    bucket = replace(named.bucket, behind_us=named.bucket.behind_us + made.us)
    return replace(named, time=made.time, bucket=bucket)
